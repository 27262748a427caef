import { Brand, type Override, OverrideSet } from '@brand-data/contracts';
import { compareTexts, identityOf } from '@brand-data/identifiers';
import { fieldOf, JOINED, OPERATOR, SEPARATED, withField } from '@brand-data/records';
import { type Merged, mergeBrands } from './merge.ts';
import type { SourceRecord } from './source-record.ts';

/**
 * Returns a company's overrides as a source record, so that one document holds them with the company. It is never clustered,
 * because overrides found no company and link none. Its `brand` is the company when a field was last set. `id` never changes.
 */
export function overrideRecordOf(id: string, overrides: OverrideSet): SourceRecord {
  return overrideRecordFromBytes(id, OverrideSet.encode(overrides).finish());
}

export function overrideRecordFromBytes(id: string, bytes: Uint8Array): SourceRecord {
  const overrides = OverrideSet.decode(bytes);
  const brand = overrides.company ?? Brand.create();
  const identity = identityOf(brand);
  const ids = overrides.records.map((record) => `id:${record.id}`);
  return {
    source: OPERATOR,
    id,
    importId: '',
    isQuote: false,
    brand,
    bytes,
    identity: { ...identity, keys: [...new Set([...ids, ...identity.keys])] },
    overrides,
  };
}

/**
 * Checks whether the record is a decision about source records, which it names, of this kind: JOINED or SEPARATED. It is stored like
 * overrides that wait, because it belongs to no company.
 */
export function isDecision({ overrides }: SourceRecord, kind?: string): boolean {
  const field = overrides?.overrides[0]?.field;
  return field !== undefined && (kind === undefined ? isDecisionField(field) : field === kind);
}

export function isDecisionField(field: string): boolean {
  return field === JOINED || field === SEPARATED;
}

const IDENTIFYING_FIELDS = [
  ...['id', 'type', 'name', 'names', 'domains', 'listings', 'lei', 'history.formerly'],
  ...['city', 'country', 'country_code'].map((name) => `company.headquarters.${name}`),
  ...['links.websites', 'links.wikidata_qid', 'stock.isin', 'stock.cusip'],
  ...['manager.portfolio_manager', 'manager.firm'],
];

/** Returns the facts of a company by which its overrides find it again. */
export function identifyingFieldsOf(brand: Brand): Brand {
  return Brand.fromPartial(
    IDENTIFYING_FIELDS.reduce((facts, field) => withField(facts, field, fieldOf(brand, field)), {}),
  );
}

/** Returns the newest override of each field, as two companies may have become one. A group comes before its fields. */
export function effectiveOverrides(records: readonly SourceRecord[]): Override[] {
  const newestFirst = records
    .toSorted((a, b) => compareTexts(a.id, b.id))
    .flatMap(({ overrides }) => overrides?.overrides ?? [])
    .sort((a, b) => b.atMs - a.atMs);
  const effective = new Map<string, Override>();
  for (const override of newestFirst)
    if (!effective.has(override.field)) effective.set(override.field, override);
  return [...effective.values()].sort((a, b) => compareTexts(a.field, b.field));
}

/** Merges source records, among them quotes and overrides, as a company's document has them. */
export function mergeRecords(records: readonly SourceRecord[]): Merged {
  const brands = records.filter(({ overrides }) => overrides === undefined);
  return mergeBrands(brands, effectiveOverrides(records));
}
