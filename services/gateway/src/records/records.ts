import { hash } from 'node:crypto';
import type {
  CatalogServiceClient,
  LookupQuery,
  LookupResult,
  Match,
  Suggestion,
} from '@brand-data/contracts';
import { presentFlat, presentGrouped } from '@brand-data/presenters';
import {
  activeSpanContext,
  answerWithin,
  callUnary,
  compress,
  type Encoding,
  Fault,
  inBatchSpan,
  type SpanContext,
  type Tracer,
} from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import type { CacheStats } from '../metrics/cache-metrics.ts';
import { brandMatchOf } from './brand-match.ts';

export type Variant = 'grouped' | 'flat';

/** A body that callers get in the encoding that they accept. */
export interface Encodable {
  body: Buffer;
  /** Compressed bodies, or promises of them. Each is made when the first caller accepts it. */
  encoded: Partial<Record<Encoding, Buffer | Promise<Buffer>>>;
}

/** A record as callers get it. */
export interface PresentedRecord extends Encodable {
  /** The ETag without quotes and encoding. Every replica gives the same record the same tag. */
  tag: string;
  brandMatch: string;
  /** Headers of its answers, by kind of answer (http/record-lines.ts). */
  lines: (readonly string[])[];
}

/** What catalog knows of an identifier. */
export interface Found {
  /** undefined: the identifier matches no record. */
  readonly record: PresentedRecord | undefined;
  /** Records that the caller may have meant, if the identifier matches none. */
  readonly suggestions: readonly Suggestion[];
  /** Whether the identifier matches a superinvestor, although this variant shows no superinvestors. */
  readonly namesSuperinvestor: boolean;
}

interface Cached extends Found {
  fetchedAtMs: number;
  /** Catalog did not answer the last look-up in time. Until this time the gateway answers with the stale record at once. */
  servedUntilMs?: number;
}

const FRESH_MS = 60_000;
const NOT_FOUND_FRESH_MS = 10_000;
/** The largest age at which the gateway answers with a stale record while catalog does not answer. */
const STALE_SERVED_MS = 3_600_000;
/** If a look-up takes longer than this, the gateway answers with the stale record. */
const STALE_AFTER_MS = 300;
/** After such a look-up, the gateway answers with this stale record for this long before it asks catalog again. */
const LOOK_UP_EVERY_MS = 1_000;
const LOOKUP_WITHIN_MS = 2_000;
/** A 404 waits this long for suggestions. Catalog itself gives up their search after 100 ms. */
const SUGGEST_WITHIN_MS = 200;
const QUERIES_IN_BATCH = 200;
/** Of an answer of catalog. */
const BATCH_BYTES = 256 * 1024;
const LOOKUPS_WAITING = 10_000;
const ENTRY_OVERHEAD_BYTES = 512;
const SUGGESTION_BYTES = 256;

export interface Records {
  /** Returns a promise unless the record is cached and fresh. It rejects with Fault `unavailable` if catalog does not answer. */
  find(variant: Variant, identifier: string): Found | Promise<Found>;
  /** Makes all cached records stale, so that the next call fetches them again. */
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
  const lookup = batchLookups(catalog, { withinMs: LOOKUP_WITHIN_MS, onFailure, onBatch, tracer });
  const lookupMissed = batchLookups(catalog, { withinMs: SUGGEST_WITHIN_MS, onBatch, tracer });
  const cache = new LRUCache<string, Cached>({
    maxSize: cacheBytes,
    sizeCalculation: ({ record, suggestions }, key) =>
      key.length * 2 +
      (record?.body.length ?? 0) * 2 +
      suggestions.length * SUGGESTION_BYTES +
      ENTRY_OVERHEAD_BYTES,
  });
  const fetching = new Map<string, Promise<Found>>();
  let expiredAtMs = Number.NEGATIVE_INFINITY;
  const stats = { hits: 0, misses: 0, stale: 0 };

  const isFresh = ({ record, fetchedAtMs }: Cached, nowMs: number) =>
    fetchedAtMs > expiredAtMs && nowMs - fetchedAtMs < (record ? FRESH_MS : NOT_FOUND_FRESH_MS);

  /** Asks for suggestions in a second request, because catalog would answer the whole batch only after their search. */
  const lookupWithSuggestions = async (query: Omit<LookupQuery, 'suggest'>): Promise<LookupResult> => {
    const result = await lookup({ ...query, suggest: false });
    return result.brand ? result : lookupMissed({ ...query, suggest: true }).catch(() => result);
  };

  const fetch = async (key: string, variant: Variant, identifier: string): Promise<Found> => {
    stats.misses += 1;
    const fetchedAtMs = now();
    const result = await lookupWithSuggestions({ identifier, superinvestors: variant === 'grouped' });
    const { suggestions, namesSuperinvestor } = result;
    const cached = {
      record: present(result, variant, logoHost),
      suggestions,
      namesSuperinvestor,
      fetchedAtMs,
    };
    cache.set(key, cached);
    return cached;
  };

  /** Concurrent look-ups of one identifier share one request. */
  const fetchOnce = (key: string, variant: Variant, identifier: string) => {
    let pending = fetching.get(key);
    if (!pending) {
      pending = fetch(key, variant, identifier).finally(() => fetching.delete(key));
      fetching.set(key, pending);
    }
    return pending;
  };

  const serveStale = (cached: Cached): Cached => {
    stats.stale += 1;
    return cached;
  };

  const renew = async (cached: Cached, pending: Promise<Found>): Promise<Found> => {
    try {
      // A late look-up continues, so that later calls find its record in the cache.
      return await answerWithin(pending, {
        withinMs: STALE_AFTER_MS,
        detail: 'catalog did not answer in time',
      });
    } catch {
      cached.servedUntilMs = now() + LOOK_UP_EVERY_MS;
      return serveStale(cached);
    }
  };

  return {
    find: (variant, identifier) => {
      const key = `${variant} ${identifier}`;
      const cached = cache.get(key);
      const nowMs = now();
      if (cached && isFresh(cached, nowMs)) {
        stats.hits += 1;
        return cached;
      }
      // A 404 is billed. So the gateway never answers 404 from an outdated cache entry.
      if (!cached?.record || nowMs - cached.fetchedAtMs >= STALE_SERVED_MS)
        return fetchOnce(key, variant, identifier);
      if (nowMs < (cached.servedUntilMs ?? 0)) return serveStale(cached);
      return renew(cached, fetchOnce(key, variant, identifier));
    },
    expireAll: () => {
      expiredAtMs = now();
    },
    cacheStats: () => ({ ...stats, entries: cache.size, bytes: cache.calculatedSize }),
  };
}

/** Returns the body's bytes in an encoding. Each encoding is compressed once. */
export function encodeBody(text: Encodable, encoding: Encoding): Promise<Buffer> | Buffer {
  if (encoding === 'identity') return text.body;
  text.encoded[encoding] ??= compressFirst(text, encoding);
  return text.encoded[encoding];
}

async function compressFirst(text: Encodable, encoding: Exclude<Encoding, 'identity'>): Promise<Buffer> {
  const compressed = await compress(text.body, encoding);
  text.encoded[encoding] = compressed;
  return compressed;
}

function present(
  { brand, match }: LookupResult,
  variant: Variant,
  logoHost: string,
): PresentedRecord | undefined {
  if (!brand || !match) return undefined;
  const record =
    variant === 'grouped' ? presentGrouped(brand, { logoHost }) : presentFlat(brand, { logoHost });
  if (!record) return undefined;
  const body = Buffer.from(JSON.stringify(record));
  return {
    tag: hash('sha256', body, 'base64url').slice(0, 27),
    brandMatch: brandMatchOf(match as Match),
    body,
    encoded: {},
    lines: [],
  };
}

/** Returns a look-up function that puts the look-ups of the same moment into one request to catalog. */
function batchLookups(
  catalog: CatalogServiceClient,
  {
    withinMs,
    onFailure = () => {},
    onBatch,
    tracer,
  }: {
    withinMs: number;
    onFailure?: () => void;
    onBatch: (queries: number) => void;
    tracer: Tracer | undefined;
  },
): (query: LookupQuery) => Promise<LookupResult> {
  type Waiting = {
    query: LookupQuery;
    spanContext: SpanContext | undefined;
    resolve: (result: LookupResult) => void;
    reject: (error: unknown) => void;
  };
  let waiting: Waiting[] = [];
  let underWay = 0;

  const send = async (batch: Waiting[]): Promise<void> => {
    underWay += batch.length;
    onBatch(batch.length);
    try {
      const queries = batch.map(({ query }) => query);
      const options = { deadlineMs: withinMs, waitForReady: true };
      const spanContexts = batch.flatMap(({ spanContext }) => spanContext ?? []);
      const { results } = await inBatchSpan(tracer, 'look up', { spanContexts }, () =>
        callUnary(catalog, catalog.lookup, { queries, weakMatches: true, maxBytes: BATCH_BYTES }, options),
      );
      const leftOut: Waiting[] = [];
      for (const [index, waiting] of batch.entries()) {
        const result = results[index];
        if (result?.leftOut && index > 0) leftOut.push(waiting);
        else if (result && !result.leftOut) waiting.resolve(result);
        else waiting.reject(new Error('catalog answered fewer results than queries'));
      }
      // Batches of the size that fitted, all at once.
      const fitted = batch.length - leftOut.length;
      for (let from = 0; from < leftOut.length; from += Math.max(1, fitted))
        void send(leftOut.slice(from, from + Math.max(1, fitted)));
    } catch (error) {
      onFailure();
      for (const { reject } of batch) reject(error);
    } finally {
      underWay -= batch.length;
    }
  };

  return (query) =>
    new Promise((resolve, reject) => {
      if (underWay + waiting.length >= LOOKUPS_WAITING) {
        reject(new Fault('unavailable', 'too many look-ups are waiting'));
        return;
      }
      if (waiting.length === 0) {
        setImmediate(() => {
          const all = waiting;
          waiting = [];
          for (let from = 0; from < all.length; from += QUERIES_IN_BATCH) {
            void send(all.slice(from, from + QUERIES_IN_BATCH));
          }
        });
      }
      waiting.push({ query, spanContext: tracer && activeSpanContext(), resolve, reject });
    });
}
