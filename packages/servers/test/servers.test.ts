import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { MongoClient } from 'mongodb';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startMongod } from '../src/index.ts';

test('a mongod that restarts on another port, then with another secret, still has its data and accepts writes', async () => {
  const dataDir = await temporaryFolder();
  for (const [index, secret] of ['a secret', 'a secret', 'another secret'].entries()) {
    const expected = index + 1;
    const mongod = await startMongod({ dataDir, secret });
    onTestFinished(() => mongod.stop());
    const client = new MongoClient(mongod.url);
    const things = client.db('test').collection('things');
    await things.insertOne({ expected }, { writeConcern: { w: 'majority', journal: true } });
    expect(await things.countDocuments()).toBe(expected);
    await client.close();
    await mongod.stop();
  }
});

test('the mongod that tests share supports transactions', async () => {
  const client = new MongoClient(inject('mongodbUrl'));
  onTestFinished(() => client.close());
  const db = client.db(`local_${process.pid}`);
  onTestFinished(async () => void (await db.dropDatabase()));
  await client.withSession((session) =>
    session.withTransaction(() => db.collection('things').insertOne({ n: 1 }, { session })),
  );
  expect(await db.collection('things').countDocuments()).toBe(1);
});
