import type { Brand, FoundCompany, SearchRequest } from '@brand-data/contracts';
import { isTooLongForIdentifier, LONGEST_IDENTIFIER } from '@brand-data/identifiers';
import { Fault } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import type { Collection } from 'mongodb';
import { type CatalogDoc, compareDocs } from '../records/catalog-doc.ts';
import { recordFromBytes } from '../records/merge.ts';
import { searchFilter, textsTyped } from '../records/search-entries.ts';
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

export type Search = ReturnType<typeof searcher>;

/**
 * Returns a function that finds the best known companies of which a text begins as the typed one. Throws Fault `invalid_argument`, and
 * `unavailable` if too many searches are waiting or the caller no longer waits.
 */
export function searcher(
  companies: Collection<CatalogDoc>,
  findCandidates: FindCandidates,
  { withinMs = SEARCH_MS } = {},
) {
  const inTurn = takeTurns({ mostWaiting: MOST_WAITING });
  // By company with all that may mean it. '': none does.
  const remembered = new LRUCache<string, string>({ max: MOST_REMEMBERED, ttl: REMEMBERED_MS });

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

  async function find(text: string, limit: number, signal?: AbortSignal): Promise<FoundCompany[]> {
    const texts = textsTyped(text);
    if (texts.length === 0) return [];
    refuseAbandoned(signal);
    const options = { projection: { keys: 1, rank: 1, brand: 1 }, hint: 'search', maxTimeMS: withinMs };
    const docs: CatalogDoc[] = await companies
      .find(searchFilter(texts), { ...options, limit: READ, batchSize: READ })
      .toArray();
    const left = docs.sort(compareDocs);
    const found: FoundCompany[] = [];
    while (found.length < limit && left.length > 0) {
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
