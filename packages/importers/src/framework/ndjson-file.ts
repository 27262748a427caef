import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { finished } from 'node:stream/promises';

/** A file with one JSON document a line. Writing the first document creates the file, and replaces an existing one. */
export interface NdjsonFile {
  path: string;
  /** How many documents were written. */
  readonly count: number;
  /** Resolves when more may be written. Rejects when the file cannot be written. */
  write(document: unknown): Promise<void>;
  /** Resolves when everything is in the file. Rejects when the file could not be written. */
  close(): Promise<void>;
}

export function ndjsonFile(path: string): NdjsonFile {
  let stream: WriteStream | undefined;
  let failure: Error | undefined;
  let count = 0;
  return {
    path,
    get count() {
      return count;
    },
    async write(document) {
      if (stream === undefined) {
        stream = createWriteStream(path);
        stream.on('error', (error) => {
          failure = error;
        });
      }
      if (failure !== undefined) throw failure;
      count++;
      if (!stream.write(`${JSON.stringify(document)}\n`)) await once(stream, 'drain');
    },
    async close() {
      if (failure !== undefined) throw failure;
      if (stream === undefined) return;
      stream.end();
      await finished(stream);
    },
  };
}

/**
 * Removes the file of an earlier run. To protect other files, it removes the file only if it begins with a JSON document
 * whose first field is one of `fields`.
 */
export async function removeEarlier(path: string, fields: readonly string[]): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return;
  const handle = await open(path);
  let start: string;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(64), 0, 64, 0);
    start = buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
  if (fields.some((field) => start.startsWith(`{"${field}":`))) await rm(path, { force: true });
}
