/** Starts real servers and services for tests, each as its own process on a random port. */

import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { DATABASE_SERVICES } from '@brand-data/contracts';
import { type PlannedService, type PlanOptions, planStack, startStack } from '@brand-data/local';
import { newSecrets } from '@brand-data/servers';
import { startTestMongod, startTestNats, type TestServer } from '@brand-data/testing/servers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { MongoClient } from 'mongodb';
import { inject } from 'vitest';
import { type RunningStack, runningStack } from './running-stack.ts';

export interface TestStackOptions {
  /** By default two. */
  gateways?: number;
  replicas?: PlanOptions['replicas'];
  /** Whether to start a mongod that the test can kill. By default the stack uses its own databases in the shared mongod. */
  ownMongod?: boolean;
  /** Fills the stack's databases before the services start, as if they had run before. */
  fill?: (databasePrefix: string) => Promise<void>;
  /** A NATS without users that the test itself starts and stops. By default the stack starts one. */
  natsUrl?: string;
  /** The folder with the certificates of all identities. By default the one that all tests share. */
  certificates?: string;
  /** Changes the processes before they are started: their settings, their ports, their main files. */
  change?: (service: PlannedService) => PlannedService;
  /** Settings of all services, such as { LOG_LEVEL: 'debug' }. */
  environment?: NodeJS.ProcessEnv;
}

export interface TestStack extends RunningStack {
  /** Stops all processes and removes their files, databases and users. */
  stop(): Promise<void>;
}

/** Starts a nats-server, the services behind the gateways, and the gateways. Resolves when all are ready. */
export async function startTestStack(options: TestStackOptions = {}): Promise<TestStack> {
  const { gateways = 2, replicas = {}, natsUrl, change = (service) => service } = options;
  const dataDir = await temporaryFolder();
  const databasePrefix = `test_${randomBytes(6).toString('hex')}`;
  const secrets = newSecrets();
  const servers: TestServer[] = [];
  const stopServers = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const nats = natsUrl === undefined ? await startTestNats(secrets.serverSecret) : undefined;
    if (nats !== undefined) servers.push(nats);
    const mongod = options.ownMongod ? await startTestMongod() : undefined;
    if (mongod !== undefined) servers.push(mongod);
    await options.fill?.(databasePrefix);
    const plan = await planStack({
      dataDir,
      gateways,
      replicas,
      databasePrefix,
      certificates: options.certificates ?? inject('certificates'),
      nats: { url: nats?.url ?? natsUrl ?? '', hasUsers: nats !== undefined },
      mongodb: { url: mongod?.url ?? inject('mongodbUrl'), hasUsers: true },
      secrets,
      // A worker of images loads its libraries at its start, and most tests ask for no image.
      environment: { IMAGE_WORKERS: '1', ...options.environment },
    });
    const stack = await startStack({ ...plan, services: plan.services.map(change) });
    return {
      ...(await runningStack(
        stack,
        servers.map(({ child }) => child),
      )),
      async stop() {
        await stack.stop();
        if (mongod === undefined) await dropDatabases(stack.mongodbUrl, databasePrefix);
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
    // A service's user and its role have the database's name.
    for (const service of DATABASE_SERVICES)
      for (const kind of ['dropUser', 'dropRole'])
        await client
          .db('admin')
          .command({ [kind]: `${prefix}_${service}` })
          .catch(() => {});
  } finally {
    await client.close();
  }
}
