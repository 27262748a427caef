import { Route, type UsageCell } from '@brand-data/contracts';
import type { LedgerInput } from './senders.ts';

/** The breakdown lists calls whose key is not known under this key. */
const UNATTRIBUTED = 'unattributed';

/**
 * Combines several messages of one sender about one grant. Usage is cumulative, so the largest numbers are kept, and a closed
 * grant stays closed.
 */
export function mergeByGrant<Usage extends LedgerInput>(usage: readonly Usage[]): Usage[] {
  const merged = new Map<string, Usage>();
  for (const next of usage) {
    const about = `${next.sender ?? '-'} ${next.grantId}`;
    const seen = merged.get(about);
    merged.set(about, seen ? larger(seen, next) : next);
  }
  return [...merged.values()];
}

function larger<Usage extends LedgerInput>(a: Usage, b: Usage): Usage {
  const [more, less] = b.used > a.used || (b.used === a.used && a.partial) ? [b, a] : [a, b];
  const cells = more.partial ? largerCells(more.cells, less.cells) : more.cells;
  return {
    ...more,
    cells,
    partial: more.partial && countOf(cells) !== more.used,
    returned: Math.max(a.returned, b.returned),
    closed: a.closed || b.closed,
  };
}

/** Combines two breakdowns of one grant. Each count is cumulative, so the larger one is kept. */
export function largerCells(a: readonly UsageCell[], b: readonly UsageCell[]): UsageCell[] {
  return combined([...a, ...b], Math.max);
}

/** Adds up the counts of each day, key, route and status, and sorts by them in this order. */
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
 * Returns a breakdown that sums to exactly `used`. If the cells sum to more, it leaves the surplus out. If they sum to less,
 * which happens if a stream loses messages, it lists the missing calls under the key "unattributed".
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

/** "day/key/route/status". Two counts of one grant with the same name count the same calls. */
export function cellName({ day, keyId, route, status }: UsageCell): string {
  return `${day}/${keyId}/${route}/${status}`;
}

/** The inverse of `cellName`. */
export function cellFromName(name: string, count: number): UsageCell {
  const [day = '', keyId = '', routeName, status] = name.split('/');
  const route = Object.values(Route).find((known) => known === routeName) ?? Route.UNSPECIFIED;
  return { day, keyId, route, status: Number(status), count };
}
