import type { UsageCell } from '@brand-data/contracts';
import type { ClosedGrant } from './ledger.ts';
import type { DayOfLedger, StoredMonth } from './ledger-database.ts';
import { breakdownOf, sumCells } from './usage-merge.ts';

/**
 * Returns a ledger's breakdown of its month: its days, the closed grants that are not merged into the days yet, and the billed
 * part of the open grants.
 */
export function breakdownOfMonth({ ledger, breakdowns, days }: StoredMonth): UsageCell[] {
  const byDay = new Map(days.map((day) => [day.day, day]));
  const unmerged = ledger.closed.flatMap((grant) => cellsNotIn(byDay, grant));
  const open = ledger.grants.flatMap(({ number, used }) =>
    billedPart(breakdowns.get(number) ?? [], used, ledger.month),
  );
  return sumCells([...days.flatMap(({ cells }) => cells), ...unmerged, ...open]);
}

function cellsNotIn(
  days: ReadonlyMap<string, DayOfLedger>,
  { number, cells = [] }: ClosedGrant,
): UsageCell[] {
  return cells.filter(({ day }) => {
    const known = days.get(day);
    return !known || (number >= known.mergedBelow && !known.merged.includes(number));
  });
}

/**
 * The store writes an open grant's breakdown before `used`, so the breakdown may have more calls than are billed. This cuts it to
 * `used`. It may also have fewer, while messages with other parts of it are not applied yet. This adds nothing for those calls.
 */
function billedPart(cells: readonly UsageCell[], used: number, month: string): UsageCell[] {
  return breakdownOf(cells, used, month).filter(({ status }) => status !== 0);
}
