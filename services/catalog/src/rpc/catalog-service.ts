import {
  type CatalogAdminServiceServer,
  type CatalogServiceServer,
  type LookupRequest,
  type LookupResponse,
  LookupResult,
  type SearchRequest,
  type SearchResponse,
} from '@brand-data/contracts';
import type { Service } from '@brand-data/runtime';
import { bestOfEntry, findAnswers, isUnknown, readQueries } from '../lookup/answers.ts';
import type { Search } from '../lookup/search.ts';
import type { LookUpsFirst } from '../lookup/search-turns.ts';
import { NOTHING_SUGGESTED, suggestFor } from '../lookup/suggestions.ts';
import { changeKeysOf } from '../records/index-keys.ts';
import { exportCalls } from './export-calls.ts';
import { importCalls } from './import-calls.ts';
import { listCalls } from './list-calls.ts';
import { type AdminParts, withDeadline } from './operator-calls.ts';
import { overrideCalls } from './override-calls.ts';
import { recordCalls } from './record-calls.ts';
import { runCalls } from './run-calls.ts';

const LOOKUP_DEADLINE_MS = 1_500;
const SEARCH_DEADLINE_MS = 1_000;
/** A record of 72 KiB, the largest that is stored, with its match. */
const LARGEST_RESULT_BYTES = 80 * 1024;
const LEFT_OUT: LookupResult = { ...NOTHING_SUGGESTED, leftOut: true, keys: [] };

/** Returns the calls of gateways: see proto/brand_data/v1/catalog.proto for shapes and errors. */
export function catalogService(
  service: Service,
  {
    findCandidates,
    suggest,
    search,
    lookUps,
  }: Pick<AdminParts, 'findCandidates' | 'suggest'> & { search: Search; lookUps: Pick<LookUpsFirst, 'run'> },
): CatalogServiceServer {
  return {
    lookup: withDeadline<LookupRequest, LookupResponse>(
      service,
      LOOKUP_DEADLINE_MS,
      async ({ queries, maxBytes }) => {
        const read = readQueries(queries);
        const limits = { perEntry: bestOfEntry(read), most: 1 };
        const answers = await lookUps.run(() => findAnswers(read, findCandidates, limits));
        const missed = answers.flatMap(({ query, answer }) => (isUnknown(answer) ? [query] : []));
        const suggested = await suggestFor(suggest, missed);
        const results = answers.map(({ query, answer: { meanings, noCompany } }) => ({
          ...meanings[0],
          noCompany,
          ...(suggested.get(query) ?? NOTHING_SUGGESTED),
          leftOut: false,
          keys: changeKeysOf(query.entries),
        }));
        return { results: maxBytes === 0 ? results : withinBytes(results, maxBytes) };
      },
    ),
    search: withDeadline<SearchRequest, SearchResponse>(
      service,
      SEARCH_DEADLINE_MS,
      async (asked, signal) => ({ companies: await search(asked, signal) }),
    ),
  };
}

/** Returns the calls of operators: see proto/brand_data/v1/catalog.proto for shapes and errors. */
export function catalogAdminService(parts: AdminParts): CatalogAdminServiceServer {
  return {
    ...importCalls(parts),
    ...runCalls(parts),
    ...recordCalls(parts),
    ...overrideCalls(parts),
    ...listCalls(parts),
    ...exportCalls(parts),
  };
}

/** Returns the results that fit, in order, and always the first one. All other results are left out. */
function withinBytes(results: readonly LookupResult[], maxBytes: number): LookupResult[] {
  // This many records always fit, so the usual small batches are not encoded twice.
  if (results.length * LARGEST_RESULT_BYTES <= maxBytes) return [...results];
  let leftBytes = maxBytes;
  return results.map((result, index) => {
    // A result is preceded by its field's number and its length.
    const bytes = LookupResult.encode(result).finish().length + 5;
    if (index > 0 && bytes > leftBytes) return LEFT_OUT;
    leftBytes -= bytes;
    return result;
  });
}
