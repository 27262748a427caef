import { type Contradiction, isFirm, showOneCompany } from '@brand-data/identifiers';
import { OptionError } from '../../framework/source-items.ts';
import { MERGE, type Merge, type MergeReason } from './links.ts';
import { areOfTwoIssuers, areSisters, compareRows } from './row-evidence.ts';
import { bySymbol, type Row } from './rows.ts';

/** How many pairs of rows are compared to find contradictions. FinanceDatabase has a hundredth of them. */
const MOST_COMPARISONS = 5_000_000;

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
    const areSistersByName = BY_NAME.has(link.reason) && anyPair(areSisters);
    return !anyPair(areOfTwoIssuers) && !areSistersByName && !isContradicted(link, ofA, ofB);
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
  return found.size > 1 || (found.size === 1 && !isFirm(compareRows(a, b)));
}
