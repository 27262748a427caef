import { rm } from 'node:fs/promises';
import { type TestServer, testMongod, testNats } from './server-kinds.ts';
import { temporaryFolder } from './temporary-folder.ts';

export type { TestServer } from './server-kinds.ts';

/** A nats-server with JetStream on a random port; what it keeps is removed when it is stopped. */
export function startTestNats(): Promise<TestServer> {
  return inFolderOfItsOwn(testNats);
}

/** A MongoDB replica set of one on a random port; what it keeps is removed when it is stopped. */
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
