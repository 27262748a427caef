import { hash } from 'node:crypto';
import { rankOfMarketValue, readWebHost } from '@brand-data/identifiers';
import { type BrandRecord, brandFromRecord, readRecord, slugOf } from '@brand-data/records';
import { sizeOf } from '../../formats/files.ts';
import { readListing } from '../../formats/listing.ts';
import { countryCodeOf } from '../../formats/places.ts';
import { openTable, type Row } from '../../formats/table.ts';
import { OptionError } from '../../framework/option-error.ts';
import type { BytesRead, ReadBrand, Unreadable } from '../../framework/source-items.ts';
import { assignCell, type CellOptions, isEmptyCell, type Mapping } from './mapping.ts';

/** The most rows of a table that are kept in memory: of a joined table, or of a table whose rows are merged. */
const MAX_KEPT = 1_000_000;

/** A second table. Its cells are added to a row of the first table if the two columns have the same value. */
interface Join {
  file: string;
  column: string;
  otherColumn: string;
}

export interface ReadCsvOptions extends CellOptions {
  mapping: Mapping;
  join?: Join | undefined;
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
  progress?: BytesRead | undefined;
}

/** The fields of a record that are known so far. */
type PartialRecord = Partial<BrandRecord>;

/**
 * A table's rows as brands. Keeps one row in memory, or with `merge` or `join` a whole table. Throws an OptionError if a
 * mapped column does not exist.
 */
export async function* readCsv(file: string, options: ReadCsvOptions): AsyncGenerator<ReadBrand> {
  const { mapping, join, merge, progress } = options;
  if (progress !== undefined) progress.total = await sizeOf([file]);
  const other = join === undefined ? undefined : await keptTable(join);
  await using table = await openTable(file, progress);
  const columns = [...table.columns, ...(other?.columns ?? [])];
  for (const column of [...mapping.columns.map((each) => each.column), ...(join ? [join.column] : [])]) {
    if (!columns.includes(column))
      throw new OptionError(`there is no column "${column}": the columns are ${columns.join(', ')}`);
  }
  yield* other?.problems ?? [];

  const merged = new Map<string, { from: string; raw: string; record: PartialRecord }>();
  for await (const row of table.rows) {
    if ('problem' in row) {
      yield row;
      continue;
    }
    const key = join === undefined ? undefined : row.cells.get(join.column)?.trim();
    const joined = key === undefined ? undefined : other?.rows.get(key);
    const read = recordOf(row, joined, options);
    if ('problem' in read) {
      yield read;
      continue;
    }
    const { id } = read.record;
    if (!merge || id === undefined) {
      yield brandOf(row, read.record, options);
      continue;
    }
    const first = merged.get(id);
    if (first !== undefined) mergeInto(first.record, read.record);
    else if (merged.size < MAX_KEPT) merged.set(id, { from: row.from, raw: row.raw, record: read.record });
    else
      throw new OptionError(
        `${file} has more than ${MAX_KEPT} companies: --merge cannot keep more in memory`,
      );
  }
  for (const { record, ...row } of merged.values()) yield brandOf(row, record, options);
}

async function keptTable({ file, otherColumn }: Join) {
  await using table = await openTable(file);
  const { columns, rows } = table;
  if (!columns.includes(otherColumn))
    throw new OptionError(`${file} has no column "${otherColumn}": its columns are ${columns.join(', ')}`);
  const kept = new Map<string, Row['cells']>();
  const problems: Unreadable[] = [];
  for await (const row of rows) {
    if (kept.size + problems.length > MAX_KEPT)
      throw new OptionError(`${file} has more than ${MAX_KEPT} rows: --join cannot keep more in memory`);
    if ('problem' in row) problems.push(row);
    else kept.set(row.cells.get(otherColumn)?.trim() ?? '', row.cells);
  }
  return { columns, rows: kept, problems };
}

/** The fields of a row, with its id. */
function recordOf(
  { from, cells, raw }: Row,
  joined: Row['cells'] | undefined,
  options: ReadCsvOptions,
): { record: PartialRecord } | Unreadable {
  const { mapping, idPrefix, source } = options;
  const fields: Record<string, unknown> = {};
  const problems: string[] = [];
  const filled = new Set<string>();
  for (const { column, field } of mapping.columns) {
    const cell = cells.get(column) ?? joined?.get(column) ?? '';
    if (isEmptyCell(field, cell)) continue;
    filled.add(field);
    const problem = assignCell(fields, field, cell, options);
    if (problem !== undefined) problems.push(`${column}: ${problem}`);
    if (cell.includes('\uFFFD'))
      problems.push(
        `${column}: the cell contains U+FFFD, the sign of a wrong encoding: convert the file to UTF-8`,
      );
  }
  for (const { field, text } of mapping.constants) {
    const problem = filled.has(field) ? undefined : assignCell(fields, field, text, options);
    if (problem !== undefined) problems.push(`${field}: ${problem}`);
  }
  const listing = fields.listings as { ticker?: string; mic?: string } | undefined;
  delete fields.listings;
  if (listing?.ticker !== undefined) {
    const { ticker, mic, ...identifiers } = listing;
    const place = readListing(ticker, mic);
    if (place === undefined)
      problems.push('listings.mic is missing: map a column to it, or give --set listings.mic=XNYS');
    else fields.listings = [{ ...place, ...identifiers }];
    nameTheCompany(fields);
  }
  if (problems.length > 0) return { from, problem: problems.join('; '), raw };

  const record: PartialRecord = fields;
  const country = record.company?.headquarters;
  if (country?.country !== undefined && country.country_code === undefined) {
    const code = countryCodeOf(country.country);
    if (code !== undefined) country.country_code = code;
  }
  record.id = record.id === undefined ? derivedId(record, source) : `${idPrefix}${slugOf(record.id)}`;
  return { record };
}

/** Removes a share class from the company's name. The name with the class ("Alphabet Inc. (Class A)") becomes another name. */
function nameTheCompany(fields: Record<string, unknown>): void {
  const { name, names = [] } = fields as PartialRecord;
  const company = name?.replace(/\s*\((?:class|series|cl\.?) [a-z]\)$/i, '');
  if (name === undefined || company === undefined || company === name || company === '') return;
  fields.name = company;
  fields.names = [...names, name];
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
  return `${source}-${slugOf(name) || hash('sha256', name.normalize('NFKC').toLowerCase()).slice(0, 16)}`;
}

/** Adds the names and listings of a further row of the same company. The row's other fields are ignored. */
function mergeInto(first: PartialRecord, { name, names = [], listings = [] }: PartialRecord): void {
  for (const other of [...(name === undefined ? [] : [name]), ...names])
    if (other !== first.name && !first.names?.includes(other)) first.names = [...(first.names ?? []), other];
  for (const listing of listings) {
    const known = first.listings ?? [];
    if (known.some(({ ticker, mic }) => ticker === listing.ticker && mic === listing.mic)) continue;
    first.listings = [...known, known.length === 0 ? listing : { ...listing, primary: true }];
  }
}

/**
 * The record of a row. It holds only what the row states: the catalogue derives a missing type, category, description and rank
 * from the facts of all sources.
 */
function brandOf(
  { from, raw }: { from: string; raw: string },
  fields: PartialRecord,
  { origin, rank }: ReadCsvOptions,
): ReadBrand {
  const { type, stock, manager } = fields;
  const statedRank = fields.rank ?? (rankOfMarketValue(stock?.market_cap_usd ?? 0) || rank);
  const read = readRecord({
    ...fields,
    ...(type === undefined && manager !== undefined && { type: 'superinvestor' }),
    ...(statedRank !== undefined && { rank: statedRank }),
    sources: [origin],
  });
  if ('problems' in read) return { from, problem: read.problems.join('; '), raw };
  return { from, brand: brandFromRecord(read.record), raw };
}
