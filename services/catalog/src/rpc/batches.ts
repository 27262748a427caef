import { Fault } from '@brand-data/runtime';

const MAX_BATCH = 500;
const IMPORT_ID = /^[\w.:-]{1,128}$/;

/** Throws Fault `invalid_argument` if the batch has too many items. */
export function refuseLargeBatch(items: readonly unknown[]): void {
  if (items.length > MAX_BATCH)
    throw new Fault('invalid_argument', `the batch has ${items.length} items: send ${MAX_BATCH} at most`);
}

/** Checks the id of an import or of a restore. */
export function isRunId(id: string): boolean {
  return IMPORT_ID.test(id);
}

/** Throws Fault `invalid_argument` if the id cannot be that of an import or of a restore. */
export function refuseBadRunId(of: 'an import' | 'a restore', id: string): void {
  if (!isRunId(id))
    throw new Fault(
      'invalid_argument',
      `the id of ${of} must have 1 to 128 letters, digits, hyphens, underscores, dots and colons`,
    );
}
