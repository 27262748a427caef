import type { GrantUsage } from '@brand-data/contracts';
import { systemClock } from '@brand-data/runtime';
import { createMemoryDatabase } from '@brand-data/test/simulation/ledger-documents.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { usedOf } from '../src/ledger/ledger.ts';
import type { LedgerDatabase } from '../src/ledger/ledger-database.ts';
import { LedgerStore } from '../src/ledger/ledger-store.ts';
import { newKey, openGrant, read, sumOf, usageOf } from './ledger-actions.ts';

const GRANTS = 12;
const SIZE = 20;

const storeOn = (database: LedgerDatabase): LedgerStore =>
  new LedgerStore({ database, clock: systemClock, random: () => 0 });

/**
 * Returns the database of a process that dies at its write number `dies.at`: before the write takes effect, or right after it.
 */
function dyingAt(database: LedgerDatabase, dies: { at: number; after: boolean }): LedgerDatabase {
  let writes = 0;
  const dying =
    <Given extends unknown[], T>(write: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      writes += 1;
      if (writes > dies.at) throw new Error('the process is dead');
      const answer = writes < dies.at || dies.after ? await write(...given) : undefined;
      if (writes < dies.at) return answer as T;
      throw new Error('the process died here');
    };
  return {
    ...database,
    storeLedgers: dying(database.storeLedgers),
    replaceUse: dying(database.replaceUse),
    raiseCells: dying(database.raiseCells),
    mergeIntoDays: dying(database.mergeIntoDays),
    dropCells: (ids) => {
      if (writes < dies.at) database.dropCells(ids);
    },
  };
}

const step = fc.record({
  grant: fc.nat({ max: GRANTS - 1 }),
  used: fc.integer({ min: 0, max: SIZE }),
  what: fc.constantFrom('use', 'use', 'close', 'settle'),
});
const history = fc.array(step, { minLength: 1, maxLength: 30 });
const crash = fc.record({ at: fc.integer({ min: 1, max: 40 }), after: fc.boolean() });

/** Usage of thirty keys, so that breakdowns are large enough to be merged into the days. */
const usageOfMany = (id: string, used: number, closed: boolean): GrantUsage => {
  const [template] = usageOf(id, 1).cells;
  const cells = Array.from({ length: used }, (_, key) => ({ keyId: `key-${key}`, count: 1 }));
  return {
    ...usageOf(id, used, { closed }),
    cells: template ? cells.map((cell) => ({ ...template, ...cell })) : [],
  };
};

describe('a replica that dies at any write', () => {
  test('leaves ledgers that another replica can change: repeated usage counts once, and breakdowns sum to the bill', async () => {
    await fc.assert(
      fc.asyncProperty(history, fc.array(crash, { maxLength: 4 }), async (steps, crashes) => {
        const database = createMemoryDatabase();
        const store = storeOn(database);
        const key = newKey();
        const ids: string[] = [];
        for (let grant = 0; grant < GRANTS; grant++)
          ids.push((await openGrant(store, key, { size: SIZE })).id);
        const most = new Map<number, number>();
        const closed = new Set<number>();
        let dying = crashes.map((each) => storeOn(dyingAt(database, each)));
        for (const { grant, used: wanted, what } of steps) {
          if (closed.has(grant)) continue;
          const id = ids[grant] ?? '';
          const used = Math.max(wanted, most.get(grant) ?? 0);
          const act = (on: LedgerStore) =>
            what === 'settle' ? on.settle([id]) : on.applyUsage([usageOfMany(id, used, what === 'close')]);
          for (const each of dying) await act(each);
          dying = dying.slice(1);
          await act(store);
          if (what !== 'settle') most.set(grant, used);
          if (what !== 'use') closed.add(grant);
          const { ledger, cells } = await read(store, key);
          expect(usedOf(ledger)).toBe([...most.values()].reduce((sum, each) => sum + each, 0));
          expect(sumOf(cells)).toBe(usedOf(ledger));
          expect(ledger.grants).toHaveLength(GRANTS - closed.size);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('after it stored a breakdown and before its ledger loses nothing: settling the grant bills the usage', async () => {
    const database = createMemoryDatabase();
    const key = newKey();
    const { id } = await openGrant(storeOn(database), key);
    await storeOn(dyingAt(database, { at: 2, after: false })).applyUsage([usageOf(id, 6)]);
    expect(await storeOn(database).settle([id])).toEqual([id]);
    const { ledger, cells } = await read(storeOn(database), key);
    expect(ledger).toMatchObject({ closedUsed: 6, grants: [] });
    expect(sumOf(cells)).toBe(6);
  });
});

describe('a ledger', () => {
  test('stays small however many grants it closes, and its breakdown stays complete', async () => {
    const database = createMemoryDatabase();
    const store = storeOn(database);
    const key = newKey();
    for (let grant = 1; grant <= 500; grant++) {
      const { id } = await openGrant(store, key, { size: SIZE });
      await store.applyUsage([usageOfMany(id, grant % SIZE, true)]);
      const [stored] = database.documents().ledgers.values();
      expect(stored?.closed.length).toBeLessThanOrEqual(128);
      expect(stored?.closed.reduce((sum, { cells = [] }) => sum + cells.length, 0)).toBeLessThanOrEqual(80);
    }
    const { ledger, cells } = await read(store, key);
    expect(sumOf(cells)).toBe(usedOf(ledger));
    for (const { merged } of database.documents().days.values()) expect(merged.length).toBeLessThan(200);
  });
});
