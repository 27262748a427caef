import type { CatalogServiceClient, LookupQuery, LookupResult, Match, Source } from '@brand-data/contracts';
import type { IdentifierKind } from '@brand-data/identifiers';
import {
  type FlatRecord,
  monogramUrl,
  type PresentOptions,
  presentFlat,
  presentGrouped,
  sourcesOfFlat,
} from '@brand-data/presenters';
import { answerWithin, Fault, systemClock, type Tracer } from '@brand-data/runtime';
import {
  DisplayString,
  type InnerList,
  type Item,
  serializeDictionary,
  serializeItem,
  Token,
} from 'structured-headers';
import { taggedBody } from '../answers/answer.ts';
import type { CacheStats } from '../metrics/upstream-metrics.ts';
import {
  type CatalogAnswer,
  type FoundRecord,
  KIND,
  MATCH_KIND,
  STRENGTH,
  type Variant,
} from './catalog-answer.ts';
import { LookupBatches } from './look-ups.ts';
import { type Cached, RecordCache } from './record-cache.ts';

/** The largest age at which the gateway answers with an old record while catalog does not answer. */
const STALE_SERVED_MS = 3_600_000;
/** If a look-up that a caller waits for takes longer than this, the gateway answers with the old record. */
const STALE_AFTER_MS = 300;
/** The same if the record has changed, so that catalog has very likely answered in this time. */
const CHANGED_STALE_AFTER_MS = 1_000;
/** After a look-up that took too long, the gateway answers with the old record for this long before it asks catalog again. */
const LOOK_UP_EVERY_MS = 1_000;
const LOOKUP_WITHIN_MS = 2_000;
/** A 404 waits this long for suggestions. Catalog itself gives up their search after 100 ms. */
const SUGGEST_WITHIN_MS = 200;
/** The longest list of sources in Brand-Data, in characters. Clients allow the headers of an answer some KiB. */
const LONGEST_SOURCES = 1_000;

interface RecordsOptions extends PresentOptions {
  cacheBytes: number;
  /** The monotonic clock, in milliseconds. */
  now?: () => number;
  /** Called each time that catalog does not answer. */
  onFailure?: () => void;
  /** Called with the number of look-ups in each request. */
  onBatch?: (queries: number) => void;
  tracer?: Tracer | undefined;
}

/**
 * Finds records and caches them by variant and identifier. Concurrent calls for one identifier share a look-up, and look-ups of the
 * same moment a request to catalog. A miss is asked for once more, with suggestions, unless the identifier means what is no company.
 */
export class Records {
  readonly #shown: PresentOptions;
  readonly #now: () => number;
  readonly #lookUps: LookupBatches;
  readonly #lookUpsOfMissed: LookupBatches;
  readonly #cache: RecordCache;
  readonly #fetching = new Map<string, Promise<CatalogAnswer>>();
  readonly #stats = { hits: 0, misses: 0, stale: 0 };

  constructor(
    catalog: CatalogServiceClient,
    { now = () => performance.now(), cacheBytes, onFailure, onBatch, tracer, ...shown }: RecordsOptions,
  ) {
    const batching = { clock: systemClock, onBatch, tracer };
    this.#shown = shown;
    this.#now = now;
    this.#lookUps = new LookupBatches(catalog, { ...batching, withinMs: LOOKUP_WITHIN_MS, onFailure });
    this.#lookUpsOfMissed = new LookupBatches(catalog, { ...batching, withinMs: SUGGEST_WITHIN_MS });
    this.#cache = new RecordCache({ maxBytes: cacheBytes, now });
  }

  /**
   * Returns a promise unless a cached answer may be used. It rejects with Fault `unavailable` if catalog does not answer.
   *
   * @param kind the only kind that the identifier may be. Undefined: any
   */
  find(variant: Variant, identifier: string, kind?: IdentifierKind): CatalogAnswer | Promise<CatalogAnswer> {
    const key = kind === undefined ? `${variant} ${identifier}` : `${variant}:${kind} ${identifier}`;
    const cached = this.#cache.get(key);
    const nowMs = this.#now();
    if (cached && nowMs < cached.freshUntilMs) {
      this.#stats.hits += 1;
      return cached;
    }
    // A 404 is billed. Therefore the gateway never answers 404 from an outdated cache entry.
    if (!cached?.record || nowMs - cached.fetchedAtMs >= STALE_SERVED_MS)
      return this.#fetchOnce(key, variant, identifier, kind);
    if (nowMs < cached.notAskedUntilMs) return this.#serveStale(cached);
    const pending = this.#fetchOnce(key, variant, identifier, kind);
    if (nowMs >= cached.servedUntilMs) return this.#renewed(cached, pending);
    this.#stats.hits += 1;
    return cached;
  }

  /** Returns the URL of a monogram of a text that finds no record, as a header may hold it. */
  monogramUrl(text: string): string {
    return new URL(monogramUrl(text, this.#shown)).href;
  }

  /** Expires what depends on the records that have changed. `keys` are those of CatalogChanged. */
  expire(keys: readonly number[]): void {
    this.#cache.expire(keys);
  }

  expireAll(): void {
    this.#cache.expireAll();
  }

  cacheStats(): CacheStats {
    return { ...this.#stats, ...this.#cache.size() };
  }

  /** Concurrent look-ups of one identifier share one request. */
  #fetchOnce(key: string, ...wanted: Parameters<Records['find']>): Promise<CatalogAnswer> {
    let pending = this.#fetching.get(key);
    if (!pending) {
      pending = this.#fetch(key, ...wanted).finally(() => this.#fetching.delete(key));
      // No caller may be waiting for it.
      pending.catch(() => this.#askNoMoreForAWhile(this.#cache.get(key)));
      this.#fetching.set(key, pending);
    }
    return pending;
  }

  /** If a change overtakes the look-up, its answer may be of the time before or after. It is then repeated, for as long as one may take. */
  async #fetch(
    key: string,
    ...[variant, identifier, kind]: Parameters<Records['find']>
  ): Promise<CatalogAnswer> {
    const repeatedUntilMs = this.#now() + LOOKUP_WITHIN_MS;
    for (;;) {
      this.#stats.misses += 1;
      const fetchedAtMs = this.#now();
      const watch = this.#cache.watch();
      try {
        const query = { identifier, superinvestors: variant === 'grouped', kind: kind && MATCH_KIND[kind] };
        const result = await this.#lookupWithSuggestions(query);
        if (kind && result.match && result.match.kind !== query.kind)
          throw new Fault('unavailable', 'this catalog does not know kinds of look-ups yet');
        const { suggestions, namesSuperinvestor, noCompany, keys } = result;
        const changed = watch.overtakes(keys);
        if (changed && this.#now() < repeatedUntilMs) continue;
        const record = present(result, variant, this.#shown);
        const answer = { record, suggestions, namesSuperinvestor, noCompany, keys, fetchedAtMs };
        return this.#cache.set(key, answer, { changed });
      } finally {
        watch.end();
      }
    }
  }

  /** Asks for suggestions in a second request, because catalog would answer the whole batch only after their search. */
  async #lookupWithSuggestions(query: Omit<LookupQuery, 'suggest'>): Promise<LookupResult> {
    const result = await this.#lookUps.lookup({ ...query, suggest: false });
    return result.brand || result.noCompany
      ? result
      : this.#lookUpsOfMissed.lookup({ ...query, suggest: true }).catch(() => result);
  }

  async #renewed(cached: Cached, pending: Promise<CatalogAnswer>): Promise<CatalogAnswer> {
    try {
      // A late look-up continues, so that later calls find its record in the cache.
      return await answerWithin(pending, {
        withinMs: cached.hasChanged ? CHANGED_STALE_AFTER_MS : STALE_AFTER_MS,
        detail: 'catalog did not answer in time',
      });
    } catch {
      this.#askNoMoreForAWhile(cached);
      return this.#serveStale(cached);
    }
  }

  #askNoMoreForAWhile(cached: Cached | undefined): void {
    if (cached) cached.notAskedUntilMs = this.#now() + LOOK_UP_EVERY_MS;
  }

  #serveStale(cached: Cached): Cached {
    this.#stats.stale += 1;
    return cached;
  }
}

function present(
  { brand, match, changedAtMs, priceDate }: LookupResult,
  variant: Variant,
  options: PresentOptions,
): FoundRecord | undefined {
  if (!brand || !match) return undefined;
  const isFlat = variant === 'flat';
  const record = (isFlat ? presentFlat : presentGrouped)(brand, options);
  if (!record) return undefined;
  const logo = isFlat ? new URL((record as FlatRecord).logo).href : undefined;
  const content = { ...taggedBody(JSON.stringify(record)), logo };
  const sources = isFlat ? sourcesOfFlat(brand.sources) : brand.sources;
  // The record of a company without listings shows no price.
  const hasPrice = record.type === 'stock' && brand.stock?.price !== undefined;
  const dataHeaders = {
    ...(changedAtMs && { 'Last-Modified': httpDate(changedAtMs) }),
    ...brandDataOf(sources, hasPrice ? priceDate : undefined),
  };
  return { content, brandMatch: brandMatchOf(match as Match), dataHeaders, heads: [] };
}

/** Returns a time as Last-Modified has it. No answer may be older than its record, so a clock that is ahead counts as right now. */
function httpDate(timeMs: number): string {
  return new Date(Math.min(timeMs, Date.now())).toUTCString();
}

/**
 * Returns the header Brand-Data, an RFC 9651 dictionary, as an object. Empty if nothing is known. Names each source once, with the
 * newest and the oldest of its days, and leaves out sources that the header has no room for.
 */
export function brandDataOf(
  sources: readonly Pick<Source, 'name' | 'date'>[],
  priceDate: string | undefined,
): { 'Brand-Data'?: string } {
  const items: Item[] = [];
  let length = 0;
  for (const [name, own] of Map.groupBy(sources, (source) => source.name)) {
    const days = own.flatMap(({ date }) => (date === '' ? [] : textItem(date))).sort();
    const dated = days.slice(-1).map((day) => ['date', day] as const);
    const since = days[0] === days.at(-1) ? [] : days.slice(0, 1).map((day) => ['oldest', day] as const);
    const item: Item = [textItem(name), new Map([...dated, ...since])];
    const written = serializeItem(item).length;
    if (length + written > LONGEST_SOURCES) continue;
    length += written + 1;
    items.push(item);
  }
  const facts = {
    ...(items.length > 0 && { sources: [items, new Map()] satisfies InnerList }),
    ...(priceDate && { price_date: textItem(priceDate) }),
  };
  const header = serializeDictionary(facts);
  return header === '' ? {} : { 'Brand-Data': header };
}

/** A text that is not ASCII becomes a Display String. */
function textItem(text: string): string | DisplayString {
  const line = text.replace(/\p{Cc}/gu, ' ');
  return /^[\x20-\x7e]*$/.test(line) ? line : new DisplayString(line);
}

/** Returns the value of the header Brand-Match: an RFC 9651 dictionary. */
export function brandMatchOf({ kind, value, strength }: Match): string {
  return serializeDictionary({
    kind: new Token(KIND[kind]),
    value: textItem(value),
    strength: new Token(STRENGTH[strength]),
  });
}
