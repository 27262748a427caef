import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { type LocalServer, natsUsers, startMongod, startNatsServer } from '@brand-data/servers';
import { temporaryFolder } from './temporary-folder.ts';

/** A server of a test. Its `stop` also removes its files. */
export type TestServer = Pick<LocalServer, 'url' | 'child' | 'stop'>;

const say = (line: string) => console.log(line);

/**
 * Starts a nats-server with JetStream on a random port.
 *
 * @param secret if it is given, the server has the users of this secret; connections without a user may do everything, as those of
 *   tests do
 */
export function startTestNats(secret?: string): Promise<TestServer> {
  const settings = secret === undefined ? [] : [...natsUsers(secret), NO_USER_NEEDED];
  return inTemporaryFolder((dataDir) => startNatsServer({ dataDir, say, settings }));
}

/** Lets connections without a user do all that the user may do who may do everything. */
export const NO_USER_NEEDED = 'no_auth_user: admin';

/** Starts a replica set of one mongod on a random port. The user in the URL may do everything. */
export function startTestMongod(): Promise<TestServer> {
  const secret = randomBytes(16).toString('hex');
  return inTemporaryFolder((dataDir) => startMongod({ dataDir, say, secret }));
}

async function inTemporaryFolder(start: (dataDir: string) => Promise<TestServer>): Promise<TestServer> {
  const dataDir = await temporaryFolder();
  const server = await start(dataDir);
  return {
    ...server,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
