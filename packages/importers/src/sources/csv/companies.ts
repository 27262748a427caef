import { compareTexts, normalName } from '@brand-data/identifiers';
import type { BrandRecord } from '@brand-data/records';
import type { KeptMemory } from '../../framework/kept-memory.ts';
import type { BrandPicture, Skipped, Unreadable } from '../../framework/source-items.ts';

/** No company has more classes than this on one venue. More rows of one name are the products of one issuer, or have no name. */
const MOST_CLASSES = 20;
/** A company with more names or listings is refused anyway, and comparing all with each other would take for ever. */
const MOST_MERGED = 1_000;

/** What `onSecurities` calls the listings that were added to the record of another share class. */
const FURTHER_CLASSES = 'further share classes';

/** The fields of a record that are known so far. */
export type PartialRecord = Partial<BrandRecord>;
type Listing = NonNullable<BrandRecord['listings']>[number];

/** The identifiers of a security that a company without a listing may have, too. */
const IDENTIFIERS = ['isin', 'cusip'] as const;

interface ReadRow {
  from: string;
  raw: string;
  /** Has the company's name. */
  record: PartialRecord;
  /** The name as the table writes it: "Alphabet Inc. Class C Capital Stock". */
  security: string;
  pictures: readonly BrandPicture[];
  /** If the security is no company, what such securities are called in the plural. */
  kind?: string;
}

export type Item = ReadRow | Skipped | Unreadable;

/** Keeps all rows until the last is read. Then yields each company in the place of its first row. */
export async function* companiesOf(
  rows: AsyncIterable<Item>,
  kept: KeptMemory,
  counts: Record<string, number>,
): AsyncGenerator<Item> {
  const items: Item[] = [];
  for await (const item of rows) {
    kept.add(item);
    items.push(item);
  }
  const listed = items.filter(
    (item) => 'record' in item && item.record.listings !== undefined && item.kind === undefined,
  ) as ReadRow[];
  const groupOf = new Map(groupClasses(listed).flatMap((group) => group.map((row) => [row, group] as const)));
  const done = new Set<readonly ReadRow[]>();
  for (const item of items) {
    const group = 'record' in item ? groupOf.get(item) : undefined;
    const [main, ...classes] = group ?? [];
    if (group === undefined || main === undefined) {
      yield item;
    } else if (!done.has(group)) {
      done.add(group);
      for (const { record } of classes) mergeInto(main.record, record);
      if (classes.length > 0) counts[FURTHER_CLASSES] = (counts[FURTHER_CLASSES] ?? 0) + classes.length;
      yield main;
    }
  }
}

/** Keeps all records until the last row is read, and merges those with the same id. Yields other items at once. */
export async function* mergedById(rows: AsyncIterable<Item>, kept: KeptMemory): AsyncGenerator<Item> {
  const merged = new Map<string, ReadRow>();
  for await (const item of rows) {
    if (!('record' in item)) {
      yield item;
      continue;
    }
    const first = merged.get(item.record.id ?? '');
    kept.add(first === undefined ? item : item.record);
    if (first === undefined) {
      merged.set(item.record.id ?? '', item);
      continue;
    }
    const left = mergeInto(first.record, item.record);
    if (left.length > 0)
      yield {
        from: item.from,
        skipped: `${left.join(', ')}: ${first.from} has another one`,
      };
  }
  yield* merged.values();
}

/**
 * Groups rows by company, whatever their order. A row without a name, or with a name that too many rows have, stays alone. Two rows
 * are share classes of one company if company and venue have equal names, no country, website or LEI differs, and their names
 * differ ("Class A", "Class C") or their tickers are related. The main class, with the shortest, then smallest ticker, comes first.
 */
function groupClasses(rows: readonly ReadRow[]): ReadRow[][] {
  const placeOf = ({ record }: ReadRow, ticker: string) => `${record.listings?.[0]?.mic} ${ticker}`;
  const nameOf = ({ record }: ReadRow) => normalName(record.name ?? '');
  const nameAt = new Map(rows.map((row) => [placeOf(row, tickerOf(row)), nameOf(row)]));
  const byName = Map.groupBy(rows, (row) => {
    const [own, ofRoot = own] = [nameOf(row), nameAt.get(placeOf(row, rootOf(tickerOf(row))))];
    return placeOf(row, ofRoot.split(' ', 1)[0] === own.split(' ', 1)[0] ? ofRoot : own);
  });
  return [...byName.values()].flatMap((ofName) => {
    if (ofName.length > MOST_CLASSES || !ofName[0]?.record.name) return ofName.map((row) => [row]);
    const groups: ReadRow[][] = [];
    for (const row of ofName.toSorted(byTicker)) {
      const group = groups.find((each) => each.every((other) => areClasses(other, row)));
      if (group === undefined) groups.push([row]);
      else group.push(row);
    }
    return groups;
  });
}

function areClasses(a: ReadRow, b: ReadRow): boolean {
  const [tickerA, tickerB] = [tickerOf(a), tickerOf(b)];
  const contradict =
    differ(a.record.company?.headquarters?.country_code, b.record.company?.headquarters?.country_code) ||
    differ(a.record.links?.websites?.[0], b.record.links?.websites?.[0]) ||
    differ(a.record.lei, b.record.lei);
  // Two rows with one ticker are a mistake in the list. They stay apart, so that the import refuses the second.
  if (contradict || tickerA === tickerB) return false;
  return a.security !== b.security || areRelated(tickerA, tickerB);
}

/** Tells whether one ticker continues the other ("UA", "UAA"), or both are equal up to the letter of a class ("BRK-A", "BRK-B"; "UBA", "UBP"). */
function areRelated(a: string, b: string): boolean {
  const isLong = Math.min(a.length, b.length) > 2;
  return (
    a.startsWith(b) ||
    b.startsWith(a) ||
    rootOf(a) === rootOf(b) ||
    (isLong && a.slice(0, -1) === b.slice(0, -1))
  );
}

function rootOf(ticker: string): string {
  return ticker.split('-', 1)[0] ?? '';
}

function differ(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && b !== undefined && a !== b;
}

function byTicker(a: ReadRow, b: ReadRow): number {
  const [tickerA, tickerB] = [tickerOf(a), tickerOf(b)];
  return (
    tickerA.length - tickerB.length || compareTexts(tickerA, tickerB) || compareTexts(a.security, b.security)
  );
}

function tickerOf({ record }: ReadRow): string {
  return record.listings?.[0]?.ticker ?? '';
}

/**
 * Adds the names, listings and identifiers of a further row of the same company. The row's other fields are ignored. Returns the
 * identifiers that have no place, because the company or the listing has others.
 */
function mergeInto(
  first: PartialRecord,
  { name, names = [], listings = [], stock = {} }: PartialRecord,
): string[] {
  for (const other of [...(name === undefined ? [] : [name]), ...names])
    if ((first.names?.length ?? 0) < MOST_MERGED && other !== first.name && !first.names?.includes(other))
      first.names = [...(first.names ?? []), other];
  const left: string[] = [];
  for (const listing of listings) {
    const known = first.listings ?? [];
    const at = known.findIndex(({ ticker, mic }) => ticker === listing.ticker && mic === listing.mic);
    if (at < 0 && known.length < MOST_MERGED)
      first.listings = [...known, isMain(listing, known) ? { ...listing, primary: true } : listing];
    if (at >= 0) first.listings = known.with(at, { ...listing, ...known[at] });
  }
  for (const field of IDENTIFIERS) {
    const values = [stock[field], ...listings.map((listing) => listing[field])].filter(
      (value) => value !== undefined,
    );
    const known = [first.stock?.[field], ...(first.listings ?? []).map((listing) => listing[field])];
    // The share is that of the main listing, so a row without a ticker gives only what no listing has.
    if (stock[field] !== undefined && known.every((value) => value === undefined))
      first.stock = { ...first.stock, [field]: stock[field] };
    else left.push(...values.filter((value) => !known.includes(value)));
  }
  return left;
}

/** Tells whether a further listing is that of another share class, and not of the same share at another venue. */
function isMain({ mic, isin }: Listing, known: readonly Listing[]): boolean {
  const isins = known.flatMap((listing) => listing.isin ?? []);
  const isOther = isin !== undefined && isins.length > 0 && !isins.includes(isin);
  return known.length > 0 && (isOther || known[0]?.mic === mic);
}
