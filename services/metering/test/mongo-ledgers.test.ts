import { describe, expect, test } from 'vitest';
import { usedOf } from '../src/ledger/ledger.ts';
import { askFor, NOW_MS, newKey, openGrant, read, sumOf, usageOf } from './ledger-actions.ts';
import { mongoLedgers, mongoStore } from './ledger-stores.ts';

const mongo = mongoLedgers();

describe('ledgers on MongoDB', () => {
  test('a decision that changes nothing writes nothing', async () => {
    const database = mongo.openDatabase();
    const store = await mongoStore(database);
    const key = newKey();
    await openGrant(store, key);
    const before = await database.db.collection('ledgers').findOne();
    await store.update(key, (ledger) => ({ ledger, result: undefined }));
    expect(await database.db.collection('ledgers').findOne()).toEqual(before);
    await store.update(key, (ledger) => ({ ledger: { ...ledger, limit: 5 }, result: undefined }));
    expect((await database.db.collection('ledgers').findOne())?.version).toBe(before?.version + 1);
  });

  test('many first messages of a grant at once leave it with the largest usage', async () => {
    const store = await mongo.open();
    for (let round = 0; round < 10; round++) {
      const key = newKey();
      const { id } = await openGrant(store, key);
      await Promise.all(Array.from({ length: 20 }, (_, used) => store.applyUsage([usageOf(id, used % 9)])));
      const { ledger, cells } = await read(store, key);
      expect(usedOf(ledger)).toBe(8);
      expect(sumOf(cells)).toBe(8);
    }
  });

  test('no update is lost when several replicas update one ledger at the same moment', async () => {
    const database = mongo.openDatabase();
    const replicas = await Promise.all(Array.from({ length: 3 }, () => mongoStore(database)));
    const key = newKey();
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        for (const store of replicas) await openGrant(store, key);
      }),
    );
    const [store] = replicas;
    const { ledger } = await read(store ?? (await mongo.open()), key);
    expect(new Set(ledger.grants.map(({ number }) => number)).size).toBe(30);
    expect(ledger.nextGrant).toBe(31);
  });

  test('if several replicas settle a grant at the same moment, only one is told that it did', async () => {
    const database = mongo.openDatabase();
    const replicas = await Promise.all(Array.from({ length: 3 }, () => mongoStore(database)));
    const [store] = replicas;
    if (!store) return;
    const key = newKey();
    for (let round = 0; round < 5; round++) {
      const { id } = await openGrant(store, key);
      await store.applyUsage([usageOf(id, 2)]);
      const answers = await Promise.all(replicas.map((replica) => replica.settle([id])));
      expect(answers.flat()).toEqual([id]);
    }
    expect((await read(store, key)).ledger).toMatchObject({ closedUsed: 10, grants: [] });
  });

  test('no permit is lost when two replicas close and give out grants at the same moment', async () => {
    const database = mongo.openDatabase();
    const replicas = [await mongoStore(database), await mongoStore(database)];
    const key = newKey();
    const limit = 120;
    const holders = ['a', 'b', 'c', 'd'];
    await Promise.all(
      holders.map(async (holder, index) => {
        const store = replicas[index % 2] ?? replicas[0];
        for (let seq = 1; store && seq <= 12; seq++) {
          const id = await askFor(store, key, { holder, seq, limit, want: 4 });
          if (id) await store.applyUsage([usageOf(id, 1, { closed: true })]);
          if (id) await replicas[(index + 1) % 2]?.settle([id]);
        }
      }),
    );
    const [store] = replicas;
    const { ledger, cells } = await read(store ?? (await mongo.open()), key);
    expect(ledger.grants).toEqual([]);
    expect(ledger.closedUsed).toBe(sumOf(cells));
    expect(ledger.closedUsed).toBe(ledger.nextGrant - 1);
  });

  test('every query uses an index', async () => {
    const { client, db } = mongo.openDatabase();
    const store = await mongoStore({ client, db });
    await db.setProfilingLevel('all');
    const key = newKey();
    const { id } = await openGrant(store, key, { openedAtMs: NOW_MS - 90_000 });
    const other = await openGrant(store, key, { openedAtMs: NOW_MS - 90_000 });
    await store.applyUsage([usageOf(id, 1), usageOf(other.id, 2)]);
    await store.listOverdue(NOW_MS, 10);
    const { next } = await store.listOpen(undefined, 1);
    await store.listOpen(next, 1);
    await store.settle([id]);
    await store.applyUsage([usageOf(id, 1)]);
    // Enough grants that the breakdowns of closed ones are merged into days.
    for (let grant = 0; grant < 50; grant++)
      await store.applyUsage([usageOf((await openGrant(store, key)).id, 2, { closed: true })]);
    await store.readUsage(key.accountId, key.month);
    await db.setProfilingLevel('off');
    const plans = await db
      .collection('system.profile')
      .find({ planSummary: { $exists: true }, ns: { $not: /system/ } })
      .toArray();
    expect(new Set(plans.map(({ ns }) => ns.split('.')[1]))).toEqual(
      new Set(['ledgers', 'grant_breakdowns', 'daily_breakdowns']),
    );
    for (const { ns, op, command, planSummary, hasSortStage } of plans) {
      const query = `${ns} ${op} ${JSON.stringify(command.filter ?? command.q ?? command)}`;
      expect(`${query}: ${planSummary}`).toMatch(/: (IXSCAN|IDHACK)/);
      expect(`${query}: ${hasSortStage ?? false}`).toMatch(/: false$/);
    }
  });
});
