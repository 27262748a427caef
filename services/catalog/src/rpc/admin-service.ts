import {
  type CatalogAdminServiceServer,
  type DeleteBrandRequest,
  type DeleteBrandResponse,
  type ExportCompaniesRequest,
  type ExportCompaniesResponse,
  type ExportedCompany,
  FieldOutcome,
  type FieldResult,
  type FinishImportRequest,
  type FinishImportResponse,
  type GetBrandRequest,
  type GetBrandResponse,
  type GetStatisticsRequest,
  type GetStatisticsResponse,
  type ListBrandsRequest,
  type ListBrandsResponse,
  type ListImagePathsRequest,
  type ListImagePathsResponse,
  type ListLogoFilesRequest,
  type ListLogoFilesResponse,
  type ListOverridesRequest,
  type ListOverridesResponse,
  type PutBrandsRequest,
  type PutBrandsResponse,
  type PutQuotesRequest,
  type PutQuotesResponse,
  type RefusedBrand,
  type RefusedLink,
  type ResolveRequest,
  type ResolveResponse,
  type RestoreCompaniesRequest,
  type RestoreCompaniesResponse,
  type SetFieldsRequest,
  type SetFieldsResponse,
  type UnsetFieldsRequest,
  type UnsetFieldsResponse,
} from '@brand-data/contracts';
import { problemOfSource, problemsOf, problemsOfQuote, refusalOf } from '@brand-data/records';
import {
  type CallMetadata,
  Fault,
  operatorCallOf,
  type Service,
  serverStream,
  type Trail,
} from '@brand-data/runtime';
import type { FieldEdit } from '../linkage/edit-overrides.ts';
import type { PutOutcome } from '../linkage/plan.ts';
import type { PutRefusedLink } from '../linkage/refused-links.ts';
import { byEntry, meaningsOf, meaningToProto, readQueries } from '../lookup/answers.ts';
import type { FindCandidates } from '../lookup/candidates.ts';
import { type Suggest, suggestForAll } from '../lookup/suggestions.ts';
import { sourceRecordsFromDoc } from '../records/catalog-doc.ts';
import { recordFromBytes } from '../records/merge.ts';
import { effectiveOverrides, mergeRecords } from '../records/override-record.ts';
import { keysOfQuote, noMainListing, quoteRecordAmong } from '../records/quotes.ts';
import { referenceOf, type SourceRecord, sourceRecordOf } from '../records/source-record.ts';
import type { Announcer } from '../storage/announcer.ts';
import type { Restore } from '../storage/restore.ts';
import type { CatalogStore, PutAnswer } from '../storage/store.ts';
import { withDeadline } from './deadline.ts';
import { docFromExported, exportedCompanies } from './exported-companies.ts';
import { imagePaths, logoFiles } from './image-listings.ts';
import { listedBrands } from './listed-brands.ts';
import {
  listedOverrides,
  MAX_LISTED,
  overrideToStore,
  problemOfSetting,
  resultToProto,
} from './override-requests.ts';

const MAX_BATCH = 500;
const LONGEST_ABOUT = 100;
const IMPORT_ID = /^[\w.:-]{1,128}$/;
const MAX_MEANINGS = 20;
/** Records to read for one entry of a quote. In practice fewer companies use the same ticker on different exchanges. */
const MAX_PER_TICKER = 100;
const ANSWER_DEADLINE_MS = 20_000;
/** Time for one prune call. Well below the deadline that importers set. */
const PRUNE_MS = 5_000;
/** Deadline of calls that read the whole collection. */
const SCAN_DEADLINE_MS = 60_000;

/** The calls of operators: see proto/brand_data/v1/catalog.proto for shapes and errors. */
export function catalogAdminService(
  service: Service,
  {
    findCandidates,
    suggest,
    store,
    restore,
    announcer,
    trail,
  }: {
    findCandidates: FindCandidates;
    suggest: Suggest;
    store: CatalogStore;
    restore: Restore;
    announcer: Pick<Announcer, 'confirm'>;
    trail: Trail;
  },
): CatalogAdminServiceServer {
  /** Makes a change that leaves an entry in the trail. A dry run changes nothing, and leaves none. */
  const recorded = <Result>(
    metadata: CallMetadata,
    { dryRun = false, ...told }: Parameters<Trail['record']>[1] & { dryRun?: boolean },
    change: () => Promise<Result>,
    countsOf?: (result: Result) => Record<string, number>,
  ): Promise<Result> => (dryRun ? change() : trail.record(operatorCallOf(metadata), told, change, countsOf));

  async function put(
    { source, dryRun, signal }: { source: string; dryRun: boolean; signal: AbortSignal },
    items: readonly BatchItem[],
  ): Promise<PutAnswer & { refused: RefusedBrand[] }> {
    const accepted = acceptedOf(items);
    const records = accepted.map(({ record }) => record);
    const answer = await store.putSourceRecords(source, records, { dryRun, signal });
    const refused = [
      ...items.flatMap((item, index) =>
        item !== undefined && 'refused' in item ? [{ index, reason: item.refused }] : [],
      ),
      ...answer.outcomes.flatMap((outcome, number) =>
        typeof outcome === 'object' ? [{ index: accepted[number]?.index ?? 0, reason: outcome.refused }] : [],
      ),
    ];
    return { ...answer, refused: refused.sort((a, b) => a.index - b.index) };
  }

  /** Makes the edits without problems. If an edit has a problem, no field of its record is set. */
  async function editFields(
    edits: readonly FieldEdit[],
    problems: readonly (string | undefined)[],
    { dryRun, signal }: { dryRun: boolean; signal: AbortSignal },
  ): Promise<FieldResult[]> {
    const bad = new Set(edits.flatMap(({ id }, index) => (problems[index] === undefined ? [] : [id])));
    const good = edits.filter(({ id }) => !bad.has(id));
    const outcomes = await store.editFields(good, { dryRun, signal });
    const outcomeOf = new Map(good.map((edit, index) => [edit, outcomes[index]]));
    return edits.map((edit, index) => {
      const problem = problems[index];
      return resultToProto(
        problem === undefined ? (outcomeOf.get(edit) ?? 'held_back') : { refused: problem },
      );
    });
  }

  return {
    putBrands: withDeadline<PutBrandsRequest, PutBrandsResponse>(
      service,
      ANSWER_DEADLINE_MS,
      async (request, signal, metadata) => {
        refuseBadBatch(request, request.brands);
        const { source, importId, brands } = request;
        const items = refuseRepeats(
          brands.map((brand) => {
            const record = sourceRecordOf(source, importId, brand);
            const refused = refusalOf(problemsOf(brand, record.bytes.length));
            return refused === undefined ? record : { refused };
          }),
          'the id occurs twice in this batch: send one record for each id',
        );
        const { outcomes, refused, conflicts, refusedLinks } = await recorded(
          metadata,
          toldOfImport(request),
          () => put({ ...request, signal }, items),
          countsOfPut,
        );
        const indexes = new Map(
          acceptedOf(items).map(({ record, index }) => [referenceOf(record), index] as const),
        );
        return {
          created: countOf(outcomes, 'created'),
          changed: countOf(outcomes, 'changed'),
          unchanged: countOf(outcomes, 'unchanged'),
          refused,
          conflicts: conflicts.map(({ reference, ...conflict }) => ({
            index: indexes.get(reference) ?? 0,
            ...conflict,
          })),
          refusedLinks: refusedLinks.map((link) => refusedLinkToProto(link, indexes)),
        };
      },
    ),

    putQuotes: withDeadline<PutQuotesRequest, PutQuotesResponse>(
      service,
      ANSWER_DEADLINE_MS,
      async (request, signal, metadata) => {
        refuseBadBatch(request, request.quotes);
        const { source, importId, quotes } = request;
        const refusals = quotes.map((quote) => refusalOf(problemsOfQuote(quote)));
        const keys = quotes.map((quote, index) => (refusals[index] === undefined ? keysOfQuote(quote) : []));
        const candidates = byEntry(
          await findCandidates([...new Set(keys.flat())], { perEntry: MAX_PER_TICKER }),
        );
        const skipped: RefusedBrand[] = [];
        const items = refuseRepeats(
          quotes.map((quote, index) => {
            const refused = refusals[index];
            if (refused !== undefined) return { refused };
            const own = [...new Set(keys[index]?.flatMap((key) => candidates.get(key) ?? []))];
            const record = quoteRecordAmong(source, importId, quote, own);
            if (record !== undefined) return record;
            skipped.push({ index, reason: noMainListing(quote.symbol || quote.isin) });
            return undefined;
          }),
          'the listing occurs twice in this batch: send one quote for each listing',
        );
        const { outcomes, refused } = await recorded(
          metadata,
          toldOfImport(request),
          () => put({ ...request, signal }, items),
          countsOfPut,
        );
        const unchanged = countOf(outcomes, 'unchanged');
        const changed = quotes.length - refused.length - skipped.length - unchanged;
        return { changed, unchanged, refused, skipped };
      },
    ),

    finishImport: withDeadline<FinishImportRequest, FinishImportResponse>(
      service,
      SCAN_DEADLINE_MS,
      async (request, signal, metadata) => {
        refuseBadImport(request);
        const { source, importId } = request;
        const prune = () => store.prune(source, importId, { withinMs: PRUNE_MS, signal });
        const { pruned, more } = request.prune
          ? await recorded(metadata, toldOfImport(request), prune, ({ pruned }) => ({ pruned }))
          : { pruned: 0, more: false };
        if (!more) await store.noteImport(source, importId);
        await announcer.confirm();
        return { pruned, more };
      },
    ),

    getBrand: withDeadline<GetBrandRequest, GetBrandResponse>(
      service,
      ANSWER_DEADLINE_MS,
      async (request) => {
        const { id } = request;
        const doc = await store.readBrand(id);
        if (doc === undefined) throw notFound(id);
        const records = sourceRecordsFromDoc(doc);
        const contributions = records.filter(({ overrides }) => overrides === undefined);
        const indexes = new Map(contributions.map((record, index) => [referenceOf(record), index] as const));
        const refusedLinks = request.refusedLinks ? await store.readRefusedLinks(doc) : [];
        return {
          brand: recordFromBytes(doc.brand),
          contributions: contributions.map(({ source, importId, brand }) => ({ source, importId, brand })),
          fieldSources: Object.fromEntries(mergeRecords(records).fieldSources),
          overrides: effectiveOverrides(records),
          refusedLinks: refusedLinks.map((link) => refusedLinkToProto(link, indexes)),
        };
      },
    ),

    deleteBrand: withDeadline<DeleteBrandRequest, DeleteBrandResponse>(
      service,
      ANSWER_DEADLINE_MS,
      async ({ id }, signal, metadata) => {
        const deleted = await recorded(
          metadata,
          { method: 'DeleteBrand', about: [id.slice(0, LONGEST_ABOUT)], details: { id } },
          () => store.deleteBrand(id, { signal }),
          (found) => ({ deleted: found === undefined ? 0 : 1 }),
        );
        if (deleted === undefined) throw notFound(id);
        return deleted;
      },
    ),

    setFields: withDeadline<SetFieldsRequest, SetFieldsResponse>(
      service,
      ANSWER_DEADLINE_MS,
      async ({ settings, dryRun }, signal, metadata) => {
        refuseLargeBatch(settings);
        const atMs = Date.now();
        const problems = settings.map(problemOfSetting);
        const edits = settings.map(
          ({ id, override }): FieldEdit => ({
            id,
            field: override?.field ?? '',
            override: overrideToStore(override, atMs),
          }),
        );
        const results = await recorded(
          metadata,
          { ...toldOfEdits('SetFields', edits), dryRun },
          () => editFields(edits, problems, { dryRun, signal }),
          countsOfEdits,
        );
        return { results };
      },
    ),

    unsetFields: withDeadline<UnsetFieldsRequest, UnsetFieldsResponse>(
      service,
      ANSWER_DEADLINE_MS,
      async ({ fields, dryRun }, signal, metadata) => {
        refuseLargeBatch(fields);
        const results = await recorded(
          metadata,
          { ...toldOfEdits('UnsetFields', fields), dryRun },
          () => editFields(fields, [], { dryRun, signal }),
          countsOfEdits,
        );
        return { results };
      },
    ),

    listOverrides: withDeadline<ListOverridesRequest, ListOverridesResponse>(
      service,
      SCAN_DEADLINE_MS,
      async ({ after }) => {
        const docs = await store.listOverrides(after, MAX_LISTED);
        const next = docs.length < MAX_LISTED ? '' : (docs.at(-1)?._id ?? '');
        return { overrides: docs.flatMap(listedOverrides), next };
      },
    ),

    listImagePaths: serverStream<ListImagePathsRequest, ListImagePathsResponse>(
      service,
      ({ after }, signal) => imagePaths(store.scan(after, signal)),
    ),

    listLogoFiles: serverStream<ListLogoFilesRequest, ListLogoFilesResponse>(service, ({ after }, signal) =>
      logoFiles(store.scan(after, signal)),
    ),

    resolve: withDeadline<ResolveRequest, ResolveResponse>(
      service,
      ANSWER_DEADLINE_MS,
      async ({ queries }) => {
        const read = readQueries(queries);
        const entries = [...new Set(read.flatMap((query) => query.entries))];
        const candidates = byEntry(await findCandidates(entries, { perEntry: MAX_MEANINGS + 1 }));
        const meanings = new Map(read.map((query) => [query, meaningsOf(query, candidates, MAX_MEANINGS)]));
        const suggested = await suggestForAll(
          suggest,
          read.filter((query) => meanings.get(query)?.length === 0),
        );
        return {
          resolutions: read.map((query) => ({
            meanings: meanings.get(query)?.map(meaningToProto) ?? [],
            suggestions: suggested.get(query)?.suggestions ?? [],
          })),
        };
      },
    ),

    listBrands: serverStream<ListBrandsRequest, ListBrandsResponse>(service, (request, signal) =>
      listedBrands(store.scan(request.after, signal), request),
    ),

    exportCompanies: serverStream<ExportCompaniesRequest, ExportCompaniesResponse>(
      service,
      ({ after }, signal) => exportedCompanies(store.scan(after, signal)),
    ),

    restoreCompanies: withDeadline<RestoreCompaniesRequest, RestoreCompaniesResponse>(
      service,
      ANSWER_DEADLINE_MS,
      async ({ companies, newestImports, restoreId, ...range }, _signal, metadata) => {
        const { after, isLast, dryRun } = range;
        refuseLargeBatch(companies);
        refuseUnsorted(companies, after);
        if (!IMPORT_ID.test(restoreId)) throw new Fault('invalid_argument', badImportId('a restore'));
        const read = companies.map(docFromExported);
        const docs = read.flatMap((each) => ('doc' in each ? [each.doc] : []));
        const refused = read.flatMap((each, index) =>
          'refused' in each ? [{ index, reason: each.refused }] : [],
        );
        const told = { method: 'RestoreCompanies', about: [], details: {}, sharedBy: restoreId, dryRun };
        const outcome = await recorded(
          metadata,
          told,
          () => restore(docs, { ...range, newestImports: new Map(Object.entries(newestImports)) }),
          ({ restored, unchanged }) => ({ restored, unchanged, refused: refused.length }),
        );
        if (isLast && !dryRun) await announcer.confirm();
        return { ...outcome, refused };
      },
    ),

    getStatistics: withDeadline<GetStatisticsRequest, GetStatisticsResponse>(service, SCAN_DEADLINE_MS, () =>
      store.countBrands(),
    ),
  };
}

/** All calls of an import share one entry in the trail. */
function toldOfImport({ source, importId, dryRun }: { source: string; importId: string; dryRun?: boolean }) {
  const details = { source, import: importId };
  return {
    method: 'Import',
    about: [source],
    details,
    sharedBy: `${source} ${importId}`,
    dryRun: dryRun ?? false,
  };
}

function countsOfPut({ outcomes, refused }: PutAnswer & { refused: unknown[] }): Record<string, number> {
  const counts = (['created', 'changed', 'unchanged'] as const).map((name) => [
    name,
    countOf(outcomes, name),
  ]);
  return { ...Object.fromEntries(counts), refused: refused.length };
}

function toldOfEdits(method: string, edits: readonly { id: string; field: string }[]) {
  const about = [...new Set(edits.map(({ id }) => id.slice(0, LONGEST_ABOUT)))];
  return { method, about, details: { fields: edits.map(({ id, field }) => `${id} ${field}`).join(', ') } };
}

function countsOfEdits(results: readonly FieldResult[]): Record<string, number> {
  const changed = results.filter(({ outcome }) => outcome === FieldOutcome.CHANGED).length;
  return { fields: results.length, changed };
}

function refuseBadBatch(request: { source: string; importId: string }, items: readonly unknown[]): void {
  refuseBadImport(request);
  refuseLargeBatch(items);
}

function refuseLargeBatch(items: readonly unknown[]): void {
  if (items.length > MAX_BATCH)
    throw new Fault('invalid_argument', `the batch has ${items.length} items: send ${MAX_BATCH} at most`);
}

function refuseBadImport({ source, importId }: { source: string; importId: string }): void {
  const problem = problemOfSource(source);
  if (problem !== undefined) throw new Fault('invalid_argument', problem);
  if (!IMPORT_ID.test(importId)) throw new Fault('invalid_argument', badImportId('an import'));
}

function badImportId(of: string): string {
  return `the id of ${of} must have 1 to 128 letters, digits, hyphens, underscores, dots and colons`;
}

/** MongoDB compares ids by their bytes, and so must this. */
function refuseUnsorted(companies: readonly ExportedCompany[], after: string): void {
  let last = Buffer.from(after);
  for (const company of companies) {
    const id = Buffer.from(company.id);
    if (Buffer.compare(last, id) >= 0)
      throw new Fault('invalid_argument', 'the companies of an export must be in the order of their ids');
    last = id;
  }
}

/** An item of a batch: a source record to put, a refusal, or undefined when it is skipped. */
type BatchItem = SourceRecord | { readonly refused: string } | undefined;

/** The source records to put, with their indexes in the batch. */
function acceptedOf(items: readonly BatchItem[]): { record: SourceRecord; index: number }[] {
  return items.flatMap((item, index) =>
    item === undefined || 'refused' in item ? [] : [{ record: item, index }],
  );
}

function refuseRepeats(items: readonly BatchItem[], refused: string): BatchItem[] {
  const seen = new Set<string>();
  return items.map((item) => {
    if (item === undefined || 'refused' in item) return item;
    if (seen.has(item.id)) return { refused };
    seen.add(item.id);
    return item;
  });
}

/** @param indexes by reference of a record: its index in the request or in the answer */
function refusedLinkToProto(
  { reference, ...link }: PutRefusedLink,
  indexes: ReadonlyMap<string, number>,
): RefusedLink {
  return { ...link, index: indexes.get(reference) ?? 0 };
}

function countOf(outcomes: readonly PutOutcome[], wanted: PutOutcome): number {
  return outcomes.filter((outcome) => outcome === wanted).length;
}

function notFound(id: string): Fault {
  return new Fault('not_found', `there is no record "${id.slice(0, 100)}": look its id up by name`);
}
