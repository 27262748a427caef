import { randomBytes } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, expect, inject, test } from 'vitest';
import { endRestore, markRestoring, type Service, untilRestored } from '../src/index.ts';

const client = new MongoClient(inject('mongodbUrl'), { writeConcern: { w: 'majority' } });
const databases: Db[] = [];

afterAll(async () => {
  for (const db of databases) await db.dropDatabase();
  await client.close();
});

function newDatabase(): Db {
  const db = client.db(`restoring_${randomBytes(6).toString('hex')}`);
  databases.push(db);
  return db;
}

/** Returns the database, but its collections cannot be dropped. */
function withoutDrop(db: Db): Db {
  return {
    collection: (...args: Parameters<Db['collection']>) =>
      Object.assign(db.collection(...args), { drop: () => Promise.reject(new Error('cut off')) }),
  } as unknown as Db;
}

/** @param warn called once the service knows that its database is being restored */
function waiting(db: Db, signal = new AbortController().signal, warn = () => {}): Promise<void> {
  const log = { info: () => {}, warn };
  return untilRestored({ log, signal } as unknown as Service, { client, db });
}

test('a service waits for the end of a restore, and then no restore can be ended', async () => {
  const db = newDatabase();
  await waiting(db);
  const restoreId = await markRestoring(db);
  const held = waiting(db);
  expect(await endRestore(db, restoreId, async () => ({ billed: 3 }))).toEqual({ billed: 3 });
  await held;
  await expect(endRestore(db, restoreId, async () => ({}))).rejects.toMatchObject({
    kind: 'failed_precondition',
  });
});

test('only the last restore can be ended, and only once: if that fails, the service waits for another', async () => {
  const db = newDatabase();
  const earlier = await markRestoring(db);
  const failed = await markRestoring(db);
  const never = async () => expect.unreachable();
  await expect(endRestore(db, earlier, never)).rejects.toMatchObject({ kind: 'failed_precondition' });
  const broken = endRestore(db, failed, () => Promise.reject(new Error('half an effect')));
  await expect(broken).rejects.toThrow('half an effect');
  await expect(endRestore(db, failed, never)).rejects.toMatchObject({ kind: 'failed_precondition' });
  const held = waiting(db);
  await endRestore(db, await markRestoring(db), async () => ({}));
  await held;
});

test('if only the removal of the mark fails, the end can be repeated: it has no further effect, and the same answer', async () => {
  const db = newDatabase();
  const restoreId = await markRestoring(db);
  const answer = { keys: ['key-1'], validKeys: [{ id: 'key-1', accountId: 'acme' }] };
  await expect(endRestore(withoutDrop(db), restoreId, async () => answer)).rejects.toThrow('cut off');
  const held = waiting(db);
  expect(await endRestore(db, restoreId, async () => expect.unreachable())).toEqual(answer);
  await held;
});

test('an answer that is larger than a document of MongoDB is given, and the restore has ended', async () => {
  const db = newDatabase();
  const restoreId = await markRestoring(db);
  const held = waiting(db);
  const answer = { keys: ['k'.repeat(17 * 1024 ** 2)] };
  expect(await endRestore(db, restoreId, async () => answer)).toBe(answer);
  await held;
});

test('the answer to an earlier restore, whose mark could not be removed, is not that to a later one', async () => {
  const db = newDatabase();
  await expect(endRestore(withoutDrop(db), await markRestoring(db), async () => ({}))).rejects.toThrow(
    'cut off',
  );
  const later = await markRestoring(db);
  const broken = endRestore(db, later, () => Promise.reject(new Error('half an effect')));
  await expect(broken).rejects.toThrow('half an effect');
  const repeated = endRestore(db, later, async () => expect.unreachable());
  await expect(repeated).rejects.toMatchObject({ kind: 'failed_precondition' });
});

test('a set-up whose time ends says that the database is being restored', async () => {
  const db = newDatabase();
  await markRestoring(db);
  const time = new AbortController();
  const held = waiting(db, time.signal, () => time.abort());
  await expect(held).rejects.toThrow('the database is being restored');
});
