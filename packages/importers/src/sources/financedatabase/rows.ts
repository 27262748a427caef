import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  exchangeOfMic,
  exchangesOfYahooSuffix,
  isCusip,
  isFigi,
  isIsin,
  isTooLongForName,
  LONGEST_NAME,
  readWebHost,
} from '@brand-data/identifiers';
import { filesOf, sizeOf } from '../../formats/content.ts';
import type { TableRow } from '../../formats/json-table.ts';
import { readEach } from '../../formats/lines.ts';
import { NoTable, openTable } from '../../formats/table.ts';
import type { BytesRead, Skipped, Unreadable } from '../../framework/source-items.ts';
import { issuerIn, subjectOf } from './issuer-names.ts';

/** The most characters of a description that are kept. Some descriptions have several thousand. */
const MOST_CHARACTERS = 1_000;
/** The most characters of a row. The longest of FinanceDatabase has 6,000. */
const LONGEST_ROW = 32 * 1_024;
/** V8 copies parts of texts that have so few characters. */
const SHORT_TEXT = 12;

/** A row of FinanceDatabase: one listing of one security. A field is '' if its cell is empty. */
export type Row = Extract<ReturnType<typeof rowOf>, { symbol: string }>;

const TICKER = /^[A-Z0-9][A-Z0-9.&-]{0,19}$/;
const MIC = /^[A-Z0-9]{4}$/;
const YAHOO_SUFFIX = /^(.+)\.([A-Z]{1,3})$/;
const NEEDED = ['symbol', 'name', 'isin', 'shareclass_figi'];

/**
 * Yields every row of the exchanges' files, or a problem. Rows that are right but cannot be listings are skipped: indices, currencies,
 * venues without a code, a second row of a listing.
 */
export async function* readRows(
  dir: string,
  progress?: BytesRead,
): AsyncGenerator<Row | Skipped | Unreadable> {
  const files = await filesOf([await folderOfEquities(dir)], (name) => /\.csv(?:\.gz|\.bz2)?$/i.test(name));
  if (progress !== undefined) progress.total = await sizeOf(files);
  const seen = new Map<string, string>();
  for (const file of files) {
    for await (const row of rowsOf(file, progress)) {
      const keys = 'symbol' in row ? [row.symbol, `${row.ticker}@${row.mic}`] : [];
      const other = keys.map((key) => seen.get(key)).find((from) => from !== undefined);
      if (other === undefined) {
        for (const key of keys) seen.set(key, row.from);
        yield row;
      } else if ('symbol' in row)
        yield { from: row.from, skipped: `${row.symbol}: ${other} has the same listing, and is used` };
    }
  }
}

/** Returns the folder with the files: `dir` itself, or the folder `database/equities` or `equities` below it. */
async function folderOfEquities(dir: string): Promise<string> {
  for (const folder of [join(dir, 'database', 'equities'), join(dir, 'equities')]) {
    const found = await stat(folder).catch(() => undefined);
    if (found?.isDirectory()) return folder;
  }
  return dir;
}

async function* rowsOf(
  file: string,
  progress: BytesRead | undefined,
): AsyncGenerator<Row | Skipped | Unreadable> {
  try {
    await using table = await openTable(file, { progress });
    const { columns, rows } = table;
    const missing = NEEDED.filter((column) => !columns.includes(column));
    if (missing.length === 0) return yield* readEach(rows, rowOf);
    const problem = `not a file of FinanceDatabase: it lacks ${missing.length === 1 ? 'the column' : 'the columns'} ${missing.join(', ')}`;
    yield { from: `${file}:1`, problem, raw: columns.join(',') };
  } catch (error) {
    if (!(error instanceof NoTable)) throw error;
    yield { from: error.from, problem: error.problem };
  }
}

function rowOf({ from, cells, raw }: TableRow) {
  const field = (column: string) => ownText(cells.get(column)?.trim() ?? '');
  const refused = (problem: string): Unreadable => ({ from, problem, raw });
  if (raw.length > LONGEST_ROW)
    return refused(`the row has ${raw.length} characters: no row has more than ${LONGEST_ROW}`);
  const symbol = field('symbol').toUpperCase();
  const [, root = symbol, suffix = ''] = YAHOO_SUFFIX.exec(symbol) ?? [];
  const [venue, ...others] = exchangesOfYahooSuffix(suffix);
  // The symbol's suffix is more reliable than the column `mic`, which may name another exchange or none ("XJPX").
  const named = field('mic').toUpperCase();
  const mic = venue !== undefined && others.length === 0 ? venue.mic : (exchangeOfMic(named)?.mic ?? named);
  const ticker = venue === undefined ? symbol : root;
  if (!TICKER.test(ticker)) return { from, skipped: `"${symbol.slice(0, 100)}" is not a ticker` };
  if (!MIC.test(mic))
    return { from, skipped: `${symbol}: its exchange is unknown (mic "${field('mic').slice(0, 100)}")` };
  const valid = (value: string, isValid: (text: string) => boolean) => (isValid(value) ? value : '');
  const name = field('name').replace(/\s+/g, ' ');
  if (isTooLongForName(name))
    return refused(
      `${symbol}: its name has ${name.length} characters: no name has more than ${LONGEST_NAME}`,
    );
  const summary = field('summary').replace(/\s+/g, ' ');
  return {
    /** The file with its folder, and the line: "…/BER.csv:12". */
    from,
    /** As Yahoo writes it, with the exchange's suffix: "APC.DE". Unique. */
    symbol,
    /** As the exchange writes it. */
    ticker,
    mic,
    name,
    summary: wholeSentences(summary),
    currency: field('currency'),
    sector: field('sector'),
    industryGroup: field('industry_group'),
    industry: field('industry'),
    market: field('market'),
    country: field('country'),
    state: field('state'),
    city: field('city'),
    website: field('website'),
    marketCap: field('market_cap'),
    isin: valid(field('isin').toUpperCase(), isIsin),
    cusip: valid(field('cusip').toUpperCase(), isCusip),
    figi: valid(field('figi').toUpperCase(), isFigi),
    compositeFigi: valid(field('composite_figi').toUpperCase(), isFigi),
    shareClassFigi: valid(field('shareclass_figi').toUpperCase(), isFigi),
    delisted: /^(true|1)$/i.test(field('delisted')),
    /** The issuer in `name`. Undefined if it contains none. */
    issuer: issuerIn(name),
    /** The company that `summary` is about. */
    subject: issuerIn(subjectOf(summary)),
    /** The registrable domain of `website`. */
    domain: readWebHost(field('website'))?.domain ?? '',
  };
}

/** Copies a text. A part of the row's text that is not copied would keep the whole text in memory, unless it is short. */
function ownText(text: string): string {
  return text.length <= SHORT_TEXT ? text : Buffer.from(text).toString();
}

/** Empty cells of the facts about the company, apart from its name and its description. */
export const NO_FACTS = {
  sector: '',
  industryGroup: '',
  industry: '',
  marketCap: '',
  website: '',
  domain: '',
  country: '',
  state: '',
  city: '',
} as const satisfies Partial<Row>;

/** Empty cells of the description, and nothing read from it. */
export const NO_DESCRIPTION = { summary: '', subject: undefined } as const satisfies Partial<Row>;

/** Empty cells of all identifiers. */
export const NO_IDENTIFIERS = {
  isin: '',
  cusip: '',
  figi: '',
  compositeFigi: '',
  shareClassFigi: '',
} as const satisfies Partial<Row>;

/** Keeps as many whole sentences as fit. If the first sentence is too long, keeps as many whole words as fit. */
function wholeSentences(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text;
  const start = text.slice(0, MOST_CHARACTERS);
  const end = start.lastIndexOf('. ');
  return end > 0 ? start.slice(0, end + 1) : `${start.slice(0, start.lastIndexOf(' '))} …`;
}
