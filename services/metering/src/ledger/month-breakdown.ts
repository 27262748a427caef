import type { UsageCell } from '@brand-data/contracts';
import type { ClosedGrant } from './ledger.ts';
import type { DayOfLedger, StoredMonth } from './ledger-database.ts';
import { breakdownOf, sumCells } from './usage-merge.ts';

/**
 * A ledger's use in its month, by day, key, route and status: its days, closed grants that are not in the days yet, and open
 * grants as far as they are billed.
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

/** A breakdown is stored before the ledger counts it; parts of it may still be on their way. */
function billedPart(cells: readonly UsageCell[], used: number, month: string): UsageCell[] {
  return breakdownOf(cells, used, month).filter(({ status }) => status !== 0);
}
