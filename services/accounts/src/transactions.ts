import { answerWithin, Fault, type OperatorCall, type Service } from '@brand-data/runtime';
import type { ClientSession, Collection } from 'mongodb';
import { type AuditDoc, auditEntry, type Told } from './audit.ts';
import type { LinearizableReads } from './linearizable-reads.ts';

const ANSWER_WITHIN_MS = 5_000;

/** What a transaction has changed, and what it says about itself in the trail. */
export interface Changed<Result> extends Told {
  result: Result;
}

/** See `recordedChanges`. */
export type RecordedChange = <Result>(
  change: {
    /** The operator's call that asks for the change. */
    by: OperatorCall;
    /** The gRPC method. */
    method: string;
    /** The id of the counter whose next number the change takes. */
    counter: string;
  },
  work: (session: ClientSession, number: number) => Promise<Changed<Result>>,
) => Promise<Result>;

/**
 * Returns the function that makes every change of an operator: in one transaction, which stores the change, the next number of a
 * counter, and the entry in the trail. So there is no change without its entry, and no entry without its change. The transaction
 * takes the number first, so that one of two concurrent changes has to start again. So numbers are in the order of the commits, and
 * the documents that a change reads stay unchanged until it commits. A refused change commits nothing, so no commit proves that its
 * reads were current. For this reason the transaction begins only after the proof of a linearizable read (linearizable-reads.ts).
 */
export function recordedChanges(
  { log }: Pick<Service, 'log'>,
  {
    counters,
    audit,
    linearizable,
    auditDays,
  }: {
    counters: Collection<{ _id: string; value: number }>;
    audit: Collection<AuditDoc>;
    linearizable: LinearizableReads;
    auditDays: number;
  },
): RecordedChange {
  return async ({ by, method, counter }, work) => {
    const deadline = performance.now() + ANSWER_WITHIN_MS;
    const { result, entry } = await withDeadline(
      linearizable((session) =>
        session.withTransaction(
          async () => {
            if (performance.now() > deadline)
              throw new Fault(
                'unavailable',
                'too many changes at the same time: nothing was changed, try again',
              );
            const counted = await counters.findOneAndUpdate(
              { _id: counter },
              { $inc: { value: 1 } },
              { session, returnDocument: 'after' },
            );
            if (!counted) throw new Error(`the counter ${counter} is missing`);
            const { result, ...told } = await work(session, counted.value);
            const entry = auditEntry(by, method, told, { nowMs: Date.now(), days: auditDays });
            await audit.insertOne(entry, { session });
            return { result, entry };
          },
          { maxCommitTimeMS: ANSWER_WITHIN_MS },
        ),
      ),
    );
    const { _id: id, at: _at, expiresAt: _expiresAt, service: _service, ...line } = entry;
    log.info({ audit: { id, ...line } }, 'an operator made a change');
    return result;
  };
}

export function withDeadline<T>(answer: Promise<T>): Promise<T> {
  return answerWithin(answer, {
    withinMs: ANSWER_WITHIN_MS,
    detail:
      'the accounts database does not answer; a change may or may not have been made: look before you try again',
  });
}
