import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startTestMongod } from './servers.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A replica set that all tests share: each takes databases of its own. */
    mongodbUrl: string;
  }
}

/** Runs once, before all tests: one mongod for them all, on a random port, its data in a temporary folder. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(join(tmpdir(), 'brand-data-tests-'));
  const mongod = await startTestMongod(dataDir);
  project.provide('mongodbUrl', mongod.url);
  return async () => {
    await mongod.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
