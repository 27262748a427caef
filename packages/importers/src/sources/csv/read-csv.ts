import { hash } from 'node:crypto';
import { dirname } from 'node:path';
import type { Brand } from '@brand-data/contracts';
import { rankOfMarketValue, readSecurityName, readWebHost, typeOfSecurity } from '@brand-data/identifiers';
import { type BrandRecord, brandFromRecord, problemsOf, readRecord, slugOf } from '@brand-data/records';
import { type CellOptions, isEmptyCell, readRange } from '../../formats/cells.ts';
import { sizeOf } from '../../formats/content.ts';
import { inWhole, readCurrency } from '../../formats/currencies.ts';
import { isObject, type TableRow } from '../../formats/json-table.ts';
import { readEach } from '../../formats/lines.ts';
import { isOtherSecurity, listingOfRow, OTHER_SECURITIES, otherSecurity } from '../../formats/listing.ts';
import { withCountry } from '../../formats/places.ts';
import { openTable, type TableLayout } from '../../formats/table.ts';
import { isBlankName, isLatin } from '../../formats/texts.ts';
import { type KeepingOptions, KeptMemory } from '../../framework/kept-memory.ts';
import { OptionError, type ReadItem, type Skipped, type Unreadable } from '../../framework/source-items.ts';
import { takePictures } from '../../pictures/take-pictures.ts';
import { companiesOf, type Item, mergedById, type PartialRecord } from './companies.ts';
import { assignCell, type Conditions, type Mapping, whyLeftOut } from './mapping.ts';

export interface ReadCsvOptions extends CellOptions, TableLayout, Conditions, KeepingOptions {
  mapping: Mapping;
  /** A second table, in the same encoding. Its cells are added to a row of the first table if the two columns have the same value. */
  join?: { file: string; column: string; otherColumn: string } | undefined;
  /** Whether rows with the same id are one company. */
  merge: boolean;
  /** The text to put before each mapped id. */
  idPrefix: string;
  /** The rank of rows that have neither a rank nor a market value. */
  rank?: number | undefined;
  /** The name of the source: a row without an identifier has an id that begins with it. */
  source: string;
  /** The origin of the facts, for each record. */
  origin: BrandRecord['sources'][number];
  /** Called once at the end with the number of further share classes and of each kind of other security. */
  onSecurities?: ((counts: Record<string, number>) => void) | undefined;
}

/**
 * Yields a table's rows as brands. The share classes of one company become one brand, unless a column gives ids. Other securities
 * than shares become records of that type. Keeps one row in memory. If rows are listed, merged or joined, keeps a whole table. Throws an
 * OptionError if a mapped column does not exist, or if the table does not fit into the memory.
 */
export async function* readCsv(
  file: string,
  options: ReadCsvOptions,
): AsyncGenerator<ReadItem<Brand> | Skipped> {
  const { mapping, skip = [], only = [], join, merge, memoryMib, progress, onSecurities } = options;
  if (progress !== undefined) progress.total = await sizeOf([file]);
  const kept = new KeptMemory(file, memoryMib);
  const other = join === undefined ? undefined : await keptTable(join, kept, options.encoding);
  await using table = await openTable(file, options);
  const columns = [...table.columns, ...(other?.columns ?? [])];
  const conditions = [...mapping.columns, ...skip, ...only].map((each) => each.column);
  const missing = [...conditions, ...(join ? [join.column] : [])].filter((each) => !columns.includes(each));
  const absent =
    table.isOpenEnded && missing.length > 0 ? await absentColumn(file, options, missing) : missing[0];
  if (absent !== undefined)
    throw new OptionError(
      `there is no column "${absent}": the columns are ${columns.join(', ')} (${table.from}${table.isOpenEnded === undefined ? '; another line: --heading-line' : ''})`,
    );
  yield* other?.problems ?? [];

  const counts: Record<string, number> = {};
  const gives = (field: string) =>
    [...mapping.columns, ...mapping.constants].some((each) => each.field === field);
  const rowOptions = { ...options, assignments: assignmentsOf(mapping), folder: dirname(file) };
  const rows = readEach(table.rows, (row) => {
    const key = row.cells.get(join?.column ?? '')?.trim() ?? '';
    return recordOf(row, other?.rows.get(key), rowOptions);
  });
  const companies = gives('listings.ticker') && !gives('id') ? companiesOf(rows, kept, counts) : rows;
  for await (const item of merge ? mergedById(companies, kept) : companies) {
    if (!('record' in item)) {
      yield item;
      continue;
    }
    if (item.kind !== undefined) counts[item.kind] = (counts[item.kind] ?? 0) + 1;
    yield brandOf(item, options);
  }
  yield* table.remarks;
  onSecurities?.(counts);
}

/** Returns a column that no row has. */
async function absentColumn(file: string, { encoding }: TableLayout, missing: readonly string[]) {
  const absent = new Set(missing);
  await using table = await openTable(file, { encoding });
  for await (const row of table.rows) {
    if (absent.size === 0) return undefined;
    if ('cells' in row) for (const column of absent) if (row.cells.has(column)) absent.delete(column);
  }
  return [...absent][0];
}

async function keptTable(
  { file, otherColumn }: NonNullable<ReadCsvOptions['join']>,
  memory: KeptMemory,
  encoding: string | undefined,
) {
  await using table = await openTable(file, { encoding });
  const { columns, rows, isOpenEnded } = table;
  if (!columns.includes(otherColumn))
    throw new OptionError(`${file} has no column "${otherColumn}": its columns are ${columns.join(', ')}`);
  const further = new Set<string>();
  const kept = new Map<string, TableRow['cells']>();
  const problems: Unreadable[] = [];
  for await (const row of rows) {
    memory.add('problem' in row ? row : row.cells);
    if ('problem' in row) problems.push(row);
    else {
      const key = row.cells.get(otherColumn)?.trim() ?? '';
      if (!isBlankName(key)) kept.set(key, row.cells);
      if (isOpenEnded) for (const column of row.cells.keys()) further.add(column);
    }
  }
  return { columns: [...further.union(new Set(columns))], rows: kept, problems };
}

/**
 * Returns what gives the fields, in the order in which a row is read: columns, then constants. The venue is last, because the row's
 * ticker and country may decide which one its name means.
 */
function assignmentsOf({ columns, constants }: Mapping) {
  const isVenue = ({ field }: { field: string }) => Number(field === 'listings.mic');
  return [...columns, ...constants].toSorted((a, b) => isVenue(a) - isVenue(b));
}

interface RowOptions extends ReadCsvOptions {
  assignments: ReturnType<typeof assignmentsOf>;
  /** The folder with the files of pictures. */
  folder: string;
}

/** Returns what the cells and the constants give, which fields have a cell, and what is wrong with the cells. */
function readCells(cellOf: (column: string) => string, options: RowOptions) {
  const fields: Record<string, unknown> = {};
  const filled = new Set<string>();
  const problems: string[] = [];
  for (const assignment of options.assignments) {
    const { field } = assignment;
    if ('text' in assignment) {
      const problem = filled.has(field) ? undefined : assignCell(fields, field, assignment.text, options);
      if (problem !== undefined) problems.push(`${field}: ${problem}`);
      continue;
    }
    const { column } = assignment;
    const text = cellOf(column);
    const cell = field === 'listings.security' ? statementOf(column, text) : text;
    if (isEmptyCell(field, cell)) continue;
    filled.add(field);
    const problem = assignCell(fields, field, cell, options);
    if (problem !== undefined) problems.push(`${column}: ${problem}`);
    if (cell.includes('\uFFFD'))
      problems.push(
        `${column}: the cell contains U+FFFD, the sign of a wrong encoding: convert the file to UTF-8`,
      );
  }
  return { fields, filled, problems };
}

/** Returns the fields of a row with its id, or why the row is refused or skipped. */
function recordOf(
  { from, cells, raw }: TableRow,
  joined: TableRow['cells'] | undefined,
  options: RowOptions,
): Item {
  const { mapping, idPrefix, source, origin, folder } = options;
  const cellOf = (column: string) => cells.get(column) ?? joined?.get(column) ?? '';
  const leftOut = whyLeftOut(cellOf, options);
  if (leftOut !== undefined) return { from, skipped: leftOut };
  const { fields, filled, problems } = readCells(cellOf, options);
  const {
    ticker,
    mic,
    security: stated,
    ...identifiers
  } = Object(fields.listings) as Partial<Record<string, string>>;
  const isSecurity = [...filled].some((field) => /^listings\.(?!mic)/.test(field));
  delete fields.listings;
  const security = typeof fields.name === 'string' ? fields.name : '';
  if (isSecurity) {
    const place = ticker === undefined ? undefined : listingOfRow(ticker, mic, filled.has('listings.mic'));
    const type = typeOfSecurity({ name: security, ticker: place?.ticker ?? ticker, mic: place?.mic, stated });
    if (isOtherSecurity(type)) {
      const other = place && otherSecurity(type, security, place);
      if (other === undefined)
        return { from, skipped: `${ticker ? `${ticker}: ` : ''}"${security}" is no company` };
      const listings = other.listings.map((each) => ({ ...each, ...identifiers }));
      const record: PartialRecord = { ...other, type: 'other_security', listings };
      return { from, raw, record, security, pictures: [], kind: OTHER_SECURITIES[type] };
    }
    if (ticker !== undefined && place === undefined) {
      if (mic !== undefined)
        problems.push(`"${ticker}" names another venue than ${mic}: correct one of them`);
      else if (!filled.has('listings.mic')) problems.push(noVenue(mapping));
    }
    const { isin, cusip } = identifiers;
    // Without a ticker there is no listing, but the share's identifiers find the company.
    if (ticker === undefined && (isin ?? cusip) !== undefined)
      fields.stock = { ...(isin && { isin }), ...(cusip && { cusip }), ...Object(fields.stock) };
    if (place !== undefined) {
      fields.listings = [{ ...place, ...identifiers }];
      problems.push(...problemsOfListings(fields.listings, origin));
    }
    nameTheCompany(fields);
  }
  if (problems.length > 0) return { from, problem: problems.join('; '), raw };
  if (isObject(fields.stock)) fields.stock = inWholeCurrency(fields.stock, options);

  const { value, pictures } = takePictures(withPictureFields(fields), folder);
  // Nothing is left of a row whose only cell names a picture.
  const record = (value ?? {}) as PartialRecord;
  if (record.company?.headquarters !== undefined)
    record.company.headquarters = withCountry(record.company.headquarters);
  record.id = record.id === undefined ? derivedId(record, source) : `${idPrefix}${slugOf(record.id)}`;
  return { from, raw, record, security, pictures };
}

/** Returns a row's market data in the whole currency: 70.5 in GBp are 0.705 in GBP. */
function inWholeCurrency(stock: NonNullable<BrandRecord['stock']>, options: CellOptions): typeof stock {
  const { currency = '', units = 1 } = readCurrency(stock.currency ?? '') ?? {};
  if (units === 1) return stock;
  const { price, change, range = '', ...others } = stock;
  const bounds = readRange(range, options)?.map((bound) => inWhole(bound, units));
  return {
    ...others,
    currency,
    ...(price !== undefined && { price: inWhole(price, units) }),
    ...(change !== undefined && { change: inWhole(change, units) }),
    ...(bounds !== undefined && { range: bounds.join('-') }),
  };
}

/** Returns the problems of a row's listing, for which the catalogue would refuse the company with its other rows too. */
function problemsOfListings(listings: unknown, origin: ReadCsvOptions['origin']): readonly string[] {
  const read = readRecord({ id: 'row', name: 'row', listings, sources: [origin] });
  return 'problems' in read ? read.problems : problemsOf(brandFromRecord(read.record));
}

/**
 * Returns what to do about a row without a venue. If a column has the venues, it does not advise one venue for all rows, because that
 * would be wrong for the rows in which the column is empty.
 */
function noVenue({ columns }: Mapping): string {
  const { column } = columns.find(({ field }) => field === 'listings.mic') ?? {};
  return column === undefined
    ? 'listings.mic is missing: map a column to it, or give --set listings.mic=XNYS'
    : `${column}: the row names no exchange: leave out such rows with --skip '${column}='`;
}

/** Returns the row's fields, with the files of its pictures as records name them. A cell never is a path on the logo host. */
function withPictureFields(fields: Record<string, unknown>): Record<string, unknown> {
  if (fields.images === undefined) return fields;
  const { logo, logo_dark: dark, ...others } = fields.images as Record<string, unknown>;
  const forms = Object.entries(others).map(([field, light]) => [field, { light }]);
  const hasLogo = logo !== undefined || dark !== undefined;
  return {
    ...fields,
    images: { ...(hasLogo && { logo: { light: logo, dark } }), ...Object.fromEntries(forms) },
  };
}

/** Reads what a row's security is. A column of "Y" and "N" states what its heading says: "ETF", "Test Issue". */
function statementOf(column: string, cell: string): string {
  if (/^\s*(?:n|no|false)\s*$/i.test(cell)) return '';
  return /^\s*(?:y|yes|true)\s*$/i.test(cell) ? column : cell;
}

/** Replaces the security's name by the company's. "Alphabet Inc. (Class A)", with the class in parentheses, becomes another name. */
function nameTheCompany(fields: Record<string, unknown>): void {
  const { name, names = [] } = fields as PartialRecord;
  if (name === undefined) return;
  const { company } = readSecurityName(name);
  fields.name = company;
  if (company !== name && CLASS_IN_PARENTHESES.test(name)) fields.names = [...names, name];
}

const CLASS_IN_PARENTHESES = /\((?:class|series|cl\.?) [a-z]\)$/i;

/** Returns the record of a row, with what the row states only. */
function brandOf(
  { from, raw, pictures, record: fields }: Extract<Item, { record: unknown }>,
  { origin, rank }: ReadCsvOptions,
): ReadItem<Brand> {
  const { type, stock, manager } = fields;
  const statedRank = fields.rank ?? (rankOfMarketValue(stock?.market_cap_usd ?? 0) || rank);
  const read = readRecord({
    ...fields,
    ...(type === undefined && manager !== undefined && { type: 'superinvestor' }),
    ...(statedRank !== undefined && { rank: statedRank }),
    sources: [origin],
  });
  if ('problems' in read) return { from, problem: read.problems.join('; '), raw };
  const ifTwice =
    read.record.stock || read.record.listings ? ', or join rows of one company by --merge' : undefined;
  return { from, item: brandFromRecord(read.record), raw, pictures, ifTwice };
}

/** Makes the id from the strongest identifier in the row, so that the id is the same at each import. */
function derivedId({ lei, listings, stock, links, name = '' }: PartialRecord, source: string): string {
  const [listing] = listings ?? [];
  const isin = stock?.isin ?? listing?.isin;
  const website = readWebHost(links?.websites?.[0] ?? '')?.domain;
  if (lei !== undefined) return `lei-${lei.toLowerCase()}`;
  if (isin !== undefined) return `isin-${isin.toLowerCase()}`;
  if (listing?.share_class_figi !== undefined) return `figi-${listing.share_class_figi.toLowerCase()}`;
  if (listing !== undefined) return slugOf(`${listing.mic} ${listing.ticker}`);
  if (links?.wikidata_qid !== undefined) return links.wikidata_qid.toLowerCase();
  if (website !== undefined) return slugOf(`${source} ${website}`);
  const letters = hash('sha256', name.normalize('NFKC').toLowerCase()).slice(0, 16);
  const slug = slugOf(name);
  // A slug has Latin letters only: "TCL科技" and "TCL电子" have the same.
  const isWhole = slug !== '' && isLatin(name);
  return [source, slug, isWhole ? '' : letters].filter((part) => part !== '').join('-');
}
