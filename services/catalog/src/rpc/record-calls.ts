import type {
  CatalogAdminServiceServer,
  GetBrandRequest,
  GetBrandResponse,
  ResolveRequest,
  ResolveResponse,
} from '@brand-data/contracts';
import { Fault, type Service } from '@brand-data/runtime';
import { byEntry, meaningsOf, meaningToProto, readQueries } from '../lookup/answers.ts';
import { suggestForAll } from '../lookup/suggestions.ts';
import { sourceRecordsFromDoc } from '../records/catalog-doc.ts';
import { recordFromBytes } from '../records/merge.ts';
import { effectiveOverrides, mergeRecords } from '../records/override-record.ts';
import type { CatalogStore } from '../storage/store.ts';
import type { AdminParts } from './admin-parts.ts';
import { ANSWER_DEADLINE_MS, SCAN_DEADLINE_MS, withDeadline } from './deadline.ts';
import { indexesOf, withIndex } from './indexes.ts';
import { recorded } from './recorded.ts';

const MAX_MEANINGS = 20;

/** Returns the calls that find, read, count and delete records. */
export function recordCalls(
  service: Service,
  parts: AdminParts,
): Pick<CatalogAdminServiceServer, 'getBrand' | 'deleteBrand' | 'resolve' | 'getStatistics'> {
  const { store, trail } = parts;
  return {
    getBrand: withDeadline(service, ANSWER_DEADLINE_MS, (request) => getBrand(store, request)),

    deleteBrand: withDeadline(service, ANSWER_DEADLINE_MS, async ({ id }, { signal, metadata }) => {
      const deleted = await recorded(
        trail,
        metadata,
        { method: 'DeleteBrand', about: [id], details: { id } },
        () => store.deleteBrand(id, { signal }),
        (found) => ({ deleted: found === undefined ? 0 : 1 }),
      );
      if (deleted === undefined) throw notFound(id);
      return deleted;
    }),

    resolve: withDeadline(service, ANSWER_DEADLINE_MS, (request) => resolveAll(parts, request)),

    getStatistics: withDeadline(service, SCAN_DEADLINE_MS, () => store.countBrands()),
  };
}

async function getBrand(
  store: CatalogStore,
  { id, refusedLinks }: GetBrandRequest,
): Promise<GetBrandResponse> {
  const doc = await store.readBrand(id);
  if (doc === undefined) throw notFound(id);
  const records = sourceRecordsFromDoc(doc);
  const stated = records.filter(({ overrides }) => overrides === undefined);
  const refused = refusedLinks ? await store.readRefusedLinks(doc) : [];
  return {
    brand: recordFromBytes(doc.brand),
    contributions: stated.map(({ source, importId, brand }) => ({ source, importId, brand })),
    fieldSources: Object.fromEntries(mergeRecords(records).fieldSources),
    overrides: effectiveOverrides(records),
    refusedLinks: refused.map(withIndex(indexesOf(stated))),
  };
}

async function resolveAll(
  { findCandidates, suggest }: AdminParts,
  { queries }: ResolveRequest,
): Promise<ResolveResponse> {
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
}

function notFound(id: string): Fault {
  return new Fault('not_found', `there is no record "${id.slice(0, 100)}": look its id up by name`);
}
