import type { Clock } from '@brand-data/runtime';
import { ALL_RULES, type LedgerRules } from './ledger-rules.ts';
import type { LedgerStore } from './ledger-store.ts';

/** The stream's acknowledgements count for this long after a grant's end (`design.md`, D). */
const GRACE_MS = 5_000;
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
const FIRST_SEEN_KEPT_MS = 7_200_000;
/** Of a grant that is forgotten the first sight is later: it is settled later. */
const GRANTS_REMEMBERED = 200_000;

/** The usage stream, as far as settling needs it. */
export interface Barrier {
  /** Publishes a marker; resolves to its sequence once it is stored. */
  mark(): Promise<number>;
  /** Whether all up to this sequence is applied; gives up after a while. */
  isAppliedUpTo(sequence: number): Promise<boolean>;
}

export interface Settler {
  /** This replica gave the grant out: its time is known from here. */
  saw(grantId: string): void;
  stop(): Promise<void>;
}

export interface SettlerEvents {
  settled(grants: number): void;
  failed(error: unknown): void;
}

/**
 * Closes the grants of holders that went away, and so gives back what they did not use. Not before everything that they
 * may have answered is applied: after a grant's time, the grace for acknowledgements and the clocks' drift, all counted on
 * this replica's own monotonic clock from its first sight of the grant, nothing new can count; a marker in the stream then
 * stands behind all that does.
 */
export function startSettler(
  {
    store,
    clock,
    barrier,
    rules = ALL_RULES,
  }: { store: LedgerStore; clock: Clock; barrier: Barrier; rules?: LedgerRules },
  events: SettlerEvents,
): Settler {
  const firstSeen = new Map<string, number>();
  let stopping = false;

  const waitMs = (ttlMs: number) =>
    rules.graceAndDrift ? (ttlMs + GRACE_MS) * (1 + DRIFT_SHARE) + DRIFT_MS : ttlMs;

  const see = (grantId: string, monotonicMs: number): void => {
    if (!firstSeen.has(grantId)) firstSeen.set(grantId, monotonicMs);
  };

  const settleDue = async (): Promise<void> => {
    const { monotonicMs, wallMs } = clock.now();
    const overdue = await store.listOverdue(wallMs, GRANTS_LOOKED_AT);
    for (const { grantId } of overdue) see(grantId, monotonicMs);
    const due = overdue.filter(
      ({ grantId, ttlMs }) => monotonicMs - (firstSeen.get(grantId) ?? monotonicMs) >= waitMs(ttlMs),
    );
    if (due.length === 0) return;
    if (rules.markerBarrier && !(await barrier.isAppliedUpTo(await barrier.mark()))) return;
    // What is known of them is stored already: nothing is added, and the rest comes back.
    while (due.length > 0) {
      const grants = due.splice(0, GRANTS_CLOSED_AT_ONCE);
      const { refused } = await store.applyUsage(
        grants.map(({ grantId }) => ({ grantId, used: 0, returned: 0, closed: true, cells: [] })),
      );
      for (const { grantId } of grants) firstSeen.delete(grantId);
      if (grants.length > refused.length) events.settled(grants.length - refused.length);
    }
  };

  const forgetOld = (): void => {
    const oldest = clock.now().monotonicMs - FIRST_SEEN_KEPT_MS;
    for (const [grantId, seenAt] of firstSeen) {
      if (seenAt > oldest && firstSeen.size <= GRANTS_REMEMBERED) return;
      firstSeen.delete(grantId);
    }
  };

  const run = async (): Promise<void> => {
    while (!stopping) {
      try {
        await settleDue();
      } catch (error) {
        events.failed(error);
      }
      forgetOld();
      await clock.sleep(LOOK_EVERY_MS);
    }
  };
  const running = run();

  return {
    saw: (grantId) => see(grantId, clock.now().monotonicMs),
    stop: async () => {
      stopping = true;
      await running;
    },
  };
}
