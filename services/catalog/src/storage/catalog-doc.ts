import { Brand } from '@brand-data/contracts';
import { keysOfBrand } from '@brand-data/identifiers';
import { ObjectId } from 'mongodb';
import { indexKeysOf } from '../lookup/index-keys.ts';
import { mainListingOf, mergeStatements } from '../records/merge.ts';
import { type Contribution, contribution } from '../records/source-record.ts';

/** One company. All of it is in one document, so that all of it changes at once. */
export interface CatalogDoc {
  /** Brand.id: that of the strongest contribution. */
  _id: string;
  /** All that it is found by (index-keys.ts), and all that joins contributions to it. Indexed. */
  keys: string[];
  /** Brand.rank, beside the keys for the index. */
  rank: number;
  /** The record: a Brand, merged of the contributions. */
  brand: Uint8Array;
  /** What it is made of, strongest first, quotes last. */
  contributions: ContributionMark[];
  /** The contributions' Brands, in their order. Absent when there is one: it is the record. */
  parts?: Uint8Array[];
  /** New with each write: a write says which state it was planned for. */
  revision: ObjectId;
}

interface ContributionMark {
  source: string;
  /** The source's own; no two documents have the same contribution. */
  id: string;
  /** The newest import that brought it. */
  importId: string;
  quote?: true;
}

/** A company as it is to be stored, with its record. */
export interface Company {
  readonly doc: CatalogDoc;
  readonly brand: Brand;
  /** Its contributions but for quotes, strongest first. */
  readonly members: readonly Contribution[];
}

/** Pure but for the revision: every replica makes the same document of the same contributions. */
function companyOf(members: readonly Contribution[], quotes: readonly Contribution[]): Company {
  const contributions = [...members, ...quotes];
  const [only, ...others] = contributions;
  const isAlone = only !== undefined && others.length === 0;
  const brand = isAlone ? only.brand : mergeStatements(contributions).brand;
  const keys = new Set(keysOfBrand(brand).flatMap(indexKeysOf));
  for (const { identity } of members) for (const key of identity.keys) keys.add(key);
  const doc: CatalogDoc = {
    _id: brand.id,
    keys: [...keys],
    rank: brand.rank,
    brand: isAlone ? only.bytes : Brand.encode(brand).finish(),
    contributions: contributions.map(({ source, id, importId, isQuote }) => ({
      source,
      id,
      importId,
      ...(isQuote ? { quote: true as const } : {}),
    })),
    ...(isAlone ? {} : { parts: contributions.map(({ bytes }) => bytes) }),
    revision: new ObjectId(),
  };
  return { doc, brand, members };
}

/** Quotes go to the company whose main listing they are of, or at least has that listing; what none has is dropped. */
export function companiesOf(
  partition: readonly (readonly Contribution[])[],
  quotes: readonly Contribution[],
): Company[] {
  if (quotes.length === 0) return partition.map((members) => companyOf(members, []));
  const bare = partition.map((members) => ({ members, company: companyOf(members, []) }));
  const best = bare.toSorted(
    ({ company: a }, { company: b }) => b.doc.rank - a.doc.rank || (a.doc._id < b.doc._id ? -1 : 1),
  );
  const taker = (quote: Contribution) =>
    best.find(({ company }) => mainListingOf(company.brand) === quote.id) ??
    best.find(({ company }) => company.doc.keys.some((key) => quote.identity.keys.includes(key)));
  const taken = Map.groupBy(quotes, (quote) => taker(quote)?.members);
  return bare.map(({ members, company }) => {
    const own = taken.get(members);
    return own === undefined ? company : companyOf(members, own.toSorted(byReference));
  });
}

export function contributionsFromDoc(doc: CatalogDoc): Contribution[] {
  return doc.contributions.flatMap(({ source, id, importId, quote }, index) => {
    const bytes = doc.parts === undefined ? doc.brand : doc.parts[index];
    if (bytes === undefined) return [];
    const brand = Brand.decode(bytes);
    return contribution({ source, id, importId, isQuote: quote ?? false, brand, bytes });
  });
}

/** Whether a write would change nothing but which imports brought the contributions. */
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

function byReference(a: Contribution, b: Contribution): number {
  return a.source === b.source ? (a.id < b.id ? -1 : 1) : a.source < b.source ? -1 : 1;
}
