import { compareTexts, normalName } from '@brand-data/identifiers';
import type { PartialRecord } from './record-fields.ts';

/** No company has more classes than this on one venue. More rows of one name are the products of one issuer, or have no name. */
const MOST_CLASSES = 20;

/** A row of a list of securities. */
export interface ListedRow {
  readonly record: PartialRecord;
  /** The name as the list writes it: "Alphabet Inc. Class C Capital Stock". The record has the company's name. */
  readonly security: string;
}

/**
 * Groups the rows of a list of securities by company. A row without a name, or with a name that too many rows have, stays alone.
 * Two rows are share classes of one company if company and venue have equal names, no country, website or LEI differs, and they are
 * evidently two of its securities: their names differ ("Class A", "Class C") or their tickers are related. In each group the main
 * class comes first: the class with the shortest ticker, then the smallest ticker by code units. The order of the rows does not
 * matter.
 */
export function groupClasses<R extends ListedRow>(rows: Iterable<R>): R[][] {
  const byName = Map.groupBy(
    rows,
    ({ record }) => `${record.listings?.[0]?.mic} ${normalName(record.name ?? '')}`,
  );
  return [...byName.values()].flatMap((ofName) => {
    if (ofName.length > MOST_CLASSES || !ofName[0]?.record.name) return ofName.map((row) => [row]);
    const groups: R[][] = [];
    for (const row of ofName.toSorted(byTicker)) {
      const group = groups.find((each) => each.every((other) => areClasses(other, row)));
      if (group === undefined) groups.push([row]);
      else group.push(row);
    }
    return groups;
  });
}

function areClasses(a: ListedRow, b: ListedRow): boolean {
  const [tickerA, tickerB] = [tickerOf(a), tickerOf(b)];
  const contradict =
    differ(a.record.company?.headquarters?.country_code, b.record.company?.headquarters?.country_code) ||
    differ(a.record.links?.websites?.[0], b.record.links?.websites?.[0]) ||
    differ(a.record.lei, b.record.lei);
  // Two rows with one ticker are a mistake in the list. They stay apart, so that the import refuses the second.
  if (contradict || tickerA === tickerB) return false;
  return a.security !== b.security || areRelated(tickerA, tickerB);
}

/** Tells whether one ticker continues the other ("UA", "UAA"), or both are equal up to the mark of a class ("BRK-A", "BRK-B"). */
function areRelated(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a) || a.split('-', 1)[0] === b.split('-', 1)[0];
}

function differ(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

function byTicker(a: ListedRow, b: ListedRow): number {
  const [tickerA, tickerB] = [tickerOf(a), tickerOf(b)];
  return (
    tickerA.length - tickerB.length || compareTexts(tickerA, tickerB) || compareTexts(a.security, b.security)
  );
}

function tickerOf({ record }: ListedRow): string {
  return record.listings?.[0]?.ticker ?? '';
}
