import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BrandRecord, recordFromBrand } from '@brand-data/records';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { listingOfRow, readListing } from '../src/formats/listing.ts';
import { readPlace } from '../src/formats/places.ts';
import { batchesOf } from '../src/framework/batches.ts';
import type { ImportJournal } from '../src/framework/import-journal.ts';
import { proposeMapping, readConditions, readMapping, readMappingFile } from '../src/sources/csv/mapping.ts';
import { type ReadCsvOptions, readCsv } from '../src/sources/csv/read-csv.ts';
import { allOf } from './all-of.ts';

const CELLS = { separator: ';', decimalComma: false } as const;
let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});
async function fileOf(name: string, ...lines: string[]): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, `${lines.join('\n')}\n`);
  return file;
}

/** Returns the records of the rows, or why the rows are refused or skipped. */
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
    const line = each.from.slice(file.length + 1);
    if ('problem' in each) return `${line}: ${each.problem}`;
    if ('skipped' in each) return `${line} skipped: ${each.skipped}`;
    return recordFromBrand(each.item);
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

/** The names in the columns of fund houses, data vendors and exchanges, by MIC. */
const NAMES_OF_VENUES = {
  XPAR: [
    'Euronext Growth Paris',
    'Euronext Access Paris',
    'Nyse Euronext - Euronext Paris',
    'Euronext Paris, Brussels',
    'Euronext Paris, Amsterdam, Lisbon',
  ],
  XAMS: ['Euronext Amsterdam, Paris', 'Nyse Euronext - Euronext Amsterdam'],
  XMIL: ['Borsa Italiana', 'Borsa Italiana S.p.A.', 'Euronext Growth Milan', 'Euronext Star Milan'],
  XDUB: ['Euronext Growth Dublin', 'Irish Stock Exchange'],
  XOSL: ['Oslo Bors', 'Oslo Børs', 'Oslo Bors Asa', 'Oslo', 'Euronext Growth Oslo', 'Euronext Expand Oslo'],
  XSTO: ['OMX Stockholm Large Cap', 'Nasdaq Stockholm Mid Cap', 'NASDAQ OMX Stockholm'],
  XCSE: ['Omx Nordic Exchange Copenhagen A/S', 'OMX Copenhagen Small Cap'],
  XHEL: ['Nasdaq Omx Helsinki Ltd.', 'OMX Helsinki Mid Cap'],
  XICE: ['OMX Iceland Small Cap'],
  XNAS: ['NASDAQ', 'NASDAQ Global Select', 'NASDAQ Capital Market', 'NASDAQ Global Market', 'Nasdaq GS'],
  XNYS: ['New York Stock Exchange Inc.', 'New York Stock Exchange, Inc.'],
  XASE: ['NYSE Amex', 'NYSE American', 'NYSE MKT'],
  XFRA: ['Frankfurt Stock Exchange', 'Boerse Frankfurt', 'Börse Frankfurt'],
  XETR: ['Xetra'],
  XSWX: ['SIX Swiss Exchange', 'Swiss Exchange'],
  XWBO: ['Wiener Boerse Ag', 'Wiener Börse'],
  XLON: ['London Stock Exchange', 'London Stock Exchange plc', 'London'],
  XMAD: ['Bolsa De Madrid'],
  XIST: ['Borsa Istanbul', 'Borsa İstanbul'],
  MISX: ['Standard-Classica-Forts'],
  XSAU: ['Saudi Stock Exchange'],
  XJSE: ['Johannesburg Stock Exchange'],
  XASX: ['Asx - All Markets'],
  XHKG: ['Hong Kong Exchanges And Clearing Ltd', 'Hong Kong Stock Exchange', 'HKSE', 'SEHK Main Board'],
  XTKS: ['Tokyo Stock Exchange', '東京証券取引所', '東証プライム'],
  XKRX: ['Korea Exchange (Stock Market)', 'Korea Exchange', 'KRX'],
  XKOS: ['Korea Exchange (Kosdaq)'],
  XTAI: ['Taiwan Stock Exchange'],
  ROCO: ['Gretai Securities Market'],
  XNSE: ['National Stock Exchange Of India', 'National Stock Exchange of India Ltd.'],
  XBOM: ['Bombay Stock Exchange', 'BSE Ltd'],
  XKLS: ['Bursa Malaysia'],
  XBKK: ['mai', 'SET'],
  XMEX: ['Mexican Stock Exchange', 'Bolsa Mexicana De Valores'],
  BVMF: ['XBSP', 'Bovespa'],
  XTSX: ['TSX-V', 'TSX Venture Exchange'],
};

describe('a venue', () => {
  const MAP =
    'venue=listings.mic,symbol=listings.ticker,name=name,isin=listings.isin,country=company.headquarters.country';
  const MAP_OF_THREE = 'symbol=listings.ticker,venue=listings.mic,name=name';
  const venueOf = async (venue: string, isin = '', country = '') => {
    const rows = ['venue,symbol,name,isin,country', `"${venue}",ACM,Acme,${isin},${country}`];
    const [record] = await read(rows, MAP);
    return (record as Partial<BrandRecord>).listings?.[0]?.mic ?? record;
  };

  test.each([
    ['Euronext', 'FR0000121014', '', 'XPAR'],
    ['Euronext', '', 'Belgien', 'XBRU'],
    ['Euronext', 'US0378331005', 'Portugal', 'XLIS'],
    ['Euronext', 'NL0000235190', 'France', 'XPAR'],
    ['TSE', 'JP3633400001', '', 'XTKS'],
    ['BSE', 'INE002A01018', '', 'XBOM'],
    ['PSE', '', 'Philippines', 'XPHS'],
    ['NSE', 'NGDANGCEM008', '', 'XNSA'],
  ])(
    'whose name several exchanges share is the one in the country of the row: %s %s%s',
    async (venue, isin, country, mic) => {
      expect(await venueOf(venue, isin, country)).toBe(mic);
    },
  );

  test.each([
    ['MC.PA', 'Euronext', 'XPAR:MC'],
    ['MT.AS', 'Euronext', 'XAMS:MT'],
    ['7203.T', 'TSE', 'XTKS:7203'],
    ['500325.BO', 'BSE', 'XBOM:500325'],
    ['NASDAQ:AAPL', '', 'XNAS:AAPL'],
    ['EPA:MC', 'XPAR', 'XPAR:MC'],
    ['STO:AU', 'XASX', 'XASX:STO'],
    ['VIE:FP', 'XPAR', 'XPAR:VIE'],
    ['NYSE:SE', '', 'XNYS:SE'],
    ['NYSE: BRK.B', 'New York Stock Exchange', 'XNYS:BRK-B'],
    ['BSE:500325', 'XBOM', 'XBOM:500325'],
    ['TSE:7203', 'XTKS', 'XTKS:7203'],
  ])('may be named by the ticker: %s at "%s" is %s', async (symbol, venue, listing) => {
    const rows = ['venue,symbol,name', `${venue},${symbol},Acme`];
    const [record] = await read(rows, MAP_OF_THREE);
    const [place] = (record as Partial<BrandRecord>).listings ?? [];
    expect(`${place?.mic}:${place?.ticker}`).toBe(listing);
  });

  test('whose name several exchanges share is the one in the country that is set for all rows', async () => {
    const set = ['company.headquarters.country=Japan'];
    const [record] = await read(['venue,symbol,name', 'TSE,7203,Acme'], MAP_OF_THREE, { set });
    expect(record).toMatchObject({ listings: [{ ticker: '7203', mic: 'XTKS' }] });
  });

  test('that the ticker names is the one of the row, although another is set for all rows', async () => {
    const rows = ['venue,symbol,name', ',NYSE:ACM,Acme', ',ACN,Other'];
    const records = await read(rows, MAP_OF_THREE, { set: ['listings.mic=XNAS'] });
    expect(records).toMatchObject([{ id: 'xnys-acm' }, { id: 'xnas-acn' }]);
  });

  test.each([
    ['XNYS', 'VOD.L', 'XLON:VOD'],
    ['XNYS', 'MC.PA', 'XPAR:MC'],
    ['XNYS', 'VOD LN Equity', 'XLON:VOD'],
    ['XNYS', 'VOD:LN', 'XLON:VOD'],
    ['XNYS', 'ACM', 'XNYS:ACM'],
    ['XNYS', 'BRK.B', 'XNYS:BRK-B'],
    ['XNYS', 'MKC.V', 'XNYS:MKC-V'],
    ['XNYS', 'BF B', 'XNYS:BF-B'],
    ['XNYS', 'ICE:US', 'XNYS:ICE'],
    ['XNYS', 'V:US', 'XNYS:V'],
    ['XLON', 'AAPL:US', undefined],
    ['XDFM', 'EMAAR.DU', 'XDFM:EMAAR'],
    ['XBOG', 'ECOPETROL.CN', 'XBOG:ECOPETROL'],
    ['XTSE', 'REI UN', 'XTSE:REI-UN'],
    ['XMEX', 'AMX.L', 'XMEX:AMX-L'],
    [undefined, 'VIE:FP', undefined],
    [undefined, 'ICE:US', undefined],
  ])(
    'that is set for all rows, %s, is not that of a ticker which names another one: %s is %s',
    (mic, symbol, listing) => {
      const place = listingOfRow(symbol, mic, false);
      expect(place && `${place.mic}:${place.ticker}`).toBe(listing);
    },
  );

  test.each([
    ['NYSE:AAPL', 'XNAS', '"NYSE:AAPL" names another venue than XNAS: correct one of them'],
    ['TSE:7203', '', 'venue: the row names no exchange'],
    ['Moon:AAPL', '', 'venue: the row names no exchange'],
  ])('that contradicts the ticker is refused: %s at "%s"', async (symbol, venue, problem) => {
    expect(String(await read(['venue,symbol,name', `${venue},${symbol},Acme`], MAP_OF_THREE))).toContain(
      problem,
    );
  });

  test.each([
    ['TSE', '', 'XTSE or XTKS'],
    ['Euronext', 'NL0000235190', 'XDUB or XPAR or XAMS or XBRU or XLIS or XMIL or XOSL'],
  ])('is refused with the possible ones if the country does not tell: %s %s', async (venue, isin, mics) => {
    expect(await venueOf(venue, isin)).toBe(`2: venue: "${venue}" may be ${mics}: give a MIC`);
  });

  test.each(Object.entries(NAMES_OF_VENUES).flatMap(([mic, names]) => names.map((name) => [name, mic])))(
    'may have the name that sources write: %s is %s',
    async (name, mic) => {
      expect(await venueOf(name)).toBe(mic);
    },
  );

  test.each(['Nasdaq OMX Nordic', 'Nasdaq Nordic Growth', 'NASDAQ OMX'])(
    'of the Nordic countries is none of New York: %s',
    async (name) => {
      expect(await venueOf(name, 'SE0000108656')).toBe('XSTO');
      expect(await venueOf(name)).toContain('may be XSTO or XCSE or XHEL or XICE');
    },
  );

  test.each([
    'Growth Market',
    'NYSE, Hong Kong',
    'NASDAQ, Tel Aviv',
    'Board A',
    'Stock Exchange',
    'First North',
    'Nasdaq First North Growth Market',
  ])('is not known by words that say little: %s', async (name) => {
    expect(await venueOf(name, 'SE0000108656')).toContain('is not a known exchange');
  });

  test.each(['XLAT', 'IEXG', 'BATS', 'MISX', 'EQTB', 'xnys', 'XMIL'])('may be the MIC %s', async (mic) => {
    expect(await venueOf(mic)).toBe(mic.toUpperCase());
  });

  test.each(['MAIN', 'INDX', 'Xmas', 'xlat', 'Moon'])('is not any word of four letters: %s', async (word) => {
    expect(await venueOf(word)).toContain(`"${word}" is not a known exchange`);
  });
});

test.each([
  ['AAPL.O', 'XNAS', 'XNAS:AAPL'],
  ['MCD.N', 'XNYS', 'XNYS:MCD'],
  ['NESN.S', 'XSWX', 'XSWX:NESN'],
  ['VOD.L', 'XLON', 'XLON:VOD'],
  ['AAPL US Equity', 'XNAS', 'XNAS:AAPL'],
  ['BRK/B US', 'XNYS', 'XNYS:BRK-B'],
  ['7203.0', 'XTKS', 'XTKS:7203'],
  ['VOD LN Equity', undefined, 'XLON:VOD'],
  ['APC.DE', undefined, 'XETR:APC'],
  ['AAPL US', undefined, undefined],
  ['BRK.B', 'XNYS', 'XNYS:BRK-B'],
  ['BF/B', 'XNYS', 'XNYS:BF-B'],
  ['RDS A', 'XNYS', 'XNYS:RDS-A'],
  ['VOLV B', 'XSTO', 'XSTO:VOLV-B'],
  ['BEP.UN', 'XTSE', 'XTSE:BEP-UN'],
])('a ticker loses the code of its venue only, and keeps its class: %s on %s', (symbol, mic, listing) => {
  const read = readListing(symbol, mic);
  expect(read && `${read.mic}:${read.ticker}`).toBe(listing);
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
    expect.stringContaining('3: venue: the row names no exchange'),
  ]);
});

test('rows without the value of the joined column are joined to no row', async () => {
  const file = await fileOf('values.csv', 'code,value', 'AAA,7', ',5000000000', 'N/A,9');
  const records = await read(
    ['symbol,name', 'AAA,A', ',B', 'N/A,C'],
    'name=name,value=stock.market_cap_usd',
    {
      join: { file, column: 'symbol', otherColumn: 'code' },
    },
  );
  expect(records).toMatchObject([{ stock: { market_cap_usd: 7 } }, { name: 'B' }, { name: 'C' }]);
  for (const record of records.slice(1)) expect(record).not.toHaveProperty('stock');
});

test.each([
  [
    '0,845',
    /^2: price: "0,845" is not an amount of money: if its comma is a decimal one, give --decimal-comma$/,
  ],
  [
    '45,12',
    /^2: price: "45,12" is not an amount of money: if its comma is a decimal one, give --decimal-comma$/,
  ],
])('a number whose comma cannot separate thousands is refused: %s', async (price, problem) => {
  const [refused] = await read(['name;price', `Acme;${price}`], 'name=name,price=stock.price');
  expect(refused).toMatch(problem);
});

test.each([
  ['GBp', 'GBP', 0.705],
  ['GBX', 'GBP', 0.705],
  ['gbp', 'GBP', 70.5],
  ['ZAc', 'ZAR', 0.705],
])('prices in hundredths of a currency become prices in the currency: %s', async (unit, currency, price) => {
  const rows = ['name,price,currency,range', `Acme,70.5,${unit},"60 - 9,574.00"`];
  const records = await read(rows, 'name=name,price=stock.price,currency=stock.currency,range=stock.range');
  const range = price === 70.5 ? '60 - 9,574.00' : '0.6-95.74';
  expect(records).toMatchObject([{ stock: { price, currency, range } }]);
});

test('names that have the same Latin letters are not one record', async () => {
  const names = ['TCL科技', 'TCL电子', 'TCL', '!!!', '+'];
  const records = (await read(['name', ...names], 'name=name')) as { id: string }[];
  expect(new Set(records.map(({ id }) => id)).size).toBe(5);
  expect(records.map(({ id }) => id)).toEqual([
    expect.stringMatching(/^mine-tcl-[0-9a-f]{16}$/),
    expect.stringMatching(/^mine-tcl-[0-9a-f]{16}$/),
    'mine-tcl',
    expect.stringMatching(/^mine-[0-9a-f]{16}$/),
    expect.stringMatching(/^mine-[0-9a-f]{16}$/),
  ]);
});

test('a column that begins late in a file of JSON lines is read, and one that never comes is an error', async () => {
  const lines = Array.from({ length: 60 }, (_, at) => JSON.stringify({ name: `Acme ${at}` }));
  const file = await fileOf('late.ndjson', ...lines, '{"name":"Last","site":"last.example"}');
  const options = { ...CELLS, merge: false, idPrefix: '', source: 'mine', origin: { name: 'Mine' } };
  const readAll = (map: string) => allOf(readCsv(file, { ...options, mapping: readMapping([map], []) }));
  const items = await readAll('name=name,site=links.websites');
  expect(items.at(-1)).toHaveProperty('item.links.websites', ['https://last.example']);
  const join = { file, column: 'name', otherColumn: 'name' };
  const joined = await read(['name', 'Last'], 'name=name,site=links.websites', { join });
  expect(joined).toMatchObject([{ links: { websites: ['https://last.example'] } }]);
  await expect(readAll('name=name,web=links.websites')).rejects.toThrow(
    /there is no column "web": the columns are name \(.*late\.ndjson\)$/,
  );
});

test('a joined table has the encoding of the first table', async () => {
  const file = join(folder, 'cities.csv');
  await writeFile(file, Buffer.from('code;city\nAAA;Genève\n', 'latin1'));
  const records = await read(
    ['symbol,name,venue', 'AAA,A,NASDAQ'],
    'symbol=listings.ticker,name=name,venue=listings.mic,city=company.headquarters.city',
    { join: { file, column: 'symbol', otherColumn: 'code' }, encoding: 'windows-1252' },
  );
  expect(records).toMatchObject([{ company: { headquarters: { city: 'Genève' } } }]);
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

describe('a list of securities', () => {
  const HEADING = 'symbol,name,lastsale,netchange,pctchange,marketCap,country';
  const MAP =
    'symbol=listings.ticker,name=name,lastsale=stock.price,netchange=stock.change,pctchange=stock.change_percentage,' +
    'marketCap=stock.market_cap_usd,country=company.headquarters.country';
  const ON_NASDAQ = { set: ['listings.mic=XNAS'] };

  test('as an exchange writes it gives companies with their names, and figures with signs and zeros', async () => {
    const records = await read(
      [
        HEADING,
        'AACG,ATA Creativity Global American Depositary Shares,$0.97,-0.04,-3.96%,66410099.00,China',
        'NEWC,Newco Corp. Class A Common Stock (DE),$0.00,0.00,0.00%,0.00,United States',
        'LOSS,Loss Inc. Common Stock,"$1,234.50",($0.04),(3.96%),"1,000,000.00",',
      ],
      MAP,
      ON_NASDAQ,
    );
    expect(records).toMatchObject([
      {
        id: 'xnas-aacg',
        name: 'ATA Creativity Global',
        listings: [{ ticker: 'AACG', mic: 'XNAS' }],
        company: { headquarters: { country: 'China', country_code: 'CN' } },
        stock: { price: 0.97, change: -0.04, change_percentage: -3.96, market_cap_usd: 66_410_099 },
      },
      { name: 'Newco Corp.', stock: { change: 0, change_percentage: 0 } },
      {
        name: 'Loss Inc.',
        stock: { price: 1234.5, change: -0.04, change_percentage: -3.96, market_cap_usd: 1e6 },
      },
    ]);
    expect(records[1]).not.toHaveProperty('stock.price');
    expect(records[1]).not.toHaveProperty('stock.market_cap_usd');
  });

  test('makes shares companies, and every other security a record that says what it is', async () => {
    const counts: Record<string, number>[] = [];
    const records = await read(
      [
        'symbol,name,type',
        'ACME,Acme Inc. Common Stock,',
        'ACMEW,Acme Inc. Warrant,',
        'ACMER,Acme Inc. Right,',
        'ACMEU,Acme Inc. Units,',
        'ACMEP,Acme Inc. 6% Series A Preferred Stock,',
        'ACMEZ,Acme Inc. 7.25% Notes due 2030,',
        'ACMEN,Acme Inc.,',
        'AC^B,Acme Inc.,',
        'AC.PB,Acme Trust,ADR',
        'ACF,Acme Growth Fund,ETF',
        'ZXZZT,NASDAQ TEST STOCK,',
      ],
      'symbol=listings.ticker,name=name,type=listings.security',
      { ...ON_NASDAQ, onSecurities: (given) => counts.push(given) },
    );
    expect(records).toMatchObject([
      { id: 'xnas-acme', name: 'Acme Inc.', listings: [{ ticker: 'ACME' }] },
      { id: 'xnas-acmew-warrant', category: 'warrant', name: 'Acme Inc. Warrant' },
      { id: 'xnas-acmer-right', category: 'right', name: 'Acme Inc. Right' },
      { id: 'xnas-acmeu-unit', category: 'unit', name: 'Acme Inc. Units' },
      {
        id: 'xnas-acmep-preferred-share',
        category: 'preferred_share',
        name: 'Acme Inc. 6% Series A Preferred Stock',
      },
      { id: 'xnas-acmez-note', category: 'note', name: 'Acme Inc. 7.25% Notes due 2030' },
      { id: 'xnas-acmen-preferred-share', name: 'Acme Inc.' },
      { id: 'xnas-ac-pb-preferred-share', name: 'Acme Inc.', listings: [{ ticker: 'AC-PB' }] },
      { id: 'xnas-ac-pb', name: 'Acme Trust' },
      {
        id: 'xnas-acf',
        category: 'fund',
        name: 'Acme Growth Fund',
        listings: [{ ticker: 'ACF', mic: 'XNAS' }],
      },
      { id: 'xnas-zxzzt-test-issue', category: 'test_issue', name: 'NASDAQ TEST STOCK' },
    ]);
    const isOther = (record: unknown) => (record as { type?: string }).type === 'other_security';
    expect(records.map(isOther)).toEqual(records.map((_, index) => index !== 0 && index !== 8));
    expect(counts).toEqual([
      {
        warrants: 1,
        rights: 1,
        units: 1,
        'preferred shares': 3,
        'notes, bonds and hybrids': 1,
        'exchange-traded products': 1,
        'test listings': 1,
      },
    ]);
  });

  test('a row without a ticker keeps the identifiers of its share, and is no company if its security is none', async () => {
    const mapping = 'symbol=listings.ticker,name=name,isin=listings.isin,type=listings.security';
    const rows = await read(
      [
        'symbol,name,isin,type',
        ',Apple Inc. Common Stock,US0378331005,Equity',
        '-,Vanguard 500 Index Fund,US9229087104,',
        ',Cash,,Cash',
        ',ISHARES TR,US4642872000,',
        ',Acme Warrants,,',
      ],
      mapping,
      ON_NASDAQ,
    );
    expect(rows).toMatchObject([
      { id: 'isin-us0378331005', name: 'Apple Inc.', stock: { isin: 'US0378331005' } },
      '3 skipped: "Vanguard 500 Index Fund" is no company',
      '4 skipped: "Cash" is no company',
      '5 skipped: "ISHARES TR" is no company',
      { name: 'Acme Warrants' },
    ]);
  });

  test('a column of yes and no says what a row is, whatever its name', async () => {
    const file = await fileOf(
      'nasdaq-traded.csv',
      'Symbol,Security Name,ETF,Test Issue',
      'ARKX,Space Exploration,Y,N',
      'ACME,Acme Inc. Common Stock,N,N',
      'ZTST,Acme Inc.,N,Y',
    );
    const { map } = await proposeMapping(file);
    expect(map.filter(({ field }) => field === 'listings.security')).toEqual([
      { column: 'ETF', field: 'listings.security' },
      { column: 'Test Issue', field: 'listings.security' },
    ]);
    const mapping = { columns: map, constants: [{ field: 'listings.mic', text: 'XNAS' }] };
    const reads = await allOf(
      readCsv(file, { ...CELLS, mapping, merge: false, idPrefix: '', source: 'mine', origin: { name: 'A' } }),
    );
    expect(reads.map((each) => 'item' in each && [each.item.id, each.item.category])).toEqual([
      ['xnas-arkx', 'fund'],
      ['xnas-acme', ''],
      ['xnas-ztst-test-issue', 'test_issue'],
    ]);
  });

  test('has one record for the classes of a company, with the same id in any order of rows', async () => {
    const rows = [
      'GOOGL,Alphabet Inc. Class A Common Stock,United States',
      'GOOG,Alphabet Inc. Class C Capital Stock,United States',
      'LBTYK,Liberty Global Ltd. Class C Common Shares,Bermuda',
      'LBTYA,Liberty Global Ltd. Class A Common Shares,Bermuda',
      'LBTYB,Liberty Global Ltd. Class B Common Shares,Bermuda',
      'UA,Under Armour Inc.,United States',
      'UAA,Under Armour Inc.,United States',
      'BRK/B,Berkshire Hathaway Inc.,United States',
      'BRK/A,Berkshire Hathaway Inc.,United States',
      'GEF,Greif Inc. Class A Common Stock,United States',
      'GEF.B,"Greif, Inc. Corporation Class B Common Stock",United States',
      'UBA,Urstadt Biddle Properties Inc. Common Stock,United States',
      'UBP,Urstadt Biddle Properties Inc. Common Stock,United States',
      'FCAP,First Capital Inc. Common Stock,United States',
      'XYZ,First Capital Inc. Common Stock,United States',
      'CAN,First Capital Inc. Common Shares,Canada',
    ];
    const map = 'symbol=listings.ticker,name=name,country=company.headquarters.country';
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(rows, { minLength: rows.length }), async (shuffled) => {
        const records = (await read(['symbol,name,country', ...shuffled], map, ON_NASDAQ)) as {
          id: string;
          name: string;
          listings: { ticker: string }[];
        }[];
        expect(
          records
            .map(({ id, name, listings }) => [id, name, ...listings.map(({ ticker }) => ticker).sort()])
            .sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
        ).toEqual([
          ['xnas-brk-a', 'Berkshire Hathaway Inc.', 'BRK-A', 'BRK-B'],
          ['xnas-can', 'First Capital Inc.', 'CAN'],
          ['xnas-fcap', 'First Capital Inc.', 'FCAP'],
          ['xnas-gef', 'Greif Inc.', 'GEF', 'GEF-B'],
          ['xnas-goog', 'Alphabet Inc.', 'GOOG', 'GOOGL'],
          ['xnas-lbtya', 'Liberty Global Ltd.', 'LBTYA', 'LBTYB', 'LBTYK'],
          ['xnas-ua', 'Under Armour Inc.', 'UA', 'UAA'],
          ['xnas-uba', 'Urstadt Biddle Properties Inc.', 'UBA', 'UBP'],
          ['xnas-xyz', 'First Capital Inc.', 'XYZ'],
        ]);
      }),
      { numRuns: 30 },
    );
  });

  test('groups no rows of a name that more tickers have than a company has classes', async () => {
    const rows = Array.from({ length: 2_000 }, (_, index) => `ACM${index},Acme Structured Products`);
    const records = await read(['symbol,name', ...rows], 'symbol=listings.ticker,name=name', ON_NASDAQ);
    expect(records).toHaveLength(rows.length);
  });

  test('with two rows for one ticker keeps both, so that the import refuses the second', async () => {
    const records = await read(
      ['symbol,name', 'ACM,Acme Inc. Common Stock', 'ACM,Acme Inc. Class B Common Stock'],
      'symbol=listings.ticker,name=name',
      ON_NASDAQ,
    );
    expect(records).toMatchObject([{ id: 'xnas-acm' }, { id: 'xnas-acm' }]);
  });

  test('reads the letters and symbols of NASDAQ Trader, and skips what its columns say is no company', async () => {
    const counts: Record<string, number>[] = [];
    const records = await read(
      [
        'Symbol|Security Name|Listing Exchange|ETF|Test Issue|NextShares',
        'A|Agilent Technologies, Inc. Common Stock|N|N|N|N',
        'BRK.B|Berkshire Hathaway Inc. Class B|N|N|N|N',
        'APT|Alpha Pro Tech, Ltd.|A|N|N|N',
        'CBOE|Cboe Global Markets, Inc.|Z|N|N|N',
        'IEX|Listed Company Inc.|V|N|N|N',
        'GOOD|Good Inc.|P| |N|N',
        'NA|Nano Labs Ltd|Q|N|N|N',
        'SPY|SPDR S&P 500|P|Y|N|N',
        'EVT|Eaton Vance Trust|Q|N|N|Y',
        'CBX|CBX (Listing Market NYSE)|N|N|Y|N',
        'AAM$A|Apollo|N|N|N|N',
        'AAMpB|Apollo|N|N|N|N',
        'ABR^D|Arbor|N|N|N|N',
        'AAC.W|Ares|N|N|N|N',
        'AAC.WS|Ares|N|N|N|N',
        'AAC.U|Ares|N|N|N|N',
        'AXACr|Axios|A|N|N|N',
        'File Creation Time: 0209202311:02|||||',
      ],
      'Symbol=listings.ticker,Security Name=name,Listing Exchange=listings.mic,ETF=listings.security,' +
        'Test Issue=listings.security,NextShares=listings.security',
      { onSecurities: (given) => counts.push(given) },
    );
    expect(records.filter((each) => typeof each === 'string')).toEqual([
      expect.stringContaining('is no row of the table'),
    ]);
    const companies = (records as BrandRecord[]).filter(({ type }) => type !== 'other_security');
    const listings = companies.flatMap((each) => each.listings ?? []);
    expect(listings.map((each) => `${each.mic}:${each.ticker}`)).toEqual(
      'XNYS:A XNYS:BRK-B XASE:APT BATS:CBOE IEXG:IEX ARCX:GOOD XNAS:NA'.split(' '),
    );
    expect(counts).toEqual([
      {
        'exchange-traded products': 2,
        'test listings': 1,
        'preferred shares': 3,
        warrants: 2,
        units: 1,
        rights: 1,
      },
    ]);
  });

  test('loses only the row whose listing is wrong, and not the company of its other rows', async () => {
    const rows = [
      'ACMA,Acme Inc. Class A,US0378331005',
      'ACM,Acme Inc. Class B,US0378331006',
      'ACM+?,Acme Inc. Class C,',
    ];
    for (const each of [rows, rows.toReversed()])
      expect(
        await read(
          ['symbol,name,isin', ...each],
          'symbol=listings.ticker,name=name,isin=listings.isin',
          ON_NASDAQ,
        ),
      ).toEqual(
        expect.arrayContaining([
          expect.stringContaining('listings[0].isin is not an ISIN'),
          expect.stringContaining('listings[0].ticker'),
          expect.objectContaining({
            name: 'Acme Inc.',
            listings: [expect.objectContaining({ ticker: 'ACMA' })],
          }),
        ]),
      );
  });

  test('refuses a row whose column gives no venue with the way to leave it out, which works', async () => {
    const rows = ['symbol,name,exchange', 'A,Acme,NYSE', 'B,Blue,', 'C,Cane,-'];
    const map = 'symbol=listings.ticker,name=name,exchange=listings.mic';
    const refusal = expect.stringContaining(
      "exchange: the row names no exchange: leave out such rows with --skip 'exchange='",
    );
    expect(await read(rows, map)).toEqual([expect.anything(), refusal, refusal]);
    expect(await read(['symbol,name,exchange', 'A,Acme,Moon Exchange'], map)).toEqual([
      '2: exchange: "Moon Exchange" is not a known exchange: write a market identifier code (ISO 10383)',
    ]);
    const left = await read(rows, map, { skip: readConditions(['exchange=']) });
    expect(left.slice(1)).toEqual([
      '3 skipped: --skip: exchange is ""',
      '4 skipped: --skip: exchange is "-"',
    ]);
  });
});

test('rows that --skip and --only leave out are skipped with the reason', async () => {
  const rows = ['name,kind,test', 'A,Common  Stock,N', 'B,Bond,N', 'C,COMMON stock,Y', 'D,ADR,n', 'E,,N'];
  const select = (skip: string[], only: string[]) =>
    read(rows, 'name=name', { skip: readConditions(skip), only: readConditions(only) });
  const names = (read: unknown[]) =>
    read.map((each) => (typeof each === 'string' ? each : (each as BrandRecord).name));
  expect(names(await select(['test=Y'], ['kind=common stock', 'kind=adr', 'test=n']))).toEqual([
    'A',
    '3 skipped: --only: kind is "Bond"',
    '4 skipped: --skip: test is "Y"',
    'D',
    '6 skipped: --only: kind is ""',
  ]);
  expect(names(await select(['kind='], []))).toEqual(['A', 'B', 'C', 'D', '6 skipped: --skip: kind is ""']);
  await expect(select(['sort=x'], [])).rejects.toThrow(/no column "sort": the columns are name, kind, test/);
  expect(() => readConditions(['test'])).toThrow(/"test" is not valid: write column=value/);
});

test.each<[cell: string, sites: string[] | RegExp]>([
  ['acme.example', ['https://acme.example']],
  [' HTTP://www.acme.example/en ', ['http://www.acme.example/en']],
  ['www.acme.example; http://acme.de', ['https://www.acme.example', 'http://acme.de']],
  ['acme.com,acme.de', ['https://acme.com', 'https://acme.de']],
  ['acme.com, www.acme.de / acme.fr', ['https://acme.com', 'https://www.acme.de', 'https://acme.fr']],
  ['Visit www.acme.com (English).', ['https://www.acme.com']],
  ['https:// www.acme.com', ['https://www.acme.com']],
  ['https://www.acme.com/a,b?c=d@e', ['https://www.acme.com/a,b?c=d@e']],
  ['acme.com:8080 acme.com:8080', ['https://acme.com:8080']],
  ['bücher.de', ['https://bücher.de']],
  ['пример.рф', ['https://пример.рф']],
  ['N/A', []],
  ['none', []],
  ['www,acme.com', /"www,acme.com" is no web address: correct it/],
  ['www.acme,com', /is no web address/],
  ['www.acme', /is no web address/],
  ['acme..com', /is no web address/],
  ['http//acme.com', /is no web address/],
  ['http:/acme.com', /is no web address/],
  ['https://https://acme.com', /is no web address/],
  ['htp://acme.com', /is no web address/],
  ['ftp://acme.com', /is no web address/],
  ['http://localhost', /is no web address/],
  ['http://192.168.0.1/', /is no web address/],
  ['Acme', /is no web address/],
  ['info@acme.com', /is an e-mail address, not a website/],
  ['https://acme.com info@acme.com', /is an e-mail address/],
  [`acme.com ${'x'.repeat(6_000)}`, /is longer than a list of websites/],
])('the websites in a cell are addresses that a browser opens, or it is refused: %s', async (cell, sites) => {
  const [record] = await read(['name;site', `Acme;"${cell}"`], 'name=name,site=links.websites');
  if (sites instanceof RegExp) expect(record).toMatch(sites);
  else
    expect(record).toEqual({
      id: expect.anything(),
      name: 'Acme',
      sources: expect.anything(),
      ...(sites.length > 0 && { links: { websites: sites } }),
    });
});

test.each(
  '- -- — … . ? *** n/a N/A #N/A (null) k.A. nicht\u00a0verfügbar 暂无 なし null None NaN NA nil unknown'.split(
    ' ',
  ),
)('a cell that says that there is nothing gives no value: %s', async (cell) => {
  const records = await read(
    ['name,sector,isin,price,country,ceo', `Acme,${[cell, cell, cell, cell, cell].join(',')}`],
    'name=name,sector=company.sector,isin=stock.isin,price=stock.price,country=company.headquarters.country,ceo=company.ceo',
  );
  expect(records).toEqual([{ id: 'mine-acme', name: 'Acme', sources: [{ name: 'My table' }] }]);
});

test.each([
  ['country', 'SK', { country: 'Slovakia', country_code: 'SK' }],
  ['country', 'Slovakia', { country: 'Slovakia', country_code: 'SK' }],
  ['country_code', 'SK', { country: 'Slovakia', country_code: 'SK' }],
  ['country', 'Österreich', { country: 'Austria', country_code: 'AT' }],
  ['country', 'BELGIQUE', { country: 'Belgium', country_code: 'BE' }],
  ['country', '日本', { country: 'Japan', country_code: 'JP' }],
  ['country', 'USA', { country: 'United States', country_code: 'US' }],
  ['country', 'Kongo', { country: 'Kongo' }],
  ['country_code', 'Szwajcaria', { country: 'Switzerland', country_code: 'CH' }],
  ['country', 'Ruritania', { country: 'Ruritania' }],
  ['country', 'ZZ', { country: 'ZZ' }],
])(
  'a country has its name and its code, whichever the table states: %s %s',
  async (field, cell, headquarters) => {
    const [record] = await read(
      ['name,where', `Acme,${cell}`],
      `name=name,where=company.headquarters.${field}`,
    );
    expect(record).toMatchObject({ company: { headquarters } });
  },
);

test('a second row with an ISIN is refused with the option that joins rows of one company', async () => {
  const isin = 'NL00150001Q9';
  for (const [columns, advice] of [
    [
      'isin=stock.isin',
      /^the id "isin-nl00150001q9" occurs twice in this import: give each record its own id, or join rows of one company by --merge$/,
    ],
    ['', /^the id "mine-acme" occurs twice in this import: give each record its own id$/],
  ] as const) {
    const file = await fileOf('twice.csv', 'name,isin', `Acme,${isin}`, `Acme,${isin}`);
    const mapping = readMapping(
      ['name=name', columns].filter((each) => each !== ''),
      [],
    );
    const journal = { counts: { read: 0 }, refuse: vi.fn<ImportJournal['refuse']>() };
    const rows = readCsv(file, {
      ...CELLS,
      mapping,
      merge: false,
      idPrefix: '',
      source: 'mine',
      origin: { name: 'Mine' },
    });
    await allOf(batchesOf(rows, ({ id }) => id, journal as unknown as ImportJournal, undefined));
    expect(journal.refuse.mock.calls).toEqual([
      [expect.objectContaining({ reason: expect.stringMatching(advice) })],
    ]);
  }
});

describe('rows of one company that are merged', () => {
  const MAP = 'no=id,name=name,ticker=listings.ticker,mic=listings.mic,isin=listings.isin';
  const merged = (...rows: string[]) => read(['no,name,ticker,mic,isin', ...rows], MAP, { merge: true });

  test('give its share at another venue, which is not found by its ticker alone', async () => {
    const [record] = await merged('7,Acme,ACM,XNAS,US0378331005', '7,Acme,ACX,XETR,US0378331005');
    expect(record).toHaveProperty('listings', [
      { ticker: 'ACM', mic: 'XNAS', isin: 'US0378331005' },
      { ticker: 'ACX', mic: 'XETR', isin: 'US0378331005' },
    ]);
  });

  test('fill the gaps of a listing, and identifiers that have no place are reported', async () => {
    const [contradicting, further, record] = await merged(
      '7,Acme,ACM,XNAS,',
      '7,Acme,ACM,XNAS,US0378331005',
      '7,Acme,ACM,XNAS,GB0007188757',
      '7,Acme,,,US5949181045',
    );
    expect(record).toHaveProperty('listings', [{ ticker: 'ACM', mic: 'XNAS', isin: 'US0378331005' }]);
    expect(record).not.toHaveProperty('stock');
    expect(contradicting).toMatch(/^4 skipped: GB0007188757: .*:2 has another one$/);
    expect(further).toMatch(/^5 skipped: US5949181045: .*:2 has another one$/);
  });

  test('give a company without a ticker its identifiers', async () => {
    const [record] = await merged('7,Acme,,,', '7,Acme,,,US0378331005');
    expect(record).toHaveProperty('stock', { isin: 'US0378331005' });
  });
});

test('"NA" is the code of Namibia', async () => {
  const [record] = await read(['name,code', 'Acme,NA'], 'name=name,code=company.headquarters.country_code');
  expect(record).toMatchObject({ company: { headquarters: { country_code: 'NA' } } });
});

test.each<[cell: string, day: string | RegExp, order?: 'dmy' | 'mdy']>([
  ['2026-08-21', '2026-08-21'],
  ['2026-08-21T20:00:00Z', '2026-08-21'],
  ['2026/8/1 00:00', '2026-08-01'],
  ['20260821', '2026-08-21'],
  ['21.08.2026', '2026-08-21'],
  ['3.4.2026', '2026-04-03'],
  ['21/08/2026', '2026-08-21'],
  ['8/21/2026', '2026-08-21'],
  ['4/4/2026', '2026-04-04'],
  ['3/4/2026', '2026-04-03', 'dmy'],
  ['3/4/2026', '2026-03-04', 'mdy'],
  ['3-4-2026', '2026-03-04', 'mdy'],
  ['06-OCT-2008', '2008-10-06'],
  ['21 Aug 2026', '2026-08-21'],
  ['Aug 1st, 2026', '2026-08-01'],
  ['46255', '2026-08-21'],
  ['46255.5', '2026-08-21'],
  ['29.02.2024', '2024-02-29'],
  ['3/4/2026', /is one of two days: write YYYY-MM-DD, or give --date-order/],
  ['03-04-2026', /is one of two days/],
  ['29.02.2023', /is no day of the calendar/],
  ['2026-13-01', /is no day of the calendar/],
  ['8.21.2026', /is no day of the calendar/],
  ['31/31/2026', /is no day of the calendar/],
  ['21 Foo 2026', /is no day of the calendar/],
  ['21/08/26', /has a year of two digits/],
  ['21-Aug-26', /has a year of two digits/],
  ['soon', /is not a date: write YYYY-MM-DD/],
])('a date is a day of the calendar, or it is refused: %s is %s', async (cell, day, dateOrder) => {
  const [record] = await read(['name;ipo', `Acme;${cell}`], 'name=name,ipo=stock.ipo_date', { dateOrder });
  if (day instanceof RegExp) expect(record).toMatch(day);
  else expect((record as BrandRecord).stock?.ipo_date).toBe(day);
});

test.each([
  ['1949 (1921)', '1949 (1921)'],
  ['1949', '1949'],
  ['around 1900', 'around 1900'],
  ['15 May 1932', '1932-05-15'],
])('a founding is free text, in which a day is a date: %s', async (cell, founded) => {
  const [record] = await read(['name;since', `Acme;${cell}`], 'name=name,since=company.founded');
  expect((record as BrandRecord).company?.founded).toBe(founded);
});

describe('a mapping', () => {
  test('in a file is a JSON object, or a column and its field on each line', () => {
    const columns = [
      { column: 'Symbol', field: 'listings.ticker' },
      { column: 'Name, legal', field: 'name' },
    ];
    expect(readMappingFile('{"Symbol": "listings.ticker", "Name, legal": "name"}', 'map.json')).toEqual(
      columns,
    );
    expect(readMappingFile('# my list\nSymbol=listings.ticker\r\n\nName, legal = name\n', 'map.txt')).toEqual(
      columns,
    );
  });

  test.each([
    ['{"Symbol": "ticker"}', /"ticker" is not a field/],
    ['{"Symbol": 5}', /"5" is not a field/],
    ['{"Symbol"', /map is not JSON/],
    ['Symbol', /"Symbol" is not valid/],
  ])('in a file that is wrong is refused: %s', (text, message) => {
    expect(() => readMappingFile(text, 'map')).toThrow(message);
  });

  test('of a column whose name has a comma needs no other option', async () => {
    expect(await read(['"Name, legal",x', 'Acme,1'], 'Name, legal=name')).toMatchObject([{ name: 'Acme' }]);
  });

  test.each<[heading: string, map: Record<string, string>]>([
    [
      'symbol,name,lastsale,netchange,pctchange,marketCap,country,sector,industry',
      {
        symbol: 'listings.ticker',
        name: 'name',
        lastsale: 'stock.price',
        netchange: 'stock.change',
        pctchange: 'stock.change_percentage',
        marketCap: 'stock.market_cap_usd',
        country: 'company.headquarters.country',
        sector: 'company.sector',
        industry: 'company.industry',
      },
    ],
    [
      'Symbol;Security;GICS Sector;GICS Sub-Industry;Headquarters Location;Date added;Founded',
      {
        Symbol: 'listings.ticker',
        Security: 'name',
        'GICS Sector': 'company.sector',
        'GICS Sub-Industry': 'company.industry',
        'Headquarters Location': 'company.headquarters',
        Founded: 'company.founded',
      },
    ],
    [
      'Firma;Land;Ort;Webseite',
      {
        Firma: 'name',
        Land: 'company.headquarters.country',
        Ort: 'company.headquarters.city',
        Webseite: 'links.websites',
      },
    ],
    [
      'NAMEOFISSUER\tTITLEOFCLASS\tCUSIP\tVALUE',
      { NAMEOFISSUER: 'name', TITLEOFCLASS: 'listings.security', CUSIP: 'listings.cusip' },
    ],
    [
      'TICKER,Company Name,Security Name,ISIN,Exchange',
      {
        TICKER: 'listings.ticker',
        'Company Name': 'name',
        ISIN: 'listings.isin',
        Exchange: 'listings.mic',
      },
    ],
    [
      'Nasdaq Traded|Symbol|Security Name|Listing Exchange|Market Category|ETF|Test Issue|NextShares',
      {
        Symbol: 'listings.ticker',
        'Security Name': 'name',
        'Listing Exchange': 'listings.mic',
        ETF: 'listings.security',
        'Test Issue': 'listings.security',
        NextShares: 'listings.security',
      },
    ],
    ['colour,size', {}],
  ])('is proposed by the names of columns: %s', async (heading, map) => {
    const { map: proposed } = await proposeMapping(await fileOf('heading.csv', heading));
    expect(Object.fromEntries(proposed.map(({ column, field }) => [column, field]))).toEqual(map);
  });

  test('is proposed with the venue and the date that the file is named after', async () => {
    const file = await fileOf('nasdaq-2026-08-21.csv', 'symbol,name', 'AAPL,Apple Inc. Common Stock');
    expect(await proposeMapping(file)).toMatchObject({ mic: 'XNAS', date: '2026-08-21' });
    for (const name of ['mine.csv', 'data-set.csv', 'every_bit.csv', 'euronext.csv', 'tse.csv'])
      expect(await proposeMapping(await fileOf(name, 'symbol,name'))).toMatchObject({
        mic: undefined,
        date: undefined,
      });
  });
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
  ['Korea (South)', { country: 'South Korea', country_code: 'KR' }],
  ['Brazzaville, Congo', { city: 'Brazzaville', state: 'Congo' }],
  ['München, Deutschland', { city: 'München', country: 'Germany', country_code: 'DE' }],
  ['Diss, Norfolk', { city: 'Diss', state: 'Norfolk' }],
  ['Munich, Bavaria', { city: 'Munich', state: 'Bavaria' }],
  ['Tokyo', { city: 'Tokyo' }],
  [
    'One Apple Park Way, Cupertino, CA 95014, United States',
    { country: 'United States', country_code: 'US' },
  ],
  ['1 Main Street, Springfield', {}],
  [
    '191 Peachtree Street, Atlanta, Georgia',
    { state: 'Georgia', country: 'United States', country_code: 'US' },
  ],
  ['', {}],
])('a place is read into its parts: %s', (text, place) => {
  expect(readPlace(text)).toEqual(place);
});

test('an address that tells no part of a place is left out', async () => {
  const rows = ['name,hq', 'Acme,"1 Main Street, Springfield"'];
  const [record] = await read(rows, 'name=name,hq=company.headquarters');
  expect(record).toMatchObject({ name: 'Acme' });
  expect(record).not.toHaveProperty('company');
});

test('a row that has nothing but a picture is refused with a reason', async () => {
  expect(await read(['Ticker,Logo', ',./logo.svg'], 'Ticker=id,Logo=images.logo')).toEqual([
    expect.stringMatching(/^2: .*name/),
  ]);
});

test('a table that must be kept and does not fit into the memory ends with a reason', async () => {
  const rows = Array.from({ length: 5_000 }, (_, number) => `A${number.toString(36)},Acme ${number}`);
  const columns = 'Ticker=listings.ticker,Name=name';
  const reading = read(['Ticker,Name', ...rows], columns, { set: ['listings.mic=XNAS'], memoryMib: 1 });
  await expect(reading).rejects.toThrow(/does not fit into 1 MiB of memory: .*--memory/);
});
