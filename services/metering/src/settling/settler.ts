import { endsWithinMs } from '@brand-data/contracts';
import type { Clock, Service } from '@brand-data/runtime';
import { Counter } from 'prom-client';
import type { OpenCursor } from '../ledger/ledger-database.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { appliedUpTo, type Parked } from '../usage/catch-up.ts';
import type { UsageStreams } from '../usage/usage-streams.ts';

const LOOK_EVERY_MS = 1_000;
/** The settler looks at this many overdue grants: enough to find those that it can settle behind those that have to wait. */
const GRANTS_LOOKED_AT = 10_000;
const GRANTS_CLOSED_AT_ONCE = 500;

/** Bounds of a settler's work and memory. */
export interface SettlerBounds {
  /** How many open grants one pass reads. Reading all of them takes several passes. */
  seenInOneLook: number;
  /**
   * For how many open grants the settler remembers when it first saw them. These are the grants that end first. It sees any other
   * grant at the latest when the grant is overdue.
   */
  kept: number;
}

const BOUNDS: SettlerBounds = { seenInOneLook: 5_000, kept: 200_000 };
const BARRIER_PASSED_WITHIN_MS = 10_000;

/** The usage streams, as far as settling needs them. */
export interface Barrier {
  /**
   * Puts a marker into every usage stream and waits until every message before the markers is applied or parked. Resolves to
   * undefined if that takes too long. Rejects if a marker is not stored.
   */
  pass(): Promise<Parked>;
}

/** The ledgers, as far as settling needs them. */
export type SettlerStore = Pick<LedgerStore, 'listOpen' | 'listOverdue' | 'settle'>;

export interface SettlerEvents {
  settled(grants: number): void;
  failed(error: unknown): void;
}

/**
 * Closes the grants of holders that have disappeared, so that other holders can use the permits that were left unused. Before it
 * closes a grant, it makes sure that metering has applied the usage of every call that the holder may have answered:
 *
 * 1. The settler waits for the grant's lifetime, the grace for acknowledgements and the drift of clocks. After that, no new
 *    usage of the grant can be valid. The settler measures this on this replica's own monotonic clock, from when it first saw
 *    the grant.
 * 2. It puts a marker into each stream and waits until all messages before it are applied. A message with an unknown grant is
 *    parked instead, and only the grants that it names wait for it.
 *
 * Every second the settler reads a further part of the open grants. After the last part it starts again. It therefore sees each
 * grant long before the grant can be settled, whichever replica gave out the grant.
 */
export function startSettler(
  {
    store,
    clock,
    barrier,
    bounds = BOUNDS,
  }: { store: SettlerStore; clock: Clock; barrier: Barrier; bounds?: SettlerBounds },
  events: SettlerEvents,
): { stop(): Promise<void> } {
  // When this settler first saw each grant. A round reads all open grants once. The maps hold the grants of the last complete
  // round, those of the current round, and the overdue grants.
  let seenLastRound = new Map<string, number>();
  let seenThisRound = new Map<string, number>();
  let seenOverdue = new Map<string, number>();
  let roundIsAt: OpenCursor | undefined;
  let stopping = false;

  const firstSeenMs = (grantId: string, nowMs: number): number =>
    seenOverdue.get(grantId) ?? seenLastRound.get(grantId) ?? seenThisRound.get(grantId) ?? nowMs;

  const lookOn = async (): Promise<void> => {
    const { grantIds, next } = await store.listOpen(roundIsAt, bounds.seenInOneLook);
    // The clock is read after the answer, so that no grant seems to have been seen too early.
    const { monotonicMs } = clock.now();
    for (const grantId of grantIds.slice(0, bounds.kept - seenThisRound.size))
      seenThisRound.set(grantId, firstSeenMs(grantId, monotonicMs));
    roundIsAt = seenThisRound.size < bounds.kept ? next : undefined;
    if (roundIsAt) return;
    // If a grant of the last round is not in this one, it is closed or not among the first `kept`, so the settler forgets it.
    seenLastRound = seenThisRound;
    seenThisRound = new Map();
  };

  const settleDue = async (): Promise<void> => {
    const overdue = await store.listOverdue(clock.now().wallMs, GRANTS_LOOKED_AT);
    const { monotonicMs } = clock.now();
    seenOverdue = new Map(overdue.map(({ grantId }) => [grantId, firstSeenMs(grantId, monotonicMs)]));
    const due = overdue.filter(
      ({ grantId, ttlMs }) => monotonicMs - firstSeenMs(grantId, monotonicMs) >= endsWithinMs(ttlMs),
    );
    if (due.length === 0) return;
    const parked = await barrier.pass();
    if (!parked) return;
    // The stored usage of these grants is complete. Settling bills exactly this usage, and makes the other permits available.
    const complete = due.map(({ grantId }) => grantId).filter((grantId) => !parked.has(grantId));
    while (complete.length > 0) {
      const closed = await store.settle(complete.splice(0, GRANTS_CLOSED_AT_ONCE));
      if (closed.length > 0) events.settled(closed.length);
    }
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      try {
        await lookOn();
        await settleDue();
      } catch (error) {
        events.failed(error);
      }
      await clock.sleep(LOOK_EVERY_MS);
    }
  };
  const running = run();

  return {
    stop: async () => {
      stopping = true;
      await running;
    },
  };
}

/** @param holder the name of the sender of the markers */
export function usageBarrier({
  streams,
  clock,
  holder,
  withinMs = BARRIER_PASSED_WITHIN_MS,
}: {
  streams: Pick<UsageStreams, 'list' | 'mark' | 'acknowledgedUpTo' | 'readParked'>;
  clock: Clock;
  holder: string;
  withinMs?: number;
}): Barrier {
  return {
    pass: () => appliedUpTo((stream) => streams.mark(stream, holder), { streams, clock, withinMs }),
  };
}

export function settlerEvents({ log, metrics }: Service): SettlerEvents {
  const settledGrants = new Counter({
    name: 'metering_settled_grants_total',
    help: 'Grants that metering settled: it closed them because their holder had disappeared',
    registers: [metrics],
  });
  return {
    settled: (grants) => {
      settledGrants.inc(grants);
      log.warn({ grants }, 'settled grants of holders that have disappeared');
    },
    failed: (err) => log.warn({ err }, 'could not settle overdue grants, trying again'),
  };
}
