import type { BytesRead, Unreadable } from '../framework/source-items.ts';
import { readLines } from './lines.ts';

/** The name of a file that is one JSON value. */
export const JSON_FILE = /\.json(\.gz|\.bz2|\.zip)?$/i;
/** The name of a file with one JSON value a line. */
export const JSON_LINES = /\.(ndjson|jsonl)(\.gz|\.bz2|\.zip)?$/i;
const MAX_DOCUMENT_MIB = 16;
/** A record has a few thousand values, of which the deepest is at the fifth level. */
const MOST_VALUES = 1_000_000;
const MOST_DEPTH = 64;
const BACKSLASH = 0x5c;

export interface JsonValue {
  from: string;
  value: unknown;
  raw: string;
}

/** Yields the values of a file with one JSON value a line. The file may be compressed. Blank lines are ignored. */
export async function* readJsonLines(
  file: string,
  progress?: BytesRead,
  encoding?: string,
): AsyncGenerator<JsonValue | Unreadable> {
  for await (const line of readLines(file, progress, undefined, encoding)) {
    if ('problem' in line) yield line;
    else if (line.text.trim() !== '') yield { from: line.from, raw: line.text, ...parseJson(line.text) };
  }
}

/**
 * Reads a file that is one JSON value into memory. Undefined if the file is blank. The place and the problem if it is too large, or
 * not valid.
 */
export async function readJsonDocument(
  file: string,
  progress?: BytesRead,
  encoding?: string,
): Promise<JsonValue | Unreadable | undefined> {
  const lines: string[] = [];
  let characters = 0;
  for await (const line of readLines(file, progress, MAX_DOCUMENT_MIB, encoding)) {
    if ('problem' in line) return line;
    lines.push(line.text);
    characters += line.text.length + 1;
    if (characters > MAX_DOCUMENT_MIB * 1024 * 1024)
      return {
        from: file,
        problem:
          'the file is too large to be read into memory: write one record on each line of an .ndjson file',
      };
  }
  const raw = lines.join('\n');
  if (raw.trim() === '') return undefined;
  const parsed = parseJson(raw);
  return 'problem' in parsed ? { from: file, ...parsed } : { from: file, raw, ...parsed };
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
    return { problem: `not valid JSON${placeOf((error as Error).message)}` };
  }
}

/** Returns the place that a message of V8 names, in our words. */
function placeOf(message: string): string {
  const [, near] = /"(.*)"(?:\.{3})? is not valid JSON$/s.exec(message) ?? [];
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  if (near !== undefined) return `, near "${near.replace(/\s+/g, ' ')}"`;
  return position === undefined ? '' : `, from character ${Number(position) + 1} on`;
}

/** Counts the brackets and commas outside of texts. */
function problemOfSize(text: string): string | undefined {
  if (text.length < MOST_DEPTH) return undefined;
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"') at = endOfText(text, at);
    else if (sign === ',') values += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    else if (sign === '{' || sign === '[') {
      values += 1;
      depth += 1;
    }
    if (depth > MOST_DEPTH) return `the JSON is nested more than ${MOST_DEPTH} levels deep`;
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
