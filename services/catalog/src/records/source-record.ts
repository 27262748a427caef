import { Brand, BrandType, type OverrideSet } from '@brand-data/contracts';
import { identityOf, RANK_OF_UNKNOWN, type RecordIdentity } from '@brand-data/identifiers';
import { withoutDerivedFields } from './derive.ts';
import { type SourcedBrand, withListingsInOrder } from './merge.ts';
import { statesListings } from './precedence.ts';

/**
 * One source's record of a company, one quote, or a company's overrides, with the newest import that brought it. The proto and
 * MongoDB call it a `Contribution`. That name cannot change, because it is in messages and in stored catalogues.
 */
export interface SourceRecord extends SourcedBrand {
  /** The id that the source gives the record. A quote's id is its main listing: "XNAS:AAPL". Unique within the source. */
  readonly id: string;
  readonly importId: string;
  /** The encoded brand. Equal brands have equal bytes. */
  readonly bytes: Uint8Array;
  /** The evidence that links the record with other sources' records of the same company. */
  readonly identity: RecordIdentity;
  /** The fields that the operator has set. Only records of the source `operator` have them, and they state nothing else. */
  readonly overrides?: OverrideSet;
}

/** Names a source record among those of all sources: "wikidata/q312". */
export function referenceOf({ source, id }: { readonly source: string; readonly id: string }): string {
  return `${source}/${id}`;
}

/** Checks that the record is a source's record of a company, neither a quote nor overrides nor another security. */
export function statesCompany(record: SourceRecord): boolean {
  return !record.isQuote && record.overrides === undefined && !statesSecurity(record);
}

/** Checks that the record is a source's record of a security that is no company. */
export function statesSecurity({ brand }: SourceRecord): boolean {
  return brand.type === BrandType.OTHER_SECURITY;
}

/** Returns a source's record of a company: its facts alone, its listings in order. */
export function sourceRecordOf(source: string, importId: string, brand: Brand): SourceRecord {
  const inOrder = withListingsInOrder(source, factsOf(brand));
  const bytes = Brand.encode(inOrder).finish();
  return withIdentity({ source, id: brand.id, importId, isQuote: false, brand: inOrder, bytes });
}

/** Returns a quote of a main listing, such as "XNAS:AAPL". `brand` holds only that listing, its figures and their source. */
export function quoteRecordOf(source: string, importId: string, listing: string, brand: Brand): SourceRecord {
  const bytes = Brand.encode(brand).finish();
  return withIdentity({ source, id: listing, importId, isQuote: true, brand, bytes });
}

/** Decodes a stored source record. `id` is the id that the source gives the record. */
export function storedSourceRecord(
  { source, id, importId, isQuote }: Pick<SourceRecord, 'source' | 'id' | 'importId' | 'isQuote'>,
  bytes: Uint8Array,
): SourceRecord {
  const stored = Brand.decode(bytes);
  const facts = factsOf(stored);
  const brand = isQuote || facts.id === id ? facts : { ...facts, id };
  const encoded = brand === stored ? bytes : Brand.encode(brand).finish();
  return withIdentity({ source, id, importId, isQuote, brand, bytes: encoded });
}

/** Returns the brand without derived fields, blank texts and the rank of an unknown company. Itself if it has none. */
function factsOf(brand: Brand): Brand {
  const stated = withoutDerivedFields(brand);
  const { description, category, rank } = stated;
  const isBlank = (text: string) => text !== '' && text.trim() === '';
  if (!isBlank(description) && !isBlank(category) && rank !== RANK_OF_UNKNOWN) return stated;
  return {
    ...stated,
    description: isBlank(description) ? '' : description,
    category: isBlank(category) ? '' : category,
    rank: rank === RANK_OF_UNKNOWN ? 0 : rank,
  };
}

function withIdentity(fields: Omit<SourceRecord, 'identity'>): SourceRecord {
  const { brand, isQuote, source } = fields;
  // Only its id finds another security, so that nothing links it.
  const identified = brand.type === BrandType.OTHER_SECURITY ? Brand.fromPartial({ id: fields.id }) : brand;
  return { ...fields, identity: identityOf(identified, !isQuote && statesListings(source)) };
}
