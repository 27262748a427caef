import { isUtf8 } from 'node:buffer';
import { createReadStream, type ReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { BytesRead, Unreadable } from '../framework/source-items.ts';

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** A line of a file, without its end. `number` counts from 1. */
export interface Line {
  from: string;
  number: number;
  text: string;
}

/**
 * The lines of a text file, gzip-compressed or not, in UTF-8, one chunk in memory at a time. A line that is not UTF-8
 * or is longer than 16 MiB, and the place where a damaged or truncated gzip breaks off, are problems; the lines before
 * and after are given. Rejects when the file cannot be opened or read.
 */
export async function* readLines(file: string, progress?: BytesRead): AsyncGenerator<Line | Unreadable> {
  let number = 0;
  /** What has come of the line that is not whole yet. */
  let parts: Buffer[] = [];
  let length = 0;

  const line = (bytes: Buffer): Line | Unreadable => {
    number++;
    const from = `${file}:${number}`;
    const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
    // Of files that were put one behind the other, each has its own.
    const start = bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
    const body = bytes.subarray(start, end);
    const text = body.toString();
    if (isUtf8(body)) return { from, number, text };
    return { from, problem: 'it is not UTF-8: convert the file, or correct the line', raw: text };
  };
  const whole = (last: Buffer): Line | Unreadable => {
    const bytes = parts.length === 0 ? last : Buffer.concat([...parts, last]);
    const isTooLong = length + last.length > MAX_LINE_BYTES;
    parts = [];
    length = 0;
    if (!isTooLong) return line(bytes);
    number++;
    return { from: `${file}:${number}`, problem: 'it is longer than 16 MiB: shorten it' };
  };

  try {
    const { source, content } = await openFile(file);
    const before = progress?.read ?? 0;
    for await (const chunk of content) {
      const bytes = chunk as Buffer;
      if (progress !== undefined) progress.read = before + source.bytesRead;
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        yield whole(bytes.subarray(start, end));
        start = end + 1;
      }
      const rest = bytes.subarray(start);
      length += rest.length;
      // Of a line that is too long, the rest is counted and not kept.
      if (rest.length > 0 && length <= MAX_LINE_BYTES) parts.push(rest);
    }
  } catch (error) {
    const problem = problemOfGzip(error);
    if (problem === undefined) throw error;
    yield { from: `${file}:${number + 1}`, problem, raw: Buffer.concat(parts).toString() || undefined };
    return;
  }
  if (length > 0) yield whole(Buffer.alloc(0));
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const GZIP = Buffer.from([0x1f, 0x8b]);

/** `content` is what `source` has when it is unpacked. */
async function openFile(file: string): Promise<{ source: ReadStream; content: Readable }> {
  const isPacked = await isGzip(file);
  const source = createReadStream(file, { highWaterMark: 256 * 1024 });
  if (!isPacked) return { source, content: source };
  const content = createGunzip();
  // A pipe does not pass on that its source failed, nor that its reader has had enough.
  source.on('error', (error) => content.destroy(error));
  content.on('close', () => source.destroy());
  return { source, content: source.pipe(content) };
}

/** By its first bytes, whatever it is called. A pipe cannot be looked into twice: there the name says. */
async function isGzip(file: string): Promise<boolean> {
  if (!(await stat(file)).isFile()) return file.endsWith('.gz');
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.equals(GZIP);
  } finally {
    await handle.close();
  }
}

/** Undefined: it is no problem of the data. */
function problemOfGzip(error: unknown): string | undefined {
  const { code } = Object(error) as { code?: unknown };
  if (code === 'Z_BUF_ERROR') return 'the gzip breaks off here, and so the file is not whole: get it again';
  if (code === 'Z_DATA_ERROR') return 'the gzip is damaged here, and the rest cannot be read: get it again';
  return undefined;
}
