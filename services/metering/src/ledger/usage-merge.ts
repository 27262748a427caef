import { type GrantUsage, Route, type UsageCell } from '@brand-data/contracts';

/** The key of a count whose key is not known. */
const UNATTRIBUTED = 'unattributed';

/** Usage is cumulative: of several messages about one grant the largest counts, and closed stays closed. */
export function mergeByGrant(usage: readonly GrantUsage[]): GrantUsage[] {
  const merged = new Map<string, GrantUsage>();
  for (const next of usage) {
    const seen = merged.get(next.grantId);
    merged.set(next.grantId, seen ? larger(seen, next) : next);
  }
  return [...merged.values()];
}

function larger(a: GrantUsage, b: GrantUsage): GrantUsage {
  const [more, less] = b.used > a.used || (b.used === a.used && a.partial) ? [b, a] : [a, b];
  const cells = more.partial ? largerCells(more.cells, less.cells) : more.cells;
  return {
    ...more,
    ...{ cells, partial: more.partial && countOf(cells) !== more.used },
    returned: Math.max(a.returned, b.returned),
    closed: a.closed || b.closed,
  };
}

/** Each count is cumulative too: the larger wins. */
export function largerCells(a: readonly UsageCell[], b: readonly UsageCell[]): UsageCell[] {
  return combined([...a, ...b], Math.max);
}

/** One cell for each day, key, route and status, in this order. */
export function sumCells(cells: readonly UsageCell[]): UsageCell[] {
  return combined(cells, (a, b) => a + b);
}

function combined(cells: readonly UsageCell[], combine: (a: number, b: number) => number): UsageCell[] {
  const byName = new Map<string, UsageCell>();
  for (const cell of cells) {
    const name = cellName(cell);
    const seen = byName.get(name);
    byName.set(name, seen ? { ...cell, count: combine(seen.count, cell.count) } : cell);
  }
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cell]) => cell);
}

export function countOf(cells: readonly UsageCell[]): number {
  return cells.reduce((sum, { count }) => sum + count, 0);
}

/**
 * A breakdown that sums to `used`, whatever the cells. Counts beyond it are left out. Lacking counts, which a stream that
 * lost messages may cause, stand under "unattributed".
 */
export function breakdownOf(cells: readonly UsageCell[], used: number, month: string): UsageCell[] {
  let left = used;
  const breakdown: UsageCell[] = [];
  for (const cell of cells) {
    const count = Math.min(cell.count, left);
    left -= count;
    if (count > 0) breakdown.push({ ...cell, count });
  }
  if (left === 0) return breakdown;
  const unattributed = { keyId: UNATTRIBUTED, route: Route.UNSPECIFIED, status: 0, day: `${month}-01` };
  return [...breakdown, { ...unattributed, count: left }];
}

/** "day/key/route/status": the counts of one name are of the same calls. */
export function cellName({ day, keyId, route, status }: UsageCell): string {
  return `${day}/${keyId}/${route}/${status}`;
}

/** The reverse of `cellName`. */
export function cellFromName(name: string, count: number): UsageCell {
  const [day = '', keyId = '', routeName, status] = name.split('/');
  const route = Object.values(Route).find((known) => known === routeName) ?? Route.UNSPECIFIED;
  return { day, keyId, route, status: Number(status), count };
}
