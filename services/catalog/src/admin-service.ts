import type {
  CatalogAdminServiceServer,
  DeleteBrandRequest,
  DeleteBrandResponse,
  FinishImportRequest,
  FinishImportResponse,
  GetBrandRequest,
  GetBrandResponse,
  GetStatisticsRequest,
  GetStatisticsResponse,
  PutBrandsRequest,
  PutBrandsResponse,
  PutQuotesRequest,
  PutQuotesResponse,
  RefusedBrand,
  ResolveRequest,
  ResolveResponse,
} from '@brand-data/contracts';
import { Fault, type Service } from '@brand-data/runtime';
import type { Announcer } from './announcer.ts';
import { inTime } from './deadline.ts';
import { byEntry, meaningsOf, meaningToProto, readQueries } from './lookup/answers.ts';
import type { FindCandidates } from './lookup/candidates.ts';
import { mergeStatements, recordFromBytes } from './records/merge.ts';
import { contributionOfQuote, keysOfQuote, noMainListing } from './records/quotes.ts';
import { type Contribution, contributionOf, referenceOf } from './records/source-record.ts';
import { isSlug, problemsOf, problemsOfQuote, refusalOf } from './records/validation.ts';
import { contributionsFromDoc } from './storage/catalog-doc.ts';
import type { CatalogStore, PutAnswer, PutOutcome } from './storage/store.ts';

const MAX_BATCH = 500;
const MAX_MEANINGS = 20;
/** More companies than have one ticker on different exchanges. */
const MAX_SHARING = 100;
const ANSWER_WITHIN_MS = 20_000;
/** Well within what importers wait for an answer. */
const PRUNE_WITHIN_MS = 5_000;
/** Reads of the whole collection. */
const SCAN_WITHIN_MS = 60_000;

/** What operators call: see proto/brand_data/v1/catalog.proto for shapes and errors. */
export function catalogAdminService(
  service: Service,
  {
    findCandidates,
    store,
    announcer,
  }: { findCandidates: FindCandidates; store: CatalogStore; announcer: Announcer },
): CatalogAdminServiceServer {
  /** Of what fails in the middle, some is written. */
  async function announcingFailure<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      announcer.changed();
      throw error;
    }
  }

  async function put(
    { source, dryRun, signal }: { source: string; dryRun: boolean; signal: AbortSignal },
    puts: readonly Attempt[],
  ): Promise<PutAnswer & { refused: RefusedBrand[] }> {
    const accepted = puts.flatMap((put, index) =>
      put === undefined || 'refused' in put ? [] : [{ put, index }],
    );
    const contributions = accepted.map(({ put }) => put);
    const answering = store.putContributions(source, contributions, { dryRun, signal });
    const answer = await (dryRun ? answering : announcingFailure(answering));
    if (!dryRun && answer.outcomes.some((outcome) => outcome === 'created' || outcome === 'changed'))
      announcer.changed();
    const refused = [
      ...puts.flatMap((put, index) =>
        put !== undefined && 'refused' in put ? [{ index, reason: put.refused }] : [],
      ),
      ...answer.outcomes.flatMap((outcome, place) =>
        typeof outcome === 'object' ? [{ index: accepted[place]?.index ?? 0, reason: outcome.refused }] : [],
      ),
    ];
    return { ...answer, refused: refused.sort((a, b) => a.index - b.index) };
  }

  return {
    putBrands: inTime<PutBrandsRequest, PutBrandsResponse>(
      service,
      ANSWER_WITHIN_MS,
      async (request, signal) => {
        refuseBadBatch(request, request.brands);
        const { source, importId, brands } = request;
        const puts = eachOnce(
          brands.map((brand) => {
            const contribution = contributionOf(source, importId, brand);
            const refused = refusalOf(problemsOf(brand, contribution.bytes.length));
            return refused === undefined ? contribution : { refused };
          }),
          'id is given twice in this batch: send one record of each id',
        );
        const { outcomes, refused, conflicts } = await put({ ...request, signal }, puts);
        const places = new Map(
          puts.flatMap((put, index) =>
            put === undefined || 'refused' in put ? [] : [[referenceOf(put), index] as const],
          ),
        );
        return {
          created: countOf(outcomes, 'created'),
          changed: countOf(outcomes, 'changed'),
          unchanged: countOf(outcomes, 'unchanged'),
          refused,
          conflicts: conflicts.map(({ reference, ...conflict }) => ({
            index: places.get(reference) ?? 0,
            ...conflict,
          })),
        };
      },
    ),

    putQuotes: inTime<PutQuotesRequest, PutQuotesResponse>(
      service,
      ANSWER_WITHIN_MS,
      async (request, signal) => {
        refuseBadBatch(request, request.quotes);
        const { source, importId, quotes } = request;
        const refusals = quotes.map((quote) => refusalOf(problemsOfQuote(quote)));
        const keys = quotes.map((quote, index) => (refusals[index] === undefined ? keysOfQuote(quote) : []));
        const candidates = byEntry(
          await findCandidates([...new Set(keys.flat())], { perEntry: MAX_SHARING }),
        );
        const skipped: RefusedBrand[] = [];
        const puts = eachOnce(
          quotes.map((quote, index) => {
            const refused = refusals[index];
            if (refused !== undefined) return { refused };
            const own = [...new Set(keys[index]?.flatMap((key) => candidates.get(key) ?? []))];
            const contribution = contributionOfQuote(source, importId, quote, own);
            if (contribution !== undefined) return contribution;
            skipped.push({ index, reason: noMainListing(quote.symbol || quote.isin) });
            return undefined;
          }),
          'its listing is given twice in this batch: send one quote of each',
        );
        const { outcomes, refused } = await put({ ...request, signal }, puts);
        const unchanged = countOf(outcomes, 'unchanged');
        const changed = quotes.length - refused.length - skipped.length - unchanged;
        return { changed, unchanged, refused, skipped };
      },
    ),

    finishImport: inTime<FinishImportRequest, FinishImportResponse>(
      service,
      SCAN_WITHIN_MS,
      async (request, signal) => {
        refuseBadImport(request);
        const { source, importId } = request;
        const { pruned, more } = request.prune
          ? await announcingFailure(store.prune(source, importId, { withinMs: PRUNE_WITHIN_MS, signal }))
          : { pruned: 0, more: false };
        await announcer.announce();
        return { pruned, more };
      },
    ),

    getBrand: inTime<GetBrandRequest, GetBrandResponse>(service, ANSWER_WITHIN_MS, async ({ id }) => {
      const doc = await store.readBrand(id);
      if (doc === undefined) throw notFound(id);
      const contributions = contributionsFromDoc(doc);
      return {
        brand: recordFromBytes(doc.brand),
        contributions: contributions.map(({ source, importId, brand }) => ({ source, importId, brand })),
        fieldSources: Object.fromEntries(mergeStatements(contributions).fieldSources),
      };
    }),

    deleteBrand: inTime<DeleteBrandRequest, DeleteBrandResponse>(
      service,
      ANSWER_WITHIN_MS,
      async ({ id }, signal) => {
        const contributions = await announcingFailure(store.deleteBrand(id, { signal }));
        if (contributions === undefined) throw notFound(id);
        announcer.changed();
        return { contributions };
      },
    ),

    resolve: inTime<ResolveRequest, ResolveResponse>(service, ANSWER_WITHIN_MS, async ({ queries }) => {
      const read = readQueries(queries);
      const entries = [...new Set(read.flatMap((query) => query.entries))];
      const candidates = byEntry(await findCandidates(entries, { perEntry: MAX_MEANINGS }));
      return {
        resolutions: read.map((query) => ({
          meanings: meaningsOf(query, candidates, MAX_MEANINGS).map(meaningToProto),
        })),
      };
    }),

    getStatistics: inTime<GetStatisticsRequest, GetStatisticsResponse>(service, SCAN_WITHIN_MS, () =>
      store.countBrands(),
    ),
  };
}

function refuseBadBatch(request: { source: string; importId: string }, items: readonly unknown[]): void {
  refuseBadImport(request);
  if (items.length > MAX_BATCH)
    throw new Fault('invalid_argument', `the batch has ${items.length} records: send ${MAX_BATCH} at most`);
}

function refuseBadImport({ source, importId }: { source: string; importId: string }): void {
  if (!isSlug(source))
    throw new Fault('invalid_argument', 'source must be a lower-case slug, such as "simple-icons"');
  if (!/^[\w.:-]{1,128}$/.test(importId))
    throw new Fault(
      'invalid_argument',
      'import_id must be 1 to 128 letters, digits, hyphens, underscores, dots and colons',
    );
}

/** What becomes of an item of a batch: it is put, it is refused, or there is nothing to do with it. */
type Attempt = Contribution | { readonly refused: string } | undefined;

function eachOnce(puts: readonly Attempt[], refused: string): Attempt[] {
  const seen = new Set<string>();
  return puts.map((put) => {
    if (put === undefined || 'refused' in put) return put;
    if (seen.has(put.id)) return { refused };
    seen.add(put.id);
    return put;
  });
}

function countOf(outcomes: readonly PutOutcome[], wanted: PutOutcome): number {
  return outcomes.filter((outcome) => outcome === wanted).length;
}

function notFound(id: string): Fault {
  return new Fault('not_found', `there is no record "${id.slice(0, 100)}": look its id up by name`);
}
