import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';

/** A file that cannot be had as it is declared, and what to do. A later run may have more luck. */
export class FetchProblem extends Error {
  override readonly name = 'FetchProblem';
}

/** What tells one version of a file on a server from another. */
export interface Validators {
  url: string;
  etag?: string | undefined;
  lastModified?: string | undefined;
}

/** What is known of a whole file, or of the beginning of one. */
interface FileState extends Validators {
  /** The length of a whole file, by which a file that somebody else put there is noticed. */
  bytes?: number;
  /** The SHA-256 of a whole file. */
  digest?: string;
}

/** One file of the folder, with its state in a second file beside it. */
export class StoredFile {
  readonly path: string;
  readonly #statePath: string;

  constructor(path: string) {
    this.path = path;
    this.#statePath = `${path}.state.json`;
  }

  /** Resolves to the state of a file of this URL. Undefined without one, or if the file is not the one that the state tells of. */
  async state(url: string): Promise<(FileState & { size: number }) | undefined> {
    const state = await readState<FileState>(this.#statePath);
    const size = (await stat(this.path).catch(() => undefined))?.size;
    if (size === undefined || state?.url !== hash('sha256', url) || (state.bytes ?? size) !== size)
      return undefined;
    return { ...state, url, size };
  }

  /** Notes the URL by its hash, because its query may be a secret. */
  note({ url, ...state }: FileState): Promise<void> {
    return writeState(this.#statePath, { ...state, url: hash('sha256', url) });
  }

  /** Removes the state first: a file without one is fetched again. */
  async remove(): Promise<void> {
    await rm(this.#statePath, { force: true });
    await rm(this.path, { force: true });
  }

  /** Puts a file that is whole in this one's place. No reader ever finds a part of it. */
  async replaceBy(whole: StoredFile, state: FileState): Promise<void> {
    await rm(this.#statePath, { force: true });
    await rename(whole.path, this.path);
    await this.note(state);
    await whole.remove();
  }
}

/** Reads a state that `writeState` wrote. Undefined if there is none, or if it is no JSON. */
export async function readState<State>(path: string): Promise<State | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as State;
  } catch {
    return undefined;
  }
}

/** Replaces a state as a whole. It is on the disk when this resolves. */
export async function writeState(path: string, state: object): Promise<void> {
  const draft = `${path}.new`;
  await writeFile(draft, `${JSON.stringify(state)}\n`, { flush: true });
  await rename(draft, path);
}

/** Resolves to a file's digest in hexadecimal. */
export async function digestOf(path: string, algorithm: string): Promise<string> {
  const digest = createHash(algorithm);
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) digest.update(chunk);
  return digest.digest('hex');
}
