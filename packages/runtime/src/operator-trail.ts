import { createHash, randomUUID } from 'node:crypto';
import { Counter } from 'prom-client';
import { Fault } from './fault.ts';
import type { OperatorCall } from './grpc-operator.ts';
import { grpcStatusOf } from './grpc-status.ts';
import type { Service } from './service.ts';

const LONGEST_DETAIL = 1_000;
/** How many entries of several calls a process remembers. The next call of a forgotten one begins another part of its entry. */
const MOST_OPEN = 1_000;

/** What a change says about itself in the trail. Nothing of it is a secret. */
export interface Told {
  method: string;
  /** The ids and names that the change is about, by which people look for it. */
  about: readonly string[];
  /** The telling fields of the request. */
  details: Readonly<Record<string, string>>;
  /**
   * Calls with the same text share an entry, if the same operator makes them on the same UTC day. Without it, the call has an entry
   * of its own.
   */
  sharedBy?: string;
}

/** A part of an entry: see AuditEvent in proto/brand_data/v1/accounts.proto. */
export interface TrailEvent extends Told {
  entry: string;
  part: string;
  atMs: number;
  call: OperatorCall;
  counts: Readonly<Record<string, number>>;
}

/** Makes the changes of operators, so that each leaves an entry in the trail that accounts keeps. */
export interface Trail {
  /**
   * Makes the change, after a message to the trail that it begins is stored. Afterwards sends its outcome. Rejects with Fault
   * `unavailable`, without making the change, if the message cannot be stored.
   *
   * @param countsOf what is counted of the change's result
   */
  record<Result>(
    call: OperatorCall,
    told: Told,
    change: () => Promise<Result>,
    countsOf?: (result: Result) => Record<string, number>,
  ): Promise<Result>;
}

/** @param store resolves when a message to the trail is durable, and rejects if that takes too long */
export function trailTo(
  { log, metrics }: Pick<Service, 'log' | 'metrics'>,
  store: (event: TrailEvent) => Promise<void>,
): Trail {
  const lost = new Counter({
    name: 'grpc_operator_trail_failures_total',
    help: 'Messages to the trail of changes that could not be stored: "before" a change, which was then refused, or "after" it',
    labelNames: ['stage'],
    registers: [metrics],
  });
  for (const stage of ['before', 'after']) lost.inc({ stage }, 0);
  const open = new Map<string, TrailEvent>();

  /** Begins a part of an entry, or continues the one that this process has begun. */
  const partOf = (call: OperatorCall, told: Told): TrailEvent => {
    const fresh = (entry: string): TrailEvent => ({
      ...{ ...told, details: shortened(told.details), call, entry },
      ...{ part: randomUUID(), atMs: 0, counts: {} },
    });
    if (told.sharedBy === undefined) return fresh(randomUUID());
    const { name, credentialId } = call.operator;
    // With the day, nobody can hide calls in an entry of long ago by repeating what it is shared by.
    const day = new Date().toISOString().slice(0, 10);
    const shared = JSON.stringify([day, name, credentialId, told.method, told.sharedBy]);
    const entry = createHash('sha256').update(shared).digest('hex').slice(0, 32);
    const part = open.get(entry) ?? fresh(entry);
    open.delete(entry);
    open.set(entry, part);
    for (const oldest of open.keys()) if (open.size > MOST_OPEN) open.delete(oldest);
    return part;
  };

  const logged = (text: string, { call, counts, ...told }: TrailEvent) => {
    const { operator, from, requestId } = call;
    const { entry, method, about, details } = told;
    log.info({ audit: { entry, method, ...operator, from, requestId, about, details, counts } }, text);
  };

  return {
    record: async (call, told, change, countsOf = () => ({})) => {
      const part = partOf(call, told);
      const count = (more: Record<string, number>) => {
        const counts: Record<string, number> = { ...part.counts };
        for (const [name, value] of Object.entries(more)) counts[name] = (counts[name] ?? 0) + value;
        part.counts = counts;
      };
      part.atMs = Date.now();
      count({ calls: 1 });
      try {
        await store({ ...part });
      } catch (error) {
        lost.inc({ stage: 'before' });
        throw new Fault(
          'unavailable',
          'the trail of changes cannot be written now, so nothing was changed: try again',
          { cause: error },
        );
      }
      const end = async () => {
        await store({ ...part }).catch((error: Error) => {
          lost.inc({ stage: 'after' });
          log.error({ err: { message: error.message } }, 'the outcome of a change is only in this log');
          logged('a change whose outcome the trail lacks', part);
        });
        // A line for each of the many calls of an import would say nothing more.
        if (told.sharedBy === undefined || part.counts.calls === 1) logged('an operator made a change', part);
      };
      try {
        const result = await change();
        count({ done: 1, ...countsOf(result) });
        await end();
        return result;
      } catch (error) {
        count({ failed: 1 });
        part.details = { ...part.details, failure: grpcStatusOf(error).details };
        await end();
        throw error;
      }
    },
  };
}

function shortened(details: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(details).flatMap(([name, value]) =>
      value === ''
        ? []
        : [[name, value.length <= LONGEST_DETAIL ? value : `${value.slice(0, LONGEST_DETAIL - 1)}…`]],
    ),
  );
}
