import { type Contradiction, showOneCompany } from '@brand-data/identifiers';
import { OptionError } from '../../framework/option-error.ts';
import { MERGE, type Merge, type MergeReason } from './links.ts';
import { areOfTwoIssuers, areSisters, compareRows, haveOneAddress } from './row-evidence.ts';
import { bySymbol, type Row } from './rows.ts';

/** How many pairs of rows are compared to find contradictions. FinanceDatabase has a thousandth of them. */
const MOST_COMPARISONS = 100_000_000;

/** Sets of rows. Each set is one company. Links unite the sets step by step. */
export class Clusters {
  readonly #sets: Map<Row, Row[]>;
  #comparisons = 0;

  constructor(rows: readonly Row[]) {
    this.#sets = new Map(rows.map((row) => [row, [row]]));
  }

  of(row: Row): readonly Row[] {
    return this.#sets.get(row) ?? [row];
  }

  together(a: Row, b: Row): boolean {
    return this.of(a) === this.of(b);
  }

  unite(a: Row, b: Row): void {
    const united = [...this.of(a), ...this.of(b)].sort(bySymbol);
    for (const row of united) this.#sets.set(row, united);
  }

  /** Whether nothing in either set contradicts a link between two of their rows. */
  mayUnite(link: Merge): boolean {
    const [ofA, ofB] = [this.of(link.a), this.of(link.b)];
    this.#comparisons += ofA.length * ofB.length;
    if (this.#comparisons > MOST_COMPARISONS)
      throw new OptionError(
        'the rows are not those of FinanceDatabase: far too many of them seem to be one company',
      );
    const anyPair = (test: (a: Row, b: Row) => boolean) => ofA.some((a) => ofB.some((b) => test(a, b)));
    if (anyPair(areOfTwoIssuers)) return false;
    if (BY_NAME.has(link.reason) && anyPair(areSisters)) return false;
    const isSafe =
      link.reason === MERGE.germanFigi ||
      (link.reason === MERGE.nameAndPlace && haveOneAddress(link.a, link.b));
    return (isSafe || this.#leadersAgree(link)) && !isContradicted(link, ofA, ofB);
  }

  #leadersAgree({ a, b, reason }: Merge): boolean {
    const { names, contradictions } = compareRows(leaderOf(this.of(a)), leaderOf(this.of(b)));
    return names !== 'other' || (reason === MERGE.renamed && contradictions.length === 0);
  }

  all(): Row[][] {
    return [...new Set(this.#sets.values())];
  }
}

/** Joins that rest on the name, because the rows share no identifier, or other identifiers contradict it. */
const BY_NAME: ReadonlySet<MergeReason> = new Set([MERGE.conflicting, MERGE.nameAndPlace, MERGE.name]);

/** Whether rows that are not linked contradict the link, and no third fact outweighs that, as in the catalogue. */
function isContradicted({ a, b }: Merge, ofA: readonly Row[], ofB: readonly Row[]): boolean {
  const found = new Set<Contradiction>();
  for (const one of ofA)
    for (const other of ofB) {
      const comparison = compareRows(one, other);
      if (!showOneCompany(comparison)) for (const each of comparison.contradictions) found.add(each);
    }
  if (ofA.some(({ domain }) => domain !== '' && ofB.some((other) => other.domain === domain)))
    found.delete('website');
  const { names, facts } = compareRows(a, b);
  const isFirm = facts.size >= 3 && (names === 'equal' || names === 'former');
  return found.size > 1 || (found.size === 1 && !isFirm);
}

/** Returns the row with the most frequent name. Among rows with that name, the row with the most facts. */
function leaderOf(rows: readonly Row[]): Row {
  const counts = new Map<string | undefined, number>();
  for (const { issuer } of rows) counts.set(issuer?.forms[0], (counts.get(issuer?.forms[0]) ?? 0) + 1);
  const weight = (row: Row) =>
    (counts.get(row.issuer?.forms[0]) ?? 0) * 4 +
    (row.domain === '' ? 0 : 2) +
    (row.subject === undefined ? 0 : 1);
  return rows.reduce((best, row) => (weight(row) > weight(best) ? row : best));
}
