import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Brand } from '@brand-data/contracts';
import {
  readCsv,
  readFinanceDatabase,
  readMapping,
  readRecords,
  readSimpleIcons,
} from '@brand-data/importers';

const SAMPLE = join(import.meta.dirname, '../../deploy/local/catalogue');

/** A source of brands, under the name that it has in the catalogue. */
export interface QualitySource {
  readonly source: string;
  read(): AsyncGenerator<Brand>;
}

/** What a reader yields: a brand, or a line that it refuses or skips. */
type Item = { readonly item: Brand } | object;

async function* brandsOf(items: AsyncIterable<Item>): AsyncGenerator<Brand> {
  for await (const read of items) if ('item' in read) yield read.item;
}

/** The records of the sample catalogue, which is in this repository. */
export const sample: QualitySource = {
  source: 'sample',
  read: () => brandsOf(readRecords([SAMPLE], {})),
};

/** The icons of the package simple-icons. */
export const simpleIcons: QualitySource = {
  source: 'simple-icons',
  read: () => brandsOf(readSimpleIcons()),
};

/** Returns the equities of FinanceDatabase: all its CSV files in the folders, one for each exchange, read as one copy of it. */
export function financeDatabase(folders: readonly string[]): QualitySource {
  return {
    source: 'financedatabase',
    async *read() {
      const copy = await mkdtemp(join(tmpdir(), 'financedatabase-'));
      try {
        for (const folder of folders)
          for (const name of await readdir(folder))
            if (name.endsWith('.csv')) await copyFile(join(folder, name), join(copy, name));
        yield* brandsOf(readFinanceDatabase(copy));
      } finally {
        await rm(copy, { recursive: true });
      }
    },
  };
}

/** Returns a CSV file of NASDAQ's stock screener: symbol, name, prices, market value, country, sector, industry. */
export function nasdaqList(file: string): QualitySource {
  const columns =
    'symbol=listings.ticker,name=name,marketCap=stock.market_cap_usd,country=company.headquarters.country,sector=company.sector,industry=company.industry';
  return csv('nasdaq', file, readMapping([columns], ['listings.mic=XNAS']));
}

/** Returns the constituents of the S&P 500, joined with a table of their exchanges and market values. */
export function sp500(constituents: string, prices: string): QualitySource {
  const columns =
    'Security=name,GICS Sector=company.sector,GICS Sub-Industry=company.industry,Headquarters Location=company.headquarters,CIK=id,Symbol=listings.ticker,exchange=listings.mic,market_cap_usd=stock.market_cap_usd';
  const join = { file: prices, column: 'Symbol', otherColumn: 'symbol' };
  return csv('sp500', constituents, readMapping([columns], []), { join, merge: true, idPrefix: 'cik-' });
}

/** Returns the SEC's company_tickers_exchange.json: CIK, name, ticker and exchange of every listing. */
export function sec(file: string): QualitySource {
  const mapping = readMapping(['cik=id,name=name,ticker=listings.ticker,exchange=listings.mic'], []);
  return rewritten('sec', mapping, { merge: true, idPrefix: 'cik-' }, async () => {
    const { fields, data } = JSON.parse(await readFile(file, 'utf8')) as { fields: string[]; data: Cell[][] };
    return [fields, ...data];
  });
}

/** The exchanges behind the letters of NASDAQ Trader's column "Listing Exchange". */
const LISTING_EXCHANGES: Record<string, string> = {
  A: 'XASE',
  N: 'XNYS',
  P: 'ARCX',
  Q: 'XNAS',
  V: 'IEXG',
  Z: 'BATS',
};

/** Returns NASDAQ Trader's nasdaqtraded.txt: the securities of all exchanges of the United States. */
export function nasdaqTraded(file: string): QualitySource {
  const mapping = readMapping(
    ['Symbol=listings.ticker,Security Name=name,Listing Exchange=listings.mic,ETF=listings.security'],
    [],
  );
  return rewritten('nasdaq-trader', mapping, {}, async () => {
    const [heading = [], ...lines] = (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => line.split('|'));
    const [exchange, fund] = [heading.indexOf('Listing Exchange'), heading.indexOf('ETF')];
    const rows = lines
      .filter(({ length }) => length === heading.length)
      .map((cells) =>
        cells
          .with(exchange, LISTING_EXCHANGES[cells[exchange] ?? ''] ?? '')
          .with(fund, cells[fund] === 'Y' ? 'ETF' : ''),
      );
    return [heading, ...rows];
  });
}

/** Returns the securities that are listed on NASDAQ, as its directory of symbols names their companies. */
export function nasdaqListed(file: string): QualitySource {
  const columns = 'Symbol=listings.ticker,Company Name=name,Security Name=listings.security';
  return csv('nasdaq-listed', file, readMapping([columns], ['listings.mic=XNAS']));
}

type Cell = string | number | null;
type CsvOptions = Parameters<typeof readCsv>[1];

function csv(
  source: string,
  file: string,
  mapping: CsvOptions['mapping'],
  changes: Partial<CsvOptions> = {},
): QualitySource {
  const cells = { separator: ';', decimalComma: false, merge: false, idPrefix: '', join: undefined };
  const options = { ...cells, mapping, source, origin: { name: source }, ...changes };
  return { source, read: () => brandsOf(readCsv(file, options)) };
}

/** Returns a source whose rows are written into a CSV file and then read from it. */
function rewritten(
  source: string,
  mapping: CsvOptions['mapping'],
  changes: Partial<CsvOptions>,
  rowsOf: () => Promise<Cell[][]>,
): QualitySource {
  return {
    source,
    async *read() {
      const folder = await mkdtemp(join(tmpdir(), `${source}-`));
      try {
        const quoted = (await rowsOf()).map((cells) =>
          cells.map((cell) => `"${String(cell ?? '').replaceAll('"', '""')}"`).join(','),
        );
        await writeFile(join(folder, 'table.csv'), quoted.join('\n'));
        yield* csv(source, join(folder, 'table.csv'), mapping, changes).read();
      } finally {
        await rm(folder, { recursive: true });
      }
    },
  };
}
