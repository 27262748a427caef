import { hash } from 'node:crypto';
import { Brand, BrandType } from '@brand-data/contracts';
import {
  type BrandKey,
  compareTexts,
  coreName,
  hasStateMark,
  keysOfBrand,
  kindOf,
  lookupRank,
  normalName,
} from '@brand-data/identifiers';
import { SUPPRESSED } from '@brand-data/records';
import { ObjectId } from 'mongodb';
import {
  type CatalogDoc,
  compareDocs,
  LINK_ONLY,
  OTHER_SECURITY,
  type SourceRecordMark,
  SUPPRESSED_KEY,
  WAITING,
} from '../records/catalog-doc.ts';
import { indexKeysOf, isLookedUp, similarityEntriesOf } from '../records/index-keys.ts';
import { mainListingOf, mergeBrands, priceDateOf, recordOfOne } from '../records/merge.ts';
import { mergeRecords } from '../records/override-record.ts';
import { compareSources, decideType, statesListings } from '../records/precedence.ts';
import { searchEntriesOf } from '../records/search-entries.ts';
import { referenceOf, type SourceRecord, statesCompany, statesSecurity } from '../records/source-record.ts';
import type { IdentifiedCluster } from './ids.ts';
import { keysOf } from './linked-groups.ts';
import { ownerOf } from './override-owners.ts';

/** Kinds of keys that a company has by its listings. */
const LISTING_KINDS: ReadonlySet<string> = new Set(['ticker', 'isin', 'figi', 'cusip']);
/** American ISINs with listings abroad are often those of receipts, which find their company though it does not show them. */
const RECEIPTS_FROM = 'US';

/** A company to store, with its record decoded. */
export interface PlannedCompany {
  readonly doc: CatalogDoc;
  readonly brand: Brand;
  /** Its source records without quotes and overrides, strongest first. Empty if the document holds only overrides. */
  readonly members: readonly SourceRecord[];
}

/** Pure except for the revision and the time: every replica makes the same document from the same source records and id. */
function companyOf(
  { id, members }: IdentifiedCluster,
  quotes: readonly SourceRecord[],
  claimants: readonly Claimant[],
): PlannedCompany {
  const records = [...members, ...quotes, ...claimants.map(({ record }) => record)];
  const [founder, ...others] = records;
  const only = others.length === 0 ? founder : undefined;
  const { brand: built, priceDate } =
    only === undefined ? mergeRecords(records) : { brand: recordOfOne(only), priceDate: priceDateOf(only) };
  const brand = built.id === id ? built : { ...built, id };
  const isAlone = only !== undefined && isRestorable(only.brand, brand);
  const isSet = (fields: readonly string[]) =>
    claimants.some(({ record }) => record.overrides?.overrides.some(({ field }) => fields.includes(field)));
  const isSuppressed = isSet([SUPPRESSED]);
  const brandKeys = isSuppressed ? [] : keysOfBrand(brand);
  const markedKeys = isSet([SUPPRESSED, 'name', 'names']) ? [] : keysOfMarkedNames(members);
  const keys = new Set([...brandKeys, ...markedKeys].flatMap(indexKeysOf));
  const hidden = new Set([
    ...(claimants.length === 0 ? [] : keysHiddenByOverrides(brand, [...members, ...quotes])),
    ...keysHiddenByType(brand, members),
    ...keysRemovedFromListings(keys, members),
    ...(isSuppressed ? keysOf(members).filter(isLookedUp) : []),
  ]);
  const linkOnly = claimants.flatMap(({ record, isFirst }) => (isFirst ? [] : record.identity.keys));
  for (const { identity } of members)
    for (const key of identity.keys) {
      if (hidden.has(key)) linkOnly.push(key);
      else keys.add(key);
    }
  for (const key of linkOnlyKeys(linkOnly)) keys.add(key);
  for (const entry of isSuppressed ? [SUPPRESSED_KEY] : similarityEntriesOf(brand)) keys.add(entry);
  const rank = lookupRank(brand);
  const search = searchEntriesOf(brandKeys, rank);
  const doc: CatalogDoc = {
    _id: id,
    keys: [...keys],
    ...(search.length > 0 && { search }),
    rank: rank + (founder === undefined ? 0 : tieBreakOf(founder)),
    brand: only !== undefined && isAsStated(only.brand, brand) ? only.bytes : Brand.encode(brand).finish(),
    contributions: records.map(markOf),
    ...(isAlone ? {} : { parts: records.map(({ bytes }) => bytes) }),
    revision: new ObjectId(),
    changedAt: new Date(),
    ...(priceDate && { priceDate }),
  };
  return { doc, brand, members };
}

/**
 * Returns the keys of names with a registry's mark of a state, which tells namesakes apart: "FIRST BANCORP /PR/". The company's record has
 * its names without marks. A mark that reads as a legal form has no key: "DELTA INC /NV/" is no N.V.
 */
function keysOfMarkedNames(members: readonly SourceRecord[]): BrandKey[] {
  return members.flatMap(({ brand: { name, type } }): BrandKey[] => {
    const marked = normalName(name);
    const isKey = type !== BrandType.SUPERINVESTOR && hasStateMark(name) && coreName(marked) === marked;
    return isKey ? [{ key: `name:${marked}`, kind: 'name', strength: 'exact', value: name }] : [];
  });
}

/** Checks whether the company's record is its only source record, without any derived field. Then it need not be encoded again. */
function isAsStated(stated: Brand, built: Brand): boolean {
  return (
    built.derivedFields.length === 0 &&
    built.id === stated.id &&
    built.type === stated.type &&
    hasStatedFacts(stated, built)
  );
}

/** Checks whether the only source record can be restored from the company's record. It cannot if a stated fact was set aside. */
function isRestorable(stated: Brand, built: Brand): boolean {
  return (
    (stated.type === BrandType.UNSPECIFIED || stated.type === built.type) && hasStatedFacts(stated, built)
  );
}

function hasStatedFacts(stated: Brand, built: Brand): boolean {
  const hasRank = stated.rank === 0 || !built.derivedFields.includes('rank');
  return (
    hasRank &&
    built.hasNamesakes === stated.hasNamesakes &&
    built.stock === stated.stock &&
    built.name === stated.name &&
    built.names === stated.names
  );
}

const TIE_BREAK_BITS = 40;

/**
 * Returns a fraction from 0 to below 1 that depends only on the strongest source record's reference. With it, records of equal
 * rank have the same order in every catalogue, whatever ids their history gave them. A double holds it exactly beside any rank.
 */
function tieBreakOf(founder: SourceRecord): number {
  const digits = hash('sha256', referenceOf(founder), 'hex').slice(0, TIE_BREAK_BITS / 4);
  return Number.parseInt(digits, 16) / 2 ** TIE_BREAK_BITS;
}

/** Overrides without a company. They wait until one of the source records is certainly of their company. */
function waitingOf(record: SourceRecord): PlannedCompany {
  const doc: CatalogDoc = {
    _id: WAITING + record.id,
    keys: linkOnlyKeys(record.identity.keys),
    rank: 0,
    brand: new Uint8Array(),
    contributions: [markOf(record)],
    parts: [record.bytes],
    revision: new ObjectId(),
    changedAt: new Date(),
  };
  return { doc, brand: Brand.create(), members: [] };
}

/** Returns the document of a security that is no company. It holds one source record, so that it changes with its source only. */
export function securityOf(record: SourceRecord): PlannedCompany {
  const { brand, bytes, identity } = record;
  const doc: CatalogDoc = {
    _id: OTHER_SECURITY + referenceOf(record),
    keys: [...new Set([...keysOfBrand(brand).flatMap(indexKeysOf), ...identity.keys])],
    rank: lookupRank(brand) + tieBreakOf(record),
    brand: bytes,
    contributions: [markOf(record)],
    revision: new ObjectId(),
    changedAt: new Date(),
  };
  return { doc, brand, members: [] };
}

function markOf({ source, id, importId, isQuote, overrides }: SourceRecord): SourceRecordMark {
  return {
    source,
    id,
    importId,
    ...(isQuote ? { quote: true as const } : {}),
    ...(overrides === undefined ? {} : { overrides: true as const }),
  };
}

/** Returns the look-up keys that the record would have without the operator's overrides, and does not have with them. */
function keysHiddenByOverrides(brand: Brand, records: readonly SourceRecord[]): string[] {
  return notShown(brand, lookedUpKeys(mergeBrands(records).brand));
}

/** Returns the record's look-up keys. Leading words link no records. */
function lookedUpKeys(brand: Brand): string[] {
  return keysOfBrand(brand).flatMap(({ key, strength }) => (strength === 'leading_words' ? [] : [key]));
}

/** Returns the keys of listings that the record does not have, because a person decided a type without listings. */
function keysHiddenByType(brand: Brand, members: readonly SourceRecord[]): string[] {
  if (brand.type === BrandType.STOCK || !decideType(members).isByPerson) return [];
  const keys = members.flatMap(({ identity }) => identity.keys);
  return notShown(
    brand,
    keys.filter((key) => LISTING_KINDS.has(kindOf(key))),
  );
}

/** Returns the identifiers of listings that the merged record does not show, because they are another company's. */
function keysRemovedFromListings(shown: ReadonlySet<string>, members: readonly SourceRecord[]): string[] {
  return members
    .filter(
      ({ source, brand }) =>
        statesListings(source) && !brand.listings.some(({ isin }) => isin.startsWith(RECEIPTS_FROM)),
    )
    .flatMap(({ identity }) => identity.keys)
    .filter((key) => kindOf(key) !== 'ticker' && LISTING_KINDS.has(kindOf(key)) && !shown.has(key));
}

function notShown(brand: Brand, keys: readonly string[]): string[] {
  const shown = new Set(lookedUpKeys(brand));
  return keys.filter((key) => !shown.has(key));
}

function linkOnlyKeys(keys: readonly string[]): string[] {
  return keys.length === 0 ? [] : [LINK_ONLY, ...keys.map((key) => LINK_ONLY + key)];
}

/** A company's overrides, and whether they name one of its source records first. */
interface Claimant {
  readonly record: SourceRecord;
  readonly isFirst: boolean;
}

/**
 * Returns one company for each cluster, with the overrides that belong to it. Overrides that belong to none become separate
 * documents. A quote goes to the company whose main listing it describes, else to a company that has the listing at all. If
 * several companies qualify, the best known gets the quote. If none does, the quote is dropped.
 *
 * @param commonNames names in a country that are too common to show to which company overrides belong
 */
export function companiesOf(
  clusters: readonly IdentifiedCluster[],
  quotes: readonly SourceRecord[],
  overrides: readonly SourceRecord[] = [],
  commonNames?: ReadonlySet<string>,
): PlannedCompany[] {
  const owners = overrides.map((record) => ({ record, owner: ownerOf(record, clusters, commonNames) }));
  const waiting = owners.flatMap(({ record, owner }) => (owner === undefined ? [waitingOf(record)] : []));
  const claimantsOf = (cluster: IdentifiedCluster) =>
    owners
      .flatMap(({ record, owner }) => (owner?.cluster === cluster ? { record, isFirst: owner.isFirst } : []))
      .sort((a, b) => byReference(a.record, b.record));
  if (quotes.length === 0)
    return [...clusters.map((cluster) => companyOf(cluster, [], claimantsOf(cluster))), ...waiting];
  const withoutQuotes = clusters.map((cluster) => ({
    cluster,
    company: companyOf(cluster, [], claimantsOf(cluster)),
  }));
  const bestKnownFirst = withoutQuotes.toSorted(({ company: a }, { company: b }) =>
    compareDocs(a.doc, b.doc),
  );
  const owner = (quote: SourceRecord) =>
    bestKnownFirst.find(({ company }) => mainListingOf(company.brand) === quote.id) ??
    bestKnownFirst.find(({ company }) =>
      quote.identity.keys.some(
        (key) => company.doc.keys.includes(key) || company.doc.keys.includes(LINK_ONLY + key),
      ),
    );
  const quotesOf = Map.groupBy(quotes, (quote) => owner(quote)?.cluster);
  const companies = withoutQuotes.map(({ cluster, company }) => {
    const own = quotesOf.get(cluster);
    return own === undefined ? company : companyOf(cluster, own.toSorted(byReference), claimantsOf(cluster));
  });
  return [...companies, ...waiting];
}

/**
 * Returns the company of these source records, quotes and overrides, or the overrides that wait, as an export has them. Undefined
 * if they are not one document, because a quote or overrides do not belong to the company.
 */
export function restoredDoc(
  id: string,
  records: readonly SourceRecord[],
  changedAt: Date | undefined,
): CatalogDoc | undefined {
  const overrides = records.filter((record) => record.overrides !== undefined);
  const quotes = records.filter(({ isQuote }) => isQuote);
  const [security] = records.filter(statesSecurity);
  const members = records
    .filter(statesCompany)
    .sort((a, b) => compareSources(a.source, b.source) || compareTexts(a.id, b.id));
  const [company, ...others] = security
    ? [securityOf(security)]
    : companiesOf(members.length === 0 ? [] : [{ id, members }], quotes, overrides);
  if (company === undefined || others.length > 0) return undefined;
  const { changedAt: _, ...doc } = company.doc;
  const isWhole = doc._id === id && doc.contributions.length === records.length;
  return isWhole ? { ...doc, ...(changedAt && { changedAt }) } : undefined;
}

function byReference(a: SourceRecord, b: SourceRecord): number {
  return compareTexts(a.source, b.source) || compareTexts(a.id, b.id);
}
