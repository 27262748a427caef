import { Quote, type Source, Stock } from '@brand-data/contracts';
import { type CellOptions, isZero, type Kind, readCell, readRange } from '../../formats/cells.ts';
import { sizeOf } from '../../formats/content.ts';
import { readCurrency } from '../../formats/currencies.ts';
import { headingKey, KNOWN_HEADINGS } from '../../formats/headings.ts';
import type { TableRow } from '../../formats/json-table.ts';
import { readEach } from '../../formats/lines.ts';
import { countryOfIsin, countryOfTicker, listingOfRow, type TickerAtVenue } from '../../formats/listing.ts';
import { openTable, type TableLayout } from '../../formats/table.ts';
import { assignmentsIn, isBlank, isBlankName } from '../../formats/texts.ts';
import { type KeepingOptions, KeptMemory } from '../../framework/kept-memory.ts';
import { OptionError, type ReadItem, type Unreadable } from '../../framework/source-items.ts';
import FIELDS from './fields.json' with { type: 'json' };
import { type DayFigures, type Rates, stockOfFigures } from './quotes.ts';

/** Fields in which "NaN" and "null" are ordinary values: XNYS:NAN is a security. */
const TEXTS: ReadonlySet<Field> = new Set(['symbol', 'exchange']);

/** Fields in which a zero means that the figure is not known. */
const AMOUNTS: ReadonlySet<Field> = new Set([
  'market_cap',
  'market_cap_usd',
  'price_usd',
  'low',
  'high',
  'low_52_weeks',
  'high_52_weeks',
]);

/** A field of market data. FIELDS has the names of columns that give it, unless tables of companies have them too. */
type Field = keyof typeof FIELDS;
export const MARKET_DATA_FIELDS = Object.keys(FIELDS) as Field[];

/** The same fields in tables of companies. */
const OF_COMPANIES: Partial<Record<Field, string>> = {
  symbol: 'listings.ticker',
  isin: 'listings.isin',
  exchange: 'listings.mic',
  currency: 'stock.currency',
  price: 'stock.price',
  change: 'stock.change',
  change_percentage: 'stock.change_percentage',
};

/** How fields are parsed that are no numbers. */
const KINDS: Partial<Record<Field, Kind>> = {
  symbol: 'text',
  isin: 'text',
  exchange: 'venue',
  date: 'date',
  change_percentage: 'percentage',
  is_actively_trading: 'boolean',
};

/** The memory of a security's dates and figures without its texts, in bytes. */
const SECURITY_BYTES = 300;
const YEAR_DAYS = 364;
const DAY_MS = 86_400_000;
/** If a security's first and last day are at least this far apart, its rows give the range of 52 weeks. */
const NEARLY_A_YEAR_DAYS = 357;

export interface ReadMarketDataOptions extends TableLayout, KeepingOptions, Omit<CellOptions, 'separator'> {
  /** "column=field", for columns whose names are not in FIELDS. */
  map: readonly string[];
  rates: Rates;
  /** The currency and the venue of rows that do not give them. */
  currency?: string | undefined;
  exchange?: string | undefined;
  /** The origin of the figures. */
  source: Source;
  /** Called once for each quote whose currency has no rate. The quote is sent without prices in US dollars. */
  onMissingRate?: (currency: string) => void;
}

/**
 * Yields the quotes of a CSV or NDJSON file, which may be compressed. If its rows have dates, the file is read twice, and each
 * security gets the figures of its last day. If that day's row gives no change or no range of 52 weeks, they are computed
 * from the days before. This takes some hundred bytes of memory for each security. Without dates, only one row is in memory.
 * Throws an OptionError if a required column is missing, or if the figures do not fit into the memory.
 */
export async function* readMarketData(
  file: string,
  options: ReadMarketDataOptions,
): AsyncGenerator<ReadItem<Quote>> {
  const { progress, memoryMib } = options;
  const isDated = (await fieldsOfTable(file, options)).has('date');
  if (progress !== undefined) progress.total = (await sizeOf([file])) * (isDated ? 2 : 1);
  if (!isDated) {
    for await (const read of daysOf(file, options))
      yield 'problem' in read ? read : quoteOf(read, undefined, options);
    return;
  }

  const kept = new KeptMemory(file, memoryMib);
  const lastDays = new Map<string, number>();
  for await (const read of daysOf(file, options)) {
    if ('problem' in read || read.day === undefined) continue;
    if (!lastDays.has(read.security)) kept.addBytes(SECURITY_BYTES + read.raw.length);
    lastDays.set(read.security, Math.max(lastDays.get(read.security) ?? 0, read.day));
  }
  const years = new Map<string, Year>();
  for await (const read of daysOf(file, options)) {
    if ('problem' in read) {
      yield read;
      continue;
    }
    const { from, raw, security, day } = read;
    const last = lastDays.get(security);
    if (day === undefined || last === undefined || day < last - YEAR_DAYS) continue;
    const year = years.get(security);
    if (day === last && year?.last !== undefined)
      yield { from, raw, problem: `${security} has two rows for this day: remove one` };
    else {
      if (day === last) kept.add(read);
      years.set(security, withDay(year, read, last));
    }
  }
  for (const year of years.values()) if (year.last !== undefined) yield quoteOf(year.last, year, options);
}

type Day = Extract<ReturnType<typeof dayOf>, { security: string }>;

/** The figures that are kept for a security's last 52 weeks. */
interface Year {
  last: Day | undefined;
  firstDay: number;
  low: number;
  high: number;
  /** The latest day before the last day. */
  before: { day: number; price: number } | undefined;
}

function withDay(year: Year | undefined, read: Day, lastDay: number): Year {
  const day = read.day ?? lastDay;
  const earlier = { day, price: read.figures.price };
  const isLast = day === lastDay;
  const before = year?.before;
  return {
    last: isLast ? read : year?.last,
    firstDay: Math.min(year?.firstDay ?? day, day),
    low: Math.min(year?.low ?? Number.POSITIVE_INFINITY, read.dayLow),
    high: Math.max(year?.high ?? 0, read.dayHigh),
    before: isLast || (before !== undefined && before.day > day) ? before : earlier,
  };
}

function quoteOf(
  { from, raw, symbol, mic, isin, day, figures }: Day,
  year: Year | undefined,
  { rates, source, onMissingRate }: ReadMarketDataOptions,
): ReadItem<Quote> {
  const isYear = year !== undefined && (day ?? 0) - year.firstDay >= NEARLY_A_YEAR_DAYS;
  const hasChange = figures.change !== undefined || figures.changePercentage !== undefined;
  const hasRange = figures.low !== undefined && figures.high !== undefined;
  const known: DayFigures = {
    ...figures,
    ...(!hasChange && year?.before && { change: figures.price - year.before.price }),
    ...(!hasRange && isYear && { low: year.low, high: year.high }),
  };
  const stock = stockOfFigures(known, rates);
  if (stock.priceUsd === undefined && stock.currency !== undefined) onMissingRate?.(stock.currency);
  const date = day === undefined ? source.date : new Date(day * DAY_MS).toISOString().slice(0, 10);
  const item = Quote.fromPartial({
    symbol,
    mic,
    isin,
    stock: Stock.fromPartial(stock),
    source: { ...source, date },
  });
  return { from, item, raw };
}

async function* daysOf(file: string, options: ReadMarketDataOptions): AsyncGenerator<Day | Unreadable> {
  const { map } = options;
  await using table = await openTable(file, options);
  let columns = '';
  let fields = new Map<string, Field>();
  yield* readEach(table.rows, (row) => {
    const names = [...row.cells.keys()];
    if (names.join('\n') !== columns) {
      columns = names.join('\n');
      fields = fieldsByColumn(names, map);
    }
    return dayOf(row, textsOf(fields, row.cells, options), options);
  });
}

function dayOf({ from, raw }: TableRow, texts: ReadonlyMap<Field, string>, options: ReadMarketDataOptions) {
  const problems: string[] = [];
  const values = new Map<Field, unknown>();
  const countries = [countryOfTicker(texts.get('symbol')), countryOfIsin(texts.get('isin'))];
  for (const [field, text] of texts) {
    const read = readField(field, text, { ...options, separator: ';', countries });
    if ('problem' in read) problems.push(`${field}: ${read.problem}`);
    else values.set(field, read.value);
  }
  const text = (field: Field) => values.get(field) as string | undefined;
  const number = (field: Field) => values.get(field) as number | undefined;
  const isin = text('isin') ?? '';
  const { ticker: symbol, mic } = placeOf(
    text('symbol'),
    text('exchange'),
    texts.get('exchange') !== options.exchange,
  );
  const [rangeLow, rangeHigh] = (values.get('range') as number[] | undefined) ?? [];
  const figures = {
    currency: text('currency'),
    price: number('price') ?? 0,
    priceUsd: number('price_usd'),
    change: number('change'),
    changePercentage: number('change_percentage'),
    marketCap: number('market_cap'),
    marketCapUsd: number('market_cap_usd'),
    low: number('low_52_weeks') ?? rangeLow,
    high: number('high_52_weeks') ?? rangeHigh,
    isActivelyTrading: values.get('is_actively_trading') as boolean | undefined,
  };
  const { price, low, high } = figures;
  if (symbol === '' && isin === '') problems.push('the line has neither a symbol nor an ISIN');
  if (!texts.has('price')) problems.push('the line has no price');
  else if (values.has('price') && price <= 0) problems.push('price: must be above 0');
  const notNegative = {
    market_cap: figures.marketCap,
    market_cap_usd: figures.marketCapUsd,
    price_usd: figures.priceUsd,
    low_52_weeks: low,
    high_52_weeks: high,
  };
  for (const [field, figure = 0] of Object.entries(notNegative))
    if (figure < 0) problems.push(`${field}: must not be below 0`);
  if (low !== undefined && high !== undefined && low > high)
    problems.push('the low of 52 weeks is above the high of 52 weeks');
  const refused: Unreadable = { from, problem: problems.join('; '), raw };
  if (problems.length > 0) return refused;
  return {
    from,
    raw,
    /** Equal in all rows of the same security. */
    security: isin || [mic, symbol.toUpperCase()].filter((part) => part !== '').join(':'),
    symbol,
    mic,
    isin,
    /** Days since 1970. */
    day: values.has('date') ? Date.parse(String(text('date'))) / DAY_MS : undefined,
    figures,
    dayLow: number('low') ?? price,
    dayHigh: number('high') ?? price,
  };
}

/** Returns the symbol and the venue of a row, '' for each that it does not have. Without a venue the catalogue reads the symbol. */
function placeOf(symbol = '', mic = '', isOfRow: boolean): TickerAtVenue {
  return (symbol && mic && listingOfRow(symbol, mic, isOfRow)) || { ticker: symbol, mic };
}

function readField(field: Field, text: string, options: CellOptions): ReturnType<typeof readCell> {
  const shown = `"${text.slice(0, 100)}"`;
  if (field === 'currency')
    return readCurrency(text) ? { value: text } : { problem: `${shown} is not a currency code of ISO 4217` };
  if (field !== 'range') return readCell(field, text, options, KINDS[field] ?? 'number');
  const value = readRange(text, options);
  return value ? { value } : { problem: `${shown} is not a range: write low-high, such as 164.08-260.10` };
}

/** Parses "column=field" and lists of it. Throws an OptionError. */
function readMap(map: readonly string[]): [column: string, field: Field][] {
  return map.flatMap(assignmentsIn).map(([column, name]) => {
    const field = MARKET_DATA_FIELDS.find((each) => each === name);
    if (field !== undefined) return [column, field];
    throw new OptionError(`"${name}" is no field: the fields are ${MARKET_DATA_FIELDS.join(', ')}`);
  });
}

/** Returns the fields that the columns give. Throws an OptionError if a mapped column, or one for a required field, is missing. */
async function fieldsOfTable(file: string, options: ReadMarketDataOptions): Promise<Set<Field>> {
  const { map, headingLine, encoding } = options;
  await using table = await openTable(file, { headingLine, encoding });
  const { columns } = table;
  const missing = readMap(map).find(([column]) => !columns.includes(column));
  if (missing !== undefined)
    throw new OptionError(`there is no column "${missing[0]}": the columns are ${columns.join(', ')}`);
  const fields = new Set(fieldsByColumn(columns, map).values());
  const lacks = (what: string, field: Field) =>
    new OptionError(
      `${file} has no column for ${what} (its columns: ${columns.join(', ')}): name one with --map column=${field}`,
    );
  if (!fields.has('symbol') && !fields.has('isin')) throw lacks('a symbol or an ISIN', 'symbol');
  if (!fields.has('price')) throw lacks('the price', 'price');
  return fields;
}

/** Assigns columns to fields by `map`, else by name. If two columns fit a field, the name that is listed first decides. */
function fieldsByColumn(columns: readonly string[], map: readonly string[]): Map<string, Field> {
  const fields = new Map(readMap(map).filter(([column]) => columns.includes(column)));
  for (const field of MARKET_DATA_FIELDS) {
    if ([...fields.values()].includes(field)) continue;
    const names = KNOWN_HEADINGS.get(OF_COMPANIES[field] ?? '') ?? FIELDS[field].map(headingKey);
    const column = names
      .map((name) => columns.find((each) => headingKey(each) === name && !fields.has(each)))
      .find((each) => each !== undefined);
    if (column !== undefined) fields.set(column, field);
  }
  return fields;
}

function textsOf(
  fields: ReadonlyMap<string, Field>,
  cells: TableRow['cells'],
  { currency, exchange }: ReadMarketDataOptions,
): ReadonlyMap<Field, string> {
  const texts = new Map<Field, string>();
  if (currency) texts.set('currency', currency);
  if (exchange) texts.set('exchange', exchange);
  for (const [column, field] of fields) {
    const cell = cells.get(column) ?? '';
    // An empty date stays in `texts`, so that the row is refused: without a date it would belong to no day.
    const isUnknown = isBlank(cell) || (AMOUNTS.has(field) && isZero(cell));
    const isNothing = TEXTS.has(field) ? isBlankName(cell) : isUnknown;
    if (!isNothing) texts.set(field, cell);
    else if (field === 'date') texts.set(field, '');
  }
  return texts;
}
