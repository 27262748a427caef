import type { Brand } from '@brand-data/contracts';
import { exchangesOfPrefix } from '@brand-data/identifiers';
import { BrokenFile } from '../../formats/broken-file.ts';
import { compressionOf, contentOf, filesOf, sizeOf } from '../../formats/content.ts';
import { readJsonTable } from '../../formats/json-table.ts';
import type { TickerAtVenue } from '../../formats/listing.ts';
import { bytesInZip, type FileInZip, filesInZip } from '../../formats/zip.ts';
import { type KeepingOptions, KeptMemory } from '../../framework/kept-memory.ts';
import type { BytesRead, ReadItem, Skipped, Unreadable } from '../../framework/source-items.ts';
import { recordOfFiler, securitiesOf } from './company-record.ts';
import { type Filer, filerOf, readFiler } from './submission.ts';

export interface SecOptions extends KeepingOptions {
  /** Whether operating companies without a listed share are taken too. */
  unlisted?: boolean | undefined;
  /** Called once at the end with the number of each kind of other security, and of filers that are left out. */
  onFigures?: ((figures: Figures) => void) | undefined;
}

type Figures = Record<'securities' | 'left_out', Record<string, number>>;

interface Found {
  from: string;
  raw: string;
  filer: Filer;
}

/** The name of a filer's file. The others are continuations, with older filings alone. */
const SUBMISSION = /(?:^|\/)CIK\d{10}\.json(?:\.gz)?$/;
const LIST = /^\s*\{\s*"fields"\s*:/;
const COLUMNS = ['cik', 'name', 'ticker', 'exchange'];
/** What the report calls the filers without a ticker, most of which are people. */
const UNLISTED = 'filers that no exchange lists';

/**
 * Yields the companies that file reports with the SEC, each as one record, and their other securities than shares. The files are
 * the list of tickers (company_tickers_exchange.json), submissions.zip, files of it, and folders with such files, in any order. A
 * company of both has the tickers of the list. The list is kept in memory. Throws an OptionError if it does not fit.
 */
export async function* readSec(
  paths: readonly string[],
  { unlisted = false, memoryMib, progress, onFigures }: SecOptions = {},
): AsyncGenerator<ReadItem<Brand> | Skipped> {
  const files = await filesOf(paths, (name) => SUBMISSION.test(name));
  if (progress !== undefined) progress.total = await sizeOf(files);
  const figures: Figures = { securities: {}, left_out: {} };
  const listed = new Map<string, Found>();
  const submissions: string[] = [];
  for (const file of files) {
    if (SUBMISSION.test(file) || (await isZip(file)) || !(await isList(file))) submissions.push(file);
    else yield* readList(file, listed, new KeptMemory(file, memoryMib), progress);
  }
  for (const file of submissions)
    for await (const found of filersOf(file, progress)) {
      if ('problem' in found) {
        yield found;
        continue;
      }
      const { filer } = found;
      const tickers = listed.get(filer.cik)?.filer.tickers ?? filer.tickers;
      listed.delete(filer.cik);
      yield* itemsOf({ ...found, filer: { ...filer, tickers } }, unlisted, figures);
    }
  for (const found of listed.values()) yield* itemsOf(found, unlisted, figures);
  onFigures?.(figures);
}

function* itemsOf(
  { from, raw, filer }: Found,
  unlisted: boolean,
  { securities, left_out }: Figures,
): Generator<ReadItem<Brand>> {
  const tickers = venuesOf(filer.tickers);
  if ('problem' in tickers) {
    yield { from, raw, ...tickers };
    return;
  }
  const { shares, others } = securitiesOf(filer, tickers);
  for (const { record, kind } of others) {
    securities[kind] = (securities[kind] ?? 0) + 1;
    yield { from, raw, item: record };
  }
  if (shares.length > 0 || (unlisted && filer.entityType === 'operating'))
    yield { from, raw, item: recordOfFiler(filer, shares) };
  else if (others.length === 0) left_out[UNLISTED] = (left_out[UNLISTED] ?? 0) + 1;
}

/** Returns the tickers that an exchange lists, or why that cannot be told. */
function venuesOf(tickers: Filer['tickers']): TickerAtVenue[] | { problem: string } {
  const listed = tickers.filter(({ ticker, exchange }) => ticker !== '' && exchange !== '');
  const micOf = (exchange: string) => exchangesOfPrefix(exchange)[0]?.mic ?? '';
  const venues = listed.map(({ ticker, exchange }) => ({ ticker, mic: micOf(exchange) }));
  const unknown = listed.find((_, at) => venues[at]?.mic === '');
  return unknown === undefined
    ? venues
    : { problem: `"${unknown.exchange.slice(0, 100)}" is not a known exchange` };
}

/** Checks whether the file begins as the list of tickers does. */
async function isList(file: string): Promise<boolean> {
  for await (const bytes of bytesOf(file)) return LIST.test(bytes.toString());
  return false;
}

/** Adds the companies of a list. Yields what cannot be read. */
async function* readList(
  file: string,
  listed: Map<string, Found>,
  kept: KeptMemory,
  progress: BytesRead | undefined,
): AsyncGenerator<Unreadable> {
  const table = await readJsonTable(file, progress);
  if ('problem' in table) return yield table;
  const missing = COLUMNS.find((each) => !table.columns.includes(each));
  if (missing !== undefined) return yield { from: file, problem: `there is no column "${missing}"` };
  for await (const row of table.rows) {
    if ('problem' in row) {
      yield row;
      continue;
    }
    const { from, raw, cells } = row;
    const [cik, name, ticker, exchange] = COLUMNS.map((column) => cells.get(column));
    const filer = filerOf({ cik, name, tickers: [ticker], exchanges: [exchange], formerNames: [] });
    if (filer === undefined) {
      yield { from, raw, problem: 'the row has no cik or no name' };
      continue;
    }
    kept.add(cells);
    const found = listed.get(filer.cik);
    if (found === undefined) listed.set(filer.cik, { from, raw, filer });
    else found.filer.tickers.push(...filer.tickers);
  }
}

async function* filersOf(file: string, progress: BytesRead | undefined): AsyncGenerator<Found | Unreadable> {
  if (!(await isZip(file))) {
    yield await filerIn(file, bytesOf(file));
    if (progress !== undefined) progress.read += await sizeOf([file]);
    return;
  }
  try {
    for await (const member of filesInZip(file)) {
      if (SUBMISSION.test(member.name)) yield await filerInZip(file, member);
      if (progress !== undefined) progress.read += member.storedSize;
    }
  } catch (error) {
    yield problemOf(file, error);
  }
}

/** Reads the whole file only if its start does not hold all facts. */
async function filerInZip(file: string, member: FileInZip): Promise<Found | Unreadable> {
  const from = `${file}:${member.name}`;
  const read = await readFiler([await member.start()]);
  return 'filer' in read ? { from, ...read } : filerIn(from, bytesInZip(member));
}

async function filerIn(from: string, chunks: AsyncIterable<Buffer>): Promise<Found | Unreadable> {
  try {
    return { from, ...(await readFiler(chunks)) };
  } catch (error) {
    return problemOf(from, error);
  }
}

function problemOf(from: string, error: unknown): Unreadable {
  if (error instanceof BrokenFile) return { from, problem: error.message };
  throw error;
}

async function isZip(file: string): Promise<boolean> {
  return (await compressionOf(file)) === 'zip';
}

async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  for await (const { bytes } of contentOf(file)) yield bytes;
}
