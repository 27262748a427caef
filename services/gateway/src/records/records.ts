import type { CatalogServiceClient, LookupQuery, LookupResult, Match } from '@brand-data/contracts';
import { presentFlat, presentGrouped } from '@brand-data/presenters';
import { answerWithin, systemClock, type Tracer } from '@brand-data/runtime';
import { tagOf } from '@brand-data/runtime/http';
import type { CacheStats } from '../metrics/cache-metrics.ts';
import { brandMatchOf } from './brand-match.ts';
import type { CatalogAnswer, FoundRecord, Variant } from './catalog-answer.ts';
import { batchLookups } from './look-ups.ts';
import { type Cached, createRecordCache } from './record-cache.ts';

/** The largest age at which the gateway answers with an old record while catalog does not answer. */
const STALE_SERVED_MS = 3_600_000;
/** If a look-up that a caller waits for takes longer than this, the gateway answers with the old record. */
const STALE_AFTER_MS = 300;
/** The same if the record has changed, so that catalog has very likely answered in this time. */
const CHANGED_STALE_AFTER_MS = 1_000;
/** After such a look-up, the gateway answers with this old record for this long before it asks catalog again. */
const LOOK_UP_EVERY_MS = 1_000;
const LOOKUP_WITHIN_MS = 2_000;
/** A 404 waits this long for suggestions. Catalog itself gives up their search after 100 ms. */
const SUGGEST_WITHIN_MS = 200;

export interface Records {
  /**
   * Returns a promise unless the answer is cached, and is fresh or may be old for a moment while a look-up renews it. It rejects with
   * Fault `unavailable` if catalog does not answer.
   */
  find(variant: Variant, identifier: string): CatalogAnswer | Promise<CatalogAnswer>;
  /** Expires what depends on the records that have changed. `keys` are those of CatalogChanged. */
  expire(keys: readonly number[]): void;
  /** Expires everything that is cached. */
  expireAll(): void;
  cacheStats(): CacheStats;
}

/**
 * Finds records and caches them by variant and identifier, up to a number of bytes. Concurrent calls for one identifier share a
 * look-up, and look-ups of the same moment share a request to catalog. A miss is asked for once more, with suggestions.
 */
export function createRecords(
  catalog: CatalogServiceClient,
  {
    logoHost,
    cacheBytes,
    now = () => performance.now(),
    onFailure = () => {},
    onBatch = () => {},
    tracer,
  }: {
    logoHost: string;
    cacheBytes: number;
    now?: () => number;
    /** Called each time that catalog does not answer. */
    onFailure?: () => void;
    /** Called with the number of look-ups in each request. */
    onBatch?: (queries: number) => void;
    tracer?: Tracer | undefined;
  },
): Records {
  const batching = { clock: systemClock, onBatch, tracer };
  const lookup = batchLookups(catalog, { ...batching, withinMs: LOOKUP_WITHIN_MS, onFailure });
  const lookupMissed = batchLookups(catalog, { ...batching, withinMs: SUGGEST_WITHIN_MS });
  const cache = createRecordCache({ maxBytes: cacheBytes, now });
  const fetching = new Map<string, Promise<CatalogAnswer>>();
  const stats = { hits: 0, misses: 0, stale: 0 };

  /** Asks for suggestions in a second request, because catalog would answer the whole batch only after their search. */
  const lookupWithSuggestions = async (query: Omit<LookupQuery, 'suggest'>): Promise<LookupResult> => {
    const result = await lookup({ ...query, suggest: false });
    return result.brand ? result : lookupMissed({ ...query, suggest: true }).catch(() => result);
  };

  /** If a change overtakes the look-up, its answer may be of the time before or after. So it is repeated, for as long as one may take. */
  const fetch = async (key: string, variant: Variant, identifier: string): Promise<CatalogAnswer> => {
    const repeatedUntilMs = now() + LOOKUP_WITHIN_MS;
    for (;;) {
      stats.misses += 1;
      const fetchedAtMs = now();
      const watch = cache.watch();
      try {
        const result = await lookupWithSuggestions({ identifier, superinvestors: variant === 'grouped' });
        const { suggestions, namesSuperinvestor, keys } = result;
        const changed = watch.overtakes(keys);
        if (changed && now() < repeatedUntilMs) continue;
        const record = present(result, variant, logoHost);
        return cache.set(key, { record, suggestions, namesSuperinvestor, keys, fetchedAtMs }, { changed });
      } finally {
        watch.end();
      }
    }
  };

  const notAskedForAWhile = (cached: Cached | undefined) => {
    if (cached) cached.notAskedUntilMs = now() + LOOK_UP_EVERY_MS;
  };

  /** Concurrent look-ups of one identifier share one request. */
  const fetchOnce = (key: string, variant: Variant, identifier: string) => {
    let pending = fetching.get(key);
    if (!pending) {
      pending = fetch(key, variant, identifier).finally(() => fetching.delete(key));
      // No caller may be waiting for it.
      pending.catch(() => notAskedForAWhile(cache.get(key)));
      fetching.set(key, pending);
    }
    return pending;
  };

  const serveStale = (cached: Cached): Cached => {
    stats.stale += 1;
    return cached;
  };

  const renewed = async (cached: Cached, pending: Promise<CatalogAnswer>): Promise<CatalogAnswer> => {
    try {
      // A late look-up continues, so that later calls find its record in the cache.
      return await answerWithin(pending, {
        withinMs: cached.hasChanged ? CHANGED_STALE_AFTER_MS : STALE_AFTER_MS,
        detail: 'catalog did not answer in time',
      });
    } catch {
      notAskedForAWhile(cached);
      return serveStale(cached);
    }
  };

  return {
    find: (variant, identifier) => {
      const key = `${variant} ${identifier}`;
      const cached = cache.get(key);
      const nowMs = now();
      if (cached && nowMs < cached.freshUntilMs) {
        stats.hits += 1;
        return cached;
      }
      // A 404 is billed. So the gateway never answers 404 from an outdated cache entry.
      if (!cached?.record || nowMs - cached.fetchedAtMs >= STALE_SERVED_MS)
        return fetchOnce(key, variant, identifier);
      if (nowMs < cached.notAskedUntilMs) return serveStale(cached);
      const pending = fetchOnce(key, variant, identifier);
      if (nowMs >= cached.servedUntilMs) return renewed(cached, pending);
      stats.hits += 1;
      return cached;
    },
    expire: cache.expire,
    expireAll: cache.expireAll,
    cacheStats: () => ({ ...stats, ...cache.size() }),
  };
}

/** The bytes in memory of their own: a small Buffer usually shares its memory with others, and keeps all of it while it lives. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

function present(
  { brand, match }: LookupResult,
  variant: Variant,
  logoHost: string,
): FoundRecord | undefined {
  if (!brand || !match) return undefined;
  const record =
    variant === 'grouped' ? presentGrouped(brand, { logoHost }) : presentFlat(brand, { logoHost });
  if (!record) return undefined;
  const body = bytesOf(JSON.stringify(record));
  return {
    content: { tag: tagOf(body), body, encoded: {} },
    brandMatch: brandMatchOf(match as Match),
    heads: [],
  };
}
