import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Brand } from '@brand-data/contracts';
import {
  readConditions,
  readCsv,
  readFinanceDatabase,
  readIconify,
  readMapping,
  readRecords,
  readSimpleIcons,
} from '@brand-data/importers';

const SAMPLE = join(import.meta.dirname, '../../deploy/local/catalogue');

/** Enough for all rows of FinanceDatabase. */
const MEMORY_MIB = 1_000;

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

/** The companies of Iconify's sets. */
export const iconify: QualitySource = {
  source: 'iconify',
  read: () => brandsOf(readIconify()),
};

/** Returns how many records the sample has, and how many of them show a monogram because they name no logo. */
export async function countMonograms(): Promise<{ records: number; monograms: number }> {
  const counts = { records: 0, monograms: 0 };
  for await (const read of readRecords([SAMPLE], {})) {
    if (!('item' in read)) continue;
    counts.records += 1;
    if (!read.pictures?.some(({ field }) => field === 'images.logo')) counts.monograms += 1;
  }
  return counts;
}

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
        yield* brandsOf(readFinanceDatabase(copy, { memoryMib: MEMORY_MIB }));
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
  const skip = readConditions(['exchange=']);
  return csv('sec', file, mapping, { merge: true, idPrefix: 'cik-', skip });
}

/** Returns NASDAQ Trader's nasdaqtraded.txt: the securities of all exchanges of the United States. */
export function nasdaqTraded(file: string): QualitySource {
  const columns = `Symbol=listings.ticker,Security Name=name,Listing Exchange=listings.mic,${KINDS}`;
  return csv('nasdaq-trader', file, readMapping([columns], []));
}

/** Returns the securities that are listed on NASDAQ, as its directory of symbols names them. */
export function nasdaqListed(file: string): QualitySource {
  const columns = `Symbol=listings.ticker,Security Name=name,${KINDS}`;
  return csv('nasdaq-listed', file, readMapping([columns], ['listings.mic=XNAS']));
}

const KINDS = 'ETF=listings.security,Test Issue=listings.security';

/** Returns the active legal entities of a file of GLEIF's golden copy in JSON. */
export function gleif(file: string): QualitySource {
  const office = 'Entity.HeadquartersAddress';
  const columns = `LEI.$=lei,Entity.LegalName.$=name,${office}.City.$=company.headquarters.city,${office}.Country.$=company.headquarters.country`;
  const only = readConditions(['Entity.EntityStatus.$=ACTIVE', 'Entity.EntityCategory.$=GENERAL']);
  return csv('gleif', file, readMapping([columns], []), { only });
}

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
