import { Clusters } from './clusters.ts';
import { type RowConflict, rowConflictsOf } from './conflicts.ts';
import { withoutKnownError } from './known-errors.ts';
import { linksBetween, MERGE, type Merge } from './links.ts';
import { withoutMisattributedFacts } from './misattributed-facts.ts';
import { otherSecurities } from './other-securities.ts';
import { areOfTwoIssuers } from './row-evidence.ts';
import { bySymbol, grouped, haveGermanTicker, type Row, sureIdentifiersOf } from './rows.ts';

export interface Joined {
  /** The listings of each company, without misattributed facts. Companies and listings are in the order of their symbols. */
  companies: Row[][];
  merges: Merge[];
  conflicts: RowConflict[];
  refused: { row: Row; reason: string }[];
}

/**
 * Groups listings by the company that issued them. The order of rows does not matter. Follows the links between listings
 * from the strongest to the weakest. Refuses a link if other listings of the two groups that it would join contradict it, so
 * that one wrong identifier does not merge two companies.
 */
export function joinRows(unordered: readonly Row[]): Joined {
  const given = unordered.map(withoutKnownError).toSorted(bySymbol);
  const others = otherSecurities(given);
  const refused = [...others].map(([row, reason]) => ({ row, reason }));
  const companies = given.filter((row) => !others.has(row));
  const rows = withoutMisattributedFacts(companies);
  const named = rows.filter(({ issuer }) => issuer !== undefined);
  const clusters = new Clusters(rows);
  const merges: Merge[] = [];

  for (const link of linksBetween(named)) {
    if (clusters.together(link.a, link.b) || !clusters.mayUnite(link)) continue;
    clusters.unite(link.a, link.b);
    merges.push(link);
  }

  const holders = grouped(rows, sureIdentifiersOf);
  for (const row of rows) {
    if (row.issuer !== undefined) continue;
    const found = holdersWithName(row, holders);
    const other = found.find((each) => isEvidence(row, each));
    const isOne =
      other !== undefined &&
      found.every((each) => clusters.together(each, other)) &&
      !clusters.of(other).some((each) => areOfTwoIssuers(each, row));
    if (isOne) {
      clusters.unite(other, row);
      merges.push({ a: other, b: row, names: 'other', reason: MERGE.nameless });
    } else {
      refused.push({ row, reason: whyNameless(row, found) });
    }
  }

  const out = new Set(refused.map(({ row }) => row));
  return {
    companies: clusters.all().filter(([first]) => first !== undefined && !out.has(first)),
    merges,
    conflicts: rowConflictsOf(companies, rows, clusters).filter(({ a, b }) => !out.has(a) && !out.has(b)),
    refused,
  };
}

function holdersWithName(row: Row, holders: ReadonlyMap<string, Row[]>): Row[] {
  return sureIdentifiersOf(row)
    .flatMap((identifier) => holders.get(identifier) ?? [])
    .filter(({ issuer }) => issuer !== undefined);
}

/**
 * Tells whether the other row's identifier is evidence. It is no evidence if both rows have the same ticker in different countries,
 * because wrong identifiers were looked up by ticker.
 */
function isEvidence(row: Row, other: Row): boolean {
  return other.ticker !== row.ticker || haveGermanTicker(row, other);
}

function whyNameless({ symbol, name }: Row, found: readonly Row[]): string {
  const what = name === '' ? 'it has no name' : `its name, "${name}", is that of other securities`;
  const which =
    found.length === 0
      ? 'no listing with a name shares an identifier with it'
      : 'its identifiers are not reliable';
  return `${symbol}: ${what}, and ${which}`;
}
