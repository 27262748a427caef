import type { Readable } from 'node:stream';
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
}

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
      yield { name, size, storedSize, open: () => zip.openReadStreamPromise(entry) };
    }
  } catch (error) {
    throw Object(error).code === undefined ? brokenZip(error) : error;
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
