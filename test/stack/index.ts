/** Real servers and the services as processes of their own, on random ports, for any test. */

import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Bds,
  bdsWith,
  type Child,
  type OperatorConnection,
  type Stack,
  startStack,
  writeSecret,
} from '@brand-data/local';
import { MongoClient } from 'mongodb';
import { inject } from 'vitest';
import { startTestMongod, startTestNats, type TestServer } from './servers.ts';
import { temporaryFolder } from './temporary-folder.ts';

export interface TestStackOptions {
  gateways?: number;
  /** How many metering processes there are: of several the names are "metering-1"…; absent: one, "metering". */
  meteringReplicas?: number;
  /** A mongod of its own, to be killed; else the one that all tests share, with databases of its own. */
  ownMongod?: boolean;
  /** A NATS that the test started and stops itself; else one of its own. */
  natsUrl?: string;
  /** Where image paths lead. */
  logoHost?: string;
  /** Another way to the same server for a service by its name. */
  natsUrlFor?: (name: string, natsUrl: string) => string;
  /** What the services are told beside their addresses: { LOG_LEVEL: 'debug' }. */
  environment?: NodeJS.ProcessEnv;
}

export interface TestStack {
  gateways: Stack['gateways'];
  /** Where each service answers /readyz and /metrics, by its name. */
  opsUrls: Stack['opsUrls'];
  natsUrl: string;
  mongodbUrl: string;
  /** The services' databases are `${databasePrefix}_accounts` and so on. */
  databasePrefix: string;
  operator: OperatorConnection;
  /** Runs the operator's command line and gives its answer: `bds('plan', 'list')`. */
  bds: Bds;
  /** The process id of "accounts", "catalog", "metering", "gateway-1"…, "nats-server", "mongod" (its own). */
  pid(name: string): number | undefined;
  /** Kills without notice; it stays down until `restart`. */
  kill(name: string): Promise<void>;
  /** Stops in order when it runs, and starts again with the same ports and data; returns when it is ready. */
  restart(name: string): Promise<void>;
  /** All that the process has written. */
  logs(name: string): Promise<string>;
  /** Stops all and removes what it kept. */
  stop(): Promise<void>;
}

/** Starts a nats-server, the three services and the gateways; returns when all are ready. */
export async function startTestStack(options: TestStackOptions = {}): Promise<TestStack> {
  const {
    gateways = 2,
    meteringReplicas = 1,
    ownMongod = false,
    logoHost,
    natsUrlFor,
    environment,
  } = options;
  const dataDir = await temporaryFolder();
  const databasePrefix = `test_${randomBytes(6).toString('hex')}`;
  const servers: TestServer[] = [];
  const stopServers = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const nats = options.natsUrl === undefined ? await startTestNats() : undefined;
    if (nats !== undefined) servers.push(nats);
    const mongod = ownMongod ? await startTestMongod() : undefined;
    if (mongod !== undefined) servers.push(mongod);
    const stack = await startStack({
      dataDir,
      gateways,
      replicas: { metering: meteringReplicas },
      databasePrefix,
      restart: false,
      natsUrl: nats?.url ?? options.natsUrl,
      mongodbUrl: mongod?.url ?? inject('mongodbUrl'),
      ...(logoHost === undefined ? {} : { logoHost }),
      ...(natsUrlFor === undefined ? {} : { natsUrlFor }),
      ...(environment === undefined ? {} : { environment }),
    });
    const connectionFile = join(dataDir, 'operator.json');
    await writeSecret(connectionFile, stack.operator);
    const children = new Map<string, Child>(stack.children);
    for (const { child } of servers) children.set(child.name, child);
    const child = (name: string): Child => {
      const found = children.get(name);
      if (found === undefined) throw new Error(`no "${name}" here: ${[...children.keys()].join(', ')}`);
      return found;
    };
    return {
      gateways: stack.gateways,
      opsUrls: stack.opsUrls,
      natsUrl: stack.natsUrl,
      mongodbUrl: stack.mongodbUrl,
      databasePrefix,
      operator: stack.operator,
      bds: bdsWith(connectionFile),
      pid: (name) => child(name).pid,
      kill: (name) => child(name).kill(),
      async restart(name) {
        await child(name).stop();
        await child(name).start();
      },
      logs: (name) => readFile(child(name).logFile, 'utf8'),
      async stop() {
        await stack.stop();
        if (!ownMongod) await dropDatabases(stack.mongodbUrl, databasePrefix);
        await stopServers();
      },
    };
  } catch (error) {
    await stopServers();
    throw error;
  }
}

async function dropDatabases(url: string, prefix: string): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5_000 });
  try {
    const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (name.startsWith(`${prefix}_`)) await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}
