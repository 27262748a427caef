import { addMonths, monthOf } from '@brand-data/contracts';
import { describe, expect, test } from 'vitest';
import {
  grantIdOf,
  type Ledger,
  type LedgerKey,
  ledgerIdOf,
  newGrantSecret,
  newLedger,
  type OpenGrant,
} from '../src/ledger/ledger.ts';
import { breakdownOfMonth, type LedgerDatabase, type StoredLedger } from '../src/ledger/ledger-database.ts';
import { countOf, sumCells } from '../src/ledger/usage-merge.ts';
import { newKey, usageOf } from './ledger-actions.ts';

/** A database under test, and how time passes for it. */
export interface DatabaseUnderTest {
  database: LedgerDatabase;
  /** Waits for an answer while the database's time passes. */
  answer<T>(answer: Promise<T>): Promise<T>;
}

/** A database that can lose its primary. `elect` resolves when there is another. */
export interface ElectingDatabase extends DatabaseUnderTest {
  elect(): Promise<void>;
  pause(ms: number): Promise<void>;
}

const SECRETS = Array.from({ length: 10 }, newGrantSecret);

const grantOf = (number: number) => ({
  number,
  secret: SECRETS[number] ?? '',
  holder: `holder-${number}`,
  seq: 1,
  size: 10,
  used: 0,
  returned: 0,
  ttlMs: 5_000,
  idleMs: 0,
  openedAtMs: 1_000,
});

/** The behaviour that the store relies on, of a real MongoDB and of the simulated one. */
export function ledgerDatabaseContract(name: string, open: () => Promise<DatabaseUnderTest>): void {
  describe(`a database of ledgers ${name}`, () => {
    const stored = async ({ database, answer }: DatabaseUnderTest, ledger: Ledger): Promise<StoredLedger> => {
      await answer(database.storeLedgers([{ after: ledger }]));
      const [only] = await answer(database.readLedgers([ledgerIdOf(ledger)]));
      if (!only) throw new Error('the ledger is not there');
      return only;
    };

    test('creates a ledger once, and finds the ledgers that exist', async () => {
      const target = await open();
      const { database, answer } = target;
      const ledger = { ...newLedger(newKey()), limit: 7 };
      expect(await answer(database.readLedgers([ledgerIdOf(ledger)]))).toEqual([]);
      expect(await stored(target, ledger)).toEqual({ ...ledger, version: 1 });
      const other = { ...newLedger(newKey()), limit: 9 };
      const news = [{ after: { ...ledger, limit: 8 } }, { after: other }];
      expect(await answer(database.storeLedgers(news))).toEqual([false, true]);
      const known = await answer(database.readLedgers([ledgerIdOf(newKey()), ledgerIdOf(ledger)]));
      expect(known).toEqual([{ ...ledger, version: 1 }]);
    });

    test('stores a change only if the version is as it was read, and decides for each of several changes separately', async () => {
      const target = await open();
      const { database, answer } = target;
      const first = await stored(target, newLedger(newKey()));
      const second = await stored(target, newLedger(newKey()));
      const change = (before: StoredLedger, limit: number) => ({ before, after: { ...before, limit } });
      expect(await answer(database.storeLedgers([change(first, 1), change(second, 1)]))).toEqual([
        true,
        true,
      ]);
      expect(await answer(database.storeLedgers([change(first, 2)]))).toEqual([false]);
      const [latest] = await answer(database.readLedgers([ledgerIdOf(first)]));
      expect(latest).toMatchObject({ limit: 1, version: 2 });
      if (!latest) return;
      expect(await answer(database.storeLedgers([change(second, 3), change(latest, 3)]))).toEqual([
        false,
        true,
      ]);
      const after = await answer(database.readLedgers([ledgerIdOf(first), ledgerIdOf(second)]));
      expect(after.map(({ limit }) => limit).sort()).toEqual([1, 3]);
    });

    test('opens a grant only before the end of its month and a margin, by its own clock, and stores all else', async () => {
      const target = await open();
      const { database, answer } = target;
      const month = addMonths(monthOf(await answer(database.nowMs())), -2);
      const opening = (key: LedgerKey) => ({ ...newLedger(key), grants: [grantOf(1)], nextGrant: 2 });
      const late = opening({ ...newKey(), month });
      const changes = [{ after: late }, { after: opening(newKey()) }];
      expect(await answer(database.storeLedgers(changes))).toEqual(['over', true]);
      expect(await answer(database.readLedgers([ledgerIdOf(late)]))).toEqual([]);
      const before = await stored(target, { ...late, grants: [] });
      const another = { ...before, grants: [grantOf(2)], nextGrant: 3 };
      const old = { ...before, version: 9 };
      expect(await answer(database.storeLedgers([{ before: old, after: another }]))).toEqual([false]);
      expect(await answer(database.storeLedgers([{ before, after: another }]))).toEqual(['over']);
      const billed = { before, after: { ...before, closedUsed: 1 } };
      expect(await answer(database.storeLedgers([billed]))).toEqual([true]);
      const [after] = await answer(database.readLedgers([ledgerIdOf(late)]));
      expect(after).toEqual({ ...before, closedUsed: 1, version: 2 });
    });

    test('stores usage of open grants only if these are as they were read, for all of a ledger or none', async () => {
      const target = await open();
      const { database, answer } = target;
      const grants = [grantOf(1), grantOf(2)];
      const before = await stored(target, { ...newLedger(newKey()), grants, nextGrant: 3 });
      const [first, second] = [grantOf(1), grantOf(2)];
      const use = (...changes: [OpenGrant, number][]) => {
        const changed = changes.map(([grant, used]) => ({ before: grant, after: { ...grant, used } }));
        return answer(database.replaceUse([{ ledger: before, grants: changed }]));
      };
      await answer(database.storeLedgers([{ before, after: { ...before, limit: 9 } }]));
      expect(await use([first, 3])).toEqual([true]);
      expect(await use([first, 4], [second, 5])).toEqual([false]);
      expect(await use([{ ...first, used: 3 }, 4], [second, 5])).toEqual([true]);
      expect(await use([grantOf(3), 1])).toEqual([false]);
      const [after] = await answer(database.readLedgers([ledgerIdOf(before)]));
      expect(after).toMatchObject({ limit: 9, version: 4, grants: [{ used: 4 }, { used: 5 }] });
    });

    test('names which ledgers of a command it has stored, and creates none that is missing', async () => {
      const target = await open();
      const { database, answer } = target;
      const ledgers = [];
      for (let each = 0; each < 3; each++)
        ledgers.push(await stored(target, { ...newLedger(newKey()), grants: [grantOf(1)], nextGrant: 2 }));
      const missing = { ...newLedger(newKey()), grants: [grantOf(1)], version: 1 };
      const using = (each: StoredLedger, before: OpenGrant) => ({
        ledger: each,
        grants: [{ before, after: { ...before, used: 7 } }],
      });
      const [first, second, third] = ledgers as [StoredLedger, StoredLedger, StoredLedger];
      const old = { ...grantOf(1), used: 1 };
      const uses = [
        using(first, grantOf(1)),
        using(second, old),
        using(missing, grantOf(1)),
        using(third, grantOf(1)),
      ];
      expect(await answer(database.replaceUse(uses))).toEqual([true, false, false, true]);
      const close = (before: StoredLedger) => ({ before, after: { ...before, grants: [], closedUsed: 7 } });
      const fresh = { after: newLedger(newKey()) };
      const closes = [fresh, ...[first, second, missing, { ...third, version: 2 }].map(close), fresh];
      const areStored = [true, false, true, false, true, false];
      expect(await answer(database.storeLedgers(closes))).toEqual(areStored);
      expect(await answer(database.readLedgers([ledgerIdOf(missing)]))).toEqual([]);
      const [after] = await answer(database.readLedgers([ledgerIdOf(second)]));
      expect(after).toEqual({ ...second, grants: [], closedUsed: 7, version: 2 });
    });

    test('keeps the larger of two counts of an open grant, and deletes breakdowns on request', async () => {
      const target = await open();
      const { database, answer } = target;
      const ledger = await stored(target, { ...newLedger(newKey()), grants: [grantOf(1)], nextGrant: 2 });
      const grantId = grantIdOf(ledger, grantOf(1));
      for (const used of [5, 3, 5])
        await answer(database.raiseCells([{ grantId, cells: usageOf(grantId, used).cells }]));
      const read = async () =>
        (await answer(database.readWithBreakdowns(ledgerIdOf(ledger)))).breakdowns.get(1);
      expect(sumCells((await read()) ?? [])).toEqual(usageOf(grantId, 5).cells);
      database.dropCells([grantId]);
      await expect.poll(read).toEqual([]);
    });

    test('counts a breakdown in its days once, however often and in whatever order it is merged', async () => {
      const target = await open();
      const { database, answer } = target;
      const ledger = await stored(target, { ...newLedger(newKey()), nextGrant: 5 });
      const merge = (number: number, mergedBelow: number) =>
        answer(
          database.mergeIntoDays(
            ledger,
            [{ number, cells: usageOf(grantIdOf(ledger, grantOf(number)), number).cells }],
            mergedBelow,
          ),
        );
      for (const [number, mergedBelow] of [
        [3, 1],
        [1, 1],
        [3, 1],
        [2, 2],
        [1, 4],
        [4, 4],
        [2, 4],
        [4, 5],
      ] as const)
        await merge(number, mergedBelow);
      const [month] = await answer(database.readMonth(ledger.accountId, ledger.month));
      expect(month && countOf(breakdownOfMonth(month))).toBe(1 + 2 + 3 + 4);
      expect(month?.days.map(({ mergedBelow, merged }) => ({ mergedBelow, merged }))).toEqual([
        { mergedBelow: 5, merged: [] },
      ]);
    });

    test('lists overdue and open grants, and skips ledgers without open grants', async () => {
      const target = await open();
      const { database, answer } = target;
      const open_ = await stored(target, { ...newLedger(newKey()), grants: [grantOf(1)], nextGrant: 2 });
      await stored(target, newLedger(newKey()));
      const grantId = grantIdOf(open_, grantOf(1));
      expect(await answer(database.listOverdue(6_000, 10))).toEqual([]);
      expect(await answer(database.listOverdue(6_001, 10))).toEqual([{ grantId, ttlMs: 5_000 }]);
      expect(await answer(database.listOpen(undefined, 10))).toEqual({
        grantIds: [grantId],
        next: undefined,
      });
      await answer(database.storeLedgers([{ before: open_, after: { ...open_, grants: [] } }]));
      expect(await answer(database.listOverdue(6_001, 10))).toEqual([]);
    });
  });
}

const WRITERS = 4;
const WRITES = 40;
const ELECTIONS = 2;

/** The part of that behaviour that holds while primaries are lost. */
export function electionContract(name: string, open: () => Promise<ElectingDatabase>): void {
  test(`through elections ${name} keeps every answered write, never takes back a state that was read, and stores no change of an old state`, {
    timeout: 180_000,
  }, async () => {
    const { database, answer, elect, pause } = await open();
    const key = newKey();
    const id = ledgerIdOf(key);
    await answer(database.storeLedgers([{ after: newLedger(key) }]));
    const answered: string[] = [];
    const seen: string[][] = [];
    let isOver = false;
    // Each writer adds its mark to the ledger, whatever state it reads.
    const writer = async (number: number): Promise<void> => {
      for (let write = 0; !isOver || write < WRITES / WRITERS; write++) {
        const mark = `${number}-${write}`;
        try {
          const [before] = await database.readLedgers([id]);
          if (!before) continue;
          seen.push(before.holders.map(({ holder }) => holder));
          const holders = [...before.holders, { holder: mark, seq: 1, atMs: 0 }];
          const [isStored] = await database.storeLedgers([{ before, after: { ...before, holders } }]);
          if (isStored) answered.push(mark);
        } catch {
          // The write was not answered: it may be stored or not.
        }
        await pause(20);
      }
    };
    const writing = Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
    const electing = (async () => {
      for (let election = 0; election < ELECTIONS; election++) {
        await pause(700);
        await elect();
      }
      await pause(2_000);
      isOver = true;
    })();
    await answer(Promise.all([writing, electing]));
    const [final] = await answer(database.readLedgers([id]));
    const marks = final?.holders.map(({ holder }) => holder) ?? [];
    expect(answered.length).toBeGreaterThan(WRITERS);
    expect(marks).toEqual(expect.arrayContaining(answered));
    expect(new Set(marks).size).toBe(marks.length);
    for (const before of seen) expect(marks.slice(0, before.length)).toEqual(before);
  });
}
