import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Brand, BrandType, Listing } from '@brand-data/contracts';
import { expect, test } from 'vitest';
import { keysOfBrand, orderListings, RANK_OF_UNKNOWN, rankOfMarketValue, resolve } from '../src/index.ts';

/**
 * Reads two files: the S&P 500's constituents (constituents.csv of github.com/datasets/s-and-p-500-companies), and a table of
 * prices (prices-….csv with symbol, exchange, market_cap_usd) in the same folder, which gives each symbol's venue and value.
 */
const FOLDER = process.env.SP500_DIR;
const PRICES = 'prices-2026-08-21.csv';
const MICS: Readonly<Record<string, string>> = { NASDAQ: 'XNAS', NYSE: 'XNYS' };

if (FOLDER === undefined) {
  console.warn('SP500_DIR is not set: how many of the S&P 500 resolve is NOT measured.');
}

test.skipIf(FOLDER === undefined)(
  'of the S&P 500, 99.8 % or more resolve by each usual way to write their symbols and names',
  () => {
    const companies = companiesOf(FOLDER ?? '');
    const candidates = companies.map(({ brand }) => ({
      id: brand.id,
      rank: brand.rank,
      keys: keysOfBrand(brand),
    }));
    const table = Object.entries(WAYS).map(([way, write]) => {
      const tried = companies.flatMap(({ brand, symbols, names }) =>
        write({ symbols, names }).map((identifier) => ({ identifier, brand })),
      );
      const wrong = tried.flatMap(({ identifier, brand }) => {
        const found = resolve(identifier, candidates, { superinvestors: true });
        if (found?.id === brand.id) return [];
        const reason = found ? `${found.kind} ${found.value} of ${nameOf(companies, found.id)}` : 'not found';
        return [{ company: brand.name, id: brand.id, identifier, reason }];
      });
      return { way, tried: tried.length, wrong };
    });

    for (const { way, tried, wrong } of table) console.info(`${way}: ${tried - wrong.length} of ${tried}`);
    const wrong = table.flatMap((row) => row.wrong.map((each) => ({ way: row.way, ...each })));
    for (const { way, company, identifier, reason } of wrong) {
      console.info(`  ${company}, ${way}: ${JSON.stringify(identifier)} is ${reason}`);
    }
    const right = companies.length - new Set(wrong.map(({ id }) => id)).size;
    console.info(`companies that resolve in every way: ${right} of ${companies.length}`);

    for (const row of table)
      expect.soft(share(row.tried - row.wrong.length, row.tried), row.way).toBeGreaterThanOrEqual(0.998);
    expect(share(right, companies.length), 'in every way').toBeGreaterThanOrEqual(0.998);
  },
);

interface Written {
  readonly symbols: readonly string[];
  readonly names: readonly string[];
}

const LEGAL_FORM =
  /(?:,? (?:& Co\.|& Company|Corporation|Corp|Company|Co\.|Inc\.?|plc|Ltd\.?|N\.V\.|Limited))+$/;

/** Ways to write the symbols and names of the table. In the table, a symbol's share class comes after a dot. */
const WAYS: Readonly<Record<string, (company: Written) => string[]>> = {
  symbol: ({ symbols }) => [...symbols],
  'symbol in small letters': ({ symbols }) => symbols.map((symbol) => symbol.toLowerCase()),
  'symbol with a dash': ({ symbols }) => symbols.map((symbol) => symbol.replace('.', '-')),
  'symbol with a slash': ({ symbols }) => symbols.map((symbol) => symbol.replace('.', '/')),
  'symbol with a space': ({ symbols }) => symbols.map((symbol) => symbol.replace('.', ' ')),
  name: ({ names }) => [...names],
  'name in small letters': ({ names }) => names.map((name) => name.toLowerCase()),
  'name without legal form': ({ names }) => names.map(withoutForm),
  'name with the article in front': ({ names }) =>
    names.map((name) => name.replace(/^(.*) \(The\)$/, 'The $1')),
  'name with typographic apostrophes': ({ names }) => names.map((name) => name.replace(/['’]/g, '’')),
  'name with plain apostrophes': ({ names }) => names.map((name) => name.replace(/['’]/g, "'")),
  'name with en dashes': ({ names }) => names.map((name) => name.replace(/[-–]/g, '–')),
  'name with unbreakable hyphens': ({ names }) => names.map((name) => name.replace(/[-–]/g, '‑')),
  'name with hyphens': ({ names }) => names.map((name) => name.replace(/[-–]/g, '-')),
  'name with "and" for "&"': ({ names }) => names.map((name) => name.replaceAll('&', ' and ')),
};

function withoutForm(name: string): string {
  return name.replace(/ \((?:The|Class [A-Z])\)$/, '').replace(LEGAL_FORM, '');
}

/** Returns the companies, identified by the number of the registering authority (CIK). GOOG and GOOGL are one company. */
function companiesOf(folder: string): { brand: Brand; symbols: string[]; names: string[] }[] {
  const prices = new Map(rowsOf(join(folder, PRICES)).map((row) => [row.symbol, row]));
  const rows = rowsOf(join(folder, 'constituents.csv'));
  return [...Map.groupBy(rows, (row) => row.CIK ?? '')].map(([cik, securities]) => {
    const symbols = securities.map((row) => row.Symbol ?? '');
    const [name = '', ...names] = new Set(securities.map((row) => row.Security ?? ''));
    const listings = symbols.map((symbol) => {
      const exchange = prices.get(symbol)?.exchange ?? '';
      return Listing.fromPartial({ ticker: symbol.replace('.', '-'), mic: MICS[exchange] ?? 'XNYS' });
    });
    const value = Math.max(...symbols.map((symbol) => Number(prices.get(symbol)?.market_cap_usd ?? 0)));
    const brand = Brand.fromPartial({
      id: `cik-${cik}`,
      type: BrandType.STOCK,
      name,
      names,
      rank: value > 0 ? rankOfMarketValue(value) : RANK_OF_UNKNOWN,
      listings: orderListings(listings, { country: 'US' }),
    });
    return { brand, symbols, names: [name, ...names] };
  });
}

/** Parses a table with a heading. Cells may be in quotes. */
function rowsOf(file: string): Record<string, string>[] {
  const [head = [], ...rows] = readFileSync(file, 'utf8').trim().split(/\r?\n/).map(fieldsOf);
  return rows.map((row) => Object.fromEntries(head.map((field, index) => [field, row[index] ?? ''])));
}

function fieldsOf(line: string): string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  );
}

function nameOf(companies: readonly { brand: Brand }[], id: string): string {
  return companies.find(({ brand }) => brand.id === id)?.brand.name ?? id;
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
