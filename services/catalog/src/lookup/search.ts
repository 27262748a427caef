import { Brand, type FoundCompany, type SearchRequest } from '@brand-data/contracts';
import { isTooLongForIdentifier, LONGEST_IDENTIFIER } from '@brand-data/identifiers';
import { type Clock, Fault, systemClock } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import type { Collection } from 'mongodb';
import { type CatalogDoc, compareDocs } from '../records/catalog-doc.ts';
import { recordFromBytes } from '../records/merge.ts';
import { isFound, searchFilter, textsTyped } from '../records/search-entries.ts';
import { bestOfEntry, type FindCandidates, findAnswers, readQuery } from './answers.ts';
import { takeTurns } from './search-turns.ts';

const MOST_FOUND = 10;
/** How many companies one search reads. A few may have no identifier that means them alone. */
const READ = 2 * MOST_FOUND;
const SEARCH_MS = 300;
/** One search runs at a time, because those of many typists must not slow down look-ups. */
const MOST_WAITING = 64;
/** How long, and of how many companies, it is remembered which identifier means them. Then another company may have taken it. */
const REMEMBERED_MS = 60_000;
const MOST_REMEMBERED = 10_000;
/** How long answers are kept, and of how many texts. Many people begin with the same letters, and all type on at once. */
const KEPT_MS = 10_000;
const MOST_TEXTS_KEPT = 500;

export type Search = ReturnType<typeof searcher>;

interface SearcherOptions {
  giveWay: () => Promise<void>;
  withinMs?: number;
  clock?: Pick<Clock, 'now'>;
}

/**
 * Returns a function that finds the best known companies of which a text begins as the typed one, as they were at most ten seconds ago.
 * Throws Fault `invalid_argument`, and `unavailable` if too many searches are waiting or the caller no longer waits.
 */
export function searcher(
  companies: Collection<CatalogDoc>,
  findCandidates: FindCandidates,
  { giveWay, withinMs = SEARCH_MS, clock = systemClock }: SearcherOptions,
) {
  const inTurn = takeTurns({ mostWaiting: MOST_WAITING });
  const nowMs = () => clock.now().monotonicMs;
  const timed = { perf: { now: nowMs }, ttlResolution: 0 };
  // By company with all that may mean it. '': none does.
  const remembered = new LRUCache<string, string>({ max: MOST_REMEMBERED, ttl: REMEMBERED_MS, ...timed });
  const kept = new LRUCache<string, Kept>({ max: MOST_TEXTS_KEPT, ttl: KEPT_MS, ...timed });

  /** Leaves out a company that none of its identifiers means. */
  async function identified(found: readonly Found[]): Promise<FoundCompany[]> {
    const keyOf = ({ brand, identifiers }: Found) => [brand.id, ...identifiers].join('\n');
    const identifierOf = new Map(found.map((one) => [one, remembered.get(keyOf(one))]));
    const unknown = found.filter((one) => identifierOf.get(one) === undefined);
    const means = await whatMeans(unknown, findCandidates);
    for (const one of unknown) {
      const identifier = means.get(one) ?? '';
      identifierOf.set(one, identifier);
      remembered.set(keyOf(one), identifier);
    }
    return found.flatMap((one) => {
      const identifier = identifierOf.get(one);
      return identifier ? [{ brand: one.brand, identifier }] : [];
    });
  }

  /** Reads the best known companies, or takes them from the few that the text without its last letter has just found. */
  async function read(text: string, texts: readonly string[]): Promise<{ found: Found[]; readMs: number }> {
    const {
      few,
      texts: shorter = [],
      readMs: readBeforeMs = 0,
    } = kept.get(keyOfTexts(textsTyped(text.slice(0, -1)))) ?? {};
    if (few && texts.every((one) => shorter.some((before) => one.startsWith(before))))
      return { found: few.filter(({ entries }) => isFound(entries, texts)), readMs: readBeforeMs };
    const projection = { keys: 1, rank: 1, brand: 1, search: 1 };
    const options = { projection, hint: 'search', maxTimeMS: withinMs, limit: READ, batchSize: READ };
    const readMs = nowMs();
    const docs: CatalogDoc[] = await companies.find(searchFilter(texts), options).toArray();
    return { found: docs.sort(compareDocs).map(foundOf), readMs };
  }

  async function find(text: string, texts: readonly string[], signal?: AbortSignal): Promise<FoundCompany[]> {
    await giveWay();
    refuseAbandoned(signal);
    const { found, readMs } = await read(text, texts);
    const left = [...found];
    const known: FoundCompany[] = [];
    while (known.length < MOST_FOUND && left.length > 0) {
      await giveWay();
      refuseAbandoned(signal);
      known.push(...(await identified(left.splice(0, MOST_FOUND))));
    }
    const answer = known.slice(0, MOST_FOUND);
    const few = found.length < READ ? found : undefined;
    kept.set(keyOfTexts(texts), { texts, few, readMs, answer }, { start: readMs });
    return answer;
  }

  return async ({ text, limit, accountId }: SearchRequest, signal?: AbortSignal): Promise<FoundCompany[]> => {
    if (isTooLongForIdentifier(text))
      throw new Fault('invalid_argument', `the text is longer than ${LONGEST_IDENTIFIER} characters`);
    if (limit < 1 || limit > MOST_FOUND)
      throw new Fault('invalid_argument', `the limit is ${limit}: 1 to ${MOST_FOUND} companies are found`);
    const texts = textsTyped(text);
    if (texts.length === 0) return [];
    const keptAnswer = () => kept.get(keyOfTexts(texts))?.answer;
    // A search that waited may find the answer of the one before it.
    const answer =
      keptAnswer() ?? (await inTurn(accountId, async () => keptAnswer() ?? find(text, texts, signal)));
    return answer.slice(0, limit);
  };
}

const keyOfTexts = (texts: readonly string[]) => texts.join('\n');

function refuseAbandoned(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Fault('unavailable', 'the caller no longer waits');
}

/** What a text has found. */
interface Kept {
  /** What the text stands for. */
  readonly texts: readonly string[];
  /** All companies that it finds. Undefined if they are too many. */
  readonly few: readonly Found[] | undefined;
  /** On the monotonic clock. */
  readonly readMs: number;
  readonly answer: readonly FoundCompany[];
}

/** A company that the text finds, with identifiers that may mean it, the handiest first. */
interface Found {
  readonly brand: Brand;
  readonly identifiers: readonly string[];
  readonly entries: readonly string[];
}

function foundOf({ keys, search: entries = [], brand: bytes }: CatalogDoc): Found {
  const brand = recordFromBytes(bytes);
  const first = (form: RegExp) => keys.map((key) => form.exec(key)?.[1]).find((value) => value !== undefined);
  const [listing] = brand.listings;
  const identifiers = [
    first(/^ticker:([^@^]+)$/),
    first(/^domain:(.+)$/),
    brand.name,
    listing && `${listing.mic}:${listing.ticker}`,
    first(/^isin:(.+)$/),
    first(/^lei:(.+)$/),
  ];
  return {
    brand: shownOf(brand),
    identifiers: identifiers
      .filter((identifier) => identifier !== undefined)
      .filter((identifier) => !isTooLongForIdentifier(identifier)),
    entries,
  };
}

/** Returns what a search shows of the record (FoundCompany in proto/brand_data/v1/catalog.proto). */
function shownOf({ id, type, name, listings, domains, links, images }: Brand): Brand {
  return Brand.fromPartial({
    id,
    type,
    name,
    listings: listings.slice(0, 1),
    domains,
    ...(links && { links: { websites: links.websites } }),
    ...(images && { images }),
  });
}

/**
 * Looks the companies' identifiers up, as callers will, and returns the first one that means each of them, with superinvestors and
 * without.
 */
async function whatMeans(
  found: readonly Found[],
  findCandidates: FindCandidates,
): Promise<ReadonlyMap<Found, string>> {
  const identifierOf = new Map<Found, string>();
  const tryThem = async (identifiersOf: (one: Found) => readonly string[]) => {
    const attempts = found.flatMap((one) =>
      identifierOf.has(one) ? [] : identifiersOf(one).map((identifier) => ({ one, identifier })),
    );
    // What means the company although superinvestors count means it without them too.
    const queries = attempts.map((attempt) => ({
      attempt,
      ...readQuery({ identifier: attempt.identifier, superinvestors: true }),
    }));
    if (queries.length === 0) return;
    const limits = { perEntry: bestOfEntry(queries), most: 1 };
    const others = (await findAnswers(queries, findCandidates, limits)).filter(
      ({ query, answer }) => answer.meanings[0]?.brand.id !== query.attempt.one.brand.id,
    );
    const wrong = new Set(others.map(({ query }) => query.attempt));
    for (const attempt of attempts)
      if (!wrong.has(attempt) && !identifierOf.has(attempt.one))
        identifierOf.set(attempt.one, attempt.identifier);
  };
  // Nearly all companies are meant by their handiest identifier.
  await tryThem(({ identifiers }) => identifiers.slice(0, 1));
  await tryThem(({ identifiers }) => identifiers.slice(1));
  return identifierOf;
}
