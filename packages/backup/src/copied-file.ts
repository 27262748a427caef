import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { Fault } from '@brand-data/runtime';
import type { CopiedFile } from './manifest.ts';

/** Writes the parts into a compressed file that only its owner may read. `parts` yields one document or message at a time. */
export async function writeCopied(
  folder: string,
  file: string,
  parts: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<CopiedFile> {
  const path = join(folder, file);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const sum = createHash('sha256');
  let bytes = 0;
  let count = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sum.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(
    async function* () {
      for await (const part of parts) {
        count += 1;
        yield part;
      }
    },
    createGzip({ level: 4 }),
    measure,
    createWriteStream(path, { mode: 0o600, flush: true }),
    { signal },
  );
  return { file, count, bytes, sha256: sum.digest('hex') };
}

/** Throws Fault `failed_precondition` if the file is not as it was written. */
export async function verifyCopied(
  folder: string,
  { file, sha256 }: CopiedFile,
  signal: AbortSignal,
): Promise<void> {
  const sum = createHash('sha256');
  try {
    await pipeline(createReadStream(join(folder, file)), sum, { signal });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new Fault('failed_precondition', `${file} is missing in the copy`);
  }
  if (sum.digest('hex') !== sha256)
    throw new Fault('failed_precondition', `${file} is damaged: its checksum differs from the manifest's`);
}

/** Returns the uncompressed content in pieces of any size. */
export function readCopied(folder: string, { file }: CopiedFile): AsyncIterable<Buffer> {
  const source = createReadStream(join(folder, file));
  const content = createGunzip();
  source.on('error', (error) => content.destroy(error));
  return source.pipe(content);
}
