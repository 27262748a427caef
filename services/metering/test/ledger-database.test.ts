import { setTimeout as delay } from 'node:timers/promises';
import { createMemoryDatabase } from '@brand-data/test/simulation/ledger-documents.ts';
import { Machine } from '@brand-data/test/simulation/machine.ts';
import { ReplicaSet } from '@brand-data/test/simulation/mongo.ts';
import { ALL_RULES } from '@brand-data/test/simulation/rules.ts';
import { World } from '@brand-data/test/simulation/world.ts';
import { type MongodCluster, startMongodCluster } from '@brand-data/testing/clusters';
import { createRandom } from '@brand-data/testing/random';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { MongoClient } from 'mongodb';
import { afterAll, expect, test } from 'vitest';
import { type Ledger, newGrantSecret, newLedger } from '../src/ledger/ledger.ts';
import type { LedgerDatabase } from '../src/ledger/ledger-database.ts';
import { openMongoLedgerDatabase } from '../src/ledger/mongo-ledger-database.ts';
import { newKey } from './ledger-actions.ts';
import {
  type ElectingDatabase,
  electionContract,
  ledgerDatabaseContract,
} from './ledger-database.contract.ts';
import { mongoLedgers } from './ledger-stores.ts';

const mongo = mongoLedgers();

const OPEN_GRANT = {
  number: 1,
  holder: 'holder-1',
  seq: 1,
  size: 10,
  used: 0,
  returned: 0,
  ttlMs: 5_000,
  idleMs: 0,
  openedAtMs: 1_000,
};

ledgerDatabaseContract('in memory', async () => ({
  database: createMemoryDatabase(),
  answer: (answer) => answer,
}));
ledgerDatabaseContract('on MongoDB', async () => ({
  database: await openMongoLedgerDatabase(mongo.openDatabase()),
  answer: (answer) => answer,
}));
ledgerDatabaseContract('on a simulated replica set', async () => simulated(1));

/** Returns a simulated replica set in a separate world. The world's time passes while a test waits for an answer. */
function simulated(seed: number): ElectingDatabase {
  const random = createRandom(seed);
  const world = new World(random, 0);
  const replicaSet = new ReplicaSet(world, ALL_RULES.mongo, () => {});
  const client = new Machine(world, 'metering-1').boot();
  return {
    database: replicaSet.connect(client),
    answer: async (answer) => {
      let isOver = false;
      const over = () => {
        isOver = true;
      };
      answer.then(over, over);
      while (!isOver) await world.runUntil(world.now() + 1);
      return answer;
    },
    elect: async () => {
      replicaSet.losePrimary();
      await client.clock.sleep(random.between(1, 3_000));
      replicaSet.electPrimary({ deposed: random.chance(0.5) });
    },
    pause: (ms) => client.clock.sleep(random.between(0, ms)),
  };
}

for (const seed of Array.from({ length: 20 }, (_, index) => index + 1))
  electionContract(`a simulated replica set (${seed})`, async () => simulated(seed));

const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

/** Starts a replica set of three mongods and opens the ledgers in it. */
async function openCluster(): Promise<{ cluster: MongodCluster; database: LedgerDatabase }> {
  const cluster = await startMongodCluster(await temporaryFolder());
  ends.push(cluster.stop);
  const client = new MongoClient(cluster.url, { serverSelectionTimeoutMS: 3_000 });
  ends.push(() => client.close());
  return { cluster, database: await openMongoLedgerDatabase({ client, db: client.db('ledgers') }) };
}

let opening: ReturnType<typeof openCluster> | undefined;
/** The tests of this file share one replica set. */
function sharedCluster(): ReturnType<typeof openCluster> {
  opening ??= openCluster();
  return opening;
}

async function untilLed({ leader }: MongodCluster): Promise<string> {
  for (;;) {
    const name = await leader();
    if (name !== undefined) return name;
    await delay(50);
  }
}

electionContract('a replica set of three mongods', async () => {
  const { cluster, database } = await sharedCluster();
  return {
    database,
    answer: (answer) => answer,
    elect: async () => {
      const lost = cluster.members.get(await untilLed(cluster));
      await lost?.kill();
      await untilLed(cluster);
      await lost?.start();
    },
    pause: (ms) => delay(ms),
  };
});

test.each([
  // An election has begun. The driver repeats once a command that fails with this error.
  ['PrimarySteppedDown', 189],
  // The members do not confirm the writes in time.
  ['WriteConcernFailed', 64],
])(
  'writes that no majority confirms (%s) fail together, though one of them also fails for a reason of its own',
  {
    timeout: 120_000,
  },
  async (codeName, code) => {
    const { cluster, database } = await sharedCluster();
    const grant = { ...OPEN_GRANT, secret: newGrantSecret() };
    const ledgers = [newKey(), newKey()].map((key) => ({ ...newLedger(key), grants: [grant], nextGrant: 2 }));
    expect(await database.storeLedgers(ledgers.map((after) => ({ after })))).toEqual([true, true]);
    const [first, second] = ledgers as [Ledger, Ledger];
    const use = (used: number) =>
      database.replaceUse([
        { ledger: first, grants: [{ before: { ...grant, used: used - 1 }, after: { ...grant, used } }] },
        { ledger: second, grants: [{ before: { ...grant, used: 9 }, after: { ...grant, used: 10 } }] },
      ]);
    expect(await use(1)).toEqual([true, false]);

    const failWrites = (mode: 'alwaysOn' | 'off') => {
      // The server carries the writes out and adds this error to its answer.
      const data = { failCommands: ['update'], writeConcernError: { code, codeName, errmsg: 'no majority' } };
      const set = { configureFailPoint: 'failCommand', mode, data };
      return Promise.all([...cluster.members.keys()].map((member) => cluster.command(member, set)));
    };
    for (const answer of await failWrites('alwaysOn')) expect(answer).toMatchObject({ ok: 1 });
    try {
      await expect(use(2)).rejects.toThrow();
    } finally {
      await failWrites('off');
    }
  },
);
