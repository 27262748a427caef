import { hash } from 'node:crypto';
import { Brand, BrandType } from '@brand-data/contracts';
import { compareTexts, keysOfBrand, lookupRank } from '@brand-data/identifiers';
import { ObjectId } from 'mongodb';
import { indexKeysOf } from '../lookup/index-keys.ts';
import { similarityEntriesOf } from '../lookup/similar-names.ts';
import { mainListingOf, mergeBrands, recordOfOne } from '../records/merge.ts';
import { referenceOf, type SourceRecord, storedSourceRecord } from '../records/source-record.ts';

/**
 * One company. One document holds all of it, so that every change of a company is atomic. `contributions` and `parts`
 * together hold the source records. The field names cannot change, because they are in stored catalogues.
 */
export interface CatalogDoc {
  /** Brand.id: the id of one of the source records, or an id of its own (linkage/ids.ts). */
  _id: string;
  /** The index entries for look-ups (lookup/index-keys.ts), and the keys that link source records with it. Indexed. */
  keys: string[];
  /**
   * The `lookupRank` of the record (Brand.rank, or a figure below 0 for a bare record) plus a fraction below 1, which decides
   * between equal ranks. The index sorts by it. Earlier versions stored it without the fraction, and Brand.rank for bare records.
   */
  rank: number;
  /** The record, merged from the source records: an encoded Brand. */
  brand: Uint8Array;
  /** The source records, strongest first, quotes last. */
  contributions: ContributionMark[];
  /** The source records' encoded Brands, in the same order. Absent if there is only one and `brand` holds all of it. */
  parts?: Uint8Array[];
  /** Each write gives the document a new revision, and names the old revision that its plan was based on. */
  revision: ObjectId;
}

interface ContributionMark {
  source: string;
  /** The id that the source gives the record. No two documents have the same source record. */
  id: string;
  /** The newest import that brought the source record. */
  importId: string;
  quote?: true;
}

/** The source records of one company, strongest first, with the company's id. */
export interface IdentifiedCluster {
  readonly id: string;
  readonly members: readonly SourceRecord[];
}

/** A company to store, with its record decoded. */
export interface Company {
  readonly doc: CatalogDoc;
  readonly brand: Brand;
  /** Its source records without quotes, strongest first. */
  readonly members: readonly SourceRecord[];
}

/** Pure except for the revision: every replica makes the same document from the same source records and the same id. */
function companyOf(id: string, members: readonly SourceRecord[], quotes: readonly SourceRecord[]): Company {
  const records = [...members, ...quotes];
  const [founder, ...others] = records;
  const only = others.length === 0 ? founder : undefined;
  const built = only === undefined ? mergeBrands(records).brand : recordOfOne(only);
  const brand = built.id === id ? built : { ...built, id };
  const isAlone = only !== undefined && isRestorable(only.brand, brand);
  const keys = new Set(keysOfBrand(brand).flatMap(indexKeysOf));
  for (const { identity } of members) for (const key of identity.keys) keys.add(key);
  for (const entry of similarityEntriesOf(brand)) keys.add(entry);
  const doc: CatalogDoc = {
    _id: id,
    keys: [...keys],
    rank: lookupRank(brand) + (founder === undefined ? 0 : tieBreakOf(founder)),
    brand: only !== undefined && isAsStated(only.brand, brand) ? only.bytes : Brand.encode(brand).finish(),
    contributions: records.map(({ source, id, importId, isQuote }) => ({
      source,
      id,
      importId,
      ...(isQuote ? { quote: true as const } : {}),
    })),
    ...(isAlone ? {} : { parts: records.map(({ bytes }) => bytes) }),
    revision: new ObjectId(),
  };
  return { doc, brand, members };
}

/** Whether the company's record is its only source record, without any derived field. Then it need not be encoded again. */
function isAsStated(stated: Brand, built: Brand): boolean {
  return built.derivedFields.length === 0 && built.id === stated.id && built.type === stated.type;
}

/** Whether the only source record can be restored from the company's record. It cannot if its stated type was set aside. */
function isRestorable(stated: Brand, built: Brand): boolean {
  return stated.type === BrandType.UNSPECIFIED || stated.type === built.type;
}

const TIE_BREAK_BITS = 40;

/**
 * A fraction from 0 to below 1 that depends only on the strongest source record's reference. With it, records of equal rank
 * have the same order in every catalogue, whatever ids their history gave them. A double holds it exactly beside any rank.
 */
function tieBreakOf(founder: SourceRecord): number {
  const digits = hash('sha256', referenceOf(founder), 'hex').slice(0, TIE_BREAK_BITS / 4);
  return Number.parseInt(digits, 16) / 2 ** TIE_BREAK_BITS;
}

/**
 * One company for each cluster. A quote goes to the company whose main listing it describes, else to a company that has the
 * listing at all. If there are several such companies, the best known gets the quote. If there is none, the quote is dropped.
 */
export function companiesOf(
  clusters: readonly IdentifiedCluster[],
  quotes: readonly SourceRecord[],
): Company[] {
  if (quotes.length === 0) return clusters.map(({ id, members }) => companyOf(id, members, []));
  const withoutQuotes = clusters.map(({ id, members }) => ({
    id,
    members,
    company: companyOf(id, members, []),
  }));
  const bestKnownFirst = withoutQuotes.toSorted(({ company: a }, { company: b }) =>
    compareDocs(a.doc, b.doc),
  );
  const owner = (quote: SourceRecord) =>
    bestKnownFirst.find(({ company }) => mainListingOf(company.brand) === quote.id) ??
    bestKnownFirst.find(({ company }) => company.doc.keys.some((key) => quote.identity.keys.includes(key)));
  const quotesOf = Map.groupBy(quotes, (quote) => owner(quote)?.members);
  return withoutQuotes.map(({ id, members, company }) => {
    const own = quotesOf.get(members);
    return own === undefined ? company : companyOf(id, members, own.toSorted(byReference));
  });
}

export function sourceRecordsFromDoc(doc: CatalogDoc): SourceRecord[] {
  return doc.contributions.flatMap(({ source, id, importId, quote }, index) => {
    const bytes = doc.parts === undefined ? doc.brand : doc.parts[index];
    if (bytes === undefined) return [];
    return storedSourceRecord({ source, id, importId, isQuote: quote ?? false }, bytes);
  });
}

/** Whether the documents are equal, apart from their revisions and the ids of the imports. */
export function hasSameContent(a: CatalogDoc, b: CatalogDoc): boolean {
  return (
    a._id === b._id &&
    a.rank === b.rank &&
    Buffer.compare(a.brand, b.brand) === 0 &&
    a.contributions.length === b.contributions.length &&
    a.contributions.every(
      ({ source, id }, index) =>
        source === b.contributions[index]?.source && id === b.contributions[index]?.id,
    ) &&
    (a.parts ?? []).every((part, index) => Buffer.compare(part, b.parts?.[index] ?? Buffer.of()) === 0) &&
    a.keys.length === b.keys.length &&
    a.keys.every((key, index) => key === b.keys[index])
  );
}

/** The order of precedence: by rank with its tie-break, then id. */
export function compareDocs(a: CatalogDoc, b: CatalogDoc): number {
  return b.rank - a.rank || compareTexts(a._id, b._id);
}

function byReference(a: SourceRecord, b: SourceRecord): number {
  return compareTexts(a.source, b.source) || compareTexts(a.id, b.id);
}
