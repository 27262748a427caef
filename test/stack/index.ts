/** Starts real servers and services for tests, each as its own process on a random port. */

import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Bds,
  bdsWith,
  type OperatorConnection,
  type Stack,
  startStack,
  writeSecret,
} from '@brand-data/local';
import { type Child, dropMongodbUsers, newSecrets } from '@brand-data/servers';
import { startTestMongod, startTestNats, type TestServer } from '@brand-data/testing/servers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { MongoClient } from 'mongodb';
import { inject } from 'vitest';

export interface TestStackOptions {
  gateways?: number;
  /**
   * The number of metering's replicas, by default one named "metering". Several are named "metering-1", "metering-2" and so on.
   */
  meteringReplicas?: number;
  /** The number of images' replicas, by default one named "images". Several are named "images-1", "images-2" and so on. */
  imagesReplicas?: number;
  /** Whether to start a mongod that the test can kill. By default the stack uses its own databases in the shared mongod. */
  ownMongod?: boolean;
  /** Fills the stack's databases before the services start, as if they had run before. */
  fill?: (databasePrefix: string) => Promise<void>;
  /** A NATS that the test itself starts and stops. By default the stack starts one. */
  natsUrl?: string;
  /** The folder with the certificates of all identities. By default the one that all tests share. */
  certificates?: string;
  /** The base URL of images in records. By default that of the first replica of images. */
  logoHost?: string;
  /** Returns the URL at which the named service reaches NATS, for example through a wire. */
  natsUrlFor?: (name: string, natsUrl: string) => string;
  /** The services' settings in addition to their addresses, such as { LOG_LEVEL: 'debug' }. */
  environment?: NodeJS.ProcessEnv;
}

export interface TestStack {
  gateways: Stack['gateways'];
  images: Stack['images'];
  /** The URL of each service's /readyz and /metrics, by the service's name. */
  opsUrls: Stack['opsUrls'];
  natsUrl: string;
  mongodbUrl: string;
  /** The services' databases are `${databasePrefix}_accounts` and so on. */
  databasePrefix: string;
  operator: OperatorConnection;
  allowanceKeyFiles: Stack['allowanceKeyFiles'];
  /** The gRPC ports that gateways call, by service. */
  targets: Stack['targets'];
  /** The folder with the certificates of all identities. */
  certificates: string;
  settingFiles: Stack['settingFiles'];
  /** Runs a `bds` command, such as `bds('plan', 'list')`, and resolves to its answer. */
  bds: Bds;
  /** The process id of "accounts", "catalog", "metering", "images", "gateway-1", "nats-server" or, with `ownMongod`, "mongod". */
  pid(name: string): number | undefined;
  /** Sends SIGKILL. The process stays down until `restart`. */
  kill(name: string): Promise<void>;
  /** Stops the process in order if it runs, and starts it again with the same ports and data. Resolves when it is ready. */
  restart(name: string): Promise<void>;
  /** Everything that the process has logged. */
  logs(name: string): Promise<string>;
  /** Stops all processes and removes their files, databases and users. */
  stop(): Promise<void>;
}

/** Starts a nats-server, the three services behind the gateways, images, and the gateways. Resolves when all are ready. */
export async function startTestStack(options: TestStackOptions = {}): Promise<TestStack> {
  const {
    gateways = 2,
    meteringReplicas = 1,
    imagesReplicas = 1,
    ownMongod = false,
    logoHost,
    natsUrlFor,
    environment,
  } = options;
  const dataDir = await temporaryFolder();
  const databasePrefix = `test_${randomBytes(6).toString('hex')}`;
  const secrets = newSecrets();
  const servers: TestServer[] = [];
  const stopServers = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const nats = options.natsUrl === undefined ? await startTestNats(secrets.serverSecret) : undefined;
    if (nats !== undefined) servers.push(nats);
    const mongod = ownMongod ? await startTestMongod() : undefined;
    if (mongod !== undefined) servers.push(mongod);
    await options.fill?.(databasePrefix);
    const stack = await startStack({
      dataDir,
      gateways,
      replicas: { metering: meteringReplicas, images: imagesReplicas },
      databasePrefix,
      certificates: options.certificates ?? inject('certificates'),
      restart: false,
      natsUrl: nats?.url ?? options.natsUrl,
      natsHasUsers: nats !== undefined,
      mongodbUrl: mongod?.url ?? inject('mongodbUrl'),
      createMongodbUsers: true,
      secrets,
      ...(logoHost === undefined ? {} : { logoHost }),
      ...(natsUrlFor === undefined ? {} : { natsUrlFor }),
      // A worker of images loads its libraries at its start, and most tests ask for no image.
      environment: { IMAGE_WORKERS: '1', ...environment },
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
      images: stack.images,
      opsUrls: stack.opsUrls,
      natsUrl: stack.natsUrl,
      mongodbUrl: stack.mongodbUrl,
      databasePrefix,
      operator: stack.operator,
      allowanceKeyFiles: stack.allowanceKeyFiles,
      targets: stack.targets,
      certificates: stack.certificates,
      settingFiles: stack.settingFiles,
      bds: bdsWith(connectionFile, { MONGODB_URL: stack.mongodbUrl, NATS_URL: stack.natsUrl }),
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
    await dropMongodbUsers(client, (service) => `${prefix}_${service}`);
  } finally {
    await client.close();
  }
}
