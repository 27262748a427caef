import { Fault } from '../base/fault.ts';

/** Returns where a page ends of documents that are sorted by `at` and `_id`, the latest first. It is `after` of the next request. */
export function endOfPage({ _id, at }: { _id: string; at: Date }): string {
  return `${at.getTime()}.${_id}`;
}

/** Returns the filter of the documents behind the end of a page. Throws Fault `invalid_argument` if no page ends so. */
export function olderThan(after: string): { $or: object[] } {
  const [, atMs, _id] = /^(\d{1,15})\.([\w/-]{1,256})$/.exec(after) ?? [];
  if (atMs === undefined || _id === undefined)
    throw new Fault('invalid_argument', 'a page must begin where the page before ended');
  const at = new Date(Number(atMs));
  return { $or: [{ at: { $lt: at } }, { at, _id: { $lt: _id } }] };
}
