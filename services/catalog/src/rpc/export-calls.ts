import {
  Brand,
  type CatalogAdminServiceServer,
  type ExportedCompany,
  type ExportedOverrides,
  type ExportedRecord,
  Override,
  OverrideSet,
} from '@brand-data/contracts';
import { problemOfSource, problemsOf, refusalOf } from '@brand-data/records';
import { Fault, serverStream } from '@brand-data/runtime';
import { restoredDoc } from '../linkage/companies.ts';
import { type CatalogDoc, sizeOfDoc, sourceRecordsFromDoc } from '../records/catalog-doc.ts';
import { isDecisionField, overrideRecordOf } from '../records/override-record.ts';
import { storedSourceRecord } from '../records/source-record.ts';
import { inMessages } from './company-messages.ts';
import {
  type AdminParts,
  isRunId,
  operatorCall,
  refuseBadRunId,
  refuseLargeBatch,
} from './operator-calls.ts';
import { problemOfDecision, problemOfSetting } from './override-calls.ts';

/** With how many bytes a message is sent. One company adds little to that. */
const MESSAGE_BYTES = 1 << 20;
const OVERRIDES_ID = /^[\w-]{1,64}$/;
const LISTING = /^[A-Z0-9]{4}:[^\s:]{1,40}$/;

/** Returns the calls that export the catalogue, and store an export again. */
export function exportCalls(
  parts: AdminParts,
): Pick<CatalogAdminServiceServer, 'exportCompanies' | 'restoreCompanies'> {
  const { service, store, restore, announcer } = parts;
  return {
    exportCompanies: serverStream(service, (request, signal) =>
      inMessages(
        store.scan(request.after, signal),
        (doc) => [exportedFromDoc(doc)],
        (companies, after) => ({ companies, after }),
        { full: MESSAGE_BYTES, weigh: sizeOfDoc },
      ),
    ),

    restoreCompanies: operatorCall(parts, async (request, { record }) => {
      const { companies, newestImports, restoreId, after, isLast, dryRun } = request;
      refuseLargeBatch(companies);
      refuseUnsorted(companies, after);
      refuseBadRunId('a restore', restoreId);
      const read = companies.map(docFromExported);
      const docs = read.flatMap((each) => ('doc' in each ? each.doc : []));
      const refused = read.flatMap((each, index) =>
        'refused' in each ? { index, reason: each.refused } : [],
      );
      const options = { after, isLast, dryRun, newestImports: new Map(Object.entries(newestImports)) };
      const outcome = await record(
        { method: 'RestoreCompanies', about: [], details: {}, sharedBy: restoreId, dryRun },
        () => restore(docs, options),
        ({ restored, unchanged }) => ({ restored, unchanged, refused: refused.length }),
      );
      if (isLast && !dryRun) await announcer.confirm();
      return { ...outcome, refused };
    }),
  };
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

function exportedFromDoc(doc: CatalogDoc): ExportedCompany {
  const { records = [], overrides = [] } = Object.groupBy(sourceRecordsFromDoc(doc), (record) =>
    record.overrides === undefined ? 'records' : 'overrides',
  );
  return {
    id: doc._id,
    changedAtMs: doc.changedAt?.getTime() ?? 0,
    records: records.map(({ source, id, importId, isQuote, brand }) => {
      return { source, id, importId, isQuote, brand };
    }),
    overrides: overrides.map(({ id, overrides }) => ({ id, set: overrides })),
  };
}

/** Returns the document of an exported company, or why it cannot be one. */
export function docFromExported(company: ExportedCompany): { doc: CatalogDoc } | { refused: string } {
  const { id, changedAtMs, records, overrides } = company;
  const refused = refusalOf([
    ...records.flatMap(problemsOfRecord),
    ...overrides.flatMap(problemsOfOverrides),
  ]);
  if (refused !== undefined) return { refused };
  const restored = [
    ...records.map(({ brand = Brand.create(), ...mark }) =>
      storedSourceRecord(mark, Brand.encode(brand).finish()),
    ),
    ...overrides.map(({ id, set = OverrideSet.create() }) => overrideRecordOf(id, set)),
  ];
  const doc = restoredDoc(id, restored, changedAtMs > 0 ? new Date(changedAtMs) : undefined);
  return doc ? { doc } : { refused: 'its source records, quotes and overrides are not those of one company' };
}

function problemsOfRecord(record: ExportedRecord): string[] {
  const { source, id, importId, isQuote, brand = Brand.create() } = record;
  const name = `${source}/${id}`;
  const ofSource = problemOfSource(source);
  if (ofSource !== undefined) return [ofSource];
  if (!isRunId(importId)) return [`${name} has no id of an import`];
  if (isQuote)
    return LISTING.test(id) && brand.listings.length === 1 ? [] : [`${name} is not a quote of a listing`];
  if (brand.id !== id) return [`${name} has a record with another id`];
  return problemsOf(brand).map((problem) => `${name}: ${problem}`);
}

function problemsOfOverrides({ id, set }: ExportedOverrides): string[] {
  if (!OVERRIDES_ID.test(id)) return ['its overrides have no id'];
  const { overrides = [] } = set ?? {};
  if (overrides.length === 0) return ['its overrides set no field'];
  return overrides.flatMap((override) => {
    const problem = isDecisionField(override.field)
      ? problemOfDecision(override)
      : problemOfSetting({ id: '', override: Override.create(override) });
    return problem === undefined ? [] : [`the override of ${override.field}: ${problem}`];
  });
}
