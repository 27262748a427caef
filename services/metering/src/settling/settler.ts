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
/** So many that grants which have to wait for long do not hide those that are due. */
const GRANTS_LOOKED_AT = 10_000;
const GRANTS_CLOSED_AT_ONCE = 500;

/** What bounds a settler's work and memory. */
export interface SettlerBounds {
  /** Open grants that one look goes through to find new ones: to go through all of them takes several looks. */
  seenInOneLook: number;
  /** Open grants whose first sight is kept: those that end first. The others are seen once these are over. */
  kept: number;
}

const BOUNDS: SettlerBounds = { seenInOneLook: 5_000, kept: 200_000 };

/** The usage streams, as far as settling needs them. */
export interface Barrier {
  /**
   * Puts a marker into every usage stream and waits until every message before the markers is applied; false: it takes too
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
 * Closes the grants of holders that went away, so that others can have the permits that they did not use. First every call
 * that they may have answered has to be applied. After a grant's time, the grace for acknowledgements and the clocks' drift,
 * no new use of it can count; these are counted on this replica's own monotonic clock from its first sight of the grant. A
 * marker in each stream then stands behind all use that counts. Every second the settler looks on through the open grants,
 * round and round, so that it has seen each long before it is due, whichever replica gave it out.
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
  // When each grant was first seen, by when it is kept: in the last round, in the current one, and for overdue grants.
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
    // Read after the answer, so that it is later than the grants in it.
    const { monotonicMs } = clock.now();
    for (const grantId of grantIds.slice(0, bounds.kept - seenThisRound.size))
      seenThisRound.set(grantId, firstSeenMs(grantId, monotonicMs));
    roundIsAt = seenThisRound.size < bounds.kept ? next : undefined;
    if (roundIsAt) return;
    // A grant that is in no round any more is closed.
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
    // Their known use is stored already: closing adds none, and brings the other permits back.
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
