import {
  type CatalogServiceServer,
  type LookupQuery,
  type LookupRequest,
  type LookupResponse,
  MatchKind,
  MatchStrength,
} from '@brand-data/contracts';
import { type Kind, readIdentifier, resolve, type Strength } from '@brand-data/identifiers';
import { Fault, type Service, unary } from '@brand-data/runtime';
import { inTime } from './in-time.ts';
import type { Candidate, CatalogStore } from './store.ts';

const LOOKUP_WITHIN_MS = 1_500;
const MAX_QUERIES = 200;
const MAX_IDENTIFIER = 256;

const MATCH_KIND: Record<Kind, MatchKind> = {
  ticker: MatchKind.TICKER,
  domain: MatchKind.DOMAIN,
  name: MatchKind.NAME,
  superinvestor: MatchKind.SUPERINVESTOR,
};

const MATCH_STRENGTH: Record<Strength, MatchStrength> = {
  exact: MatchStrength.EXACT,
  legal_form: MatchStrength.LEGAL_FORM,
  former: MatchStrength.FORMER,
};

/** What gateways call: see proto/brand_data/v1/catalog.proto for shapes and errors. */
export function catalogService(service: Service, store: CatalogStore): CatalogServiceServer {
  return {
    lookup: unary<LookupRequest, LookupResponse>(
      service,
      inTime(LOOKUP_WITHIN_MS, async ({ queries }) => {
        refuseBadBatch(queries);
        const readings = queries.map((query) => ({ query, keys: keysToTry(query) }));
        const keys = new Set(readings.flatMap((reading) => reading.keys));
        const candidates = byKey(keys.size === 0 ? [] : await store.findCandidates([...keys]));
        return { results: readings.map(({ query, keys }) => answer(query, keys, candidates)) };
      }),
    ),
  };
}

function refuseBadBatch(queries: readonly LookupQuery[]): void {
  if (queries.length === 0) throw new Fault('invalid_argument', 'the batch is empty: send 1 to 200 queries');
  if (queries.length > MAX_QUERIES)
    throw new Fault(
      'invalid_argument',
      `the batch has ${queries.length} queries: send ${MAX_QUERIES} at most`,
    );
  for (const [index, { identifier }] of queries.entries()) {
    if ([...identifier].length > MAX_IDENTIFIER)
      throw new Fault(
        'invalid_argument',
        `queries[${index}].identifier is longer than ${MAX_IDENTIFIER} characters`,
      );
  }
}

function keysToTry({ identifier, superinvestors }: LookupQuery): string[] {
  return readIdentifier(identifier, { superinvestors }).map(({ key }) => key);
}

function byKey(candidates: readonly Candidate[]): Map<string, Candidate[]> {
  const found = new Map<string, Candidate[]>();
  for (const candidate of candidates) {
    for (const key of new Set(candidate.keys.map(({ key }) => key))) {
      const sharing = found.get(key);
      if (sharing === undefined) found.set(key, [candidate]);
      else sharing.push(candidate);
    }
  }
  return found;
}

function answer(
  { identifier, superinvestors }: LookupQuery,
  keys: readonly string[],
  candidates: ReadonlyMap<string, Candidate[]>,
): LookupResponse['results'][number] {
  const own = [...new Set(keys.flatMap((key) => candidates.get(key) ?? []))];
  const match = resolve(identifier, own, { superinvestors });
  const brand = own.find(({ id }) => id === match?.id)?.brand;
  if (match === undefined || brand === undefined) return {};
  return {
    brand,
    match: {
      kind: MATCH_KIND[match.kind],
      value: match.value,
      strength: MATCH_STRENGTH[match.strength],
    },
  };
}
