import { compareTexts } from '@brand-data/identifiers';
import type { ObjectId } from 'mongodb';
import { overrideRecordFromBytes } from './override-record.ts';
import { type SourceRecord, storedSourceRecord } from './source-record.ts';

/**
 * Begins a key that links source records, and that no look-up reads: it would find the record by an identifier that a person has
 * removed, or that only overrides look for. Documents with such keys also have this text as a key, which tells whether there are any.
 */
export const LINK_ONLY = 'link:';
/** The key of a company that the operator has suppressed. Its keys are LINK_ONLY, or none that look-ups read. */
export const SUPPRESSED_KEY = 'suppressed:';
/** Begins the `_id` of a document that holds overrides without a company. An id of a company has no colon. */
export const WAITING = 'override:';
/** Matches the `_id`s of these documents. */
export const WAITING_IDS = { $gte: WAITING, $lt: 'override;' };
/** Begins the `_id` of a document that holds a security that is no company. Its source and the source's id follow. */
export const OTHER_SECURITY = 'security:';

/**
 * One company. One document holds all of it, so that every change of a company is atomic. `contributions` and `parts`
 * together hold the source records. The field names cannot change, because they are in stored catalogues.
 *
 * A document may also hold overrides without a company, because none is certainly the company whose field the operator has set.
 * It has no record, and only keys that begin with LINK_ONLY, so no look-up finds it.
 *
 * A third kind of document holds another security than a share, of one source. Look-ups find it, and answer that it is no company.
 */
export interface CatalogDoc {
  /** Brand.id: the id of one of the source records, or an id that the catalogue has made (linkage/ids.ts). */
  _id: string;
  /** The index entries for look-ups (index-keys.ts), and the keys that link source records with it. Indexed. */
  keys: string[];
  /** The entries by which searches find the company (search-entries.ts). Indexed. Absent if the document holds no company. */
  search?: string[];
  /** The record's `lookupRank`, plus a fraction below 1 that decides between equal ranks. Indexed. */
  rank: number;
  /** The record, merged from the source records: an encoded Brand. */
  brand: Uint8Array;
  /** The source records, strongest first, then quotes, then overrides. */
  contributions: SourceRecordMark[];
  /** The encoded Brands and OverrideSets, in the same order. Absent if `brand` is the only one. */
  parts?: Uint8Array[];
  /** Each write gives the document a new revision, and names the old revision that its plan was based on. */
  revision: ObjectId;
  /** When anything but the ids of imports last changed. Absent if an earlier version wrote the document. */
  changedAt?: Date;
  /** The day of the record's price, as its source states it. Absent as above, and if that is not known. */
  priceDate?: string;
}

/** The facts that a document holds about one of its source records beside the record's bytes. */
export interface SourceRecordMark {
  source: string;
  /** The id that the source gives the record. No two documents have the same source record. */
  id: string;
  /** The newest import that brought the source record. */
  importId: string;
  quote?: true;
  overrides?: true;
}

export function isWaiting({ _id }: Pick<CatalogDoc, '_id'>): boolean {
  return _id.startsWith(WAITING);
}

export function isSuppressed({ keys }: Pick<CatalogDoc, 'keys'>): boolean {
  return keys.includes(SUPPRESSED_KEY);
}

export function isOtherSecurity(id: string): boolean {
  return id.startsWith(OTHER_SECURITY);
}

/** Returns the marks of the source records and overrides, each with its encoded Brand or OverrideSet. */
export function partsOf(doc: CatalogDoc): (SourceRecordMark & { bytes: Uint8Array })[] {
  const { brand, contributions, parts } = doc;
  return contributions.flatMap((mark, index) => {
    const bytes = parts === undefined ? brand : parts[index];
    return bytes === undefined ? [] : { ...mark, bytes };
  });
}

/** Returns the bytes of the record and of its source records. */
export function sizeOfDoc({ brand, parts = [] }: CatalogDoc): number {
  return parts.reduce((sum, part) => sum + part.length, brand.length);
}

export function sourceRecordsFromDoc(doc: CatalogDoc): SourceRecord[] {
  return partsOf(doc).flatMap(({ source, id, importId, quote, overrides, bytes }) => {
    if (overrides) return overrideRecordFromBytes(id, bytes);
    return storedSourceRecord({ source, id, importId, isQuote: quote ?? false }, bytes);
  });
}

/** Checks whether the documents are equal, apart from their revisions, times, ids of imports, and entries for searches, which follow. */
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

/** Compares by precedence: by rank with its tie-break, then id. */
export function compareDocs(a: CatalogDoc, b: CatalogDoc): number {
  return b.rank - a.rank || compareTexts(a._id, b._id);
}
