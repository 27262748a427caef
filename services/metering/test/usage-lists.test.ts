import { addMonths, type LedgerUsage, monthOf, Route } from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { outOf, usedOf } from '../src/ledger/ledger.ts';
import type { LedgerStore } from '../src/ledger/ledger-store.ts';
import { UsageLists } from '../src/ledger/usage-lists.ts';
import { listLastCalls, listUsage } from '../src/rpc/usage-answers.ts';
import { openOldGrant, usageOf } from './ledger-actions.ts';
import { mongoLedgers, mongoStore } from './ledger-stores.ts';

const mongo = mongoLedgers();
const MONTH = monthOf(Date.now());
/** The month before may have ended a moment ago. */
const OVER = addMonths(MONTH, -2);

interface Opened {
  store: LedgerStore;
  lists: UsageLists;
}

async function open(database = mongo.openDatabase()): Promise<Opened> {
  return { store: await mongoStore(database), lists: new UsageLists(database) };
}

const page = (opened: Opened, more: Partial<Parameters<typeof listUsage>[1]> = {}) =>
  listUsage(
    { ...opened, catchUp: async () => new Set<string>() },
    { month: MONTH, accountIds: [], limit: 0, after: '', ...more },
  );

async function allPages(opened: Opened, more: Partial<Parameters<typeof listUsage>[1]>) {
  const ledgers: LedgerUsage[] = [];
  let after = '';
  do {
    const answer = await page(opened, { ...more, after });
    ledgers.push(...answer.ledgers);
    after = answer.next;
  } while (after !== '');
  return ledgers;
}

const actions = fc.array(
  fc.record({
    // One id is the beginning of other ids, and a hyphen sorts before the slash of a ledger's id.
    accountId: fc.constantFrom('a', 'a-b', 'ab', 'b'),
    pool: fc.constantFrom('calls', 'logos'),
    month: fc.constantFrom(OVER, MONTH),
    used: fc.nat(10),
    closed: fc.boolean(),
  }),
  { maxLength: 12 },
);

describe('lists of usage', () => {
  test('have every ledger of the month once, whatever the size of the pages, with its own sums', async () => {
    await fc.assert(
      fc.asyncProperty(actions, fc.integer({ min: 1, max: 4 }), async (made, limit) => {
        const opened = await open();
        const { store } = opened;
        for (const { used, closed, ...key } of made) {
          const { id } = await openOldGrant(store, key);
          await store.applyUsage([usageOf(id, used, { closed })]);
        }
        const wanted: LedgerUsage[] = [];
        for (const accountId of ['a', 'a-b', 'ab', 'b'])
          for (const { ledger } of await store.readUsage(accountId, MONTH))
            wanted.push({
              accountId,
              pool: ledger.pool,
              allowance: ledger.limit,
              used: usedOf(ledger),
              heldByGateways: outOf(ledger),
            });
        expect(await allPages(opened, { limit })).toEqual(wanted);
        const some = ['b', 'a-b'];
        expect(await allPages(opened, { limit, accountIds: some })).toEqual(
          wanted.filter(({ accountId }) => some.includes(accountId)),
        );
        expect((await page(opened)).final).toBe(false);
        expect((await page(opened, { month: OVER })).final).toBe(
          !made.some(({ closed, month }) => month === OVER && !closed),
        );
      }),
      { numRuns: 15 },
    );
  });

  test('say when each account was last billed for a call, also in an earlier month, and for open grants', async () => {
    const { store, lists } = await open();
    const cell = (day: string) => [{ keyId: 'key-1', route: Route.BRANDS, status: 200, day, count: 1 }];
    const use = async (accountId: string, day: string, closed: boolean, pool = 'calls') => {
      const { id } = await openOldGrant(store, { accountId, pool, month: day.slice(0, 7) });
      await store.applyUsage([usageOf(id, 1, { closed, cells: cell(day) })]);
    };
    await use('closed', `${MONTH}-03`, true);
    await use('open', `${MONTH}-04`, false);
    await use('earlier', `${OVER}-28`, true);
    await use('earlier', `${addMonths(OVER, -1)}-28`, true);
    await use('two-pools', `${MONTH}-05`, true);
    await use('two-pools', `${MONTH}-06`, true, 'logos');
    // This many grants make metering merge their breakdowns into days.
    for (let grant = 0; grant < 50; grant++) await use('merged', `${MONTH}-${20 - (grant % 3)}`, true);
    await openOldGrant(store, { accountId: 'unused', pool: 'calls', month: MONTH });
    const accountIds = ['closed', 'open', 'earlier', 'two-pools', 'merged', 'unused', 'unknown'];
    const { lastCalls } = await listLastCalls({ lists }, { accountIds });
    expect(Object.fromEntries(lastCalls.map(({ accountId, day }) => [accountId, day]))).toEqual({
      closed: `${MONTH}-03`,
      open: `${MONTH}-04`,
      earlier: `${OVER}-28`,
      'two-pools': `${MONTH}-06`,
      merged: `${MONTH}-20`,
    });
  });

  test('are refused if they are too large, or go on from another month', async () => {
    const opened = await open();
    const many = Array.from({ length: 101 }, (_, index) => `a-${index}`);
    for (const wrong of [
      { limit: 501 },
      { limit: -1 },
      { accountIds: many },
      { after: `a/calls/${OVER}` },
      { after: 'nonsense' },
      { month: '2026-13' },
    ])
      await expect(page(opened, wrong)).rejects.toMatchObject({ kind: 'invalid_argument' });
    await expect(listLastCalls(opened, { accountIds: many })).rejects.toMatchObject({
      kind: 'invalid_argument',
    });
  });

  test('use an index for every query', async () => {
    const database = mongo.openDatabase();
    const opened = await open(database);
    const { store, lists } = opened;
    const { id } = await openOldGrant(store, { accountId: 'a', pool: 'calls', month: MONTH });
    await store.applyUsage([usageOf(id, 1)]);
    await database.db.setProfilingLevel('all');
    await page(opened);
    await page(opened, { after: `0/calls/${MONTH}` });
    await page(opened, { accountIds: ['a', 'b'] });
    await lists.lastCalls(['a', 'b']);
    await database.db.setProfilingLevel('off');
    const plans = await database.db
      .collection('system.profile')
      .find({ planSummary: { $exists: true }, ns: { $not: /system/ } })
      .toArray();
    expect(plans.length).toBeGreaterThan(5);
    for (const { ns, op, planSummary, hasSortStage } of plans)
      expect([ns, op, planSummary, hasSortStage ?? false]).toEqual([
        ns,
        op,
        expect.stringMatching(/^(IXSCAN|IDHACK)/),
        false,
      ]);
  });
});
