import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

/** A part of a file's content, decompressed. */
export interface Chunk {
  bytes: Buffer;
  /** How many bytes of the file itself, as it is stored, have been read so far. */
  position: number;
}

/** A compressed file is damaged or truncated: its content could be read up to here and no further. */
export class BrokenFile extends Error {
  override readonly name = 'BrokenFile';
}

/** The first one that is installed decompresses bzip2; lbzip2 uses all cores. */
const BUNZIP_PROGRAMS = ['lbzip2', 'bzip2'];
const CHUNK_BYTES = 1 << 20;

/**
 * The content of a file, decompressed when it is a gzip (of any number of members) or a bzip2 (of any number of
 * streams). Everything that can be read is given before a BrokenFile is thrown. Rejects when the file cannot be opened
 * or read, and when it is a bzip2 and no program to decompress it is installed.
 */
export async function* contentOf(file: string): AsyncGenerator<Chunk> {
  const compression = await compressionOf(file);
  if (compression === 'gzip') yield* gunzipped(file);
  else if (compression === 'bzip2') yield* bunzipped(file);
  else yield* plain(file);
}

/** By the first bytes, whatever the file is called. A pipe cannot be looked into: there the name decides. */
async function compressionOf(file: string): Promise<'gzip' | 'bzip2' | undefined> {
  if (!(await stat(file)).isFile()) {
    if (file.endsWith('.gz')) return 'gzip';
    return file.endsWith('.bz2') ? 'bzip2' : undefined;
  }
  await using handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(3), 0, 3, 0);
  const head = buffer.toString('latin1', 0, bytesRead);
  if (head.startsWith('\x1f\x8b')) return 'gzip';
  return head === 'BZh' ? 'bzip2' : undefined;
}

async function* plain(file: string): AsyncGenerator<Chunk> {
  let position = 0;
  for await (const bytes of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
    position += bytes.length;
    yield { bytes, position };
  }
}

/**
 * Writes to the decompressor chunk by chunk: a stream that is piped through it would lose, at the place where the file
 * breaks off, what was decompressed before.
 */
async function* gunzipped(file: string): AsyncGenerator<Chunk> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES / 4 });
  const ready: Buffer[] = [];
  gunzip.on('data', (bytes: Buffer) => ready.push(bytes));
  let failure: Error | undefined;
  let settle = (): void => undefined;
  gunzip.on('error', (error) => {
    failure = error;
    settle();
  });
  const settled = (act: (done: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve) => {
      settle = resolve;
      act((error) => {
        failure ??= error ?? undefined;
        resolve();
      });
    });
  let position = 0;
  try {
    for await (const bytes of createReadStream(file, { highWaterMark: CHUNK_BYTES / 8 })) {
      position += bytes.length;
      await settled((done) => gunzip.write(bytes, done));
      for (const out of ready.splice(0)) yield { bytes: out, position };
      if (failure !== undefined) break;
    }
    // A truncated file is noticed only after its last chunk was written without an error.
    if (failure === undefined) await settled((done) => gunzip.once('end', done).end());
    for (const out of ready.splice(0)) yield { bytes: out, position };
  } finally {
    gunzip.destroy();
  }
  if (failure === undefined) return;
  throw new BrokenFile(
    Object(failure).code === 'Z_BUF_ERROR'
      ? 'the gzip breaks off here, and so the file is not whole: get it again'
      : 'the gzip is damaged here, and the rest cannot be read: get it again',
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
  let position = 0;
  source.on('data', (bytes) => {
    position += bytes.length;
  });
  // A program that gives up closes its input, and its exit status is not 0.
  const fed = pipeline(source, program.stdin).catch(() => undefined);
  try {
    for await (const bytes of program.stdout) yield { bytes, position };
    await fed;
    if ((await closed) === 0) return;
    const [reason = ''] = complaint.trim().split('\n', 1);
    throw new BrokenFile(
      `the bzip2 is damaged or breaks off, and the rest cannot be read: get it again (${reason})`,
    );
  } finally {
    program.kill();
    source.destroy();
  }
}

async function startBunzip(file: string): Promise<ChildProcessWithoutNullStreams> {
  for (const name of BUNZIP_PROGRAMS) {
    const program = spawn(name, ['-dc'], { stdio: 'pipe' });
    const isStarted = await once(program, 'spawn').then(
      () => true,
      () => false,
    );
    if (isStarted) return program;
  }
  throw new Error(
    `${file} is compressed with bzip2: install ${BUNZIP_PROGRAMS.join(' or ')}, or give the file as .gz`,
  );
}
