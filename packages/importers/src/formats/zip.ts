import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { constants, inflateRawSync } from 'node:zlib';
import { openPromise } from 'yauzl';
import { BrokenFile } from './broken-file.ts';

/** A file inside a zip. */
export interface FileInZip {
  /** With its folders: "CIK0000320193.json". */
  name: string;
  /** Decompressed, in bytes. */
  size: number;
  /** In the zip, in bytes. */
  storedSize: number;
  open(): Promise<Readable>;
  /** Reads the first bytes, of which many fit into 4 KiB of the zip. Empty if they cannot be decompressed. Costs a tenth of a stream. */
  start(): Promise<Buffer>;
}

const START_BYTES = 4_096;

/**
 * Yields the files of a zip, of any size and number, in the order of its directory. A file can be opened until the next one is taken.
 * Throws BrokenFile if the zip is truncated or damaged; a stream that is open then fails with another error.
 */
export async function* filesInZip(file: string): AsyncGenerator<FileInZip> {
  try {
    const zip = await openPromise(file);
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName.endsWith('/')) continue;
      const { fileName: name, uncompressedSize: size, compressedSize: storedSize } = entry;
      const start = { decodeFileData: false, start: 0, end: Math.min(storedSize, START_BYTES) };
      yield {
        name,
        size,
        storedSize,
        open: () => zip.openReadStreamPromise(entry),
        start: () => startOf(zip.openReadStreamPromise(entry, start)),
      };
    }
  } catch (error) {
    throw Object(error).code === undefined ? brokenZip(error) : error;
  }
}

async function startOf(opened: Promise<Readable>): Promise<Buffer> {
  try {
    return inflateRawSync(await buffer(await opened), { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return Buffer.alloc(0);
  }
}

/** Yields a file's bytes. Throws BrokenFile after everything before the place where they are damaged. */
export async function* bytesInZip({ open }: FileInZip): AsyncGenerator<Buffer> {
  try {
    yield* await open();
  } catch (error) {
    throw brokenZip(error);
  }
}

function brokenZip(error: unknown): BrokenFile {
  if (error instanceof BrokenFile) return error;
  const { message } = error as Error;
  return new BrokenFile(
    `the zip file is damaged or incomplete and cannot be read further: download or copy it again (${message})`,
  );
}
