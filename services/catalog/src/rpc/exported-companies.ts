import {
  Brand,
  type ExportCompaniesResponse,
  type ExportedCompany,
  type ExportedOverrides,
  type ExportedRecord,
  Override,
  OverrideSet,
} from '@brand-data/contracts';
import { problemOfSource, problemsOf, refusalOf } from '@brand-data/records';
import { restoredDoc } from '../linkage/companies.ts';
import { type CatalogDoc, sizeOfDoc, sourceRecordsFromDoc } from '../records/catalog-doc.ts';
import { overrideRecordOf } from '../records/override-record.ts';
import { type SourceRecord, storedSourceRecord } from '../records/source-record.ts';
import { isRunId } from './batches.ts';
import { inMessages } from './company-messages.ts';
import { problemOfSetting } from './override-calls.ts';

/** With how many bytes a message is sent. One company adds little to that. */
const MESSAGE_BYTES = 1 << 20;
const OVERRIDES_ID = /^[\w-]{1,64}$/;
const LISTING = /^[A-Z0-9]{4}:[^\s:]{1,40}$/;

/** Returns the messages of ExportCompanies. */
export async function* exportedCompanies(
  companies: AsyncIterable<CatalogDoc>,
): AsyncGenerator<ExportCompaniesResponse> {
  const messages = inMessages(companies, (doc) => [exportedFromDoc(doc)], {
    full: MESSAGE_BYTES,
    weigh: sizeOfDoc,
  });
  for await (const { items, after } of messages) yield { companies: items, after };
}

function exportedFromDoc(doc: CatalogDoc): ExportedCompany {
  const records = sourceRecordsFromDoc(doc);
  return {
    id: doc._id,
    changedAtMs: doc.changedAt?.getTime() ?? 0,
    records: records.flatMap(({ source, id, importId, isQuote, brand, overrides }): ExportedRecord[] =>
      overrides === undefined ? [{ source, id, importId, isQuote, brand }] : [],
    ),
    overrides: records.flatMap(({ id, overrides }): ExportedOverrides[] =>
      overrides === undefined ? [] : [{ id, set: overrides }],
    ),
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
  const restored = [...records.map(sourceRecordFrom), ...overrides.map(overridesFrom)];
  const doc = restoredDoc(id, restored, changedAtMs > 0 ? new Date(changedAtMs) : undefined);
  return doc ? { doc } : { refused: 'its source records, quotes and overrides are not those of one company' };
}

function sourceRecordFrom({ source, id, importId, isQuote, brand }: ExportedRecord): SourceRecord {
  return storedSourceRecord(
    { source, id, importId, isQuote },
    Brand.encode(brand ?? Brand.create()).finish(),
  );
}

function overridesFrom({ id, set }: ExportedOverrides): SourceRecord {
  return overrideRecordOf(id, set ?? OverrideSet.create());
}

function problemsOfRecord({
  source,
  id,
  importId,
  isQuote,
  brand = Brand.create(),
}: ExportedRecord): string[] {
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
    const problem = problemOfSetting({ id: '', override: Override.create(override) });
    return problem === undefined ? [] : [`the override of ${override.field}: ${problem}`];
  });
}
