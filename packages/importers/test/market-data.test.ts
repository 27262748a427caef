import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Source, type Stock } from '@brand-data/contracts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { readNumber } from '../src/formats/cells.ts';
import { readRates, stockOfFigures } from '../src/sources/market-data/quotes.ts';
import { readMarketData } from '../src/sources/market-data/read-market-data.ts';
import { allOf } from './all-of.ts';

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});
async function read(
  content: string,
  { name = 'quotes.csv', map = [] as string[], usd = ['EUR=1.1,GBP=1.25'] } = {},
) {
  const file = join(folder, name);
  await writeFile(file, content);
  const rates = await readRates(usd, undefined);
  const source = Source.fromPartial({ name: 'test', date: '2026-01-01' });
  const reads = await allOf(readMarketData(file, { map, rates, decimalComma: false, source }));
  return reads.map((each) =>
    'problem' in each
      ? { line: each.from.slice(file.length + 1), problem: each.problem }
      : { ...each.item, stock: known(each.item.stock), date: each.item.source?.date },
  );
}

/** Returns the fields that have data. */
function known(stock: Stock | undefined): object {
  return Object.fromEntries(
    Object.entries(stock ?? {}).filter(
      ([, value]) => value !== undefined && value !== '' && !Array.isArray(value),
    ),
  );
}

test('a quote’s figures are read, and missing figures are computed from them', async () => {
  const quotes = await read(
    'Symbol,Exchange,Last Price,Net Change,Market Cap,Currency,52 Week Low,52 Week High\n' +
      'ACME,NYSE,"1,050.00",+50,"$2,000,000,000",EUR,840,1200\n',
  );
  expect(quotes).toMatchObject([
    {
      symbol: 'ACME',
      mic: 'XNYS',
      date: '2026-01-01',
      stock: {
        currency: 'EUR',
        price: 1050,
        priceUsd: 1155,
        change: 50,
        changePercentage: 5,
        marketCapUsd: 2_200_000_000,
        range: '840-1200',
        percentFrom52WeekLow: 25,
      },
    },
  ]);
});

test('a zero in a column of amounts is no figure', async () => {
  const [quote] = await read(
    'symbol,exchange,price,market_cap,market_cap_usd,price_usd,52 week low,52 week high\nACM,NYSE,10,0,0.00,0,0,12\n',
  );
  expect(quote).toMatchObject({ symbol: 'ACM', stock: { price: 10 } });
  for (const field of ['marketCapUsd', 'priceUsd', 'range', 'percentFrom52WeekLow'])
    expect(quote).not.toHaveProperty(`stock.${field}`);
});

test.each([
  ['VOD.L', 'LSE', 'VOD', 'XLON'],
  ['AAPL.O', 'NASDAQ', 'AAPL', 'XNAS'],
  ['NASDAQ:AAPL', 'NASDAQ', 'AAPL', 'XNAS'],
  ['BRK.B', 'NYSE', 'BRK-B', 'XNYS'],
  ['VOD.L', '', 'VOD.L', ''],
  ['7203.T', 'TSE', '7203', 'XTKS'],
])(
  'a symbol beside its exchange is that of the exchange: %s at %s',
  async (written, exchange, symbol, mic) => {
    expect(await read(`symbol,exchange,price\n${written},${exchange},70.5\n`)).toMatchObject([
      { symbol, mic },
    ]);
  },
);

test.each([
  ['GBp', 'GBP', 1.25],
  ['GBX', 'GBP', 1.25],
])('prices in pence are converted to pounds, and market values are not: %s', async (unit, currency, usd) => {
  const [quote] = await read(
    `isin,price,change,market cap,currency,range\nGB0007188757,5250,-50,90000000000,${unit},4,200.5 - 6,300\n`.replace(
      '4,200.5 - 6,300',
      '"4,200.5 - 6,300"',
    ),
  );
  expect(quote).toMatchObject({
    isin: 'GB0007188757',
    stock: {
      currency,
      price: 52.5,
      priceUsd: 52.5 * usd,
      change: -0.5,
      changePercentage: -0.943,
      marketCapUsd: 90e9 * usd,
      range: '42.005-63',
    },
  });
});

test('NDJSON gives the same quotes as a table', async () => {
  const line = { ticker: 'ACME', mic: 'XNYS', close: 10, 'change %': '-1.5%', currency: 'USD', active: true };
  const quotes = await read(`${JSON.stringify(line)}\n[10]\nnonsense\n`, { name: 'quotes.ndjson' });
  expect(quotes).toMatchObject([
    { symbol: 'ACME', stock: { priceUsd: 10, changePercentage: -1.5, isActivelyTrading: true } },
    { line: '2', problem: 'the row is not a JSON object' },
    { line: '3', problem: expect.stringContaining('not valid JSON') },
  ]);
});

test('a text that is not a number, a currency or a price is refused with its line', async () => {
  const quotes = await read(
    'symbol,price,currency,exchange\nA,low,USD,XNYS\nB,10,DOLLAR,XNYS\nC,,USD,XNYS\n,10,USD,XNYS\nE,10,USD,Somewhere\nF,0,USD,XNYS\nG,12%,USD,XNYS\nH,10,USD,XNYS\n',
  );
  expect(quotes).toMatchObject([
    { line: '2', problem: 'price: "low" is not a number' },
    { line: '3', problem: 'currency: "DOLLAR" is not a currency code of ISO 4217' },
    { line: '4', problem: 'the line has no price' },
    { line: '5', problem: 'the line has neither a symbol nor an ISIN' },
    { line: '6', problem: expect.stringContaining('exchange: "Somewhere" is not a known exchange') },
    { line: '7', problem: 'price: must be above 0' },
    { line: '8', problem: 'price: "12%" is not a number' },
    { symbol: 'H' },
  ]);
});

test('a venue’s name that several exchanges share is decided by the ISIN or refused', async () => {
  const quotes = await read('symbol,price,currency,exchange,isin\nA,1,JPY,TSE,JP3633400001\nB,1,USD,TSE,\n');
  expect(quotes).toMatchObject([
    { isin: 'JP3633400001', mic: 'XTKS' },
    { line: '3', problem: 'exchange: "TSE" may be XTSE or XTKS: give a MIC' },
  ]);
});

test('a figure below zero is refused by the name of its field', async () => {
  const quotes = await read(
    'symbol,exchange,price,market_cap_usd,low_52_weeks\nA,XNYS,10,-1,9\nB,XNYS,10,1,-9\n',
  );
  expect(quotes).toMatchObject([
    { line: '2', problem: 'market_cap_usd: must not be below 0' },
    { line: '3', problem: 'low_52_weeks: must not be below 0' },
  ]);
});

test('"NaN" and "null" are not figures, but are ordinary symbols', async () => {
  const quotes = await read('symbol,exchange,price,change,isin\nNAN,NYSE,10,NaN,null\nnull,NYSE,11,null,\n');
  expect(quotes).toMatchObject([
    { symbol: 'NAN', mic: 'XNYS', stock: { price: 10 } },
    { symbol: 'NULL', mic: 'XNYS', stock: { price: 11 } },
  ]);
});

test('of many days in any order the last is used, and the days before give change and range', async () => {
  const day = (index: number) => new Date(Date.UTC(2025, 0, 1 + index)).toISOString().slice(0, 10);
  const rows = Array.from({ length: 400 }, (_, index) => ({ day: day(index), price: 100 + (index % 50) }));
  const [old, last] = [rows.at(-2)?.price ?? 0, rows.at(-1)?.price ?? 0];
  const shuffled = rows.toSorted((a, b) => a.price - b.price || (a.day < b.day ? 1 : -1));
  const lines = shuffled.map((row) => `ACME,XNYS,${row.day},${row.price},USD`);
  const young = [`NEW,XNYS,${day(1)},7,USD`, `NEW,XNYS,${day(2)},8,USD`];
  // This price is far lower, but more than a year old, so it is not part of the range.
  const quotes = await read(
    ['symbol,mic,date,close,currency', `ACME,XNYS,2024-01-01,1,USD`, ...lines, ...young].join('\n'),
  );
  expect(quotes).toHaveLength(2);
  expect(quotes.find((quote) => 'symbol' in quote && quote.symbol === 'ACME')).toMatchObject({
    date: day(399),
    stock: { price: last, change: last - old, range: '100-149', percentFrom52WeekLow: last - 100 },
  });
  const fresh = quotes.find((quote) => 'symbol' in quote && quote.symbol === 'NEW');
  expect(fresh).toMatchObject({ date: day(2), stock: { price: 8, change: 1 } });
  expect(fresh).not.toHaveProperty('stock.range');
});

test('a repeated day of a security is refused', async () => {
  const quotes = await read(
    'symbol,mic,date,close\nA,XNYS,2026-01-05,1\nA,XNYS,2026-01-05,2\nA,XNYS,5 Jan,2\n',
  );
  expect(quotes).toMatchObject([
    { line: '3', problem: 'XNYS:A has two rows for this day: remove one' },
    { line: '4', problem: 'date: "5 Jan" is not a date: write YYYY-MM-DD' },
    { symbol: 'A' },
  ]);
});

test('columns with other names can be mapped', async () => {
  const quotes = await read('WKN;Kurs;Boerse\nAPC;170,5;XETR\n'.replace('170,5', '170.5'), {
    map: ['WKN=symbol,Kurs=price', 'Boerse=exchange'],
  });
  expect(quotes).toMatchObject([{ symbol: 'APC', mic: 'XETR', stock: { price: 170.5 } }]);
});

test('columns of JSON lines can be mapped too, also if a later line has other columns', async () => {
  const lines = [
    '{"WKN":"APC","Kurs":170.5,"Boerse":"XETR"}',
    '{"symbol":"SAP","Kurs":200,"exchange":"XETR"}',
  ];
  const quotes = await read(`${lines.join('\n')}\n`, {
    name: 'quotes.ndjson',
    map: ['WKN=symbol,Kurs=price', 'Boerse=exchange'],
  });
  expect(quotes).toMatchObject([
    { symbol: 'APC', mic: 'XETR', stock: { price: 170.5 } },
    { symbol: 'SAP', mic: 'XETR', stock: { price: 200 } },
  ]);
});

test('a file without the required columns is refused as a whole', async () => {
  await expect(read('symbol,city\nA,Rome\n')).rejects.toThrow('no column for the price');
  await expect(read('price,city\n1,Rome\n')).rejects.toThrow('no column for a symbol or an ISIN');
  await expect(read('symbol,price\nA,1\n', { map: ['Kurs=price'] })).rejects.toThrow('no column "Kurs"');
});

test('a column whose name has a comma can be mapped', async () => {
  const quotes = await read('symbol,"Kurs, Euro"\nA,1\n', { map: ['Kurs, Euro=price'] });
  expect(quotes).toMatchObject([{ symbol: 'A', stock: { price: 1 } }]);
});

test('numbers are read as they are written in any of the usual ways', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), fc.nat(99), (whole, cents) => {
      const value = Number(`${whole}.${String(cents).padStart(2, '0')}`);
      const us = value.toLocaleString('en-US', { minimumFractionDigits: 2 });
      const european = value.toLocaleString('de-DE', { minimumFractionDigits: 2 });
      for (const written of [String(value), us, us.replaceAll(',', ' '), us.replace('-', '−'), ` ${us} `])
        expect(readNumber(written)).toBe(value);
      for (const written of [european, `${european} €`])
        expect(readNumber(written, { decimalComma: true })).toBe(value);
    }),
  );
});

test.each(['', 'abc', '1.2.3', '12%', '1,2', '1,23,456', '0x10', 'Infinity', '1e999', '--1', '1-2'])(
  '"%s" is not a number',
  (cell) => {
    expect(readNumber(cell)).toBeUndefined();
  },
);

test('change and its percentage agree, whichever of them is given', () => {
  const price = fc.double({ min: 1, max: 1e5, noNaN: true }).map((value) => Number(value.toFixed(2)));
  fc.assert(
    fc.property(price, fc.double({ min: -0.5, max: 0.5, noNaN: true }), (close, share) => {
      const change = Number((close * share).toFixed(4));
      const { changePercentage } = stockOfFigures({ price: close, change }, new Map());
      const back = stockOfFigures({ price: close, changePercentage }, new Map());
      expect(Math.abs((back.change ?? 0) - change)).toBeLessThan(close * 1e-4 + 1e-3);
    }),
  );
});

test.each(['EUR', 'EURO=1', 'EUR=', 'EUR=-1', 'EUR=0'])('"%s" is not a rate', async (text) => {
  await expect(readRates([text], undefined)).rejects.toThrow('is not an exchange rate');
});

test('the caller names the line of the heading and the encoding', async () => {
  const file = join(folder, 'laid-out.csv');
  await writeFile(file, Buffer.from('Symbol,Währung,price\nsymbol,currency,price\nAAPL,USD,7\n', 'latin1'));
  const source = Source.fromPartial({ name: 'test', date: '2026-01-01' });
  const options = { map: [], rates: await readRates([], undefined), decimalComma: false, source };
  const layout = { headingLine: 2, encoding: 'windows-1252', exchange: 'XNAS' };
  const reads = await allOf(readMarketData(file, { ...options, ...layout }));
  expect(reads).toMatchObject([{ item: { symbol: 'AAPL', stock: { price: 7, currency: 'USD' } } }]);
});
