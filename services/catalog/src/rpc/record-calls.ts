import type { CatalogAdminServiceServer } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { findAnswers, isUnknown, meaningToProto, readQueries } from '../lookup/answers.ts';
import { suggestFor } from '../lookup/suggestions.ts';
import { sourceRecordsFromDoc } from '../records/catalog-doc.ts';
import { recordFromBytes } from '../records/merge.ts';
import { effectiveOverrides, mergeRecords } from '../records/override-record.ts';
import { referenceOf } from '../records/source-record.ts';
import { type AdminParts, operatorCall, SCAN_DEADLINE_MS, withIndex } from './operator-calls.ts';

const MAX_MEANINGS = 20;

/** Returns the calls that find, read, count and delete records. */
export function recordCalls(
  parts: AdminParts,
): Pick<CatalogAdminServiceServer, 'getBrand' | 'deleteBrand' | 'resolve' | 'getStatistics'> {
  const { store, findCandidates, suggest, measureAges } = parts;
  return {
    getBrand: operatorCall(parts, async ({ id, refusedLinks }) => {
      const doc = await store.readBrand(id);
      if (doc === undefined) throw notFound(id);
      const records = sourceRecordsFromDoc(doc);
      const stated = records.filter(({ overrides }) => overrides === undefined);
      const indexes = new Map(stated.map((record, index) => [referenceOf(record), index]));
      const refused = refusedLinks ? await store.readRefusedLinks(doc) : [];
      return {
        brand: recordFromBytes(doc.brand),
        contributions: stated.map(({ source, importId, brand }) => ({ source, importId, brand })),
        fieldSources: Object.fromEntries(mergeRecords(records).fieldSources),
        overrides: effectiveOverrides(records),
        refusedLinks: refused.map(withIndex(indexes)),
      };
    }),

    deleteBrand: operatorCall(parts, async ({ id }, { signal, record }) => {
      const deleted = await record(
        { method: 'DeleteBrand', about: [id], details: { id } },
        () => store.deleteBrand(id, { signal }),
        (found) => ({ deleted: found === undefined ? 0 : 1 }),
      );
      if (deleted === undefined) throw notFound(id);
      return deleted;
    }),

    resolve: operatorCall(parts, async ({ queries }) => {
      const read = readQueries(queries);
      const limits = { perEntry: MAX_MEANINGS + 1, most: MAX_MEANINGS };
      const answers = await findAnswers(read, findCandidates, limits);
      const missed = answers.flatMap(({ query, answer }) => (isUnknown(answer) ? [query] : []));
      const suggested = await suggestFor(suggest, missed, { all: true });
      return {
        resolutions: answers.map(({ query, answer: { meanings, noCompany } }) => ({
          meanings: meanings.map(meaningToProto),
          suggestions: suggested.get(query)?.suggestions ?? [],
          noCompany,
        })),
      };
    }),

    getStatistics: operatorCall(
      parts,
      async () => {
        const [{ sources, ...counts }, ages] = await Promise.all([store.countBrands(), measureAges()]);
        const withAges = sources.map((counted) => {
          const { facts: factAges = [], newestPrice = '' } = ages.get(counted.source) ?? {};
          return { ...counted, factAges, newestPrice };
        });
        return { ...counts, sources: withAges };
      },
      SCAN_DEADLINE_MS,
    ),
  };
}

function notFound(id: string): Fault {
  return new Fault('not_found', `there is no record "${id.slice(0, 100)}": look its id up by name`);
}
