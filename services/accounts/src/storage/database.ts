import { AccountChanged } from '@brand-data/contracts';
import { type AuditDetails, answerWithin, Fault, type OperatorCall, type Service } from '@brand-data/runtime';
import { Binary, type ClientSession, type MongoClient } from 'mongodb';
import { auditEntry } from '../trail/audit.ts';
import { type AccountsCollections, type OutboxDoc, PRESENT, REVISION } from './collections.ts';
import { type LinearizableReads, linearizableReads } from './linearizable-reads.ts';

const ANSWER_WITHIN_MS = 5_000;

/** What a transaction has changed, and the details that the trail stores about it. */
type Changed<Result> = AuditDetails & { result: Result };

/** Reads and changes the accounts database. Every method rejects with Fault `unavailable` while it cannot be reached in time. */
export class Database {
  readonly collections: AccountsCollections;
  readonly #log: Service['log'];
  readonly #auditDays: number;
  readonly #linearizable: LinearizableReads;

  constructor(
    { log }: Pick<Service, 'log'>,
    client: MongoClient,
    collections: AccountsCollections,
    { auditDays }: { auditDays: number },
  ) {
    this.collections = collections;
    this.#log = log;
    this.#auditDays = auditDays;
    this.#linearizable = linearizableReads(client, collections.counters, PRESENT);
  }

  /** Runs a linearizable read. */
  read<T>(read: (session: ClientSession) => Promise<T>): Promise<T> {
    return withDeadline(this.#linearizable(read));
  }

  /** Waits for a write that is not an operator's change. */
  write<T>(write: Promise<T>): Promise<T> {
    return withDeadline(write);
  }

  /** Returns the first `most` notices that are still in the outbox, in the order of their revisions. */
  listOutbox(most: number): Promise<OutboxDoc[]> {
    return this.read((session) =>
      this.collections.outbox.find({}, { session }).sort({ _id: 1 }).limit(most).toArray(),
    );
  }

  /**
   * Makes a change of a plan, an account, a key or a block: a recorded change, which also stores the notice to the gateways in the outbox. If
   * the replica crashes after the commit, another replica sends the notice.
   */
  change<Result>(
    by: OperatorCall,
    method: string,
    work: (
      session: ClientSession,
      revision: number,
    ) => Promise<Changed<Result> & { notice: AccountChanged['subject']; deleted?: boolean }>,
  ): Promise<Result> {
    return this.record({ by, method, counter: REVISION }, async (session, revision) => {
      const { notice: subject, deleted, ...changed } = await work(session, revision);
      const notice = new Binary(AccountChanged.encode({ subject, revision, deleted }).finish());
      await this.collections.outbox.insertOne({ _id: revision, notice }, { session });
      return changed;
    });
  }

  /**
   * Makes a change of an operator in one transaction, which stores the change, the next number of the counter, and the entry in
   * the trail. Therefore no change lacks its entry, and no entry lacks its change. The transaction takes the number first, so
   * that one of two concurrent changes has to start again. Numbers are then in the order of the commits, and the documents that a
   * change reads stay unchanged until it commits. A refused change commits nothing, so no commit proves that its reads were
   * current. For this reason the transaction begins only after the proof of a linearizable read (linearizable-reads.ts).
   *
   * @param change.method the gRPC method
   * @param change.counter the id of the counter whose next number the change takes
   */
  async record<Result>(
    { by, method, counter }: { by: OperatorCall; method: string; counter: string },
    work: (session: ClientSession, number: number) => Promise<Changed<Result>>,
  ): Promise<Result> {
    const deadline = performance.now() + ANSWER_WITHIN_MS;
    const transact = async (session: ClientSession) => {
      if (performance.now() > deadline)
        throw new Fault('unavailable', 'too many changes at the same time: nothing was changed, try again');
      const counted = await this.collections.counters.findOneAndUpdate(
        { _id: counter },
        { $inc: { value: 1 } },
        { session, returnDocument: 'after' },
      );
      if (!counted) throw new Error(`the counter ${counter} is missing`);
      const { result, ...about } = await work(session, counted.value);
      const entry = auditEntry(by, method, about, { nowMs: Date.now(), days: this.#auditDays });
      await this.collections.audit.insertOne(entry, { session });
      return { result, entry };
    };
    const { result, entry } = await this.read((session) =>
      session.withTransaction(() => transact(session), { maxCommitTimeMS: ANSWER_WITHIN_MS }),
    );
    const { _id: id, at: _at, expiresAt: _expiresAt, service: _service, ...line } = entry;
    this.#log.info({ audit: { id, ...line } }, 'an operator made a change');
    return result;
  }
}

/** The part of the store that reads and changes some of the collections. */
export class StorePart {
  protected readonly database: Database;
  protected readonly collections: AccountsCollections;

  constructor(database: Database) {
    this.database = database;
    this.collections = database.collections;
  }
}

function withDeadline<T>(answer: Promise<T>): Promise<T> {
  return answerWithin(answer, {
    withinMs: ANSWER_WITHIN_MS,
    detail:
      'the accounts database does not answer; a change may or may not have been made: look before you try again',
  });
}
