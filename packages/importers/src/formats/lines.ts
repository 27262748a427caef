import { isUtf8 } from 'node:buffer';
import type { BytesRead, Unreadable } from '../framework/source-items.ts';
import { BrokenFile, contentOf } from './content.ts';

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
const SPACE = 0x20;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** The name of a file with one JSON value a line. */
export const JSON_LINES = /\.(ndjson|jsonl)(\.gz|\.bz2)?$/i;
/** A record has a few thousand values, of which the deepest is at the fifth level. */
const MOST_VALUES = 1_000_000;
const MOST_DEPTH = 64;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Yields the lines of a file, which may be compressed (contentOf): many lines of a chunk as one array, because yielding them
 * one by one would be slow. If the file is damaged or truncated, or if very many empty lines follow each other, the last line
 * has a problem. Rejects as contentOf does. Calls `onPosition` with the bytes of the file that have been read.
 */
export async function* rawLinesOf(
  file: string,
  maxMib: number,
  onPosition?: (position: number) => void,
): AsyncGenerator<RawLine[]> {
  let number = 0;
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
    for await (const { bytes, position } of contentOf(file)) {
      onPosition?.(position);
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
        yield lines;
        lines = [];
      }
      hold(bytes.subarray(start));
      if (lines.length > 0) yield lines;
    }
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    yield [{ ...take(Buffer.alloc(0)), problem: error.message }];
    return;
  }
  if (length > 0) yield [take(Buffer.alloc(0))];
}

/**
 * Yields the lines of a text file in UTF-8, with one chunk in memory at a time. Yields a problem instead of a line that is not
 * UTF-8, is longer than `maxMib`, or has a problem in rawLinesOf. Rejects as contentOf does.
 */
export async function* readLines(
  file: string,
  progress?: BytesRead,
  maxMib: number = MAX_LINE_MIB,
): AsyncGenerator<TextLine | Unreadable> {
  const before = progress?.read ?? 0;
  const onPosition = (position: number) => {
    if (progress !== undefined) progress.read = before + position;
  };
  for await (const lines of rawLinesOf(file, maxMib, onPosition)) {
    for (const { number, bytes, problem } of lines) {
      const from = `${file}:${number}`;
      const body = withoutMarks(bytes);
      const text = body.toString();
      if (problem !== undefined) yield { from, problem, raw: text || undefined };
      else if (isUtf8(body)) yield { from, number, text };
      else
        yield {
          from,
          problem: 'the line is not UTF-8: convert the file to UTF-8, or correct the line',
          raw: text,
        };
    }
  }
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

/** A JSON value, its place and its text. */
export interface JsonValue {
  from: string;
  value: unknown;
  raw: string;
}

/** Yields the values of a file with one JSON value a line. The file may be compressed. Blank lines are ignored. */
export async function* readJsonLines(
  file: string,
  progress?: BytesRead,
): AsyncGenerator<JsonValue | Unreadable> {
  for await (const line of readLines(file, progress)) {
    if ('problem' in line) yield line;
    else if (line.text.trim() !== '') yield { from: line.from, raw: line.text, ...parseJson(line.text) };
  }
}

/**
 * Parses JSON. Refuses text that would take much more memory than it has characters, or that is nested so deeply that a walk
 * through the value would overflow the stack.
 */
export function parseJson(text: string): { value: unknown } | { problem: string } {
  const problem = problemOfSize(text);
  if (problem !== undefined) return { problem };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `not valid JSON: ${(error as Error).message.replace(/\s+/g, ' ')}` };
  }
}

/** Counts the brackets and commas outside of texts. */
function problemOfSize(text: string): string | undefined {
  if (text.length < MOST_DEPTH) return undefined;
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfText(text, at);
        break;
      case OPEN_BRACE:
      case OPEN_BRACKET:
        values += 1;
        depth += 1;
        if (depth > MOST_DEPTH) return `the JSON is nested more than ${MOST_DEPTH} levels deep`;
        break;
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        break;
    }
    if (values > MOST_VALUES)
      return `the JSON has more than ${MOST_VALUES.toLocaleString('en-US')} values: write one record on each line of an .ndjson file`;
  }
  return undefined;
}

/** Returns the place of the quote that ends the text which begins at `start`, or of the end of a text that does not end. */
function endOfText(json: string, start: number): number {
  for (let at = json.indexOf('"', start + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let slash = at;
    while (json.charCodeAt(slash - 1) === BACKSLASH) slash -= 1;
    if ((at - slash) % 2 === 0) return at;
  }
  return json.length;
}
