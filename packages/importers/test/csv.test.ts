import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordFromBrand } from '@brand-data/records';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPlace } from '../src/formats/places.ts';
import { readMapping } from '../src/sources/csv/mapping.ts';
import { type ReadCsvOptions, readCsv } from '../src/sources/csv/read-csv.ts';
import { allOf } from './all-of.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-data-csv-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function fileOf(name: string, ...lines: string[]): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
}

/** The records of the rows, or the problems of the rows. */
async function read(
  rows: string[],
  map: string,
  { set = [], ...options }: Partial<ReadCsvOptions> & { set?: string[] } = {},
): Promise<unknown[]> {
  const file = await fileOf('table.csv', ...rows);
  const reads = await allOf(
    readCsv(file, {
      mapping: readMapping([map], set),
      separator: ';',
      decimalComma: false,
      merge: false,
      idPrefix: '',
      source: 'mine',
      origin: { name: 'My table' },
      ...options,
    }),
  );
  return reads.map((each) => {
    if ('problem' in each) return `${each.from.slice(file.length + 1)}: ${each.problem}`;
    return recordFromBrand(each.brand);
  });
}

test('a table’s columns become a record’s fields, and nothing else does', async () => {
  const records = await read(
    [
      'Symbol,Venue,Company,Sector,Line,Seat,Since,Site,Value,Boss',
      'ACM.B,NYSE,Acme Corp.,Industrials,"Tools, Anvils","Reno, Nevada[1]",1949 (1921),acme.example,"2,000,000,000",Wile (CEO);Road Runner',
    ],
    'Symbol=listings.ticker,Venue=listings.mic,Company=name,Sector=company.sector,Line=company.industry,' +
      'Seat=company.headquarters,Since=company.founded,Site=links.websites,Value=stock.market_cap_usd,Boss=company.key_people',
    { set: ['stock.index_memberships=Large 100;All'] },
  );
  expect(records).toEqual([
    {
      id: 'xnys-acm-b',
      name: 'Acme Corp.',
      rank: 660,
      listings: [{ ticker: 'ACM-B', mic: 'XNYS' }],
      company: {
        sector: 'Industrials',
        industry: 'Tools, Anvils',
        headquarters: { city: 'Reno', state: 'Nevada', country: 'United States', country_code: 'US' },
        founded: '1949 (1921)',
        key_people: [{ name: 'Wile', role: 'CEO' }, { name: 'Road Runner' }],
      },
      links: { websites: ['https://acme.example'] },
      stock: { market_cap_usd: 2_000_000_000, index_memberships: ['Large 100', 'All'] },
      sources: [{ name: 'My table' }],
    },
  ]);
});

test('a table with three columns states three facts', async () => {
  const records = await read(
    ['id,name,website', 'toyota,Toyota,global.toyota'],
    'id=id,name=name,website=links.websites',
  );
  expect(records).toEqual([
    {
      id: 'toyota',
      name: 'Toyota',
      links: { websites: ['https://global.toyota'] },
      sources: [{ name: 'My table' }],
    },
  ]);
});

test.each<[string, number | undefined, number | undefined]>([
  ['2000000000', undefined, 660],
  ['2000000000', 450, 660],
  ['', 450, 450],
  ['0.00', 450, 450],
  ['', undefined, undefined],
])('a rank comes from the market value "%s", else from the option %s', async (value, rank, expected) => {
  const [record] = await read(['name,value', `Acme,${value}`], 'name=name,value=stock.market_cap_usd', {
    rank,
    set: ['listings.ticker=ACME', 'listings.mic=XNYS'],
  });
  expect((record as { rank?: number }).rank).toBe(expected);
});

test.each<[string, string, string]>([
  ['name,lei,isin', 'A,5493001KJTIIGC8Y1R12,US0378331005', 'lei-5493001kjtiigc8y1r12'],
  ['name,isin,figi,ticker', 'A,US0378331005,BBG001S5N8V8,AAA.DE', 'isin-us0378331005'],
  ['name,figi,ticker', 'A,BBG001S5N8V8,AAA.DE', 'figi-bbg001s5n8v8'],
  ['name,ticker', 'A,AAA.DE', 'xetr-aaa'],
  ['name,qid', 'A,Q42', 'q42'],
  ['name,site', 'A,https://www.a-b.com/en', 'mine-a-b-com'],
  ['name', 'Straße & Söhne', 'mine-strasse-and-sohne'],
  ['name', 'トヨタ', expect.stringMatching(/^mine-[0-9a-f]{16}$/)],
])('an id is derived from the strongest identifier of the row: %s', async (heading, row, id) => {
  const fields: Record<string, string> = {
    lei: 'lei',
    isin: 'stock.isin',
    figi: 'listings.share_class_figi',
    ticker: 'listings.ticker',
    qid: 'links.wikidata_qid',
    site: 'links.websites',
  };
  const map = heading.split(',').map((column) => `${column}=${fields[column] ?? column}`);
  // An ISIN without a ticker makes no listing.
  const set = heading.includes('isin') && !heading.includes('ticker') ? ['listings.ticker=AAA.DE'] : [];
  expect(await read([heading, row], map.join(','), { set })).toMatchObject([{ id }]);
});

test('"NaN", "None" and "null" are blank in columns of figures, and ordinary tickers and names elsewhere', async () => {
  const records = await read(
    ['Symbol,Name,Value,ISIN', 'NAN,Null,NaN,None', 'null,NONE,null,-'],
    'Symbol=listings.ticker,Name=name,Value=stock.market_cap_usd,ISIN=stock.isin',
    { set: ['listings.mic=XNYS'] },
  );
  expect(records).toMatchObject([
    { id: 'xnys-nan', name: 'Null', listings: [{ ticker: 'NAN', mic: 'XNYS' }] },
    { id: 'xnys-null', name: 'NONE', listings: [{ ticker: 'NULL', mic: 'XNYS' }] },
  ]);
  for (const record of records) expect(record).not.toHaveProperty('stock');
});

test('rows with the same id are one company, and the first row gives its facts', async () => {
  const records = await read(
    ['no,name,symbol', '7,Acme (Class A),ACMA', '8,Other,OTH', '7,Acme (Class C),ACMC'],
    'no=id,name=name,symbol=listings.ticker',
    { merge: true, idPrefix: 'no-', set: ['listings.mic=XNAS'] },
  );
  expect(records).toMatchObject([
    {
      id: 'no-7',
      name: 'Acme',
      names: ['Acme (Class A)', 'Acme (Class C)'],
      listings: [
        { ticker: 'ACMA', mic: 'XNAS' },
        { ticker: 'ACMC', mic: 'XNAS', primary: true },
      ],
    },
    { id: 'no-8' },
  ]);
});

test('a joined table adds its columns to the rows of the first table', async () => {
  const file = await fileOf('venues.csv', 'code,venue', 'AAA,NASDAQ', 'CCC,NYSE');
  const records = await read(
    ['symbol,name', 'AAA,A', 'BBB,B'],
    'symbol=listings.ticker,name=name,venue=listings.mic',
    { join: { file, column: 'symbol', otherColumn: 'code' } },
  );
  expect(records).toMatchObject([
    { listings: [{ ticker: 'AAA', mic: 'XNAS' }] },
    expect.stringContaining('3: listings.mic is missing'),
  ]);
});

test('--rank is the rank of rows that have neither a rank nor a market value', async () => {
  const records = await read(
    ['name,rank,value', 'A,,"2,000,000,000"', 'B,500,"2,000,000,000"', 'C,,N/A'],
    'name=name,rank=rank,value=stock.market_cap_usd',
    { set: ['listings.ticker=AAA,listings.mic=XNYS'], rank: 400 },
  );
  expect(records).toMatchObject([{ rank: 660 }, { rank: 500 }, { rank: 400 }]);
});

test('a row that makes no record is reported with its line, and the other rows are read', async () => {
  const records = await read(
    ['name,rank,lat', 'A,high,1', ',500,1', 'C,500,91', 'D\uFFFD,500,1', 'E,500,N/A', 'F,2000,1'],
    'name=name,rank=rank,lat=company.headquarters.latitude',
    { set: ['company.headquarters.longitude=5'] },
  );
  expect(records.slice(0, 4)).toEqual([
    '2: rank: "high" is not a whole number',
    '3: name is missing',
    '4: company.headquarters.latitude must be -90 to 90',
    '5: name: the cell contains U+FFFD, the sign of a wrong encoding: convert the file to UTF-8',
  ]);
  expect(records[4]).toMatchObject({ name: 'E', rank: 500 });
  expect(records[5]).toBe('7: rank must be 0 to 1000');
});

test.each<[string, string[], RegExp]>([
  ['nome=name', [], /no column "nome": the columns are name, city/],
  ['name=nome', [], /"nome" is not a field/],
  ['name', [], /"name" is not valid: write a name, an equals sign and a value/],
  ['name=name', ['color=red'], /"color" is not a field/],
  ['name=sources', [], /"sources" is not a field/],
])('an invalid mapping is refused before anything is read: %s %j', async (map, set, message) => {
  await expect(read(['name,city', 'A,Rome'], map, { set })).rejects.toThrow(message);
});

test.each([
  ['Dublin, Ireland', { city: 'Dublin', country: 'Ireland', country_code: 'IE' }],
  ['Atlanta, Georgia', { city: 'Atlanta', state: 'Georgia', country: 'United States', country_code: 'US' }],
  [
    'Warmley, Bristol, UK',
    { city: 'Warmley', state: 'Bristol', country: 'United Kingdom', country_code: 'GB' },
  ],
  [
    'Columbus, Ohio; Detroit, Michigan',
    { city: 'Columbus', state: 'Ohio', country: 'United States', country_code: 'US' },
  ],
  ['Japan', { country: 'Japan', country_code: 'JP' }],
  ['Munich, Bavaria', { city: 'Munich', state: 'Bavaria' }],
  ['Tokyo', { city: 'Tokyo' }],
  ['', {}],
])('a place is read into its parts: %s', (text, place) => {
  expect(readPlace(text)).toEqual(place);
});
