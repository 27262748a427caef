import type { GrantUsage, UsageCell } from '@brand-data/contracts';
import { parseGrantId } from './ledger.ts';

/**
 * The largest number of cells of a grant: 200 keys × 2 routes × 3 statuses × 2 days. An account has up to 100 keys at once, and
 * each may be replaced during the grant.
 */
const MOST_CELLS = 2 * 100 * 2 * 3 * 2;
const COUNTED_STATUSES = [200, 304, 404];

/** Returns what is wrong with the usage, independently of the grant's state. Undefined if nothing is wrong. */
export function usageDefect({
  grantId,
  used,
  returned,
  closed,
  cells,
  partial,
}: GrantUsage): string | undefined {
  if (!parseGrantId(grantId)) return 'grant_id is not a grant of this service';
  if (!isCount(used) || !isCount(returned)) return 'used and returned are whole numbers, 0 or more';
  if (cells.length > MOST_CELLS) return `a grant has at most ${MOST_CELLS} cells`;
  if (!cells.every(isCell)) return 'a cell has a key, a day, a status that is counted, and a count';
  const sum = cells.reduce((total, { count }) => total + count, 0);
  if (partial && closed) return 'a close must have the whole breakdown';
  const fits = partial ? sum <= used : sum === used;
  return fits ? undefined : 'the cells do not sum to used';
}

/** The route may be one that this version of metering does not know. The call is billed all the same. */
function isCell({ keyId, status, day, count }: UsageCell): boolean {
  return (
    /^[\w-]{1,64}$/.test(keyId) &&
    COUNTED_STATUSES.includes(status) &&
    /^\d{4}-\d{2}-\d{2}$/.test(day) &&
    isCount(count)
  );
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
