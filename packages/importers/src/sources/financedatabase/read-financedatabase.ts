import type { Brand } from '@brand-data/contracts';
import { compareTexts } from '@brand-data/identifiers';
import { type KeepingOptions, KeptMemory } from '../../framework/kept-memory.ts';
import type { ReadItem, Skipped } from '../../framework/source-items.ts';
import { withoutKnownError } from './known-errors.ts';
import { recordOfListing } from './listing-record.ts';
import { withoutMisattributedFacts } from './misattributed-facts.ts';
import { otherSecurities } from './other-securities.ts';
import { withOwnIdentifiers } from './own-identifiers.ts';
import { type Row, readRows } from './rows.ts';

/** The memory that a row needs beside its cells, in bytes. */
const ROW_BYTES = 700;

/**
 * Yields the listings of FinanceDatabase's equities, each as one source record. The catalogue finds out which of them are one
 * company. A listing whose company is unknown is skipped. What is yielded for a row depends on the rows of its file alone, so that
 * the files may be imported together or apart.
 *
 * All rows are kept in memory, about 3 KB each, and listings that share an identifier or a name are yielded one after the other:
 * most companies are then written once. Throws an OptionError if the rows do not fit into the memory.
 *
 * @param dir a folder of its CSV files, one for each exchange, or a copy of its repository
 */
export async function* readFinanceDatabase(
  dir: string,
  { memoryMib, progress }: KeepingOptions = {},
): AsyncGenerator<ReadItem<Brand> | Skipped> {
  const rows: Row[] = [];
  const kept = new KeptMemory(dir, memoryMib);
  for await (const read of readRows(dir, progress)) {
    if (!('symbol' in read)) {
      yield read;
      continue;
    }
    kept.add(read);
    kept.addBytes(ROW_BYTES);
    rows.push(withoutKnownError(read));
  }
  const named: Row[] = [];
  for (const ofFile of Map.groupBy(rows, ({ from }) => from.replace(/:\d+$/, '')).values()) {
    const others = otherSecurities(ofFile);
    for (const [{ from, symbol, name }, item] of others)
      yield item === undefined ? { from, skipped: `${symbol}: "${name}" is no company` } : { from, item };
    for (const row of withoutMisattributedFacts(ofFile.filter((row) => !others.has(row)))) {
      if (row.issuer === undefined) yield { from: row.from, skipped: whyNameless(row) };
      else named.push(withOwnIdentifiers(row));
    }
  }
  for (const row of likelyCompaniesTogether(named)) yield { from: row.from, item: recordOfListing(row) };
}

function whyNameless({ symbol, name }: Row): string {
  return `${symbol}: ${name === '' ? 'it has no name' : `its name, "${name}", is that of other securities`}`;
}

/** Puts most rows that share an identifier or an issuer's name next to each other. The order of the rows does not matter. */
function likelyCompaniesTogether(rows: readonly Row[]): Row[] {
  const groups = new Set<Row[]>();
  const groupOf = new Map<string, Row[]>();
  for (const row of rows.toSorted((a, b) => compareTexts(a.symbol, b.symbol))) {
    const keys = [row.shareClassFigi, row.isin, row.issuer?.forms[0] ?? ''].filter((key) => key !== '');
    const group = keys.map((key) => groupOf.get(key)).find((found) => found !== undefined) ?? [];
    groups.add(group);
    group.push(row);
    for (const key of keys) if (!groupOf.has(key)) groupOf.set(key, group);
  }
  return [...groups].flat();
}
