import type { SearchRequest as AskedSearch, CatalogServiceClient, FoundCompany } from '@brand-data/contracts';
import { isTooLongForIdentifier, LONGEST_IDENTIFIER, readWebHost } from '@brand-data/identifiers';
import { type PresentOptions, presentFlat } from '@brand-data/presenters';
import { callTroubleOf, callUnary, Fault } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import { type AdmissionParts, SEARCH_LIMITS } from '../admission/admission.ts';
import { releaseOf } from '../admission/limits/call-limits.ts';
import type { Turn } from '../admission/turns.ts';
import {
  answerTagged,
  type Content,
  cacheHeader,
  type HeldForm,
  type Tagged,
  taggedBody,
} from '../answers/answer.ts';
import { ProblemError } from '../answers/problem.ts';
import { answerUncounted, type CallerClaims, type ParsedQuery, queryValues } from '../auth/caller.ts';
import type { Tokens } from '../auth/tokens.ts';
import { choiceFrom } from './parameters.ts';
import type { SearchAnswer } from './search-schema.ts';

const ANSWER_WITHIN_MS = 1_000;
/** How long caches may keep what a text finds. */
const SEARCH_SECONDS = 300;
/** How long, and up to how many bytes, a gateway keeps what texts find. People who type begin with the same letters. */
const KEPT_MS = 10_000;
const KEPT_BYTES = 8 * 2 ** 20;
/** The size of a kept answer without its texts. Its compressed bodies together are about as long as the body. */
const ENTRY_BYTES = 768;
const LIMITS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'] as const;

export interface SearchRequest extends HeldForm {
  caller: CallerClaims;
  query: ParsedQuery;
  /** Aborted when the caller can get no answer any more. */
  signal: AbortSignal;
}

/** Resolves to the companies that a text finds, the best known first, as the body of an answer with its tag. */
export type Search = (asked: AskedSearch, signal: AbortSignal) => Promise<Tagged>;

/** Answers which companies a text finds while somebody types. Never counted. Throws ProblemError. */
export function answerSearch(
  { tokens, limits, turns, search }: Pick<AdmissionParts, 'limits' | 'turns'> & SearchParts,
  { caller, query, signal, ...held }: SearchRequest,
): Promise<Content & { accountId: string }> {
  return answerUncounted(tokens, caller, async ({ accountId, keyId, allowedOrigins }) => {
    const text = textFrom(query);
    const limit = Number(choiceFrom(query, 'limit', LIMITS) ?? LIMITS.at(-1));
    let turn: Turn | undefined;
    // Other names than those of counted calls, so that neither takes from the other.
    const release = releaseOf(
      limits.admit({ accountId, keyId: `${keyId}/search`, keyLimits: SEARCH_LIMITS }),
    );
    try {
      turn = await turns.admit(`${accountId}/search`);
      const found = await search({ text, limit, accountId }, signal);
      const isPrivate = allowedOrigins.length > 0;
      return await answerTagged(found, held, {
        type: 'application/json; charset=utf-8',
        headers: { 'Cache-Control': cacheHeader(SEARCH_SECONDS, isPrivate) },
        vary: isPrivate ? 'Accept-Encoding, Origin' : 'Accept-Encoding',
      });
    } catch (error) {
      if (signal.aborted) throw new ProblemError('request_invalid', 'The caller has closed the connection.');
      throw error;
    } finally {
      if (turn) turns.release(turn);
      release?.();
    }
  });
}

export interface SearchParts {
  tokens: Tokens;
  search: Search;
}

function textFrom(query: ParsedQuery): string {
  const [text = '', ...more] = queryValues(query, 'q');
  const isRead = text !== '' && !isTooLongForIdentifier(text) && !/\p{Cc}/u.test(text);
  if (isRead && more.length === 0) return text;
  const detail = `Give \`q\` once, with 1 to ${LONGEST_IDENTIFIER} characters, none of them a control character.`;
  throw new ProblemError('parameter_invalid', detail);
}

/** Searches by catalog, or answers as it did a moment ago. Not hedged: a replica with too much to do would get still more. */
export function createSearch(catalog: CatalogServiceClient, shown: PresentOptions): Search {
  const kept = new LRUCache<string, Tagged>({
    ttl: KEPT_MS,
    maxSize: KEPT_BYTES,
    sizeCalculation: ({ body }, key) => 2 * (body.length + key.length) + ENTRY_BYTES,
  });
  return async ({ text, limit, accountId }, signal) => {
    const key = `${limit} ${text}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const options = { deadlineMs: ANSWER_WITHIN_MS, waitForReady: true, signal };
    try {
      const { companies } = await callUnary(catalog, catalog.search, { text, limit, accountId }, options);
      const answer: SearchAnswer = { companies: companies.flatMap((found) => present(found, shown)) };
      const found = taggedBody(JSON.stringify(answer));
      kept.set(key, found);
      return found;
    } catch (error) {
      const trouble = callTroubleOf(error);
      if (trouble !== 'unknown_method' && trouble !== 'wrong_caller') throw error;
      throw new Fault('unavailable', 'this catalog does not search yet', { cause: error });
    }
  };
}

function present({ brand, identifier }: FoundCompany, shown: PresentOptions): SearchAnswer['companies'] {
  const record = brand && presentFlat(brand, shown);
  if (!record) return [];
  const { name, symbol, logo } = record;
  const domain = readWebHost(record.website ?? brand.domains[0] ?? '')?.host ?? null;
  return [{ identifier, name, type: record.type === 'stock' ? 'stock' : 'brand', symbol, domain, logo }];
}
