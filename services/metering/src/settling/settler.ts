import { ACKNOWLEDGEMENT_GRACE_MS } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import type { OpenCursor } from '../ledger/ledger-database.ts';
import { ALL_RULES, type LedgerRules } from '../ledger/ledger-rules.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';

/**
 * How much slower than this clock a holder's may run: a part of the time, and a little. Any clock may be 1.5 % too fast or
 * too slow, so that two differ by 3.05 % at most.
 */
const DRIFT_SHARE = 0.035;
const DRIFT_MS = 500;
const LOOK_EVERY_MS = 1_000;
/** So many that those whose time is long, and which wait for long, do not hide those that are due. */
const GRANTS_LOOKED_AT = 10_000;
const GRANTS_CLOSED_AT_ONCE = 500;

/** What bounds a settler's work and memory. */
export interface SettlerBounds {
  /** Open grants that one look goes through to see those that are new: all of them take some looks. */
  seenInOneLook: number;
  /** Of those that end first; the others are seen once these are over. */
  remembered: number;
}

const BOUNDS: SettlerBounds = { seenInOneLook: 5_000, remembered: 200_000 };

/** The usage streams, as far as settling needs them. */
export interface Barrier {
  /**
   * Puts a marker into every usage stream and waits until all that stands before the markers is applied; false: it takes too
   * long. Rejects when a marker is not stored.
   */
  pass(): Promise<boolean>;
}

export interface Settler {
  stop(): Promise<void>;
}

export interface SettlerEvents {
  settled(grants: number): void;
  failed(error: unknown): void;
}

/**
 * Closes the grants of holders that went away, and so gives back what they did not use. Not before everything that they
 * may have answered is applied: after a grant's time, the grace for acknowledgements and the clocks' drift, all counted on
 * this replica's own monotonic clock from its first sight of the grant, nothing new can count; a marker in each stream then
 * stands behind all that does. Every second it looks on through the open grants, round and round, so that it has seen them
 * long before they are due, whoever gave them out.
 */
export function startSettler(
  {
    store,
    clock,
    barrier,
    rules = ALL_RULES,
    bounds = BOUNDS,
  }: { store: LedgerStore; clock: Clock; barrier: Barrier; rules?: LedgerRules; bounds?: SettlerBounds },
  events: SettlerEvents,
): Settler {
  // When a grant was first seen: as known from the last round, in the one under way, and of those that are overdue.
  let seenLastRound = new Map<string, number>();
  let seenThisRound = new Map<string, number>();
  let seenOverdue = new Map<string, number>();
  let roundIsAt: OpenCursor | undefined;
  let stopping = false;

  const waitMs = (ttlMs: number) =>
    rules.graceAndDrift ? (ttlMs + ACKNOWLEDGEMENT_GRACE_MS) * (1 + DRIFT_SHARE) + DRIFT_MS : ttlMs;

  const firstSeenMs = (grantId: string, nowMs: number): number =>
    seenOverdue.get(grantId) ?? seenLastRound.get(grantId) ?? seenThisRound.get(grantId) ?? nowMs;

  const lookOn = async (): Promise<void> => {
    const { grantIds, next } = await store.listOpen(roundIsAt, bounds.seenInOneLook);
    // Read after the answer, so that it is later than whatever the answer tells of.
    const { monotonicMs } = clock.now();
    for (const grantId of grantIds.slice(0, bounds.remembered - seenThisRound.size))
      seenThisRound.set(grantId, firstSeenMs(grantId, monotonicMs));
    roundIsAt = seenThisRound.size < bounds.remembered ? next : undefined;
    if (roundIsAt) return;
    // What is in no round any more is closed.
    seenLastRound = seenThisRound;
    seenThisRound = new Map();
  };

  const settleDue = async (): Promise<void> => {
    const overdue = await store.listOverdue(clock.now().wallMs, GRANTS_LOOKED_AT);
    const { monotonicMs } = clock.now();
    seenOverdue = new Map(overdue.map(({ grantId }) => [grantId, firstSeenMs(grantId, monotonicMs)]));
    const due = overdue.filter(
      ({ grantId, ttlMs }) => monotonicMs - firstSeenMs(grantId, monotonicMs) >= waitMs(ttlMs),
    );
    if (due.length === 0) return;
    if (rules.markerBarrier && !(await barrier.pass())) return;
    // What is known of them is stored already: nothing is added, and the rest comes back.
    while (due.length > 0) {
      const grants = due.splice(0, GRANTS_CLOSED_AT_ONCE);
      const closed = await store.settle(grants.map(({ grantId }) => grantId));
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
