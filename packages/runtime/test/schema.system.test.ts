import { randomBytes } from 'node:crypto';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { bringUpToDate, Diagnosis, type Migration } from '../src/index.ts';
import { untilKilled } from './migrating-process.ts';
import { MIGRATIONS, withOldDocuments } from './migrations.ts';

let client: MongoClient;
const names: string[] = [];

beforeAll(async () => {
  client = new MongoClient(inject('mongodbUrl'), { writeConcern: { w: 'majority' } });
});

afterAll(async () => {
  for (const name of names) await client.db(name).dropDatabase();
  await client.close();
});

function newDatabase(): Db {
  const name = `schema_${randomBytes(6).toString('hex')}`;
  names.push(name);
  return client.db(name);
}

function serviceOf(diagnosis?: Diagnosis) {
  const log = { info: () => {}, warn: () => {} };
  return { log, signal: new AbortController().signal, diagnosis } as unknown as Parameters<
    typeof bringUpToDate
  >[0];
}

const migrate = (db: Db, migrations: readonly Migration[] = MIGRATIONS, diagnosis?: Diagnosis) =>
  bringUpToDate(serviceOf(diagnosis), { client, db }, migrations);

/** Returns all documents of the database. When a migration was noted is left out. */
async function stateOf(db: Db): Promise<unknown> {
  const collections = (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name);
  const all = collections.sort().map(async (name) => {
    const documents = await db.collection(name).find().sort({ _id: 1 }).toArray();
    return [name, documents.map(({ at, ...document }) => document)];
  });
  return Promise.all(all);
}

async function migrated(): Promise<unknown> {
  const db = newDatabase();
  await withOldDocuments(db);
  await migrate(db);
  return stateOf(db);
}

describe('migrations', () => {
  test('of a new database leave it at the version of the release', async () => {
    const db = newDatabase();
    await migrate(db, []);
    expect(await stateOf(db)).toMatchObject([['schema', [{ version: 1, readableFrom: 1 }]]]);
    await migrate(db);
    expect(await stateOf(db)).toMatchObject([['schema', [{ version: 4, readableFrom: 2 }]]]);
  });

  test('give the same documents if several replicas run them at the same moment, and if they run again', async () => {
    const wanted = await migrated();
    const db = newDatabase();
    await withOldDocuments(db);
    await Promise.all([migrate(db), migrate(db), migrate(db)]);
    expect(await stateOf(db)).toEqual(wanted);
    await migrate(db);
    expect(await stateOf(db)).toEqual(wanted);
  });

  test('give the same documents if the process is killed at any of their commands, before and after it took effect', async () => {
    const wanted = await migrated();
    for (const when of ['commandStarted', 'commandSucceeded'] as const) {
      for (let number = 1; ; number++) {
        const db = newDatabase();
        await withOldDocuments(db);
        const wasKilled = await untilKilled({
          url: inject('mongodbUrl'),
          name: db.databaseName,
          when,
          number,
        });
        if (!wasKilled) {
          expect(number).toBeGreaterThan(8);
          break;
        }
        await migrate(db);
        expect(await stateOf(db)).toEqual(wanted);
      }
    }
  });
});

describe('a release', () => {
  const upTo = (count: number) => MIGRATIONS.slice(0, count);

  test('uses a database of a newer one that says so, and its doctor says that the upgrade is not complete', async () => {
    const db = newDatabase();
    await migrate(db);
    const diagnosis = new Diagnosis();
    await migrate(db, upTo(1), diagnosis);
    expect(await diagnosis.run()).toEqual([
      {
        what: 'schema',
        found: expect.objectContaining({ state: 'warning', detail: expect.stringContaining('4') }),
      },
    ]);
    expect(await db.collection('schema').findOne()).toMatchObject({ version: 4 });
    await migrate(db, MIGRATIONS, diagnosis);
    expect((await diagnosis.run())[0]?.found.state).toBe('ok');
  });

  test('refuses a database that it cannot read, says which release it needs, and changes nothing', async () => {
    const db = newDatabase();
    await withOldDocuments(db);
    await migrate(db);
    const before = await stateOf(db);
    await expect(migrate(db, [])).rejects.toThrow(
      /needs schema version 2; .* run release \d+\.\d+\.\d+ or a newer one/,
    );
    expect(await stateOf(db)).toEqual(before);
  });

  test('refuses a database in which a newer one has begun, and not finished, a migration to a form that it cannot read', async () => {
    const db = newDatabase();
    await withOldDocuments(db);
    await migrate(db, upTo(2));
    const stop = new AbortController();
    const broken: Migration = {
      what: 'a migration that fails in the middle',
      readableFrom: 4,
      run: async () => {
        await db.collection('people').updateOne({}, { $unset: { name: '' } });
        stop.abort();
        throw new Error('the server is gone');
      },
    };
    await bringUpToDate({ ...serviceOf(), signal: stop.signal }, { client, db }, [...upTo(2), broken]).catch(
      () => {},
    );
    expect(await db.collection('schema').findOne()).toMatchObject({ version: 3 });
    await expect(migrate(db, upTo(2))).rejects.toThrow('needs schema version 4');
    await migrate(db, [...upTo(2), { ...broken, run: async () => {} }]);
    expect(await db.collection('schema').findOne()).toMatchObject({ version: 4, readableFrom: 4 });
  });
});
