import { Brand } from '@brand-data/contracts';
import { compareRanked, compareTexts, keysOfBrand } from '@brand-data/identifiers';
import { ObjectId } from 'mongodb';
import { indexKeysOf } from '../lookup/index-keys.ts';
import { mainListingOf, mergeBrands } from '../records/merge.ts';
import { type SourceRecord, withIdentity } from '../records/source-record.ts';

/**
 * One company. One document holds all of it, so that every change of a company is atomic. `contributions` and `parts`
 * together hold the source records. The field names cannot change, because they are in stored catalogues.
 */
export interface CatalogDoc {
  /** Brand.id: the id of the strongest source record. */
  _id: string;
  /** The index entries for look-ups (lookup/index-keys.ts), and the keys that link source records with it. Indexed. */
  keys: string[];
  /** Brand.rank. The index sorts by it. */
  rank: number;
  /** The record, merged from the source records: an encoded Brand. */
  brand: Uint8Array;
  /** The source records, strongest first, quotes last. */
  contributions: ContributionMark[];
  /** The source records' encoded Brands, in the same order. Absent if there is only one, because `brand` holds it. */
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

/** A company to store, with its record decoded. */
export interface Company {
  readonly doc: CatalogDoc;
  readonly brand: Brand;
  /** Its source records without quotes, strongest first. */
  readonly members: readonly SourceRecord[];
}

/** Pure except for the revision: every replica makes the same document from the same source records. */
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
 * One company for each cluster. A quote goes to the company whose main listing it describes, else to a company that has the
 * listing at all. If there are several such companies, the best known gets the quote. If there is none, the quote is dropped.
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

/** The order of precedence: by rank, then id. */
export function compareDocs(a: CatalogDoc, b: CatalogDoc): number {
  return compareRanked({ rank: a.rank, id: a._id }, { rank: b.rank, id: b._id });
}

function byReference(a: SourceRecord, b: SourceRecord): number {
  return compareTexts(a.source, b.source) || compareTexts(a.id, b.id);
}
