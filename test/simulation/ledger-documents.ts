import { grantIdOf, type LedgerKey, ledgerIdOf } from '@brand-data/metering/src/ledger/ledger.ts';
import {
  type DayOfLedger,
  firstEndOf,
  type GrantCells,
  type LedgerChange,
  type LedgerDatabase,
  type OpenCursor,
  openOf,
  overdueOf,
  type StoredLedger,
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
}

export const ALL_DATABASE_RULES: DatabaseRules = { compareAndSet: true, mergedOnce: true };

export const NO_DOCUMENTS: Documents = { ledgers: new Map(), breakdowns: new Map(), days: new Map() };

/** A write. It returns its answer and the documents after the write. They are the same object if nothing changes. */
export type Write<Answer> = (before: Documents) => { after: Documents; answer: Answer };

/** The writes of a LedgerDatabase, each of one document. */
export const writes = {
  storeLedger:
    ({ before: decidedOn, after: wanted }: LedgerChange, rules = ALL_DATABASE_RULES): Write<boolean> =>
    (before) => {
      const id = ledgerIdOf(wanted);
      const stored = before.ledgers.get(id);
      const isFit = decidedOn
        ? stored && (!rules.compareAndSet || stored.version === decidedOn.version)
        : !stored;
      if (!isFit) return { after: before, answer: false };
      const ledgers = new Map(before.ledgers).set(id, { ...wanted, version: (stored?.version ?? 0) + 1 });
      return { after: { ...before, ledgers }, answer: true };
    },

  replaceUse:
    ({ ledger: key, grants }: UseChange, rules = ALL_DATABASE_RULES): Write<boolean> =>
    (before) => {
      const id = ledgerIdOf(key);
      const stored = before.ledgers.get(id);
      const isAsBefore = ({ before: { number, used, returned } }: UseChange['grants'][number]) =>
        stored?.grants.some(
          (grant) =>
            grant.number === number &&
            (!rules.compareAndSet || (grant.used === used && grant.returned === returned)),
        );
      if (!stored || !grants.every(isAsBefore)) return { after: before, answer: false };
      const changed = stored.grants.map((grant) => {
        const change = grants.find(({ after }) => after.number === grant.number);
        return change ? { ...grant, used: change.after.used, returned: change.after.returned } : grant;
      });
      const ledgers = new Map(before.ledgers).set(id, {
        ...stored,
        grants: changed,
        version: stored.version + 1,
      });
      return { after: { ...before, ledgers }, answer: true };
    },

  raiseCells:
    ({ grantId, cells }: GrantCells): Write<void> =>
    (before) => {
      const known = before.breakdowns.get(grantId)?.cells ?? [];
      const breakdowns = new Map(before.breakdowns).set(grantId, {
        grantId,
        cells: largerCells(known, cells),
      });
      return { after: { ...before, breakdowns }, answer: undefined };
    },

  dropCells:
    (grantIds: readonly string[]): Write<void> =>
    (before) => {
      const breakdowns = new Map(before.breakdowns);
      for (const id of grantIds) breakdowns.delete(id);
      return { after: { ...before, breakdowns }, answer: undefined };
    },

  mergeIntoDay:
    (
      key: LedgerKey,
      { number, cells }: { number: number; cells: DayOfLedger['cells'] },
      mergedBelow: number,
      rules = ALL_DATABASE_RULES,
    ): Write<void> =>
    (before) => {
      const [{ day } = { day: '' }] = cells;
      const ledgerId = ledgerIdOf(key);
      const id = `${ledgerId}/${day}`;
      const stored = before.days.get(id) ?? { ledgerId, day, cells: [], mergedBelow: 0, merged: [] };
      const below = Math.max(stored.mergedBelow, mergedBelow);
      const merged = stored.merged.filter((each) => each >= below);
      const isIn = rules.mergedOnce && (number < below || merged.includes(number));
      const days = new Map(before.days).set(id, {
        ...stored,
        mergedBelow: below,
        merged: isIn ? merged : [...merged, number],
        cells: isIn ? stored.cells : sumCells([...stored.cells, ...cells]),
      });
      return { after: { ...before, days }, answer: undefined };
    },
};

/** The reads of a LedgerDatabase. */
export const reads = {
  ledgers: ({ ledgers }: Documents, ids: readonly string[]): StoredLedger[] =>
    ids.flatMap((id) => ledgers.get(id) ?? []),

  withBreakdowns: (documents: Documents, id: string) => {
    const ledger = documents.ledgers.get(id);
    return { ledger, breakdowns: breakdownsOf(documents, ledger) };
  },

  month: (documents: Documents, accountId: string, month: string) =>
    [...documents.ledgers.values()]
      .filter((ledger) => ledger.accountId === accountId && ledger.month === month)
      .sort((a, b) => (a.pool < b.pool ? -1 : 1))
      .map((ledger) => ({
        ledger,
        breakdowns: breakdownsOf(documents, ledger),
        days: [...documents.days.values()].filter(({ ledgerId }) => ledgerId === ledgerIdOf(ledger)),
      })),

  overdue: ({ ledgers }: Documents, nowMs: number, limit: number) =>
    overdueOf([...ledgers.values()], nowMs, limit),

  open: ({ ledgers }: Documents, after: OpenCursor | undefined, limit: number) => {
    const open = [...ledgers.values()]
      .flatMap((ledger) => {
        const endMs = firstEndOf(ledger.grants);
        return endMs === undefined ? [] : [{ ...ledger, endMs, ledgerId: ledgerIdOf(ledger) }];
      })
      .sort((a, b) => a.endMs - b.endMs || (a.ledgerId < b.ledgerId ? -1 : 1));
    const isBehind = ({ endMs, ledgerId }: OpenCursor) =>
      !after || endMs > after.endMs || (endMs === after.endMs && ledgerId > after.ledgerId);
    return openOf(open.filter(isBehind), limit);
  },
};

function breakdownsOf({ breakdowns }: Documents, ledger: StoredLedger | undefined): Breakdowns {
  if (!ledger) return new Map();
  return new Map(
    ledger.grants.map((grant) => [grant.number, breakdowns.get(grantIdOf(ledger, grant))?.cells ?? []]),
  );
}

/** The single-document writes that are needed to merge some grants, by grant and day. */
export function mergesOf(
  grants: Parameters<LedgerDatabase['mergeIntoDays']>[1],
): { number: number; cells: DayOfLedger['cells'] }[] {
  return grants.flatMap(({ number, cells }) =>
    [...Map.groupBy(cells, ({ day }) => day).values()].map((ofDay) => ({ number, cells: ofDay })),
  );
}

/** A database in memory, without latency and faults. */
export function createMemoryDatabase(
  initial: Documents = NO_DOCUMENTS,
): LedgerDatabase & { documents(): Documents } {
  let documents = initial;
  const write = <Answer>(change: Write<Answer>): Answer => {
    const { after, answer } = change(documents);
    documents = after;
    return answer;
  };
  return {
    documents: () => documents,
    readLedgers: async (ids) => reads.ledgers(documents, ids),
    readWithBreakdowns: async (id) => reads.withBreakdowns(documents, id),
    storeLedgers: async (changes) => changes.map((change) => write(writes.storeLedger(change))),
    replaceUse: async (changes) => changes.map((change) => write(writes.replaceUse(change))),
    raiseCells: async (grants) => {
      for (const grant of grants) write(writes.raiseCells(grant));
    },
    dropCells: (grantIds) => write(writes.dropCells(grantIds)),
    mergeIntoDays: async (key, grants, mergedBelow) => {
      for (const merge of mergesOf(grants)) write(writes.mergeIntoDay(key, merge, mergedBelow));
    },
    readMonth: async (accountId, month) => reads.month(documents, accountId, month),
    listOverdue: async (nowMs, limit) => reads.overdue(documents, nowMs, limit),
    listOpen: (after, limit) => reads.open(documents, after, limit),
  };
}
