import { setTimeout as delay } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { afterAll } from 'vitest';
import { createMemoryDatabase } from '../../../test/simulation/ledger-documents.ts';
import { createMachine } from '../../../test/simulation/machine.ts';
import { createMongo } from '../../../test/simulation/mongo.ts';
import { createNetwork } from '../../../test/simulation/network.ts';
import { createRandom } from '../../../test/simulation/random.ts';
import { ALL_RULES } from '../../../test/simulation/rules.ts';
import { createWorld } from '../../../test/simulation/world.ts';
import { type Cluster, startMongodCluster } from '../../../test/stack/clusters.ts';
import { temporaryFolder } from '../../../test/stack/temporary-folder.ts';
import { openMongoLedgerDatabase } from '../src/ledger/mongo-ledger-database.ts';
import {
  type ElectingDatabase,
  electionContract,
  ledgerDatabaseContract,
} from './ledger-database.contract.ts';
import { mongoLedgers } from './ledger-stores.ts';

const mongo = mongoLedgers();

ledgerDatabaseContract('in memory', async () => ({
  database: createMemoryDatabase(),
  answer: (answer) => answer,
}));
ledgerDatabaseContract('on MongoDB', async () => ({
  database: await openMongoLedgerDatabase(mongo.openDatabase()),
  answer: (answer) => answer,
}));
ledgerDatabaseContract('on a simulated replica set', async () => simulated(1));

/** A simulated replica set in a world of its own. The world's time passes while a test waits for an answer. */
function simulated(seed: number): ElectingDatabase {
  const world = createWorld({ keepsHistory: false });
  const random = createRandom(seed);
  const replicaSet = createMongo(world, random, createNetwork(world, random), ALL_RULES.mongo, () => {});
  const client = createMachine(world, random, 'metering-1', 0, { monotonicDrift: 0, wallDrift: 0 }).boot();
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

let cluster: Cluster | undefined;
const ends: (() => unknown)[] = [];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

electionContract('a replica set of three mongods', async () => {
  cluster = await startMongodCluster(await temporaryFolder());
  const { members, leader, stop, url } = cluster;
  ends.push(stop);
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 3_000 });
  ends.push(() => client.close());
  const database = await openMongoLedgerDatabase({ client, db: client.db('ledgers') });
  const untilLed = async (): Promise<string> => {
    for (;;) {
      const name = await leader();
      if (name !== undefined) return name;
      await delay(50);
    }
  };
  return {
    database,
    answer: (answer) => answer,
    elect: async () => {
      const lost = members.get(await untilLed());
      await lost?.kill();
      await untilLed();
      await lost?.start();
    },
    pause: (ms) => delay(ms),
  };
});
