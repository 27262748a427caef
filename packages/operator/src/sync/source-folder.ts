import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { readState, writeState } from '@brand-data/importers';
import { tryLock } from 'fs-native-extensions';

/** What a sync remembers of a source, in its folder. */
export interface SyncState {
  /** What the last import has brought: the files, and the declaration by which they were read. */
  version: string;
  /** The id of that import. */
  importId: string;
  /** How many records it has brought. */
  brought: number;
  /** When the last sync of the source ended that was not to be repeated: it imported, found nothing new, or was stopped by a guard. */
  doneAt: number;
}

/** The folder of a source: what was fetched, and what the last sync did. */
export class SourceFolder {
  readonly path: string;
  /** What was fetched. */
  readonly files: string;
  readonly #statePath: string;

  constructor(folder: string, source: string) {
    this.path = join(folder, source);
    this.files = join(this.path, 'files');
    this.#statePath = join(this.path, 'state.json');
  }

  async state(): Promise<Partial<SyncState>> {
    return (await readState<SyncState>(this.#statePath)) ?? {};
  }

  async note(changes: Partial<SyncState>): Promise<void> {
    await writeState(this.#statePath, { ...(await this.state()), ...changes });
  }

  /**
   * Creates the folder and locks it until the result is disposed of, or the process ends in any way. The system keeps the lock, so
   * that no other pod of the volume can have it either. Resolves to undefined if another process has it.
   */
  async lock(): Promise<AsyncDisposable | undefined> {
    await mkdir(this.path, { recursive: true });
    const handle = await open(join(this.path, 'lock'), 'a+');
    if (tryLock(handle.fd)) return handle;
    await handle.close();
    return undefined;
  }
}
