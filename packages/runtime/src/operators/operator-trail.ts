import { createHash, randomUUID } from 'node:crypto';
import { Counter } from 'prom-client';
import { Fault } from '../base/fault.ts';
import type { OperatorCall } from '../grpc/operator.ts';
import { grpcStatusOf } from '../grpc/status.ts';
import type { Service } from '../service/service.ts';

const LONGEST_DETAIL = 1_000;
/** How many entries of several calls a process remembers. The next call of a forgotten one begins another part of its entry. */
const MOST_OPEN = 1_000;
/** How often the counts of an entry of several calls are stored: an import may make thousands of calls a second. */
const STORED_EVERY_MS = 1_000;

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

/** A part that this process has begun. */
interface Open {
  event: TrailEvent;
  /** When the part was last stored, in milliseconds of the monotonic clock. */
  storedMs: number;
  /** Set if the part has counts that are not stored yet. */
  storing?: NodeJS.Timeout;
}

/** Makes the changes of operators, so that each leaves an entry in the trail that accounts keeps. */
export interface Trail {
  /**
   * Makes the change, after a message to the trail that it begins is stored. Afterwards sends its outcome. Calls that share an entry
   * within a second share these messages too. Rejects with Fault `unavailable`, without making the change, if the message cannot be
   * stored.
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
  { log, metrics, onStop }: Pick<Service, 'log' | 'metrics' | 'onStop'>,
  store: (event: TrailEvent) => Promise<void>,
): Trail {
  const lost = new Counter({
    name: 'grpc_operator_trail_failures_total',
    help: 'Messages to the trail of changes that could not be stored: "before" a change, which was then refused, or "after" it',
    labelNames: ['stage'],
    registers: [metrics],
  });
  for (const stage of ['before', 'after']) lost.inc({ stage }, 0);
  const shared = new Map<string, Open>();

  /** Begins a part of an entry, or continues the one that this process has begun. */
  const partOf = (call: OperatorCall, told: Told): Open => {
    const fresh = (entry: string): Open => ({
      event: {
        ...told,
        details: shortened(told.details),
        call,
        entry,
        part: randomUUID(),
        atMs: 0,
        counts: {},
      },
      storedMs: Number.NEGATIVE_INFINITY,
    });
    if (told.sharedBy === undefined) return fresh(randomUUID());
    const { name, credentialId } = call.operator;
    // With the day, nobody can hide calls in an entry of long ago by repeating what it is shared by.
    const day = new Date().toISOString().slice(0, 10);
    const text = JSON.stringify([day, name, credentialId, told.method, told.sharedBy]);
    const entry = createHash('sha256').update(text).digest('hex').slice(0, 32);
    const open = shared.get(entry) ?? fresh(entry);
    shared.delete(entry);
    shared.set(entry, open);
    for (const [oldest, forgotten] of shared) {
      if (shared.size <= MOST_OPEN) break;
      if (forgotten.storing) void storeOutcome(forgotten);
      shared.delete(oldest);
    }
    return open;
  };

  const logged = (text: string, { call, counts, ...told }: TrailEvent) => {
    const { operator, from, requestId } = call;
    const { entry, method, about, details } = told;
    log.info({ audit: { entry, method, ...operator, from, requestId, about, details, counts } }, text);
  };

  const storeNow = async (open: Open): Promise<void> => {
    clearTimeout(open.storing);
    delete open.storing;
    open.storedMs = performance.now();
    try {
      await store({ ...open.event });
    } catch (error) {
      open.storedMs = Number.NEGATIVE_INFINITY;
      throw error;
    }
  };
  const storeOutcome = (open: Open): Promise<void> =>
    storeNow(open).catch((error: Error) => {
      lost.inc({ stage: 'after' });
      log.error({ err: { message: error.message } }, 'the outcome of a change is only in this log');
      logged('a change whose outcome the trail lacks', open.event);
    });
  const isStoredOften = ({ event, storedMs }: Open): boolean =>
    event.sharedBy !== undefined && performance.now() - storedMs < STORED_EVERY_MS;
  onStop('trail of changes', () =>
    Promise.all([...shared.values()].filter(({ storing }) => storing).map(storeOutcome)),
  );

  return {
    record: async (call, told, change, countsOf = () => ({})) => {
      const open = partOf(call, told);
      const { event } = open;
      const count = (more: Record<string, number>) => {
        const counts: Record<string, number> = { ...event.counts };
        for (const [name, value] of Object.entries(more)) counts[name] = (counts[name] ?? 0) + value;
        event.counts = counts;
      };
      event.atMs = Date.now();
      count({ calls: 1 });
      try {
        if (!isStoredOften(open)) await storeNow(open);
      } catch (error) {
        lost.inc({ stage: 'before' });
        throw new Fault(
          'unavailable',
          'the trail of changes cannot be written now, so nothing was changed: try again',
          { cause: error },
        );
      }
      const end = async () => {
        if (isStoredOften(open)) open.storing ??= setTimeout(storeOutcome, STORED_EVERY_MS, open).unref();
        else await storeOutcome(open);
        // A line for each of the many calls of an import would say nothing more.
        if (told.sharedBy === undefined || event.counts.calls === 1)
          logged('an operator made a change', event);
      };
      try {
        const result = await change();
        count({ done: 1, ...countsOf(result) });
        await end();
        return result;
      } catch (error) {
        count({ failed: 1 });
        event.details = { ...event.details, failure: grpcStatusOf(error).details };
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
