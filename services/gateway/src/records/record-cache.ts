import { LRUCache } from 'lru-cache';
import type { CatalogAnswer, RecordBody } from './catalog-answer.ts';

/** For this long a record is answered without a look-up. */
const FRESH_MS = 60_000;
const NOT_FOUND_FRESH_MS = 10_000;
/** For this long after that, callers get the old record while one look-up renews it. */
const SERVED_WHEN_OLD_MS = 60_000;
/** The same after a change. The new record has to be answered 5 s after the change, and gateways hear of it only after up to 3.5 s. */
const SERVED_WHEN_CHANGED_MS = 1_000;
/** The size of an entry with its headers, in bytes, without Brand-Data. */
const ENTRY_BYTES = 1_280;
/** How many kinds of answers a record has headers of, at most. */
const HEADS = 12;
const SUGGESTION_BYTES = 256;
/** The size of a key with its place in the index of dependents. */
const KEY_BYTES = 96;
/** The size of a body without its bytes. All compressed bodies together are about as long as the body itself. */
const BODY_BYTES = 768;

/** An answer of catalog, with the times of its use by the monotonic clock, in ms. */
export interface Cached extends CatalogAnswer {
  readonly keys: readonly number[];
  readonly fetchedAtMs: number;
  freshUntilMs: number;
  /** From `freshUntilMs` to this time, callers get the old record while a look-up renews it. A 404 is billed, so it is never old. */
  servedUntilMs: number;
  /** Whether a record has changed on which the answer depends. */
  hasChanged: boolean;
  /** Catalog did not answer the last look-up in time. Until this time the gateway answers with the old record and asks no more. */
  notAskedUntilMs: number;
}

/** Notes the changes that are announced while a look-up is under way. */
interface Watch {
  /** Whether one of them may have come too late for an answer with these keys. */
  overtakes(keys: readonly number[]): boolean;
  end(): void;
}

/** Caches answers up to a number of bytes. A change expires those that depend on it. Answers with the same body share it. */
export class RecordCache {
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #entries: LRUCache<string, Cached>;
  /** The entries that depend on a key: usually one. */
  readonly #dependents = new Map<number, Cached | Set<Cached>>();
  /** The bodies of all entries by tag, and how many entries have them. */
  readonly #bodies = new Map<string, { body: RecordBody; entries: number }>();
  #bytesOfBodies = 0;
  readonly #watches = new Set<{ all: boolean; changed: ReadonlySet<number>[] }>();

  constructor({ maxBytes, now }: { maxBytes: number; now: () => number }) {
    this.#maxBytes = maxBytes;
    this.#now = now;
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: bytesOfEntry,
      dispose: (entry) => this.#forget(entry),
    });
  }

  get(key: string): Cached | undefined {
    return this.#entries.get(key);
  }

  /** @param options.changed whether a change has already overtaken the answer */
  set(
    key: string,
    answer: CatalogAnswer & Pick<Cached, 'keys' | 'fetchedAtMs'>,
    { changed }: { changed: boolean },
  ): CatalogAnswer {
    const { record, fetchedAtMs } = answer;
    const freshUntilMs = fetchedAtMs + (record ? FRESH_MS : NOT_FOUND_FRESH_MS);
    const entry: Cached = {
      ...answer,
      freshUntilMs,
      servedUntilMs: record ? freshUntilMs + SERVED_WHEN_OLD_MS : freshUntilMs,
      hasChanged: false,
      notAskedUntilMs: 0,
    };
    if (changed) this.#expireEntry(entry);
    const body = record?.content;
    if (bytesOfEntry(entry, key) + (body ? bytesOfBody(body) : 0) > this.#maxBytes) {
      this.#entries.delete(key);
      return entry;
    }
    if (record) record.content = this.#shareBody(record.content);
    this.#entries.set(key, entry);
    for (const each of entry.keys) this.#addDependent(each, entry);
    while (this.#bytes() > this.#maxBytes) this.#entries.pop();
    return entry;
  }

  /** Expires all answers that depend on a record with one of these keys. */
  expire(keys: readonly number[]): void {
    // A series' message may name no keys.
    if (keys.length === 0) return;
    for (const key of keys)
      for (const entry of this.#dependentsOf(key)) {
        entry.hasChanged = true;
        this.#expireEntry(entry);
      }
    if (this.#watches.size === 0) return;
    const changed = new Set(keys);
    for (const watch of this.#watches) watch.changed.push(changed);
  }

  expireAll(): void {
    for (const entry of this.#entries.values()) this.#expireEntry(entry);
    for (const watch of this.#watches) watch.all = true;
  }

  watch(): Watch {
    const watch = { all: false, changed: [] as ReadonlySet<number>[] };
    this.#watches.add(watch);
    return {
      overtakes: (keys) => watch.all || watch.changed.some((changed) => keys.some((key) => changed.has(key))),
      end: () => void this.#watches.delete(watch),
    };
  }

  size(): { entries: number; bytes: number; keys: number } {
    return { entries: this.#entries.size, bytes: this.#bytes(), keys: this.#dependents.size };
  }

  #bytes(): number {
    return this.#entries.calculatedSize + this.#bytesOfBodies;
  }

  #expireEntry(entry: Cached): void {
    const nowMs = this.#now();
    entry.freshUntilMs = Math.min(entry.freshUntilMs, nowMs);
    entry.servedUntilMs = Math.min(entry.servedUntilMs, nowMs + SERVED_WHEN_CHANGED_MS);
  }

  #forget(entry: Cached): void {
    for (const key of entry.keys) this.#removeDependent(key, entry);
    if (entry.record) this.#releaseBody(entry.record.content);
  }

  #dependentsOf(key: number): Iterable<Cached> {
    const found = this.#dependents.get(key);
    if (!found) return [];
    return found instanceof Set ? found : [found];
  }

  #addDependent(key: number, entry: Cached): void {
    const found = this.#dependents.get(key);
    if (!found) this.#dependents.set(key, entry);
    else if (found instanceof Set) found.add(entry);
    else if (found !== entry) this.#dependents.set(key, new Set([found, entry]));
  }

  #removeDependent(key: number, entry: Cached): void {
    const found = this.#dependents.get(key);
    if (found instanceof Set) {
      found.delete(entry);
      if (found.size === 0) this.#dependents.delete(key);
    } else if (found === entry) this.#dependents.delete(key);
  }

  /** Returns the body that entries with the same tag have already, or else this one. */
  #shareBody(body: RecordBody): RecordBody {
    const shared = this.#bodies.get(body.tag);
    if (shared) {
      shared.entries += 1;
      return shared.body;
    }
    this.#bodies.set(body.tag, { body, entries: 1 });
    this.#bytesOfBodies += bytesOfBody(body);
    return body;
  }

  #releaseBody(body: RecordBody): void {
    const shared = this.#bodies.get(body.tag);
    if (!shared) return;
    shared.entries -= 1;
    if (shared.entries > 0) return;
    this.#bodies.delete(body.tag);
    this.#bytesOfBodies -= bytesOfBody(body);
  }
}

/** Without the body. */
function bytesOfEntry({ record, suggestions, keys }: Cached, key: string): number {
  const texts = key.length * 2 + (record?.dataHeaders['Brand-Data']?.length ?? 0) * HEADS;
  return texts + suggestions.length * SUGGESTION_BYTES + keys.length * KEY_BYTES + ENTRY_BYTES;
}

function bytesOfBody({ body }: RecordBody): number {
  return body.length * 2 + BODY_BYTES;
}
