import { grantIdOf, type LedgerKey, ledgerIdOf } from '@brand-data/metering/src/ledger/ledger.ts';
import {
  type DayOfLedger,
  firstEndOf,
  type GrantCells,
  type LedgerChange,
  type LedgerDatabase,
  type OpenCursor,
  openOf,
  opensGrant,
  opensUntilMs,
  overdueOf,
  type Stored,
  type StoredLedger,
  type StoredMonth,
  type UseChange,
} from '@brand-data/metering/src/ledger/ledger-database.ts';
import type { Breakdowns } from '@brand-data/metering/src/ledger/ledger-usage.ts';
import { largerCells, sumCells } from '@brand-data/metering/src/ledger/usage-merge.ts';

/** Everything that metering stores in its database, at one moment. Never modified. */
export interface Documents {
  readonly ledgers: ReadonlyMap<string, StoredLedger>;
  /** Open grants' breakdowns, by the grants' ids. */
  readonly breakdowns: ReadonlyMap<string, GrantCells>;
  /** Days of ledgers, by "ledger/day". */
  readonly days: ReadonlyMap<string, DayOfLedger>;
}

/** The conditions that a database checks for its writers. The simulation switches one off to show that it is needed. */
export interface DatabaseRules {
  /** A ledger is stored only if its version is still the one that was read. */
  compareAndSet: boolean;
  /** A closed grant's breakdown is merged into a day only if the day does not contain the grant. */
  mergedOnce: boolean;
  /** A grant is opened only while its month goes on, by the clock of the database. */
  openedInTime: boolean;
}

export const ALL_DATABASE_RULES: DatabaseRules = {
  compareAndSet: true,
  mergedOnce: true,
  openedInTime: true,
};

export const NO_DOCUMENTS: Documents = { ledgers: new Map(), breakdowns: new Map(), days: new Map() };

/** A write of one document. It returns its answer and the documents after it: the same object if nothing changes. */
export type Write<Answer> = (before: Documents) => { after: Documents; answer: Answer };

/** How a database carries out its operations. */
interface Operations {
  read<Answer>(of: (documents: Documents) => Answer | Promise<Answer>): Promise<Answer>;
  /** Carries out the single writes of one command. */
  writeAll<Answer>(changes: readonly Write<Answer>[]): Promise<Answer[]>;
  nowMs(): number;
  rules: DatabaseRules;
}

/** Returns a database of `Documents`. */
export function documentDatabase({ read, writeAll, nowMs, rules }: Operations): LedgerDatabase {
  return {
    readLedgers: (ids) => read(({ ledgers }) => ids.flatMap((id) => ledgers.get(id) ?? [])),
    readWithBreakdowns: (id) =>
      read((documents) => {
        const ledger = documents.ledgers.get(id);
        return { ledger, breakdowns: breakdownsOf(documents, ledger) };
      }),
    storeLedgers: (changes) => writeAll(changes.map((change) => storedLedger(change, rules, nowMs))),
    replaceUse: (changes) => writeAll(changes.map((change) => replacedUse(change, rules))),
    raiseCells: async (grants) => {
      await writeAll(grants.map(raisedCells));
    },
    dropCells: (grantIds) => {
      if (grantIds.length > 0) writeAll([droppedCells(grantIds)]).catch(() => {});
    },
    mergeIntoDays: async (key, grants, mergedBelow) => {
      const merges = grants.flatMap(({ number, cells }) =>
        [...Map.groupBy(cells, ({ day }) => day).values()].map((ofDay) => ({ number, cells: ofDay })),
      );
      await writeAll(merges.map((merge) => mergedDay(key, merge, mergedBelow, rules)));
    },
    readMonth: (accountId, month) => read((documents) => monthOfAccount(documents, accountId, month)),
    nowMs: () => read(nowMs),
    listOverdue: (nowMs, limit) => read(({ ledgers }) => overdueOf([...ledgers.values()], nowMs, limit)),
    listOpen: (after, limit) => read((documents) => openOf(openLedgers(documents, after), limit)),
  };
}

function storedLedger(
  { before: decidedOn, after: wanted }: LedgerChange,
  { compareAndSet, openedInTime }: DatabaseRules,
  nowMs: () => number,
): Write<Stored> {
  return (before) => {
    const id = ledgerIdOf(wanted);
    const stored = before.ledgers.get(id);
    const isFit = decidedOn ? stored && (!compareAndSet || stored.version === decidedOn.version) : !stored;
    if (!isFit) return { after: before, answer: false };
    const isLate = openedInTime && opensGrant(decidedOn, wanted) && nowMs() >= opensUntilMs(wanted.month);
    if (isLate) return { after: before, answer: 'over' };
    const ledger = { ...wanted, version: (stored?.version ?? 0) + 1 };
    return { after: withLedger(before, id, ledger), answer: true };
  };
}

function replacedUse({ ledger: key, grants }: UseChange, { compareAndSet }: DatabaseRules): Write<boolean> {
  return (before) => {
    const id = ledgerIdOf(key);
    const stored = before.ledgers.get(id);
    const isAsBefore = ({ before: { number, used, returned } }: UseChange['grants'][number]) =>
      stored?.grants.some(
        (grant) =>
          grant.number === number && (!compareAndSet || (grant.used === used && grant.returned === returned)),
      );
    if (!stored || !grants.every(isAsBefore)) return { after: before, answer: false };
    const changed = stored.grants.map((grant) => {
      const change = grants.find(({ after }) => after.number === grant.number);
      return change ? { ...grant, used: change.after.used, returned: change.after.returned } : grant;
    });
    const ledger = { ...stored, grants: changed, version: stored.version + 1 };
    return { after: withLedger(before, id, ledger), answer: true };
  };
}

function withLedger(documents: Documents, id: string, ledger: StoredLedger): Documents {
  return { ...documents, ledgers: new Map(documents.ledgers).set(id, ledger) };
}

function raisedCells({ grantId, cells }: GrantCells): Write<void> {
  return (before) => {
    const known = before.breakdowns.get(grantId)?.cells ?? [];
    const raised = { grantId, cells: largerCells(known, cells) };
    const breakdowns = new Map(before.breakdowns).set(grantId, raised);
    return { after: { ...before, breakdowns }, answer: undefined };
  };
}

function droppedCells(grantIds: readonly string[]): Write<void> {
  return (before) => {
    const breakdowns = new Map(before.breakdowns);
    for (const id of grantIds) breakdowns.delete(id);
    return { after: { ...before, breakdowns }, answer: undefined };
  };
}

function mergedDay(
  key: LedgerKey,
  { number, cells }: { number: number; cells: DayOfLedger['cells'] },
  mergedBelow: number,
  { mergedOnce }: DatabaseRules,
): Write<void> {
  return (before) => {
    const [{ day } = { day: '' }] = cells;
    const ledgerId = ledgerIdOf(key);
    const id = `${ledgerId}/${day}`;
    const stored = before.days.get(id) ?? { ledgerId, day, cells: [], mergedBelow: 0, merged: [] };
    const below = Math.max(stored.mergedBelow, mergedBelow);
    const merged = stored.merged.filter((each) => each >= below);
    const isIn = mergedOnce && (number < below || merged.includes(number));
    const days = new Map(before.days).set(id, {
      ...stored,
      mergedBelow: below,
      merged: isIn ? merged : [...merged, number],
      cells: isIn ? stored.cells : sumCells([...stored.cells, ...cells]),
    });
    return { after: { ...before, days }, answer: undefined };
  };
}

/** Returns an account's ledgers of a month, by their pools. */
export function monthOfAccount(documents: Documents, accountId: string, month: string): StoredMonth[] {
  return [...documents.ledgers.values()]
    .filter((ledger) => ledger.accountId === accountId && ledger.month === month)
    .sort((a, b) => (a.pool < b.pool ? -1 : 1))
    .map((ledger) => ({
      ledger,
      breakdowns: breakdownsOf(documents, ledger),
      days: [...documents.days.values()].filter(({ ledgerId }) => ledgerId === ledgerIdOf(ledger)),
    }));
}

/** Returns the ledgers with open grants after this position, in the order of the list of open grants. */
function openLedgers({ ledgers }: Documents, after: OpenCursor | undefined) {
  const isBehind = ({ endMs, ledgerId }: OpenCursor) =>
    !after || endMs > after.endMs || (endMs === after.endMs && ledgerId > after.ledgerId);
  return [...ledgers.values()]
    .flatMap((ledger) => {
      const endMs = firstEndOf(ledger.grants);
      return endMs === undefined ? [] : [{ ...ledger, endMs, ledgerId: ledgerIdOf(ledger) }];
    })
    .sort((a, b) => a.endMs - b.endMs || (a.ledgerId < b.ledgerId ? -1 : 1))
    .filter(isBehind);
}

function breakdownsOf({ breakdowns }: Documents, ledger: StoredLedger | undefined): Breakdowns {
  if (!ledger) return new Map();
  return new Map(
    ledger.grants.map((grant) => [grant.number, breakdowns.get(grantIdOf(ledger, grant))?.cells ?? []]),
  );
}

/** Creates a database in memory, without latency and faults. Its clock stands still, so no month ends. */
export function createMemoryDatabase(
  initial: Documents = NO_DOCUMENTS,
): LedgerDatabase & { documents(): Documents } {
  let documents = initial;
  const database = documentDatabase({
    rules: ALL_DATABASE_RULES,
    nowMs: () => 0,
    read: async (of) => of(documents),
    writeAll: async (changes) =>
      changes.map((change) => {
        const { after, answer } = change(documents);
        documents = after;
        return answer;
      }),
  });
  return { ...database, documents: () => documents };
}
