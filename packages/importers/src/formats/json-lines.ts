import type { BytesRead, Unreadable } from '../framework/source-items.ts';
import { readLines } from './lines.ts';

/** A JSON value, its place and its text. */
export interface JsonValue {
  from: string;
  value: unknown;
  raw: string;
}

/** The values of a file with one JSON value a line. The file may be compressed. Blank lines are ignored. */
export async function* readJsonLines(
  file: string,
  progress?: BytesRead,
): AsyncGenerator<JsonValue | Unreadable> {
  for await (const line of readLines(file, progress)) {
    if ('problem' in line) yield line;
    else if (line.text.trim() !== '') yield { from: line.from, raw: line.text, ...parseJson(line.text) };
  }
}

export function parseJson(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { problem: `not valid JSON: ${(error as Error).message.replace(/\s+/g, ' ')}` };
  }
}
