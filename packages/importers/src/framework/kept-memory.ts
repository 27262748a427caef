import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type BytesRead, OptionError } from './source-items.ts';

const MIB = 1 << 20;
/** With what the import takes besides, less than 256 MB. */
export const DEFAULT_MEMORY_MIB = 76;
/** The garbage of reading is collected each time that so much more is kept, or an eighth more. */
const COLLECTED_EVERY = 4 * MIB;

/** The least heap memory, in bytes, of a string, a list, an object and one value in it. */
const STRING = 24;
const LIST = 48;
const OBJECT = 56;
const VALUE = 8;
const ENTRY = 40;

/** The options of a reader that keeps a part of its source in memory until the last row. */
export interface KeepingOptions {
  /** How much may be kept in memory, in MiB. */
  memoryMib?: number | undefined;
  /** Grows while the files are read. */
  progress?: BytesRead | undefined;
}

/** Counts what a reader keeps in memory because only the last row of a file decides what the rows mean. */
export class KeptMemory {
  readonly #source: string;
  readonly #mib: number;
  #bytes = 0;
  #collectAt = COLLECTED_EVERY;

  /** @param source the file or folder that is read */
  constructor(source: string, mib: number = DEFAULT_MEMORY_MIB) {
    this.#source = source;
    this.#mib = mib;
  }

  /** Throws an OptionError if too much is kept. */
  add(kept: unknown): void {
    this.addBytes(heapSizeOf(kept));
  }

  addBytes(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= this.#collectAt) {
      collectGarbage();
      this.#collectAt = this.#bytes + Math.max(COLLECTED_EVERY, this.#bytes / 8);
    }
    if (this.#bytes > this.#mib * MIB)
      throw new OptionError(
        `${this.#source} does not fit into ${this.#mib} MiB of memory: give the import more with --memory, if this is the right file`,
      );
  }
}

/** Collects garbage now. V8 by itself does so in time on an idle machine only: its threads lag behind on a busy one. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc()');
}

/** Estimates how many bytes a value takes on the heap, rather too many than too few. Encoded as a message, it takes fewer. */
export function heapSizeOf(value: unknown): number {
  if (typeof value === 'string') return value === '' ? 0 : STRING + Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  let size = OBJECT;
  if (Array.isArray(value)) {
    size = LIST;
    for (const item of value) size += VALUE + heapSizeOf(item);
  } else if (value instanceof Map) {
    for (const [key, item] of value) size += ENTRY + heapSizeOf(key) + heapSizeOf(item);
  } else {
    for (const name in value) size += VALUE + heapSizeOf((value as Record<string, unknown>)[name]);
  }
  return size;
}
