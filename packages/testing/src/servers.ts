import { rm } from 'node:fs/promises';
import { type TestServer, testMongod, testNats } from './server-kinds.ts';
import { temporaryFolder } from './temporary-folder.ts';

export type { TestServer } from './server-kinds.ts';

/** Starts a nats-server with JetStream on a random port. Its `stop` also removes its files. `secret`: see `testNats`. */
export function startTestNats(secret?: string): Promise<TestServer> {
  return inFolderOfItsOwn((dataDir) => testNats(dataDir, secret));
}

/** Starts a replica set of one mongod on a random port. Its `stop` also removes its files. */
export function startTestMongod(): Promise<TestServer> {
  return inFolderOfItsOwn(testMongod);
}

async function inFolderOfItsOwn(start: (dataDir: string) => Promise<TestServer>): Promise<TestServer> {
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
