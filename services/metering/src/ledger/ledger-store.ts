import type { UsageCell } from '@brand-data/contracts';
import { type Clock, elapsedMs } from '@brand-data/runtime';
import { applyAtOnce } from './apply-at-once.ts';
import type { Ledger, LedgerKey } from './ledger.ts';
import type { LedgerDatabase, OpenCursor, OpenGrants, OverdueGrant } from './ledger-database.ts';
import { createLedgerDecisions, type LedgerDecision } from './ledger-decisions.ts';
import { applyUsage, needsBreakdowns } from './ledger-usage.ts';
import { breakdownOfMonth } from './month-breakdown.ts';
import type { LedgerInput } from './sender.ts';
import { tooManyChanges } from './too-many-changes.ts';
import { byLedger, type LedgerUsage, notApplied, type Verdicts } from './usage-by-ledger.ts';
import { mergeByGrant } from './usage-merge.ts';

/** Ids of the grants whose usage was not applied completely. */
export interface NotApplied {
  /** These grants were given out and are closed. This usage of them is never billed. */
  refused: string[];
  /** The usage is not from the grant's holder, or the id is guessed. It changes nothing. */
  foreign: string[];
  /** The usage reports more used and returned permits than the grant has. Their holder is at fault. */
  impossible: string[];
  /** The ledger that was read has not given out these grants. A later state of it may have. */
  unknown: string[];
  /** Their ledger could not be read or written in time. The usage may be applied or not. */
  unavailable: string[];
}

/** Called for what a store does. */
export interface StoreEvents {
  /**
   * The replica has stored a change of a ledger. Called at most once for each billed call. Not called if the database did not answer
   * the write. Other replicas may have stored usage of other grants since `before` was read.
   */
  changed(before: Ledger, after: Ledger): void;
  /** Refused usage leaves at most this many calls unbilled. With "forgotten_grant" they were most likely billed earlier. */
  dropped(calls: number, reason: 'closed_grant' | 'forgotten_grant'): void;
  /** Usage could not be applied. */
  failed(error: unknown): void;
}

/**
 * The ledgers. What a method returns is durable. If the database does not answer in time, or other replicas change a ledger too
 * often, `applyUsage` names the grants as `unavailable` and `settle` leaves them open. Every other method rejects with Fault
 * `unavailable`.
 */
export interface LedgerStore {
  /**
   * Reads one ledger, or makes a new one if there is none, and runs `decide` on it. Stores the ledger that `decide` returns,
   * unless that is the same object. If another replica has changed the ledger since the read, reads it and runs `decide` again. A
   * decision that changes nothing may be based on an old state.
   *
   * @param usage usage of this ledger's grants, which is applied before `decide` and stored by the same write. If some of it
   * could not be applied, `update` rejects with Fault `unavailable`, although the decision may be stored
   * @param answered gets the ids of the grants whose usage was not applied
   */
  update<T>(
    key: LedgerKey,
    decide: (ledger: Ledger) => { ledger: Ledger; result: T },
    usage?: readonly LedgerInput[],
    answered?: (notApplied: NotApplied) => void,
  ): Promise<T>;
  /**
   * Applies cumulative usage: in any order, any number of times, the result is the same. Closing a grant adds its usage and
   * breakdown to the month once. A ledger that cannot be reached does not affect the others. If an id is not one of this
   * service, applies nothing and rejects with Fault `invalid_argument`.
   */
  applyUsage(usage: readonly LedgerInput[]): Promise<NotApplied>;
  /** Closes grants with the usage that is known. Returns the ids of the grants that it closed. */
  settle(grantIds: readonly string[]): Promise<string[]>;
  /** See LedgerDatabase. */
  listOverdue(nowMs: number, limit: number): Promise<OverdueGrant[]>;
  listOpen(after: OpenCursor | undefined, limit: number): Promise<OpenGrants>;
  /** An account's ledgers of one month, each with the breakdown of its closed and open grants, all as of one moment. */
  readUsage(accountId: string, month: string): Promise<{ ledger: Ledger; cells: UsageCell[] }[]>;
}

interface UsageOutcome extends Verdicts {
  /** Ids of the grants that this usage closed. */
  closed: readonly string[];
  dropped: number;
  forgotten: number;
}

const NOBODY_LISTENS: StoreEvents = { changed: () => {}, dropped: () => {}, failed: () => {} };
const LEDGERS_AT_ONCE = 16;
const MOST_UNMERGED_CELLS = 40;
/** The time for one batch of usage, or of grants to settle. The store does not begin with further ledgers after this time. */
const APPLY_WITHIN_MS = 6_000;

/**
 * A store with one document for each ledger. The store decides on every change from a state of the ledger, and stores the change
 * only if that state is still current. When `applyAtOnce` stores usage of open grants, only these grants have to be unchanged, so
 * usage of different grants does not conflict. There are no locks, so a replica that dies or hangs blocks no other.
 */
export function createLedgerStore({
  database,
  clock,
  events = NOBODY_LISTENS,
  beforeNewLimit = async () => {},
  random = Math.random,
  mostUnmergedCells = MOST_UNMERGED_CELLS,
}: {
  database: LedgerDatabase;
  clock: Clock;
  events?: StoreEvents;
  /** Called with a stored ledger before its limit changes. The change is made once it resolves, and fails if it rejects. */
  beforeNewLimit?: (ledger: Ledger) => Promise<void>;
  random?: () => number;
  /** If a ledger holds more cells of closed grants than this, their breakdowns are merged into the days. */
  mostUnmergedCells?: number;
}): LedgerStore {
  const decisions = createLedgerDecisions({
    database,
    clock,
    events,
    beforeNewLimit,
    random,
    mostUnmergedCells,
  });

  const decideOnUsage = (
    { key, usage }: LedgerUsage,
    decided: (outcome: Omit<UsageOutcome, 'of'>) => void,
  ): LedgerDecision => ({
    key,
    decide: (before, stored) => {
      const { verdicts, closed, dropped, forgotten, ...change } = applyUsage(before, usage, stored);
      decided({ verdicts, closed, dropped, forgotten });
      return { ...change, closed, needsBreakdowns: needsBreakdowns(before, usage) };
    },
  });

  /** Applies the usage of one ledger, after the decisions that already wait for it. Never rejects. */
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

  /** Applies usage to a few ledgers at a time. It reports usage of ledgers that it does not reach in time as `unavailable`. */
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
    update: async (key, decide, usage = [], answered = () => {}) => {
      const made: { outcome?: () => ReturnType<typeof decide>['result'] } = {};
      // The usage and the decision join the ledger's next batch together, in this order.
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
      const answer = notApplied(await Promise.all(applying));
      answered(answer);
      const { unknown, unavailable } = answer;
      if (!made.outcome || unknown.length + unavailable.length > 0) throw tooManyChanges();
      return made.outcome();
    },

    applyUsage: async (usage) => {
      const usages = byLedger(mergeByGrant(usage));
      const { busy = [], calm = [] } = Object.groupBy(usages, ({ key }) =>
        decisions.isBusy(key) ? 'busy' : 'calm',
      );
      const parts = { database, events, mostUnmergedCells };
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

/** The usage that closes the grant of a holder that has disappeared. It adds nothing to the usage that is stored. */
function closeAsKnown(grantId: string): LedgerInput {
  return { grantId, used: 0, returned: 0, closed: true, cells: [], partial: true };
}

function notTried(of: LedgerUsage): UsageOutcome {
  return { of, verdicts: of.usage.map(() => 'unavailable'), closed: [], dropped: 0, forgotten: 0 };
}
