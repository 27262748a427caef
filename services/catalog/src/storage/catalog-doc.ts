import { Brand } from '@brand-data/contracts';
import { compareRanked, compareTexts, keysOfBrand } from '@brand-data/identifiers';
import { ObjectId } from 'mongodb';
import { indexKeysOf } from '../lookup/index-keys.ts';
import { mainListingOf, mergeBrands } from '../records/merge.ts';
import { type SourceRecord, withIdentity } from '../records/source-record.ts';

/**
 * One company. All of it is in one document, so that all of it changes at once. The names of fields are in
 * stored catalogues, and stay: `contributions` and `parts` together hold the source records.
 */
export interface CatalogDoc {
  /** Brand.id: that of the strongest source record. */
  _id: string;
  /** The entries that look-ups find it by (lookup/index-keys.ts) and the keys that link source records with it. Indexed. */
  keys: string[];
  /** Brand.rank, beside the keys for the index. */
  rank: number;
  /** The record: an encoded Brand, merged of the source records. */
  brand: Uint8Array;
  /** The source records, strongest first, quotes last. */
  contributions: ContributionMark[];
  /** The source records' encoded Brands, in the same order. Absent when there is one: it is the record. */
  parts?: Uint8Array[];
  /** New with each write. A write names the revision that it was planned for. */
  revision: ObjectId;
}

interface ContributionMark {
  source: string;
  /** The source's own id; no two documents have the same source record. */
  id: string;
  /** The newest import that brought it. */
  importId: string;
  quote?: true;
}

/** A company to store, with its record decoded. */
export interface Company {
  readonly doc: CatalogDoc;
  readonly brand: Brand;
  /** Its source records without quotes, strongest first. */
  readonly members: readonly SourceRecord[];
}

/** Pure but for the revision: every replica makes the same document of the same source records. */
function companyOf(members: readonly SourceRecord[], quotes: readonly SourceRecord[]): Company {
  const records = [...members, ...quotes];
  const [only, ...others] = records;
  const isAlone = only !== undefined && others.length === 0;
  const brand = isAlone ? only.brand : mergeBrands(records).brand;
  const keys = new Set(keysOfBrand(brand).flatMap(indexKeysOf));
  for (const { identity } of members) for (const key of identity.keys) keys.add(key);
  const doc: CatalogDoc = {
    _id: brand.id,
    keys: [...keys],
    rank: brand.rank,
    brand: isAlone ? only.bytes : Brand.encode(brand).finish(),
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

/**
 * A company of each cluster. A quote goes to the company whose main listing it describes, else to one that has that
 * listing, the best known of several; a quote whose listing no company has is dropped.
 */
export function companiesOf(
  clusters: readonly (readonly SourceRecord[])[],
  quotes: readonly SourceRecord[],
): Company[] {
  if (quotes.length === 0) return clusters.map((members) => companyOf(members, []));
  const withoutQuotes = clusters.map((members) => ({ members, company: companyOf(members, []) }));
  const bestKnownFirst = withoutQuotes.toSorted(({ company: a }, { company: b }) =>
    compareDocs(a.doc, b.doc),
  );
  const owner = (quote: SourceRecord) =>
    bestKnownFirst.find(({ company }) => mainListingOf(company.brand) === quote.id) ??
    bestKnownFirst.find(({ company }) => company.doc.keys.some((key) => quote.identity.keys.includes(key)));
  const quotesOf = Map.groupBy(quotes, (quote) => owner(quote)?.members);
  return withoutQuotes.map(({ members, company }) => {
    const own = quotesOf.get(members);
    return own === undefined ? company : companyOf(members, own.toSorted(byReference));
  });
}

export function sourceRecordsFromDoc(doc: CatalogDoc): SourceRecord[] {
  return doc.contributions.flatMap(({ source, id, importId, quote }, index) => {
    const bytes = doc.parts === undefined ? doc.brand : doc.parts[index];
    if (bytes === undefined) return [];
    const brand = Brand.decode(bytes);
    return withIdentity({ source, id, importId, isQuote: quote ?? false, brand, bytes });
  });
}

/** Whether the documents differ at most in their revisions and in the imports that brought the source records. */
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

/** The order of precedence: by rank, then id. */
export function compareDocs(a: CatalogDoc, b: CatalogDoc): number {
  return compareRanked({ rank: a.rank, id: a._id }, { rank: b.rank, id: b._id });
}

function byReference(a: SourceRecord, b: SourceRecord): number {
  return compareTexts(a.source, b.source) || compareTexts(a.id, b.id);
}
