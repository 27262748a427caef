import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';

/** Some of a file's content, and how much of the file itself has been read for it. */
export interface Chunk {
  bytes: Buffer;
  /** Bytes of the file, compressed as it is. */
  position: number;
}

/** The file's content could be read up to here and no further: it is cut off or damaged. */
export class BrokenFile extends Error {}

export interface ChunkOptions {
  /** Programs that decompress bzip2 from their input to their output; the first that there is does it. */
  bunzipPrograms?: readonly string[];
}

/** lbzip2 uses all cores. */
const BUNZIP_PROGRAMS = ['lbzip2', 'bzip2'];
const CHUNK_BYTES = 1 << 20;

/**
 * The content of a file, decompressed when it is a gzip (of any number of members) or a bzip2 (of any number of
 * streams), which its first bytes say and not its name. All that can be read comes before a BrokenFile is thrown.
 */
export async function* chunksOf(path: string, options: ChunkOptions = {}): AsyncGenerator<Chunk> {
  const head = await headOf(path);
  if (head.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]))) yield* gunzipped(path);
  else if (head.toString('latin1').startsWith('BZh')) yield* bunzipped(path, options);
  else yield* plain(path);
}

async function headOf(path: string): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(3), 0, 3, 0);
  return buffer.subarray(0, bytesRead);
}

async function* plain(path: string): AsyncGenerator<Chunk> {
  let position = 0;
  for await (const bytes of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    position += bytes.length;
    yield { bytes, position };
  }
}

/** Written to by hand: reading from the stream would lose what it had decompressed when it meets the break. */
async function* gunzipped(path: string): AsyncGenerator<Chunk> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES / 4 });
  const ready: Buffer[] = [];
  gunzip.on('data', (bytes: Buffer) => ready.push(bytes));
  let broken: Error | undefined;
  let settle = (): void => undefined;
  gunzip.on('error', (error) => {
    broken = error;
    settle();
  });
  const settled = (act: (done: (error?: Error | null) => void) => void) =>
    new Promise<void>((resolve) => {
      settle = resolve;
      act((error) => {
        broken ??= error ?? undefined;
        resolve();
      });
    });
  let position = 0;
  try {
    for await (const bytes of createReadStream(path, { highWaterMark: CHUNK_BYTES / 8 })) {
      position += bytes.length;
      await settled((done) => gunzip.write(bytes, done));
      for (const out of ready.splice(0)) yield { bytes: out, position };
      if (broken !== undefined) break;
    }
    // That it breaks off is noticed after it has "finished".
    if (broken === undefined) await settled((done) => gunzip.once('end', done).end());
    for (const out of ready.splice(0)) yield { bytes: out, position };
  } finally {
    gunzip.destroy();
  }
  if (broken !== undefined) throw new BrokenFile(broken.message);
}

async function* bunzipped(path: string, options: ChunkOptions): AsyncGenerator<Chunk> {
  for (const program of options.bunzipPrograms ?? BUNZIP_PROGRAMS) {
    const child = spawn(program, ['-dc'], { stdio: 'pipe' });
    const started = await once(child, 'spawn').then(
      () => true,
      () => false,
    );
    if (started) return yield* bunzippedBy(child, path);
  }
  yield* bunzippedInWorker(path);
}

async function* bunzippedBy(child: ChildProcessWithoutNullStreams, path: string): AsyncGenerator<Chunk> {
  let position = 0;
  let complaint = '';
  child.stderr.on('data', (text) => {
    complaint = (complaint + text).slice(0, 1_000);
  });
  child.on('error', (error) => {
    complaint ||= error.message;
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const source = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  source.on('data', (bytes) => {
    position += bytes.length;
  });
  // It closes its input when it gives up on it: what it says by its exit code is what counts.
  const fed = pipeline(source, child.stdin).catch(() => undefined);
  try {
    for await (const bytes of child.stdout) yield { bytes, position };
    await fed;
    if ((await exit) !== 0)
      throw new BrokenFile(complaint.trim().split('\n', 1)[0] || `${child.spawnfile} gave up`);
  } finally {
    child.kill();
    source.destroy();
  }
}

/** Chunks that may be on their way from the worker. */
const AHEAD = 4;

async function* bunzippedInWorker(path: string): AsyncGenerator<Chunk> {
  const taken = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const worker = new Worker(new URL('../sources/wikidata/bunzip-worker.ts', import.meta.url), {
    workerData: { path, taken, ahead: AHEAD, chunkBytes: CHUNK_BYTES },
  });
  const arrived: BunzipMessage[] = [];
  let wake = (): void => undefined;
  worker.on('message', (message: BunzipMessage) => {
    arrived.push(message);
    wake();
  });
  worker.on('error', (error) => {
    arrived.push({ broken: error.message });
    wake();
  });
  try {
    for (;;) {
      if (arrived.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const message = arrived.shift();
      if (message === undefined) continue;
      if ('broken' in message) throw new BrokenFile(message.broken);
      if ('end' in message) return;
      yield { bytes: Buffer.from(message.bytes), position: message.position };
      Atomics.add(taken, 0, 1);
      Atomics.notify(taken, 0);
    }
  } finally {
    await worker.terminate();
  }
}

/** What the worker sends: chunks in their order, then that it is done or why it cannot go on. */
export type BunzipMessage = { bytes: ArrayBuffer; position: number } | { end: true } | { broken: string };
