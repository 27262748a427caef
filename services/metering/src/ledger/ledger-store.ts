import type { GrantUsage, UsageCell } from '@brand-data/contracts';
import { type Clock, elapsedMs } from '@brand-data/runtime';
import { applyAtOnce } from './apply-at-once.ts';
import type { Ledger, LedgerKey } from './ledger.ts';
import type { LedgerDatabase, OpenCursor, OpenGrants, OverdueGrant } from './ledger-database.ts';
import { createLedgerDecisions, type LedgerDecision, tooManyChanges } from './ledger-decisions.ts';
import { ALL_RULES, type LedgerRules } from './ledger-rules.ts';
import { applyUsage, grantIdsOf, needsBreakdowns } from './ledger-usage.ts';
import { breakdownOfMonth } from './month-breakdown.ts';
import { byLedger, type LedgerUsage, notApplied, type Verdicts } from './usage-by-ledger.ts';
import { mergeByGrant } from './usage-merge.ts';

/** Ids of the grants of which not all was applied. */
export interface NotApplied {
  /** They were given out and are closed: this usage of them is never billed. */
  refused: string[];
  /** They hold fewer permits than were reported as used and returned: their holder is at fault. */
  impossible: string[];
  /** No ledger is known to have given them out. One that is read later may. */
  unknown: string[];
  /** Their ledger could not be read or written in time: it may be applied or not. */
  unavailable: string[];
}

/** Hears what a store does. */
export interface StoreEvents {
  /** So many calls more are billed. Called once, in the replica that stored it, unless the database did not answer. */
  billed(calls: number): void;
  /** So many calls of usage that was refused are not billed, at most; "forgotten_grant": most likely they are. */
  dropped(calls: number, reason: 'closed_grant' | 'forgotten_grant'): void;
  /** Usage could not be applied. */
  failed(error: unknown): void;
}

/** The ledgers. A method's answer is durable. Each rejects with Fault `unavailable`. */
export interface LedgerStore {
  /**
   * Reads one ledger (a new one if there is none), decides, and stores the decision's ledger before it returns, unless it
   * is the very one that was read; runs `decide` again when another replica changed the ledger meanwhile. A decision that
   * changes nothing may be on a state that is some time old.
   *
   * @param usage of this ledger's grants, which is applied first, by the same write. Rejects with Fault `unavailable` when
   * some of it could not be, whatever was decided
   */
  update<T>(
    key: LedgerKey,
    decide: (ledger: Ledger) => { ledger: Ledger; result: T },
    usage?: readonly GrantUsage[],
  ): Promise<T>;
  /**
   * Applies cumulative usage: in any order, any number of times, the result is the same. Closing adds a grant's use and
   * its breakdown to those of the month, once. One ledger that is out of reach keeps no other from its usage. Rejects
   * with Fault `invalid_argument`, having applied nothing, when an id is none of this service.
   */
  applyUsage(usage: readonly GrantUsage[]): Promise<NotApplied>;
  /** Closes grants with their known use. Answers the ids of the grants that it closed. */
  settle(grantIds: readonly string[]): Promise<string[]>;
  /** See LedgerDatabase. */
  listOverdue(nowMs: number, limit: number): Promise<OverdueGrant[]>;
  listOpen(after: OpenCursor | undefined, limit: number): Promise<OpenGrants>;
  /** An account's ledgers of one month, each with its breakdown, open grants included; all as of one moment. */
  readUsage(accountId: string, month: string): Promise<{ ledger: Ledger; cells: UsageCell[] }[]>;
}

interface UsageOutcome extends Verdicts {
  /** Ids of the grants that were closed by it. */
  closed: readonly string[];
  dropped: number;
  forgotten: number;
}

const NOBODY_LISTENS: StoreEvents = { billed: () => {}, dropped: () => {}, failed: () => {} };
const LEDGERS_AT_ONCE = 16;
/** So that a ledger stays small. */
const MOST_UNMERGED_CELLS = 40;
/** Of one batch of usage, or of grants to settle: ledgers that were not tried by then are unavailable. */
const APPLY_WITHIN_MS = 6_000;

/**
 * Ledgers in a database in which each is one document. Every change is decided on a state of the ledger and stored only over
 * that state. The use of open grants is stored over the state of these grants alone, so that reports of other grants do not
 * conflict with it. No lock is held between the two, so a replica that dies or hangs there keeps no other waiting.
 */
export function createLedgerStore({
  database,
  clock,
  events = NOBODY_LISTENS,
  random = Math.random,
  rules = ALL_RULES,
  mostUnmergedCells = MOST_UNMERGED_CELLS,
}: {
  database: LedgerDatabase;
  clock: Clock;
  events?: StoreEvents;
  random?: () => number;
  rules?: LedgerRules;
  /** Breakdowns of closed grants are merged into the days when a ledger holds more cells of them. */
  mostUnmergedCells?: number;
}): LedgerStore {
  const decisions = createLedgerDecisions({ database, clock, events, random, mostUnmergedCells });

  const decideOnUsage = (
    { key, usage }: LedgerUsage,
    decided: (outcome: Omit<UsageOutcome, 'of'>) => void,
  ): LedgerDecision => ({
    key,
    decide: (before, stored) => {
      const { verdicts, closed, dropped, forgotten, ...change } = applyUsage(before, usage, stored, rules);
      const closedIds = grantIdsOf(key, closed);
      decided({ verdicts, closed: closedIds, dropped, forgotten });
      return { ...change, closed: closedIds, needsBreakdowns: needsBreakdowns(before, usage) };
    },
  });

  /** On the ledger's own, behind whatever is being decided on it. Never rejects. */
  const applyInTurn = async (of: LedgerUsage): Promise<UsageOutcome> => {
    const none = notTried(of);
    let outcome = none;
    const decision = decideOnUsage(of, (decided) => {
      outcome = { of, ...decided };
    });
    try {
      await decisions.store(decision);
      if (outcome.dropped > 0) events.dropped(outcome.dropped, 'closed_grant');
      if (outcome.forgotten > 0) events.dropped(outcome.forgotten, 'forgotten_grant');
      return outcome;
    } catch (error) {
      events.failed(error);
      return none;
    }
  };

  /** Some ledgers at a time; ledgers that are not reached in time are left unavailable. */
  const applyInTurns = async (usages: readonly LedgerUsage[]): Promise<UsageOutcome[]> => {
    const began = clock.now();
    const outcomes: UsageOutcome[] = [];
    for (let at = 0; at < usages.length; at += LEDGERS_AT_ONCE) {
      const now = usages.slice(at, at + LEDGERS_AT_ONCE);
      const isLate = elapsedMs(began, clock.now()) >= APPLY_WITHIN_MS;
      outcomes.push(...(isLate ? now.map(notTried) : await Promise.all(now.map(applyInTurn))));
    }
    return outcomes;
  };

  return {
    update: async (key, decide, usage = []) => {
      const made: { outcome?: () => ReturnType<typeof decide>['result'] } = {};
      // The usage and the decision go into the ledger's next batch together, in this order.
      const applying = byLedger(mergeByGrant(usage)).map(applyInTurn);
      await decisions.store({
        key,
        decide: (before) => {
          try {
            const { ledger, result } = decide(before);
            made.outcome = () => result;
            return { ledger };
          } catch (error) {
            made.outcome = () => {
              throw error;
            };
            return { ledger: before };
          }
        },
      });
      const { unknown, unavailable } = notApplied(await Promise.all(applying));
      if (!made.outcome || unknown.length + unavailable.length > 0) throw tooManyChanges();
      return made.outcome();
    },

    applyUsage: async (usage) => {
      const usages = byLedger(mergeByGrant(usage));
      const { busy = [], calm = [] } = Object.groupBy(usages, ({ key }) =>
        decisions.isBusy(key) ? 'busy' : 'calm',
      );
      const parts = { database, events, rules, mostUnmergedCells };
      const { done, left } = await applyAtOnce(calm, parts).catch((error: unknown) => {
        events.failed(error);
        return { done: [], left: calm };
      });
      const result = notApplied([...done, ...(await applyInTurns([...left, ...busy]))]);
      database.dropCells(result.refused);
      return result;
    },

    settle: async (grantIds) => {
      const outcomes = await applyInTurns(byLedger(grantIds.map(closeAsKnown)));
      return outcomes.flatMap(({ closed }) => closed);
    },

    listOverdue: (nowMs, limit) => database.listOverdue(nowMs, limit),
    listOpen: (after, limit) => database.listOpen(after, limit),

    readUsage: async (accountId, month) =>
      (await database.readMonth(accountId, month)).map((stored) => {
        const { version, ...ledger } = stored.ledger;
        return { ledger, cells: breakdownOfMonth(stored) };
      }),
  };
}

/** The close of a grant whose holder is gone. */
function closeAsKnown(grantId: string): GrantUsage {
  return { grantId, used: 0, returned: 0, closed: true, cells: [], partial: true };
}

function notTried(of: LedgerUsage): UsageOutcome {
  return { of, verdicts: of.usage.map(() => 'unavailable'), closed: [], dropped: 0, forgotten: 0 };
}
