import { referenceOf } from '../records/source-record.ts';

/** Returns the index of each record in a request or an answer, by the record's reference. */
export function indexesOf(
  records: readonly { readonly source: string; readonly id: string }[],
): ReadonlyMap<string, number> {
  return new Map(records.map((record, index) => [referenceOf(record), index]));
}

/** Replaces the reference of a record, in a conflict or a refused link, by the record's index. */
export function withIndex(
  indexes: ReadonlyMap<string, number>,
): <T extends { readonly reference: string }>(report: T) => Omit<T, 'reference'> & { index: number } {
  return ({ reference, ...report }) => ({ ...report, index: indexes.get(reference) ?? 0 });
}
