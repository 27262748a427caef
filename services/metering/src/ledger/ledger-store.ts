import type { GrantUsage, UsageCell } from '@brand-data/contracts';
import { type Clock, elapsedMs, Fault } from '@brand-data/runtime';
import { type Ledger, type LedgerKey, ledgerIdOf, newLedger, parseGrantId, usedOf } from './ledger.ts';
import type {
  LedgerDatabase,
  OpenCursor,
  OpenGrants,
  OverdueGrant,
  StoredLedger,
  UseChange,
} from './ledger-database.ts';
import { ALL_RULES, type LedgerRules } from './ledger-rules.ts';
import {
  applyUsage,
  type Breakdowns,
  grantIdsOf,
  mergedBelow,
  type NumberedUsage,
  needsBreakdowns,
  unmergedCells,
  type Verdict,
  withMerged,
} from './ledger-usage.ts';
import { breakdownOfMonth } from './month-breakdown.ts';
import { createTurns, gatherForTurn } from './turns.ts';
import { largerCells, mergeByGrant } from './usage-merge.ts';

/** Ids of the grants of which not all was applied. */
export interface NotApplied {
  /** They were given out and are closed: what was said of them is never billed. */
  refused: string[];
  /** More is said to be used and returned than they hold: their holder is at fault. */
  impossible: string[];
  /** No ledger is known to have given them out. One that is read later may. */
  unknown: string[];
  /** Their ledger could not be read or written in time: it may be applied or not. */
  unavailable: string[];
}

/** What a store tells of itself. */
export interface StoreEvents {
  /** So many calls more are billed. Told once, by whoever stored it, unless the database did not answer. */
  billed(calls: number): void;
  /** So many calls of usage that was refused are not billed, at most; "forgotten_grant": most likely they are. */
  dropped(calls: number, reason: 'closed_grant' | 'forgotten_grant'): void;
  /** Usage could not be applied. */
  failed(error: unknown): void;
}

/** Where ledgers are kept. What a method has answered is durable. Each rejects with Fault `unavailable`. */
export interface LedgerStore {
  /**
   * Reads one ledger (a new one if there is none), decides, and stores the decision's ledger before it returns, unless it
   * is the very one that was read; runs `decide` again when somebody else changed the ledger meanwhile. A decision that
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
  /** Closes grants with the use that is known of them. Answers the ids of those that it closed. */
  settle(grantIds: readonly string[]): Promise<string[]>;
  /** See LedgerDatabase. */
  listOverdue(nowMs: number, limit: number): Promise<OverdueGrant[]>;
  listOpen(after: OpenCursor | undefined, limit: number): Promise<OpenGrants>;
  /** An account's ledgers of one month, each with its breakdown, open grants included; all as of one moment. */
  readUsage(accountId: string, month: string): Promise<{ ledger: Ledger; cells: UsageCell[] }[]>;
}

/** A decision on a ledger, made again on each state of it until one is stored. */
interface LedgerDecision {
  key: LedgerKey;
  decide(before: Ledger, stored: Breakdowns): LedgerChange;
}

interface LedgerChange {
  /** The very one that was decided on, when nothing changes. */
  ledger: Ledger;
  /** To be kept before it. */
  raised?: readonly GrantUsage[];
  /** Ids of grants that it closes. */
  closed?: readonly string[];
  /** Only the breakdowns that are stored can tell. */
  needsBreakdowns?: boolean;
}

/** The usage of one ledger's grants, and what the ledger says to it. */
interface LedgerUsage {
  key: LedgerKey;
  usage: readonly NumberedUsage[];
}

interface Verdicts {
  of: LedgerUsage;
  verdicts: readonly (Verdict | 'unavailable')[];
}

interface UsageOutcome extends Verdicts {
  /** Ids of the grants that were closed by it. */
  closed: readonly string[];
  dropped: number;
  forgotten: number;
}

const NOBODY_LISTENS: StoreEvents = { billed: () => {}, dropped: () => {}, failed: () => {} };
const CONTENDS_FOR_MS = 2_500;
const LONGEST_PAUSE_MS = 50;
const MOST_WAITING = 1_000;
const LEDGERS_AT_ONCE = 16;
/** So that a ledger stays small. */
const MOST_UNMERGED_CELLS = 40;
/** Of one batch of usage, or of grants to settle: what has not been tried by then is unavailable. */
const APPLY_WITHIN_MS = 6_000;

/**
 * Ledgers in a database in which each is one document: every change is decided on a state of it and stored only over
 * that state; the use of open grants over the state of these grants alone, so that those who report of others do not get
 * into each other's way. No lock is held between the two, so that a replica which dies or hangs there keeps nobody waiting.
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
  /** In one process a ledger is changed by one at a time: only replicas get into each other's way. */
  const turns = createTurns();
  const bound = { most: MOST_WAITING, tooMany: tooManyChanges };

  const readState = async (
    id: string,
    withBreakdowns: boolean,
  ): Promise<{ ledger: StoredLedger | undefined; breakdowns: Breakdowns }> => {
    if (withBreakdowns) return database.readWithBreakdowns(id);
    const [ledger] = await database.readLedgers([id]);
    return { ledger, breakdowns: new Map() };
  };

  /** Decisions that wait for one ledger are made on one reading of it and stored by one write. */
  const storeDecisions = async (decisions: readonly LedgerDecision[]): Promise<void> => {
    const [first] = decisions;
    if (!first) return;
    const { key } = first;
    const began = clock.now();
    let withBreakdowns = false;
    for (let attempt = 1; elapsedMs(began, clock.now()) < CONTENDS_FOR_MS; attempt++) {
      const { ledger: stored, breakdowns } = await readState(ledgerIdOf(key), withBreakdowns);
      const before = stored ?? newLedger(key);
      const change = decideAll(before, decisions, breakdowns);
      if (change.needsBreakdowns && !withBreakdowns) {
        withBreakdowns = true;
        continue;
      }
      if (change.raised.length > 0) await database.raiseCells(change.raised);
      if (change.ledger === before) return;
      const after = change.closed.length > 0 ? await mergeDue(before, change.ledger) : change.ledger;
      const isStored = stored
        ? (await database.replaceLedgers([{ before: stored, after }])) === 1
        : await database.insertLedger(after);
      if (isStored) {
        events.billed(usedOf(after) - usedOf(before));
        database.dropCells(change.closed);
        return;
      }
      // Somebody else stored a change first, or what was read is behind.
      await clock.sleep(1 + random() * Math.min(4 * attempt, LONGEST_PAUSE_MS));
    }
    throw tooManyChanges();
  };

  const decideTogether = gatherForTurn(turns.take, bound, storeDecisions);

  /**
   * Keeps a ledger small: when what is closed has many cells, those that are stored with it go to the days. A crash before
   * the ledger is stored leaves them in both, and whoever merges or reads finds that they are in the days.
   */
  const mergeDue = async (before: Ledger, after: Ledger): Promise<Ledger> => {
    if (unmergedCells(after) <= mostUnmergedCells) return after;
    const stored = before.closed.flatMap(({ number, cells }) => (cells ? [{ number, cells }] : []));
    if (stored.length === 0) return after;
    await database.mergeIntoDays(before, stored, mergedBelow(before));
    return withMerged(after, new Set(stored.map(({ number }) => number)));
  };

  const decideOnUsage =
    ({ key, usage }: LedgerUsage, tell: (outcome: Omit<UsageOutcome, 'of'>) => void) =>
    (before: Ledger, stored: Breakdowns): LedgerChange => {
      const { verdicts, closed, dropped, forgotten, ...change } = applyUsage(before, usage, stored, rules);
      const closedIds = grantIdsOf(key, closed);
      tell({ verdicts, closed: closedIds, dropped, forgotten });
      return { ...change, closed: closedIds, needsBreakdowns: needsBreakdowns(before, usage) };
    };

  /** On the ledger's own, behind whatever is being decided on it. Never rejects. */
  const applyInTurn = async (of: LedgerUsage): Promise<UsageOutcome> => {
    const none = notTried(of);
    let outcome = none;
    const decide = decideOnUsage(of, (decided) => {
      outcome = { of, ...decided };
    });
    try {
      await decideTogether(ledgerIdOf(of.key), { key: of.key, decide });
      if (outcome.dropped > 0) events.dropped(outcome.dropped, 'closed_grant');
      if (outcome.forgotten > 0) events.dropped(outcome.forgotten, 'forgotten_grant');
      return outcome;
    } catch (error) {
      events.failed(error);
      return none;
    }
  };

  /**
   * Many ledgers by three commands. `left`: those that somebody else was changing; each of them is decided on again, on
   * its own.
   */
  const applyAtOnce = async (
    usages: readonly LedgerUsage[],
  ): Promise<{ done: Verdicts[]; left: LedgerUsage[] }> => {
    if (usages.length === 0) return { done: [], left: [] };
    const read = await database.readLedgers(usages.map(({ key }) => ledgerIdOf(key)));
    const stored = new Map(read.map((ledger) => [ledgerIdOf(ledger), ledger]));
    const done: Verdicts[] = [];
    const left: LedgerUsage[] = [];
    const changes: { before: StoredLedger; after: Ledger; verdicts: Verdicts }[] = [];
    const raised: GrantUsage[] = [];
    const closed: string[] = [];
    for (const of of usages) {
      const before = stored.get(ledgerIdOf(of.key));
      const decision = applyUsage(before ?? newLedger(of.key), of.usage, undefined, rules);
      const verdicts = { of, verdicts: decision.verdicts };
      if (!before) done.push(verdicts);
      else if (
        decision.dropped + decision.forgotten > 0 ||
        needsBreakdowns(before, of.usage) ||
        (decision.closed.length > 0 && unmergedCells(decision.ledger) > mostUnmergedCells)
      )
        left.push(of);
      else {
        raised.push(...decision.raised);
        closed.push(...grantIdsOf(of.key, decision.closed));
        if (decision.ledger === before) done.push(verdicts);
        else changes.push({ before, after: decision.ledger, verdicts });
      }
    }
    if (raised.length > 0) await database.raiseCells(raised);
    // Which of them were stored is not said: those that were are found so when they are read again.
    const { closing = [], using = [] } = Object.groupBy(changes, ({ before, after }) =>
      after.closed === before.closed ? 'using' : 'closing',
    );
    const [closings, uses] = await Promise.all([
      closing.length === 0 ? 0 : database.replaceLedgers(closing),
      using.length === 0 ? 0 : database.replaceUse(using.map(useChange)),
    ]);
    if (closings + uses < changes.length)
      return { done, left: [...left, ...changes.map(({ verdicts }) => verdicts.of)] };
    for (const { before, after } of changes) events.billed(usedOf(after) - usedOf(before));
    database.dropCells(closed);
    return { done: [...done, ...changes.map(({ verdicts }) => verdicts)], left };
  };

  /** Some ledgers at a time; those that are not reached in time are left unavailable. */
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
      // What waits for a turn is decided on together, in its order.
      const applying = byLedger(mergeByGrant(usage)).map(applyInTurn);
      await decideTogether(ledgerIdOf(key), {
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
        turns.isTaken(ledgerIdOf(key)) ? 'busy' : 'calm',
      );
      const { done, left } = await applyAtOnce(calm).catch((error: unknown) => {
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

/** All decisions on one state, each on what the one before it leaves. */
function decideAll(
  before: Ledger,
  decisions: readonly LedgerDecision[],
  stored: Breakdowns,
): Required<LedgerChange> {
  const known = new Map(stored);
  const all = { ledger: before, raised: [] as GrantUsage[], closed: [] as string[], needsBreakdowns: false };
  for (const { decide } of decisions) {
    const { ledger, raised = [], closed = [], needsBreakdowns = false } = decide(all.ledger, known);
    for (const { grantId, cells } of raised) {
      const number = parseGrantId(grantId)?.number ?? 0;
      known.set(number, largerCells(known.get(number) ?? [], cells));
    }
    all.ledger = ledger;
    all.raised.push(...raised);
    all.closed.push(...closed);
    all.needsBreakdowns ||= needsBreakdowns;
  }
  return all;
}

/** What usage changes of open grants, which others may be changing too. */
function useChange({ before, after }: { before: StoredLedger; after: Ledger }): UseChange {
  const grants = before.grants.flatMap((grant, index) => {
    const now = after.grants[index];
    return now && now !== grant ? [{ before: grant, after: now }] : [];
  });
  return { ledger: before, grants };
}

function byLedger(usage: readonly GrantUsage[]): LedgerUsage[] {
  const usages = new Map<string, { key: LedgerKey; usage: NumberedUsage[] }>();
  for (const given of usage) {
    const parsed = parseGrantId(given.grantId);
    if (!parsed) throw new Fault('invalid_argument', 'not a grant id of this service');
    const { key, number } = parsed;
    const id = ledgerIdOf(key);
    const known = usages.get(id) ?? { key, usage: [] };
    known.usage.push({ number, usage: given });
    usages.set(id, known);
  }
  return [...usages.values()];
}

/** The close of a grant whose holder says nothing any more. */
function closeAsKnown(grantId: string): GrantUsage {
  return { grantId, used: 0, returned: 0, closed: true, cells: [], partial: true };
}

function notApplied(results: readonly Verdicts[]): NotApplied {
  const ids: NotApplied = { refused: [], impossible: [], unknown: [], unavailable: [] };
  for (const { of, verdicts } of results) {
    for (const [index, verdict] of verdicts.entries()) {
      const grantId = of.usage[index]?.usage.grantId;
      if (verdict !== 'applied' && grantId !== undefined) ids[verdict].push(grantId);
    }
  }
  return ids;
}

function notTried(of: LedgerUsage): UsageOutcome {
  return { of, verdicts: of.usage.map(() => 'unavailable'), closed: [], dropped: 0, forgotten: 0 };
}

function tooManyChanges(): Fault {
  return new Fault('unavailable', 'too many changes of this ledger at once: try again');
}
