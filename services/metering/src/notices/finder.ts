import { addMonths, monthOf } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import type { Ledger } from '../ledger/ledger.ts';
import type { MongoNotices } from './mongo-notices.ts';
import { newlyPassed, type PassedThreshold, passedThresholds } from './notice.ts';
import type { NoticeEvents } from './notice-events.ts';
import { repeat } from './repeated.ts';

const SEARCH_EVERY_MS = 30_000;
/** Replicas search at different times. */
const SEARCH_JITTER_MS = 10_000;
/** A replica stores at most this many passed thresholds at a time. The search finds the remaining thresholds. */
const MOST_STORED_AT_ONCE = 1_000;

/**
 * Finds the thresholds that accounts pass, and stores a notice of each.
 *
 * - A replica that stores usage sees at once which thresholds the usage passes. It may crash before it stores the notice, and several
 *   replicas that store usage of the same ledger at the same moment may each see a part of it.
 * - Therefore each replica also searches all ledgers of this month and the one before, at its start and about every half minute.
 * - The allowance of a ledger changes only after the notices of the earlier allowance are stored, because after the change the
 *   search cannot find that allowance's thresholds.
 */
export function createNoticeFinder(
  { store, clock, hasWebhook }: { store: MongoNotices; clock: Clock; hasWebhook: boolean },
  events: Pick<NoticeEvents, 'found' | 'searchFailed'>,
) {
  let storing = 0;

  const add = async (passed: readonly PassedThreshold[]): Promise<void> => {
    const at = new Date(clock.now().wallMs);
    const added = await store.add(passed, at, hasWebhook ? 'pending' : 'none');
    if (added.length > 0) events.found(added);
  };

  /** Searches all ledgers of this month and the one before. */
  const search = async (stopped: AbortSignal): Promise<void> => {
    const month = monthOf(clock.now().wallMs);
    for await (const missing of store.findMissing([month, addMonths(month, -1)])) {
      await add(missing);
      if (stopped.aborted) return;
    }
  };

  return {
    /** Called after a change of a ledger is stored. Returns at once. */
    changed: (before: Ledger, after: Ledger): void => {
      const passed = newlyPassed(before, after);
      if (passed.length === 0 || storing >= MOST_STORED_AT_ONCE) return;
      storing += 1;
      add(passed)
        .catch(events.searchFailed)
        .finally(() => {
          storing -= 1;
        });
    },
    /** Resolves when the notices of this state of a ledger are stored. Rejects with Fault `unavailable`. */
    storeAllOf: (ledger: Ledger): Promise<void> => add(passedThresholds(ledger)),
    search,
    /** Searches now, and then about every half minute. */
    run: () =>
      repeat(search, {
        everyMs: () => SEARCH_EVERY_MS + Math.random() * SEARCH_JITTER_MS,
        failed: events.searchFailed,
      }),
  };
}
