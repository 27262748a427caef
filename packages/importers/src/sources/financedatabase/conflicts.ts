import type { Clusters } from './clusters.ts';
import { compareRows, identifiersDiffer } from './row-evidence.ts';
import { grouped, identifiersOf, pairsOf, type Row } from './rows.ts';

const CONFLICT = {
  joined: 'joined: the names agree, though identifiers differ',
  described: 'apart: they are described as different companies',
  identifiers: 'apart: the names differ, and so do other identifiers',
  names: 'apart: the names differ, and nothing else shows that it is one company',
  websites: 'apart: the names agree, but the websites differ',
  legalForms: 'apart: the names agree, but the legal form or the country differs',
} as const;
export type ConflictReason = (typeof CONFLICT)[keyof typeof CONFLICT];

/** Two listings that share identifiers or the name, but contradict each other in other facts. */
export interface RowConflict {
  a: Row;
  b: Row;
  /** The shared identifiers: "figi:BBG001SL9402", "isin:US53814L1089". Empty if only the name is shared. */
  identifiers: string[];
  reason: ConflictReason;
}

/**
 * Two kinds of conflicts: listings of different companies that share an identifier or the name, and two listings of a company
 * that share an identifier but differ in another one. The latter are reported once for each company.
 *
 * @param given the rows as they were read, so that identifiers that were later removed as misattributed are included
 */
export function rowConflictsOf(
  given: readonly Row[],
  rows: readonly Row[],
  clusters: Clusters,
): RowConflict[] {
  const rowOf = new Map(rows.map((row) => [row.symbol, row]));
  const apart = new Map<string, RowConflict>();
  const joined = new Map<readonly Row[], RowConflict>();
  const common = grouped(given, (row) => {
    const name = rowOf.get(row.symbol)?.issuer === undefined ? [] : (row.issuer?.forms.slice(0, 1) ?? []);
    return [...identifiersOf(row), ...name];
  });
  for (const [key, holders] of common) {
    const identifiers = /^(?:figi|isin|cusip):/.test(key) ? [key] : [];
    const cleaned = holders.flatMap(({ symbol }) => rowOf.get(symbol) ?? []);
    for (const [a, b] of pairsOf(cleaned)) {
      const known = apart.get(`${a.symbol} ${b.symbol}`);
      if (known !== undefined) known.identifiers.push(...identifiers);
      else if (!clusters.together(a, b))
        apart.set(`${a.symbol} ${b.symbol}`, {
          a,
          b,
          identifiers: [...identifiers],
          reason: whyApart(a, b, identifiers),
        });
      else if (identifiers.length > 0 && identifiersDiffer(a, b) && !joined.has(clusters.of(a)))
        joined.set(clusters.of(a), { a, b, identifiers, reason: CONFLICT.joined });
    }
  }
  return [...joined.values(), ...apart.values()];
}

function whyApart(a: Row, b: Row, identifiers: readonly string[]): ConflictReason {
  if (identifiers.length === 0)
    return a.domain !== '' && b.domain !== '' ? CONFLICT.websites : CONFLICT.legalForms;
  if (compareRows(a, b).contradictions.length > 0) return CONFLICT.described;
  return identifiersDiffer(a, b) ? CONFLICT.identifiers : CONFLICT.names;
}
