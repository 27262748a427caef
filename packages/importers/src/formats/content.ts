import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { TransformOptions } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, type ZlibOptions } from 'node:zlib';
import { BrokenFile } from './broken-file.ts';
import { bytesInZip, filesInZip } from './zip.ts';

/** A part of a file's content, decompressed. */
export interface Chunk {
  bytes: Buffer;
  /** How many bytes of the file itself, as it is stored, have been read so far. */
  position: number;
}

/** Programs that decompress bzip2. The first installed one is used. lbzip2 comes first because it uses all cores. */
const BUNZIP_PROGRAMS = ['lbzip2', 'bzip2'];
const CHUNK_BYTES = 1 << 20;
/** How much of a gzip file is decompressed at once. It becomes at most a thousand times as much, 4 MiB, which all is in memory. */
const GZIP_BYTES = 1 << 12;

/**
 * Yields the content of a file. Decompresses gzip (any number of members), bzip2 (any number of streams) and a zip of one file. A
 * workbook, which is a zip of several files, stays as it is. If the file is damaged or truncated, yields everything before that
 * place and then throws BrokenFile. Rejects if the file cannot be opened or read, or if it is a bzip2 file and no program to
 * decompress it is installed.
 */
export async function* contentOf(file: string): AsyncGenerator<Chunk> {
  const compression = await compressionOf(file);
  if (compression === 'gzip') yield* gunzipped(file);
  else if (compression === 'bzip2') yield* bunzipped(file);
  else if (compression === 'zip') yield* unzipped(file);
  else yield* plain(file);
}

/** Looks at the first bytes, not at the file's name. Only for a pipe it looks at the name, because reading would consume the pipe. */
export async function compressionOf(file: string): Promise<'gzip' | 'bzip2' | 'zip' | undefined> {
  const stats = await stat(file);
  if (stats.isDirectory())
    throw Object.assign(new Error(`${file} is a folder`), { code: 'EISDIR', path: file });
  if (!stats.isFile()) {
    if (file.endsWith('.gz')) return 'gzip';
    return file.endsWith('.bz2') ? 'bzip2' : undefined;
  }
  await using handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
  const head = buffer.toString('latin1', 0, bytesRead);
  if (head.startsWith('\x1f\x8b')) return 'gzip';
  if (head === 'PK\x03\x04') return 'zip';
  return head.startsWith('BZh') ? 'bzip2' : undefined;
}

async function* plain(file: string): AsyncGenerator<Chunk> {
  let position = 0;
  for await (const bytes of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
    position += bytes.length;
    yield { bytes, position };
  }
}

async function* unzipped(file: string): AsyncGenerator<Chunk> {
  if (!(await isZipOfOne(file))) return yield* plain(file);
  const { size } = await stat(file);
  for await (const member of filesInZip(file)) {
    let read = 0;
    for await (const bytes of bytesInZip(member)) {
      read += bytes.length;
      // How much of the zip itself was read is not known.
      yield { bytes, position: Math.floor((size * read) / Math.max(member.size, read)) };
    }
  }
}

/** Throws BrokenFile if a file that is named .zip cannot be opened as one. */
async function isZipOfOne(file: string): Promise<boolean> {
  let count = 0;
  try {
    for await (const _ of filesInZip(file)) if (++count > 1) break;
  } catch (error) {
    if (!(error instanceof BrokenFile) || /\.zip$/i.test(file)) throw error;
  }
  return count === 1;
}

/**
 * Writes to the decompressor chunk by chunk. If the stream were piped through the decompressor, an error at the place
 * where the file breaks off would discard the data that was decompressed before.
 */
async function* gunzipped(file: string): AsyncGenerator<Chunk> {
  // Without room for what is written, each write is followed by `drain` when its bytes are decompressed.
  const options: ZlibOptions & TransformOptions = { chunkSize: CHUNK_BYTES / 4, writableHighWaterMark: 0 };
  const gunzip = createGunzip(options);
  const ready: Buffer[] = [];
  gunzip.on('data', (bytes: Buffer) => ready.push(bytes));
  // The end comes early if padding follows the last member. The write of the padding is then never answered.
  gunzip.once('end', () => gunzip.emit('drain'));
  let position = 0;
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES / 8 }))
      for (let start = 0; start < chunk.length; start += GZIP_BYTES) {
        const bytes = chunk.subarray(start, start + GZIP_BYTES);
        position += bytes.length;
        if (gunzip.readableEnded) continue;
        gunzip.write(bytes);
        await once(gunzip, 'drain');
        for (const out of ready.splice(0)) yield { bytes: out, position };
      }
    // Only the end shows that a file is truncated: its last chunk is written without an error.
    if (!gunzip.readableEnded) await once(gunzip.end(), 'end');
  } catch (error) {
    if (error !== gunzip.errored) throw error;
  } finally {
    gunzip.destroy();
  }
  // Even if nothing is left, the position is that of the end.
  yield { bytes: Buffer.concat(ready), position };
  if (gunzip.errored === null) return;
  throw new BrokenFile(
    Object(gunzip.errored).code === 'Z_BUF_ERROR'
      ? 'the gzip file ends too early and is incomplete: download or copy it again'
      : 'the gzip file is damaged from here on and cannot be read further: download or copy it again',
  );
}

async function* bunzipped(file: string): AsyncGenerator<Chunk> {
  const program = await startBunzip(file);
  let complaint = '';
  program.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(0, 1_000);
  });
  const closed = new Promise<number | null>((resolve) => program.once('close', resolve));
  const source = createReadStream(file, { highWaterMark: CHUNK_BYTES });
  // If the program gives up, it closes its input, and this promise rejects. Its exit status shows the failure anyway.
  const fed = pipeline(source, program.stdin).catch(() => undefined);
  try {
    for await (const bytes of program.stdout) yield { bytes, position: source.bytesRead };
    await fed;
    if ((await closed) === 0) return;
    const [reason = ''] = complaint.trim().split('\n', 1);
    throw new BrokenFile(
      `the bzip2 file is damaged or incomplete and cannot be read further: download or copy it again (${reason})`,
    );
  } finally {
    program.kill();
    source.destroy();
  }
}

async function startBunzip(file: string): Promise<ChildProcessWithoutNullStreams> {
  for (const name of BUNZIP_PROGRAMS) {
    const program = spawn(name, ['-dc'], { stdio: 'pipe' });
    if (await once(program, 'spawn').catch(() => undefined)) return program;
  }
  throw new Error(
    `${file} is compressed with bzip2: install ${BUNZIP_PROGRAMS.join(' or ')}, or compress the file with gzip instead`,
  );
}

/** Returns the name of what contentOf yields: that of the file in a zip, else the file's own, without its folder. */
export async function nameOfContent(file: string): Promise<string> {
  if ((await compressionOf(file)) === 'zip' && (await isZipOfOne(file)))
    for await (const { name } of filesInZip(file)) return basename(name);
  return basename(file);
}

/** Expands folders into the wanted files below them, sorted by path. */
export async function filesOf(
  paths: readonly string[],
  isWanted: (name: string) => boolean,
): Promise<string[]> {
  const files = await Promise.all(
    paths.map(async (path) => {
      if (!(await stat(path)).isDirectory()) return [path];
      const entries = await readdir(path, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && isWanted(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
        .sort();
    }),
  );
  return files.flat();
}

/** Returns how many bytes the files have as they are stored, or 0 if one of them is a pipe, whose size is not known. */
export async function sizeOf(files: readonly string[]): Promise<number> {
  const stats = await Promise.all(files.map((file) => stat(file)));
  return stats.every((each) => each.isFile()) ? stats.reduce((sum, { size }) => sum + size, 0) : 0;
}
