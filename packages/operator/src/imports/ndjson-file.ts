import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';

/** A file with one JSON document a line. It is made, and one of before replaced, with the first document. */
export interface NdjsonFile {
  path: string;
  /** How many documents it has. */
  readonly count: number;
  /** Returns when more may be written. */
  write(document: unknown): Promise<void>;
  /** Returns when all is in the file. Rejects when it could not be written. */
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
