import type { Brand, FoundCompany, SearchRequest } from '@brand-data/contracts';
import { isTooLongForIdentifier, LONGEST_IDENTIFIER } from '@brand-data/identifiers';
import { Fault } from '@brand-data/runtime';
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
/**
 * If a text finds few companies, a text that goes on finds some of these. They are kept for as long as so many searches may take: people
 * type on at once.
 */
const KEPT_FOR_SEARCHES = 10;
const MOST_TEXTS_KEPT = 200;

export type Search = ReturnType<typeof searcher>;

/**
 * Returns a function that finds the best known companies of which a text begins as the typed one. Throws Fault `invalid_argument`, and
 * `unavailable` if too many searches are waiting or the caller no longer waits.
 */
export function searcher(
  companies: Collection<CatalogDoc>,
  findCandidates: FindCandidates,
  { giveWay, withinMs = SEARCH_MS }: { giveWay: () => Promise<void>; withinMs?: number },
) {
  const inTurn = takeTurns({ mostWaiting: MOST_WAITING });
  // By company with all that may mean it. '': none does.
  const remembered = new LRUCache<string, string>({ max: MOST_REMEMBERED, ttl: REMEMBERED_MS });
  const few = new LRUCache<string, FewFound>({ max: MOST_TEXTS_KEPT, ttl: KEPT_FOR_SEARCHES * withinMs });

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
  async function read(text: string, texts: readonly string[]): Promise<readonly CatalogDoc[]> {
    const shorter = text.slice(0, -1);
    const known = few.get(shorter);
    if (known && texts.every((one) => known.texts.some((before) => one.startsWith(before)))) {
      const docs = known.docs.filter(({ search = [] }) => isFound(search, texts));
      few.set(text, { ...known, texts, docs }, { start: known.readMs });
      return docs;
    }
    const projection = { keys: 1, rank: 1, brand: 1, search: 1 };
    const options = { projection, hint: 'search', maxTimeMS: withinMs, limit: READ, batchSize: READ };
    const readMs = performance.now();
    const found: CatalogDoc[] = await companies.find(searchFilter(texts), options).toArray();
    const docs = found.sort(compareDocs);
    if (docs.length < READ) few.set(text, { texts, docs, readMs }, { start: readMs });
    return docs;
  }

  async function find(text: string, limit: number, signal?: AbortSignal): Promise<FoundCompany[]> {
    const texts = textsTyped(text);
    if (texts.length === 0) return [];
    await giveWay();
    refuseAbandoned(signal);
    const left = [...(await read(text, texts))];
    const found: FoundCompany[] = [];
    while (found.length < limit && left.length > 0) {
      await giveWay();
      refuseAbandoned(signal);
      found.push(...(await identified(left.splice(0, limit).map(foundOf))));
    }
    return found.slice(0, limit);
  }

  return async ({ text, limit, accountId }: SearchRequest, signal?: AbortSignal): Promise<FoundCompany[]> => {
    if (isTooLongForIdentifier(text))
      throw new Fault('invalid_argument', `the text is longer than ${LONGEST_IDENTIFIER} characters`);
    if (limit < 1 || limit > MOST_FOUND)
      throw new Fault('invalid_argument', `the limit is ${limit}: 1 to ${MOST_FOUND} companies are found`);
    return inTurn(accountId, () => find(text, limit, signal));
  };
}

function refuseAbandoned(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Fault('unavailable', 'the caller no longer waits');
}

/** All companies that a text finds, and what it stands for. */
interface FewFound {
  readonly texts: readonly string[];
  readonly docs: readonly CatalogDoc[];
  /** On the monotonic clock. */
  readonly readMs: number;
}

/** A company that the text finds, with identifiers that may mean it, the handiest first. */
interface Found {
  readonly brand: Brand;
  readonly identifiers: readonly string[];
}

function foundOf({ keys, brand: bytes }: CatalogDoc): Found {
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
    brand,
    identifiers: identifiers
      .filter((identifier) => identifier !== undefined)
      .filter((identifier) => !isTooLongForIdentifier(identifier)),
  };
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
