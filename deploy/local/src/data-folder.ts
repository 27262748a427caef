import { chmod, mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newSecrets, Problem, type Secrets } from '@brand-data/servers';
import { tryLock } from 'fs-native-extensions';

/** The data that `npm start` keeps for its next run, in addition to the servers' data. */
export interface State extends Secrets {
  /** The port of each listener, by the listener's name. */
  ports: Record<string, number>;
}

/** Reads the folder's state. Secrets that it lacks are new. */
export async function readState(folder: string): Promise<State> {
  const kept = await readJson<Partial<State>>(join(folder, 'state.json'));
  return { ...newSecrets(), ports: {}, ...kept };
}

export function writeState(folder: string, state: State): Promise<void> {
  return writeSecret(join(folder, 'state.json'), state);
}

/** Reads a JSON file. Resolves to undefined if it does not exist. Rejects with a Problem if it cannot be read. */
export async function readJson<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Problem(`${file} cannot be read (${(error as Error).message}): put it right or remove it.`);
  }
}

/** Replaces a JSON file as a whole, readable only by its owner. */
export function writeSecret(file: string, value: unknown): Promise<void> {
  return replaceFile(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** Replaces a file as a whole: no reader ever finds a part of it. By default only its owner can read it. */
export async function replaceFile(file: string, text: string, mode = 0o600): Promise<void> {
  const draft = `${file}.new`;
  await writeFile(draft, text, { mode: 0o600 });
  await chmod(draft, mode);
  await rename(draft, file);
}

/**
 * Creates the folder, which only its owner can enter, and locks it for this process. The returned function unlocks it. The system
 * also unlocks the folder when the process ends in any way. Rejects with a Problem if another process has locked it.
 */
export async function lockDataFolder(folder: string): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new Problem(`${folder} cannot be made (${error.message}): choose another with --data DIR.`);
  });
  const lock = await open(join(folder, 'lock'), 'a+').catch(() => {
    throw new Problem(`${folder} cannot be written to: choose another with --data DIR.`);
  });
  if (!tryLock(lock.fd)) {
    const holder = await lock.readFile('utf8');
    await lock.close();
    throw new Problem(
      `${folder} is in use by process ${holder}: stop that one first, or keep another set of data with --data DIR.`,
    );
  }
  await lock.truncate();
  await lock.write(String(process.pid));
  return () => lock.close();
}
