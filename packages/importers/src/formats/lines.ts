import { isUtf8 } from 'node:buffer';
import type { BytesRead, Unreadable } from '../framework/source-items.ts';
import { BrokenFile } from './broken-file.ts';
import { type Chunk, contentOf } from './content.ts';

/** A line of a file as it is stored, without its newline. */
export interface RawLine {
  /** From 1. */
  number: number;
  bytes: Buffer;
  /** Why the line is incomplete: it is too long (then `bytes` is empty), or the file cannot be read further. */
  problem?: string;
}

/** A line of a text file, without its line ending. */
export interface TextLine {
  from: string;
  /** From 1. */
  number: number;
  text: string;
}

const MAX_LINE_MIB = 16;
/** How many lines are yielded at once. A chunk may be nothing but ends of lines. */
const MOST_LINES = 4_096;
/** A small compressed file may become empty lines without end. */
const MOST_EMPTY_LINES = 100_000;
const TOO_MANY_EMPTY_LINES = `the file has ${MOST_EMPTY_LINES.toLocaleString('en-US')} empty lines in a row and is not read further: remove them`;
const NOT_UTF_8 =
  'the line is not UTF-8: name the encoding of the file if the command has --encoding, convert the file, or correct the line';
const SPACE = 0x20;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** The mark of UTF-16, or two letters of it, of which every other byte is zero. */
const UTF_16_STARTS = [
  [/^(?:\xff\xfe|[^\0]\0[^\0]\0)/, 'utf-16le'],
  [/^(?:\xfe\xff|\0[^\0]\0[^\0])/, 'utf-16be'],
] as const;

/**
 * Yields the lines of a file, which may be compressed (contentOf): many lines of a chunk as one array, because yielding them
 * one by one would be slow. If the file is damaged or truncated, or if very many empty lines follow each other, the last line
 * has a problem. Rejects as contentOf does. Calls `onPosition` before it yields lines, with the
 * place in the file, in bytes, where they end.
 */
export async function* rawLinesOf(
  file: string,
  maxMib: number,
  onPosition?: (position: number) => void,
  encoding?: string,
): AsyncGenerator<RawLine[]> {
  let number = 0;
  /** Where the chunk begins in the file. */
  let before = 0;
  let emptyLines = 0;
  /** The start of a line that continues in the next chunk. */
  let parts: Buffer[] = [];
  let length = 0;

  const hold = (bytes: Buffer) => {
    length += bytes.length;
    if (length > maxMib * 1024 * 1024) parts = [];
    else if (bytes.length > 0) parts.push(bytes);
  };
  const take = (end: Buffer): RawLine => {
    number++;
    if (length === 0) {
      emptyLines = end.every((byte) => byte <= SPACE) ? emptyLines + 1 : 0;
      return { number, bytes: end };
    }
    emptyLines = 0;
    hold(end);
    const line: RawLine = { number, bytes: Buffer.concat(parts) };
    if (length > maxMib * 1024 * 1024) line.problem = `the line is longer than ${maxMib} MiB: shorten it`;
    parts = [];
    length = 0;
    return line;
  };

  try {
    for await (const { bytes, position } of inUtf8(contentOf(file), encoding)) {
      const tell = (start: number) =>
        onPosition?.(before + Math.floor(((position - before) * start) / Math.max(bytes.length, 1)));
      let lines: RawLine[] = [];
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
        lines.push(take(bytes.subarray(start, end)));
        start = end + 1;
        if (emptyLines > MOST_EMPTY_LINES) {
          yield [...lines, { number, bytes: Buffer.alloc(0), problem: TOO_MANY_EMPTY_LINES }];
          return;
        }
        if (lines.length < MOST_LINES) continue;
        tell(start);
        yield lines;
        lines = [];
      }
      hold(bytes.subarray(start));
      tell(bytes.length);
      before = position;
      if (lines.length > 0) yield lines;
    }
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    yield [{ ...take(Buffer.alloc(0)), problem: error.message }];
    return;
  }
  onPosition?.(before);
  if (length > 0) yield [take(Buffer.alloc(0))];
}

/**
 * Converts the content to UTF-8 from `encoding`, or from UTF-16 if the content begins so. If carriage returns alone end its first
 * lines, as old programs for the Mac write them, they become newlines.
 */
async function* inUtf8(chunks: AsyncGenerator<Chunk>, encoding: string | undefined): AsyncGenerator<Chunk> {
  let decoder = encoding === undefined ? undefined : new TextDecoder(encoding);
  let isStart = true;
  let isOfMac = false;
  for await (const { bytes: stored, position } of chunks) {
    const start = isStart ? stored.toString('latin1', 0, 4) : '';
    const [, label] = UTF_16_STARTS.find(([form]) => form.test(start)) ?? [];
    if (label !== undefined) decoder = new TextDecoder(label);
    const bytes = decoder ? Buffer.from(decoder.decode(stored, { stream: true })) : stored;
    // A carriage return at the end of the chunk may be that before a newline.
    if (isStart) isOfMac = !bytes.includes(NEWLINE) && bytes.subarray(0, -1).includes(CARRIAGE_RETURN);
    isStart = false;
    yield {
      bytes: isOfMac ? Buffer.from(bytes.toString('latin1').replaceAll('\r', '\n'), 'latin1') : bytes,
      position,
    };
  }
}

/**
 * Yields the lines of a text file, with one chunk in memory at a time. The file is UTF-8, UTF-16, or in the `encoding`. Yields a
 * problem instead of a line that is not UTF-8, is longer than `maxMib`, or has a problem in rawLinesOf. Rejects as contentOf does.
 */
export async function* readLines(
  file: string,
  progress?: BytesRead,
  maxMib: number = MAX_LINE_MIB,
  encoding?: string,
): AsyncGenerator<TextLine | Unreadable> {
  const before = progress?.read ?? 0;
  let [start, end] = [before, before];
  const onPosition = (position: number) => {
    [start, end] = [end, before + position];
  };
  for await (const lines of rawLinesOf(file, maxMib, onPosition, encoding)) {
    for (const [place, { number, bytes, problem }] of lines.entries()) {
      // Many lines are read ahead, and whoever takes them may be slow.
      if (progress !== undefined)
        progress.read = start + Math.floor(((end - start) * (place + 1)) / lines.length);
      const from = `${file}:${number}`;
      const body = withoutMarks(bytes);
      const text = body.toString();
      if (problem !== undefined) yield { from, problem, raw: text || undefined };
      else if (isUtf8(body)) yield { from, number, text };
      else yield { from, problem: NOT_UTF_8, raw: text };
    }
  }
  if (progress !== undefined) progress.read = end;
}

/**
 * Removes a carriage return from the end and a byte order mark from the start. Any line may begin with this mark, because several
 * files may have been concatenated.
 */
function withoutMarks(bytes: Buffer): Buffer {
  const start = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? BYTE_ORDER_MARK.length
    : 0;
  const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  return bytes.subarray(start, end);
}

/** Reads items further, and passes on those that cannot be read. */
export async function* readEach<T extends object, R>(
  items: AsyncIterable<T | Unreadable>,
  read: (item: T) => R,
): AsyncGenerator<R | Unreadable> {
  for await (const item of items) yield 'problem' in item ? (item as Unreadable) : read(item);
}

/** Yields items that were read before, and then the rest. */
export async function* chained<T>(head: Iterable<T>, rest?: AsyncIterable<T>): AsyncGenerator<T> {
  yield* head;
  if (rest !== undefined) yield* rest;
}
