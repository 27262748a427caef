import type { Conflict } from '@brand-data/contracts';
import { type CatalogDoc, compareDocs, isSuppressed } from '../records/catalog-doc.ts';
import { referenceOf, type SourceRecord } from '../records/source-record.ts';
import type { PlannedCompany } from './companies.ts';
import { keysOf, type StoredCompany } from './linked-groups.ts';

const MAX_CONFLICTS = 10;

/** A conflict of a put record, which it names by its reference. */
export interface PutConflict extends Omit<Conflict, 'index'> {
  readonly reference: string;
}

/**
 * Returns the conflicts between the planned companies of put records and all other companies, at most ten for each put record.
 * Sharing a hot key is not a conflict.
 */
export function conflictsOfPuts(
  puts: readonly SourceRecord[],
  planned: readonly PlannedCompany[],
  others: readonly StoredCompany[],
  hotKeys: ReadonlySet<string> | undefined,
): PutConflict[] {
  const holdersOfKey = sharedKeys(planned, others, hotKeys);
  const isPut = new Set(puts.map(referenceOf));
  return planned.flatMap(({ doc, members }) =>
    members
      .filter((member) => isPut.has(referenceOf(member)))
      .flatMap((member) => {
        const conflicts = member.identity.keys.flatMap((key) => {
          const holders = holdersOfKey.get(key);
          if (!Array.isArray(holders) || !isIdentifier(key)) return [];
          const [best, second] = holders;
          const other = best?.doc === doc ? second : best;
          if (other === undefined) return [];
          return {
            reference: referenceOf(member),
            identifier: identifierOf(key),
            otherId: other.doc._id,
            otherName: other.name,
            lost: other === best,
          };
        });
        return conflicts
          .filter(({ identifier }) => !conflicts.some((other) => isWithin(identifier, other.identifier)))
          .slice(0, MAX_CONFLICTS);
      }),
  );
}

interface Holder {
  readonly doc: CatalogDoc;
  readonly name: string;
}

/** For each key its only holder, or a list of all its holders. The first in the list is the one that look-ups find. */
function sharedKeys(
  planned: readonly PlannedCompany[],
  others: readonly StoredCompany[],
  hotKeys: ReadonlySet<string> | undefined,
): ReadonlyMap<string, Holder | Holder[]> {
  const holdersOfKey = new Map<string, Holder | Holder[]>();
  const addHolder = (holder: Holder, records: readonly SourceRecord[]) => {
    if (isSuppressed(holder.doc)) return;
    for (const key of new Set(keysOf(records))) {
      if (hotKeys?.has(key)) continue;
      const holders = holdersOfKey.get(key);
      if (holders === undefined) holdersOfKey.set(key, holder);
      else if (Array.isArray(holders)) holders.push(holder);
      else holdersOfKey.set(key, [holders, holder]);
    }
  };
  for (const { doc, brand, members } of planned) addHolder({ doc, name: brand.name }, members);
  for (const { doc, records } of others) {
    const stated = records.filter(({ overrides }) => overrides === undefined);
    addHolder({ doc, name: stated[0]?.brand.name ?? '' }, stated);
  }

  for (const holders of holdersOfKey.values())
    if (Array.isArray(holders)) holders.sort((a, b) => compareDocs(a.doc, b.doc));
  return holdersOfKey;
}

/** Checks whether callers can look the key up, and two companies can share it only by mistake. */
function isIdentifier(identityKey: string): boolean {
  return !identityKey.startsWith('id:') && !linksOnlySources(identityKey);
}

/**
 * Checks whether the key has no use but to link records of different sources: callers cannot look it up, and it finds no put
 * record.
 */
export function linksOnlySources(identityKey: string): boolean {
  return /^(?:qid|named|traded|superinvestor):|^ticker:.*@[A-Z]{2}$/.test(identityKey);
}

/** Returns the identifier in a key, as callers write it. */
export function identifierOf(key: string): string {
  const [, ticker, mic] = /^ticker:(.*)@(.*)$/.exec(key) ?? [];
  return mic === undefined ? key.slice(key.indexOf(':') + 1) : `${mic}:${ticker}`;
}

/** Checks whether `identifier` is a CUSIP and `other` is the ISIN that contains it. */
function isWithin(identifier: string, other: string): boolean {
  return identifier.length === 9 && other.length === 12 && other.slice(2, 11) === identifier;
}
