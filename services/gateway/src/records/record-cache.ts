import { LRUCache } from 'lru-cache';
import type { CacheStats } from '../metrics/cache-metrics.ts';
import type { CatalogAnswer, RecordBody } from './catalog-answer.ts';

/** For this long a record is answered without a look-up. */
const FRESH_MS = 60_000;
const NOT_FOUND_FRESH_MS = 10_000;
/** For so long after that, callers get the old record while one look-up renews it. */
const SERVED_WHEN_OLD_MS = 60_000;
/** The same after a change. The new record has to be answered 5 s after the change, and gateways hear of it only after up to 3.5 s. */
const SERVED_WHEN_CHANGED_MS = 1_000;
/** Of an entry with its headers, in bytes. */
const ENTRY_BYTES = 1_280;
const SUGGESTION_BYTES = 256;
/** Of a key with its place in the index of dependents. */
const KEY_BYTES = 96;
/** Of a body, beside its bytes. Compressed bodies are about as long together as the body itself. */
const BODY_BYTES = 768;

/** Stands for the keys of an answer of a catalog of an earlier version: any change can change it. Hashes are never negative. */
const ANY_CHANGE = -1;

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

/**
 * Cached answers by variant and identifier, up to a number of bytes. A change expires those that depend on it. Answers with the same
 * body share it.
 */
export interface RecordCache {
  get(key: string): Cached | undefined;
  /** @param changed whether a change has already overtaken the answer */
  set(
    key: string,
    answer: CatalogAnswer & Pick<Cached, 'keys' | 'fetchedAtMs'>,
    options: { changed: boolean },
  ): CatalogAnswer;
  /** Expires all answers that depend on a record with one of these keys. */
  expire(keys: readonly number[]): void;
  expireAll(): void;
  watch(): Watch;
  /** `keys`: the number of different keys on which answers depend. */
  size(): Pick<CacheStats, 'entries' | 'bytes'> & { keys: number };
}

export function createRecordCache({ maxBytes, now }: { maxBytes: number; now: () => number }): RecordCache {
  /** The entries that depend on a key: usually one. */
  const dependents = new Map<number, Cached | Set<Cached>>();
  /** The bodies of all entries by tag, and how many entries have them. */
  const bodies = new Map<string, { body: RecordBody; entries: number }>();
  let bytesOfBodies = 0;
  const cache = new LRUCache<string, Cached>({
    maxSize: maxBytes,
    sizeCalculation: bytesOfEntry,
    dispose: (entry) => {
      for (const key of entry.keys) removeDependent(key, entry);
      if (entry.record) releaseBody(entry.record.content);
    },
  });
  const watches = new Set<{ all: boolean; changed: ReadonlySet<number>[] }>();

  const dependentsOf = (key: number): Iterable<Cached> => {
    const found = dependents.get(key);
    if (!found) return [];
    return found instanceof Set ? found : [found];
  };

  function addDependent(key: number, entry: Cached): void {
    const found = dependents.get(key);
    if (!found) dependents.set(key, entry);
    else if (found instanceof Set) found.add(entry);
    else if (found !== entry) dependents.set(key, new Set([found, entry]));
  }

  function removeDependent(key: number, entry: Cached): void {
    const found = dependents.get(key);
    if (found instanceof Set) {
      found.delete(entry);
      if (found.size === 0) dependents.delete(key);
    } else if (found === entry) dependents.delete(key);
  }

  /** Returns the body that entries with the same tag have already, or else this one. */
  function shareBody(body: RecordBody): RecordBody {
    const shared = bodies.get(body.tag);
    if (shared) {
      shared.entries += 1;
      return shared.body;
    }
    bodies.set(body.tag, { body, entries: 1 });
    bytesOfBodies += bytesOfBody(body);
    return body;
  }

  function releaseBody(body: RecordBody): void {
    const shared = bodies.get(body.tag);
    if (!shared) return;
    shared.entries -= 1;
    if (shared.entries > 0) return;
    bodies.delete(body.tag);
    bytesOfBodies -= bytesOfBody(body);
  }

  function expireOne(entry: Cached): void {
    const nowMs = now();
    entry.freshUntilMs = Math.min(entry.freshUntilMs, nowMs);
    entry.servedUntilMs = Math.min(entry.servedUntilMs, nowMs + SERVED_WHEN_CHANGED_MS);
  }

  return {
    get: (key) => cache.get(key),

    set(key, { keys, fetchedAtMs, ...found }, { changed }) {
      const { record } = found;
      const freshUntilMs = fetchedAtMs + (record ? FRESH_MS : NOT_FOUND_FRESH_MS);
      const entry: Cached = {
        ...found,
        keys: keys.length === 0 ? [ANY_CHANGE] : keys,
        fetchedAtMs,
        freshUntilMs,
        servedUntilMs: record ? freshUntilMs + SERVED_WHEN_OLD_MS : freshUntilMs,
        hasChanged: false,
        notAskedUntilMs: 0,
      };
      if (changed) expireOne(entry);
      const body = record?.content;
      if (bytesOfEntry(entry, key) + (body ? bytesOfBody(body) : 0) > maxBytes) {
        cache.delete(key);
        return entry;
      }
      if (record) record.content = shareBody(record.content);
      cache.set(key, entry);
      for (const each of entry.keys) addDependent(each, entry);
      while (cache.calculatedSize + bytesOfBodies > maxBytes) cache.pop();
      return entry;
    },

    expire(keys) {
      // A series' message may name no keys.
      if (keys.length === 0) return;
      for (const key of [ANY_CHANGE, ...keys])
        for (const entry of dependentsOf(key)) {
          entry.hasChanged = true;
          expireOne(entry);
        }
      if (watches.size === 0) return;
      const changed = new Set(keys);
      for (const watch of watches) watch.changed.push(changed);
    },

    expireAll() {
      cache.forEach(expireOne);
      for (const watch of watches) watch.all = true;
    },

    watch() {
      const watch = { all: false, changed: [] as ReadonlySet<number>[] };
      watches.add(watch);
      return {
        overtakes: (keys) =>
          watch.all ||
          (keys.length === 0
            ? watch.changed.length > 0
            : watch.changed.some((changed) => keys.some((key) => changed.has(key)))),
        end: () => void watches.delete(watch),
      };
    },

    size: () => ({ entries: cache.size, bytes: cache.calculatedSize + bytesOfBodies, keys: dependents.size }),
  };
}

/** Without the body. */
function bytesOfEntry({ suggestions, keys }: Cached, key: string): number {
  return key.length * 2 + suggestions.length * SUGGESTION_BYTES + keys.length * KEY_BYTES + ENTRY_BYTES;
}

function bytesOfBody({ body }: RecordBody): number {
  return body.length * 2 + BODY_BYTES;
}
