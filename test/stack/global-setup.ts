import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, realpath, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepCertificates } from '@brand-data/local';
import { startMongod } from '@brand-data/servers';
import { isRunning } from '@brand-data/testing/is-running';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A replica set that all tests share. Each test uses its own databases. */
    mongodbUrl: string;
    /** The folder with the certificates of all identities. Services of all tests use the same. */
    certificates: string;
  }
}

/** A file system in memory, on Linux. */
const IN_MEMORY = '/dev/shm';
/** All tests together write about half of this. */
const ENOUGH_BYTES = 8 * 1024 ** 3;

/**
 * Returns the folder in which the tests' servers keep their data, by default in memory if there is enough. mongod and nats-server
 * sync every write to the disk, so on a busy disk tests would take many times as long.
 */
async function parentFolder(): Promise<string> {
  const { TEST_FOLDER } = process.env;
  if (TEST_FOLDER) return TEST_FOLDER;
  const { bavail, bsize } = await statfs(IN_MEMORY).catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= ENOUGH_BYTES ? IN_MEMORY : tmpdir();
}

/** Removes the folders of runs that were killed: they would fill the memory. The name of a folder has the id of its process. */
async function removeLeftovers(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid] = /^brand-data-tests-(\d+)-/.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) await remove(join(parent, name));
  }
}

const remove = (folder: string) => rm(folder, { recursive: true, force: true, maxRetries: 3 });

/** Runs once before all tests. Creates the folder and the certificates, and starts the mongod that all tests share. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const parent = await parentFolder();
  await removeLeftovers(parent);
  const folder = await realpath(await mkdtemp(join(parent, `brand-data-tests-${process.pid}-`)));
  // Tests, and the servers and programs that they start, write all their files into this folder.
  process.env.TMPDIR = folder;
  const certificates = join(folder, 'certificates');
  await keepCertificates(certificates);
  project.provide('certificates', certificates);
  const mongod = await startMongod({
    dataDir: join(folder, 'mongod'),
    say: (line) => console.log(line),
    secret: randomBytes(16).toString('hex'),
  });
  project.provide('mongodbUrl', mongod.url);
  return async () => {
    await mongod.stop();
    await remove(folder);
  };
}
