import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from './problem.ts';
import { newSecrets, type Secrets } from './secrets.ts';

/** What a start remembers for the next one, beside the servers' data. */
export interface State extends Secrets {
  /** By what listens there. */
  ports: Record<string, number>;
}

/** Reads the state that is kept in the folder; of a new folder, new secrets. */
export async function readState(folder: string): Promise<State> {
  const kept = await readJson<State>(join(folder, 'state.json'));
  return kept ?? { ...newSecrets(), ports: {} };
}

export function writeState(folder: string, state: State): Promise<void> {
  return writeSecret(join(folder, 'state.json'), state);
}

/** A JSON file, or undefined when there is none. Rejects with a Problem when it cannot be read. */
export async function readJson<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Problem(`${file} cannot be read (${(error as Error).message}): put it right or remove it.`);
  }
}

/** Writes a JSON file that only its owner may read, all of it or nothing. */
export async function writeSecret(file: string, value: unknown): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(draft, file);
}

interface Holder {
  pid: number;
  /** Tells it from a later process of the same number; empty where the system does not say. */
  startedAt: string;
}

/**
 * Makes the folder and takes it for this process; the returned function gives it back. A lock that its process left
 * behind is taken over. Rejects with a Problem when another process holds it.
 */
export async function lockDataFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true }).catch((error: Error) => {
    throw new Problem(`${folder} cannot be made (${error.message}): choose another with --data DIR.`);
  });
  const file = join(folder, 'lock');
  const mine: Holder = { pid: process.pid, startedAt: await startOf(process.pid) };
  for (;;) {
    try {
      await writeFile(file, JSON.stringify(mine), { flag: 'wx' });
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        throw new Problem(`${folder} cannot be written to: choose another with --data DIR.`);
      }
    }
    const holder = await readHolder(file);
    if (holder !== undefined && (await isAlive(holder))) {
      throw new Problem(
        `${folder} is in use by process ${holder.pid}: stop that one first, or keep another set of data with --data DIR.`,
      );
    }
    await rm(file, { force: true });
  }
}

async function readHolder(file: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

async function isAlive({ pid, startedAt }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return startedAt === (await startOf(pid));
}

/** When a process started, in ticks since the system did; Linux alone tells without a program's help. */
async function startOf(pid: number): Promise<string> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field is the program's name in brackets and may hold anything.
  return status.slice(status.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
