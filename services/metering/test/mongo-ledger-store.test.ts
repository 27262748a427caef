import type { Mongo } from '@brand-data/runtime';
import type { Collection, Db } from 'mongodb';
import { describe, expect, test } from 'vitest';
import { usedOf } from '../src/ledger.ts';
import { openMongoLedgerStore } from '../src/mongo-ledger-store.ts';
import { askFor, NOW_MS, newKey, openGrant, read, settlingOf, sumOf, usageOf } from './ledger-actions.ts';
import { mongoLedgers } from './ledger-stores.ts';

const mongo = mongoLedgers();

/** The same database, on which something happens between the two writes of usage: before that to the ledger. */
function betweenWrites(target: Mongo, happen: () => Promise<void>): Mongo {
  const intercepted = (collection: Collection) =>
    proxied(collection, 'bulkWrite', async (...given: Parameters<Collection['bulkWrite']>) => {
      await happen();
      return collection.bulkWrite(...given);
    });
  const collection = (name: string) =>
    name === 'ledgers' ? intercepted(target.db.collection(name)) : target.db.collection(name);
  return { client: target.client, db: proxied(target.db, 'collection', collection) };
}

function proxied<T extends Db | Collection>(target: T, name: keyof T, replacement: unknown): T {
  return new Proxy(target, {
    get: (_, property) => {
      if (property === name) return replacement;
      const value: unknown = Reflect.get(target, property);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const died = async () => {
  throw new Error('the process died here');
};

describe('ledgers on MongoDB', () => {
  test('usage that was cut off between its two writes is shown whole and counts when the grant is settled', async () => {
    const database = mongo.openDatabase();
    const store = await openMongoLedgerStore(database);
    const dying = await openMongoLedgerStore(betweenWrites(database, died));
    for (const comesAgain of [true, false]) {
      const key = newKey();
      const { id } = await openGrant(store, key);
      await store.applyUsage([usageOf(id, 2)]);
      await expect(dying.applyUsage([usageOf(id, 6)])).rejects.toThrow('died');
      const { ledger, cells } = await read(store, key);
      expect(usedOf(ledger)).toBe(sumOf(cells));
      if (comesAgain)
        expect(await store.applyUsage([usageOf(id, 6)])).toEqual({ refused: [], impossible: [] });
      await store.applyUsage([settlingOf(id)]);
      const after = await read(store, key);
      expect(after.ledger).toMatchObject({ closedUsed: 6, grants: [] });
      expect(sumOf(after.cells)).toBe(6);
    }
  });

  test('a grant that is closed between the two writes of its usage gains nothing and leaves nothing behind', async () => {
    const database = mongo.openDatabase();
    const store = await openMongoLedgerStore(database);
    const key = newKey();
    const { id } = await openGrant(store, key);
    await store.applyUsage([usageOf(id, 2)]);
    const late = await openMongoLedgerStore(
      betweenWrites(database, async () => {
        // The breakdown of 6 is stored by now, so that this close takes it; what comes later is refused.
        await store.applyUsage([settlingOf(id)]);
      }),
    );
    expect((await late.applyUsage([usageOf(id, 6)])).refused).toEqual([id]);
    const { ledger, cells } = await read(store, key);
    expect(ledger).toMatchObject({ closedUsed: 6, grants: [] });
    expect(sumOf(cells)).toBe(6);
    expect(await database.db.collection('grant_cells').countDocuments()).toBe(0);
  });

  test('a breakdown that a crash left of a grant that others closed counts nowhere and does not stay for ever', async () => {
    const database = mongo.openDatabase();
    const store = await openMongoLedgerStore(database);
    const key = newKey();
    const { id } = await openGrant(store, key);
    const other = await openGrant(store, key);
    // Usage of a grant that a close overtakes after it was seen open.
    await store.applyUsage([usageOf(id, 1)]);
    const stale = await database.db.collection('grant_cells').findOne();
    await store.applyUsage([usageOf(id, 1, { closed: true }), usageOf(other.id, 2, { closed: true })]);
    if (stale) await database.db.collection('grant_cells').insertOne(stale);
    expect(sumOf((await read(store, key)).cells)).toBe(3);
    await store.applyUsage([usageOf((await openGrant(store, key)).id, 4)]);
    expect(sumOf((await read(store, key)).cells)).toBe(7);
    const [index] = (await database.db.collection('grant_cells').indexes()).filter(
      ({ expireAfterSeconds }) => expireAfterSeconds === 0,
    );
    expect(index?.key).toEqual({ expiresAt: 1 });
    expect(stale?.expiresAt).toBeInstanceOf(Date);
  });

  test('a decision that changes nothing writes nothing', async () => {
    const database = mongo.openDatabase();
    const store = await openMongoLedgerStore(database);
    const key = newKey();
    await openGrant(store, key);
    const before = await database.db.collection('ledgers').findOne();
    await store.update(key, (ledger) => ({ ledger, result: undefined }));
    expect(await database.db.collection('ledgers').findOne()).toEqual(before);
    await store.update(key, (ledger) => ({ ledger: { ...ledger, limit: 5 }, result: undefined }));
    expect((await database.db.collection('ledgers').findOne())?.version).toBe(before?.version + 1);
  });

  test('a grant that is used for the first time by many messages at once has the most of them', async () => {
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

  test('updates of one ledger by several replicas at the same moment lose none', async () => {
    const database = mongo.openDatabase();
    const replicas = await Promise.all(Array.from({ length: 3 }, () => openMongoLedgerStore(database)));
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

  test('of replicas that settle a grant at the same moment one is told that it did', async () => {
    const database = mongo.openDatabase();
    const replicas = await Promise.all(Array.from({ length: 3 }, () => openMongoLedgerStore(database)));
    const [store] = replicas;
    if (!store) return;
    const key = newKey();
    for (let round = 0; round < 5; round++) {
      const { id } = await openGrant(store, key);
      await store.applyUsage([usageOf(id, 2)]);
      const answers = await Promise.all(replicas.map((replica) => replica.applyUsage([settlingOf(id)])));
      expect(answers.filter(({ refused }) => refused.length === 0)).toHaveLength(1);
    }
    expect((await read(store, key)).ledger).toMatchObject({ closedUsed: 10, grants: [] });
  });

  test('two replicas that close and ask at the same moment lose no permit', async () => {
    const database = mongo.openDatabase();
    const replicas = [await openMongoLedgerStore(database), await openMongoLedgerStore(database)];
    const key = newKey();
    const limit = 120;
    const holders = ['a', 'b', 'c', 'd'];
    await Promise.all(
      holders.map(async (holder, index) => {
        const store = replicas[index % 2] ?? replicas[0];
        for (let seq = 1; store && seq <= 12; seq++) {
          const id = await askFor(store, key, { holder, seq, limit, want: 4 });
          if (id) await store.applyUsage([usageOf(id, 1, { closed: true })]);
          if (id) await replicas[(index + 1) % 2]?.applyUsage([settlingOf(id)]);
        }
      }),
    );
    const [store] = replicas;
    const { ledger, cells } = await read(store ?? (await mongo.open()), key);
    expect(ledger.grants).toEqual([]);
    expect(ledger.closedUsed).toBe(sumOf(cells));
    expect(ledger.closedUsed).toBe(ledger.nextGrant - 1);
  });

  test('every query finds its documents by an index', async () => {
    const { client, db } = mongo.openDatabase();
    const store = await openMongoLedgerStore({ client, db });
    await db.setProfilingLevel('all');
    const key = newKey();
    const { id } = await openGrant(store, key, { openedAtMs: NOW_MS - 90_000 });
    const other = await openGrant(store, key, { openedAtMs: NOW_MS - 90_000 });
    await store.applyUsage([usageOf(id, 1), usageOf(other.id, 2)]);
    await store.listOverdue(NOW_MS, 10);
    const { next } = await store.listOpen(undefined, 1);
    await store.listOpen(next, 1);
    await store.applyUsage([usageOf(id, 1, { closed: true })]);
    await store.applyUsage([usageOf(id, 1)]);
    await store.readUsage(key.accountId, key.month);
    await db.setProfilingLevel('off');
    const plans = await db
      .collection('system.profile')
      .find({ planSummary: { $exists: true }, ns: { $not: /system/ } })
      .toArray();
    expect(new Set(plans.map(({ ns }) => ns.split('.')[1]))).toEqual(
      new Set(['ledgers', 'grant_cells', 'daily_usage']),
    );
    for (const { ns, op, command, planSummary, hasSortStage } of plans) {
      const query = `${ns} ${op} ${JSON.stringify(command.filter ?? command.q ?? command)}`;
      expect(`${query}: ${planSummary}`).toMatch(/: (IXSCAN|IDHACK)/);
      expect(`${query}: ${hasSortStage ?? false}`).toMatch(/: false$/);
    }
  });
});
