import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { finished } from 'node:stream/promises';

/** A file with one JSON document a line. Writing the first document creates the file, and replaces an existing one. */
export class NdjsonFile {
  readonly path: string;
  /** How many documents were written. */
  count = 0;
  #stream: WriteStream | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Resolves when more may be written. Rejects when the file cannot be written. */
  async write(document: unknown): Promise<void> {
    // The error rejects the next call.
    this.#stream ??= createWriteStream(this.path).on('error', () => undefined);
    if (this.#stream.errored !== null) throw this.#stream.errored;
    this.count++;
    if (!this.#stream.write(`${JSON.stringify(document)}\n`)) await once(this.#stream, 'drain');
  }

  /** Resolves when everything is in the file. Rejects when the file could not be written. */
  async close(): Promise<void> {
    if (this.#stream !== undefined) await finished(this.#stream.end());
  }
}

/**
 * Removes the file of an earlier run. To protect other files, it removes the file only if it begins with a JSON document
 * whose first field is one of `fields`.
 */
export async function removeEarlier(path: string, fields: readonly string[]): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return;
  await using handle = await open(path);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
  const start = buffer.toString('utf8', 0, bytesRead);
  if (fields.some((field) => start.startsWith(`{"${field}":`))) await rm(path, { force: true });
}
