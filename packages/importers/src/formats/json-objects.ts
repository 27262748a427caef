import { isUtf8 } from 'node:buffer';
import type { BytesRead, Unreadable } from '../framework/source-items.ts';
import { BrokenFile } from './broken-file.ts';
import { contentOf } from './content.ts';
import { type JsonValue, parseJson } from './json.ts';

/** Far more than any object needs. */
const MOST_BYTES = 4 * 1024 * 1024;
/** The list is the file's value, or a value of the object that is. */
const DEEPEST_LIST = 2;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
/** A byte order mark has no smaller bytes. */
const NOT_ASCII = 0x80;

/**
 * Yields the objects of the list in a file such as `{"records": [{…}, {…}]}` or `[{…}, {…}]`. The file may be compressed and of any
 * size, because one object at a time is in memory. The place "a.json[3]" is the fourth object. Rejects as contentOf does.
 */
export async function* readJsonObjects(
  file: string,
  progress?: BytesRead,
): AsyncGenerator<JsonValue | Unreadable> {
  const before = progress?.read ?? 0;
  const cutter = new ObjectCutter();
  let index = 0;
  const problemAt = (problem: string) => ({ from: `${file}[${index}]`, problem });
  try {
    for await (const { bytes, position } of contentOf(file)) {
      if (progress !== undefined) progress.read = before + position;
      for (const object of cutter.objectsIn(bytes)) {
        const from = `${file}[${index}]`;
        index++;
        if (object === undefined) yield { from, problem: `the object has more than ${MOST_BYTES} bytes` };
        else if (!isUtf8(object)) yield { from, problem: 'the object is not UTF-8', raw: object.toString() };
        else {
          const raw = object.toString();
          yield { from, raw, ...parseJson(raw) };
        }
      }
      if (cutter.isForeign) return yield problemAt('the file is not JSON with a list of objects');
    }
  } catch (error) {
    if (!(error instanceof BrokenFile)) throw error;
    return yield problemAt(error.message);
  }
  if (!cutter.isClosed)
    yield problemAt('the file ends before its list of objects is closed: download or copy it again');
}

/** Cuts the objects of a list out of JSON that comes in chunks. */
class ObjectCutter {
  /** Whether the list was read to its end. */
  isClosed = false;
  /** Whether the JSON begins with neither a list nor an object. */
  isForeign = false;
  /** How many brackets are open. */
  #depth = 0;
  /** How many brackets are open between two objects of the list. 0 until the list begins. */
  #listDepth = 0;
  #isInText = false;
  #isEscaped = false;
  #isInObject = false;
  /** The object that continues in the next chunk. */
  #parts: Buffer[] = [];
  #held = 0;

  /** Returns the objects that end in the chunk. Undefined stands for one that is too long. */
  objectsIn(chunk: Buffer): (Buffer | undefined)[] {
    const objects: (Buffer | undefined)[] = [];
    let start = 0;
    let isInText = this.#isInText;
    let isEscaped = this.#isEscaped;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] ?? 0;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInText = false;
      } else if (byte === QUOTE) isInText = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (this.#opensObject(byte)) start = at;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        if (this.#closesObject()) objects.push(this.#taken(chunk.subarray(start, at + 1)));
      } else if (this.#depth === 0 && byte > SPACE && byte < NOT_ASCII) {
        this.isForeign = true;
        return [];
      }
    }
    this.#isInText = isInText;
    this.#isEscaped = isEscaped;
    if (this.#isInObject) this.#hold(chunk.subarray(start));
    return objects;
  }

  #opensObject(bracket: number): boolean {
    this.#depth++;
    const isFirstList = bracket === OPEN_BRACKET && this.#listDepth === 0 && this.#depth <= DEEPEST_LIST;
    if (isFirstList) this.#listDepth = this.#depth;
    if (isFirstList || this.isClosed || this.#listDepth === 0 || this.#depth !== this.#listDepth + 1)
      return false;
    this.#isInObject = true;
    return true;
  }

  #closesObject(): boolean {
    this.#depth--;
    if (this.#depth < this.#listDepth) this.isClosed = true;
    if (!this.#isInObject || this.#depth !== this.#listDepth) return false;
    this.#isInObject = false;
    return true;
  }

  #hold(bytes: Buffer): void {
    this.#held += bytes.length;
    if (this.#held > MOST_BYTES) this.#parts = [];
    else this.#parts.push(bytes);
  }

  #taken(end: Buffer): Buffer | undefined {
    this.#hold(end);
    const object = this.#held > MOST_BYTES ? undefined : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#held = 0;
    return object;
  }
}
