/** A worker thread that decompresses a bzip2 file, waiting when it is `ahead` chunks before its reader. */
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import Bunzip from 'seek-bzip';
import type { BunzipMessage } from '../../formats/content.ts';

const { path, taken, ahead, chunkBytes } = workerData as {
  path: string;
  /** How many chunks the reader has taken. */
  taken: Int32Array<SharedArrayBuffer>;
  ahead: number;
  chunkBytes: number;
};

const send = (message: BunzipMessage, transfer: ArrayBuffer[] = []) =>
  parentPort?.postMessage(message, transfer);

const file = openSync(path, 'r');
const input = Buffer.alloc(1 << 18);
let filled = 0;
let next = 0;
let position = 0;
const refill = (): boolean => {
  filled = readSync(file, input);
  next = 0;
  position += filled;
  return filled > 0;
};

/** Asked for only where there must be more. */
const readByte = (): number => {
  if (next === filled && !refill()) throw new Error('the compressed data ends unexpectedly');
  return input[next++] ?? 0;
};

const output = new Uint8Array(chunkBytes);
let used = 0;
let sent = 0;
const flush = () => {
  if (used === 0) return;
  for (let seen = Atomics.load(taken, 0); sent - seen >= ahead; seen = Atomics.load(taken, 0)) {
    Atomics.wait(taken, 0, seen);
  }
  const bytes = output.buffer.slice(0, used);
  send({ bytes, position }, [bytes]);
  sent++;
  used = 0;
};

try {
  Bunzip.decode(
    {
      readByte,
      read: (target, offset, length) => {
        for (let index = 0; index < length; index++) target[offset + index] = readByte();
        return length;
      },
      eof: () => next === filled && !refill(),
    },
    {
      writeByte: (byte: number) => {
        output[used++] = byte;
        if (used === output.length) flush();
      },
    },
    true,
  );
  flush();
  send({ end: true });
} catch (error) {
  flush();
  send({ broken: (error as Error).message });
} finally {
  closeSync(file);
}
