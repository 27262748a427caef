import type { RecordAnswer } from './answer.ts';

export interface CachedRecord {
  etag: string;
  answer: RecordAnswer<unknown>;
  /** Until when the record may be given without a call, in milliseconds since 1970. */
  freshUntil: number;
}

/** The records that were used last, by the path of their call. */
export class KeptRecords {
  readonly #records = new Map<string, CachedRecord>();
  readonly #capacity: number;

  /** @param capacity the largest number of records to keep; 0 keeps none */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(path: string): CachedRecord | undefined {
    const record = this.#records.get(path);
    if (record !== undefined) this.put(path, record);
    return record;
  }

  put(path: string, record: CachedRecord): void {
    // A Map keeps the order of insertion: the first entry is the one that was used least recently.
    this.#records.delete(path);
    this.#records.set(path, record);
    for (const [oldest] of this.#records) {
      if (this.#records.size <= this.#capacity) return;
      this.#records.delete(oldest);
    }
  }
}

/** Until when the answer is fresh, from Cache-Control and Age. A shared cache on the way counts in Age. */
export function freshUntilOf(headers: Headers): number {
  const [, maxAge = '0'] = /\bmax-age=(\d+)/.exec(headers.get('Cache-Control') ?? '') ?? [];
  return Date.now() + (Number(maxAge) - Number(headers.get('Age') ?? 0)) * 1_000;
}
