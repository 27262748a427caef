import type { GrantUsage, UsageCell } from '@brand-data/contracts';

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
  return {
    ...(b.used > a.used ? b : a),
    returned: Math.max(a.returned, b.returned),
    closed: a.closed || b.closed,
  };
}

/** One cell for each day, key, route and status, in this order. */
export function sumCells(cells: readonly UsageCell[]): UsageCell[] {
  const sums = new Map<string, UsageCell>();
  for (const cell of cells) {
    const name = cellName(cell);
    sums.set(name, { ...cell, count: cell.count + (sums.get(name)?.count ?? 0) });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, cell]) => cell);
}

export function cellName({ day, keyId, route, status }: UsageCell): string {
  return `${day}/${keyId}/${route}/${status}`;
}
