import { userInfo } from 'node:os';
import { UsageError } from '../../connection/usage-error.ts';

const MAX_REASON = 500;

/** Why the operator sets a field. Throws a UsageError if the text is blank or too long. */
export function reasonOf({ reason = '' }: { reason?: string }): string {
  if (reason.trim() === '') throw new UsageError('the reason is missing: --reason "why this value is right"');
  if ([...reason].length > MAX_REASON)
    throw new UsageError(`the reason is longer than ${MAX_REASON} characters: shorten it`);
  return reason.trim();
}

/** Who sets a field: the given name, else the user of the operating system. */
export function whoOf({ by }: { by?: string }): string {
  if (by !== undefined && by.trim() !== '') return by.trim();
  try {
    return userInfo().username;
  } catch {
    throw new UsageError('the user of the operating system has no name: --by <name>');
  }
}

export function dryRunTitle(dryRun: boolean): string[] {
  return dryRun ? ['Nothing was written into the catalogue; this is what would be:'] : [];
}
