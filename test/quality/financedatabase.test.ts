import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { recordFromBytes } from '@brand-data/catalog/src/records/merge.ts';
import { type Brand, BrandType } from '@brand-data/contracts';
import { rankOfMarketCapClass } from '@brand-data/identifiers';
import { readFinanceDatabase } from '@brand-data/importers';
import { readRecord, recordFromBrand } from '@brand-data/records';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { MemoryCatalogue } from './memory-catalogue.ts';

const COLUMNS = [
  'symbol',
  'name',
  'summary',
  'currency',
  'sector',
  'industry_group',
  'industry',
  'exchange',
  'mic',
  'market',
  'country',
  'state',
  'city',
  'zipcode',
  'website',
  'market_cap',
  'isin',
  'cusip',
  'figi',
  'composite_figi',
  'shareclass_figi',
  'delisted',
] as const;

/** The cells of a row. All other columns are empty. `figi` is the FIGI of the share class, `venueFigi` that of the venue. */
type Facts = { [Column in (typeof COLUMNS)[number]]?: string } & {
  symbol: string;
  figi?: string;
  venueFigi?: string;
};

const line = ({ figi = '', venueFigi = '', ...facts }: Facts): string =>
  COLUMNS.map((column) =>
    column === 'shareclass_figi' ? figi : column === 'figi' ? venueFigi : (facts[column] ?? ''),
  )
    .map((field) => (/[",\n]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(',');
const csv = (rows: readonly Facts[]): string => [COLUMNS.join(','), ...rows.map(line), ''].join('\n');

let folder: string;
let folders = 0;
beforeAll(async () => {
  folder = await temporaryFolder();
});
async function written(files: Record<string, string | Uint8Array>): Promise<string> {
  const dir = join(folder, String(++folders));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(dir, name, '..'), { recursive: true });
    await writeFile(join(dir, name), content);
  }
  return dir;
}

interface Result {
  brands: Brand[];
  problems: { from: string; problem: string; raw?: string | undefined }[];
  skipped: { from: string; skipped: string }[];
  /** The tickers of other securities, each with what it is. */
  others: string[];
}

/** Imports the files of a folder into a catalogue, and returns its companies and what the importer refused. */
async function read(dir: string): Promise<Result> {
  const result: Result = { brands: [], problems: [], skipped: [], others: [] };
  const listings: Brand[] = [];
  for await (const each of readFinanceDatabase(dir)) {
    if ('item' in each) {
      listings.push(each.item);
      if (each.item.type === BrandType.OTHER_SECURITY)
        result.others.push(`${each.item.listings[0]?.ticker} ${each.item.category}`);
    } else if ('skipped' in each) result.skipped.push(each);
    else result.problems.push(each);
  }
  const catalogue = new MemoryCatalogue();
  const { refused } = await catalogue.put('financedatabase', listings);
  expect(refused).toEqual([]);
  for (const { brand } of catalogue.docs()) result.brands.push(recordFromBytes(brand));
  return result;
}

const readRows = async (...rows: Facts[]): Promise<Result> => read(await written({ 'ALL.csv': csv(rows) }));

/** Returns the listings of each company as a text such as "KES@XLON KMN@XBER", sorted. */
const companies = ({ brands }: Result): string[] =>
  brands
    .map(({ listings }) =>
      listings
        .map(({ ticker, mic }) => `${ticker}@${mic}`)
        .sort()
        .join(' '),
    )
    .sort();

const KESTREL: Facts = {
  symbol: 'KES.L',
  name: 'Kestrel Mining plc',
  summary:
    'Kestrel Mining plc mines copper in Cornwall. The company was formerly known as Tinners Ltd. and changed its name to Kestrel Mining plc in May 2009.',
  currency: 'GBP',
  sector: 'Materials',
  industry: 'Metals & Mining',
  country: 'United Kingdom',
  city: 'Truro',
  website: 'http://www.kestrelmining.example.com',
  market_cap: 'Mid Cap',
  isin: 'GB00B0000018',
  figi: 'BBG001KSTRL9',
};
const IN_BERLIN: Facts = {
  symbol: 'KMN.BE',
  name: 'KESTREL MNG  LS -,05',
  figi: 'BBG001KSTRL9',
  country: 'Norway',
};

test.each([
  ['Gold Corp. and changed its name to Kestrel Mining plc', []],
  ['All Co., Ltd. and changed its name', []],
  ['K.K. Tinners and changed its name', []],
  ['Tinners Ltd. changed its name to Kestrel Mining plc in 2009, and', []],
  ['Tinners Ltd.) is a miner of copper. It', []],
  ['3T Tinners Ltd. and changed its name', ['3T Tinners Ltd.']],
])('a description that says "formerly known as %s" gives the former names %j', async (text, formerly) => {
  const summary = `Kestrel Mining plc mines copper. The company was formerly known as ${text} in May 2009. It has 9 pits.`;
  const { brands } = await readRows({ ...KESTREL, summary });
  expect(brands.map(({ history }) => history?.formerly ?? [])).toEqual([formerly]);
});

test('listings with one FIGI and abbreviated names are one valid record, with the name as it is spelled at home', async () => {
  const { brands, problems } = await readRows(IN_BERLIN, KESTREL);
  expect(problems).toEqual([]);
  expect(brands).toMatchObject([
    {
      id: 'xber-kmn',
      name: 'Kestrel Mining plc',
      rank: 660,
      listings: [
        { ticker: 'KES', mic: 'XLON', isin: 'GB00B0000018' },
        { ticker: 'KMN', mic: 'XBER' },
      ],
      company: { headquarters: { city: 'Truro', country: 'United Kingdom', countryCode: 'GB' } },
      history: { formerly: ['Tinners Ltd.'] },
      stock: { exchange: 'LSE', isin: 'GB00B0000018', currency: 'GBP', isActivelyTrading: true },
      sources: [{ name: 'FinanceDatabase', licence: 'MIT' }],
    },
  ]);
  for (const brand of brands) expect(readRecord(recordFromBrand(brand))).not.toHaveProperty('problems');
});

test('an identifier on the wrong company joins nothing', async () => {
  const wrong: Facts = {
    symbol: 'KMN.TO',
    name: 'Komodo Networks Inc.',
    country: 'Canada',
    isin: 'CA5005000016',
    figi: 'BBG001KSTRL9',
  };
  const result = await readRows(KESTREL, IN_BERLIN, wrong);
  expect(companies(result)).toEqual(['KES@XLON KMN@XBER', 'KMN@XTSE']);
});

test('if identifiers conflict, the names decide', async () => {
  const receipt: Facts = {
    symbol: 'KESN.MX',
    name: 'Kestrel Mining',
    isin: 'US4920000019',
    figi: 'BBG001KSTRL9',
  };
  const { brands } = await readRows(KESTREL, receipt);
  expect(brands).toHaveLength(1);
});

describe('a company’s other securities are told from its shares by what they are', () => {
  const bank = { name: 'Banco Harbour Limited', country: 'Australia', city: 'Sydney' };

  test('any number of notes with the company’s name in Sydney leaves the share with its company', async () => {
    const notes = 'DEFGHIJ'.split('').map((letter) => ({ ...bank, symbol: `BHBP${letter}.AX` }));
    const result = await readRows(...notes, { ...bank, symbol: 'BHB.AX' }, { ...bank, symbol: 'GSBI28.AX' });
    expect(companies(result)).toEqual(['BHB@XASX']);
    const codes = [...notes, { symbol: 'GSBI28.AX' }].map(({ symbol }) => symbol.replace('.AX', ''));
    expect(result.others).toEqual(codes.map((code) => `${code} note`));
  });

  test('bonds in Paris, which have long codes, leave the share with its company', async () => {
    const credit = { name: 'Crédit du Port S.A.', country: 'France', city: 'Nantes' };
    const bonds = 'ABCDEFGH'.split('').map((letter) => ({ ...credit, symbol: `CDPA${letter}.PA` }));
    const result = await readRows(
      ...bonds,
      { ...credit, symbol: 'CDP.PA' },
      { ...credit, symbol: 'CDPNV.PA' },
      { ...credit, symbol: 'CDPBS.PA' },
      { symbol: 'ALPHA.PA', name: 'Alphaport', country: 'France' },
    );
    expect(companies(result)).toEqual(['ALPHA@XPAR', 'CDP@XPAR CDPNV@XPAR']);
    expect(result.others).toHaveLength(9);
  });

  test('options and exchange-traded notes in Seoul are no listings, and a preferred share is never the main one', async () => {
    const steel = { name: 'Hanbit Steel Co., Ltd.', country: 'South Korea', city: 'Pohang' };
    const result = await readRows(
      { ...steel, symbol: '012345.KS' },
      { ...steel, symbol: '01234K.KS' },
      { ...steel, symbol: '012340.KS' },
      ...['52G221', '57GD10', '500020'].map((code) => ({ ...steel, symbol: `${code}.KS` })),
    );
    expect(result.brands.map(({ listings }) => listings.map(({ ticker }) => ticker))).toEqual([
      ['012340', '012345', '01234K'],
    ]);
    expect(result.others).toEqual(['52G221 warrant', '57GD10 warrant', '500020 note']);
  });

  test('two issuers’ codes in Seoul are two companies, even if a row has the other’s name', async () => {
    const name = { name: 'Hanbit Co., Ltd.', country: 'South Korea', city: 'Seoul' };
    const result = await readRows({ ...name, symbol: '012340.KS' }, { ...name, symbol: '056780.KS' });
    expect(companies(result)).toEqual(['012340@XKRX', '056780@XKRX']);
  });

  test('where many tickers lengthen one, the one is the share', async () => {
    const ports = { name: 'Harbour Ports AG', country: 'Switzerland', city: 'Basel' };
    const result = await readRows(
      { ...ports, symbol: 'HPO.SW' },
      ...['1', '2', '3', '4', '5', '6'].map((end) => ({ ...ports, symbol: `HPO2${end}.SW` })),
    );
    expect(companies(result)).toEqual(['HPO@XSWX']);
  });

  test('a name on many unrelated tickers identifies no company', async () => {
    const rows = ['AAB', 'BCD', 'CEF', 'DGH', 'EIJ', 'FKL'].map((ticker) => ({
      symbol: `${ticker}.BE`,
      name: 'three',
    }));
    const result = await readRows(...rows);
    expect(result.brands).toEqual([]);
    expect(result.skipped).toHaveLength(6);
  });

  test('a fund is no company, under the name of its issuer and with a name of its own', async () => {
    const result = await readRows(
      { symbol: '2823.HK', name: 'FUNDHOUSE' },
      { symbol: '2836.HK', name: 'FUNDHOUSE' },
      { symbol: '3053.HK', name: 'Fundhouse Money Market ETF' },
    );
    expect(companies(result)).toEqual([]);
    expect(result.others).toEqual(['2823 fund', '2836 fund', '3053 fund']);
  });

  test('any number of certificates in Vienna with the name and the ISIN of a company take nothing from it', async () => {
    const rubis = {
      name: 'Rubis',
      isin: 'FR0013269123',
      figi: 'BBG001S8DYC7',
      country: 'France',
      city: 'Paris',
    };
    const tickers = [
      'AT0000A288S5',
      'AT0000A2FFW8',
      'AT0000A2FFX6',
      'AT0000A2FFY4',
      'AT0000A2FFZ1',
      'AT0000A2FG00',
    ];
    const certificates = tickers.map((ticker) => ({ ...rubis, symbol: `${ticker}.VI` }));
    const result = await readRows({ ...rubis, symbol: 'RUI.PA' }, ...certificates);
    expect(companies(result)).toEqual(['RUI@XPAR']);
    expect(result.brands[0]).toMatchObject({ name: 'Rubis', stock: { isin: 'FR0013269123' } });
    expect(result.others).toEqual(tickers.map((ticker) => `${ticker} certificate`));
  });

  test('a row that is known to have another company’s facts gets its own company’s name and none of the facts', async () => {
    const posco = {
      name: 'POSCO',
      country: 'South Korea',
      website: 'http://www.posco.com',
      isin: 'US6934831099',
      figi: 'BBG001S65ZZ2',
      venueFigi: 'BBG000BC5ZZ9',
    };
    const { brands } = await readRows({ ...posco, symbol: '003670.KS' }, { ...posco, symbol: '005490.KS' });
    expect(brands.map(({ name, listings }) => [name, listings[0]?.ticker, listings[0]?.isin])).toEqual([
      ['POSCO Future M Co., Ltd.', '003670', ''],
      ['POSCO', '005490', 'US6934831099'],
    ]);
  });

  test('a row that is known to have another company’s name or identifiers is no listing of that company', async () => {
    const { brands } = await readRows(
      { symbol: '4716.T', name: 'Oracle Corporation', isin: 'US68389X1054', figi: 'BBG001S5SJG6' },
      { symbol: 'ORC.DE', name: 'Oracle Corporation', isin: 'US68389X1054', figi: 'BBG001S5SJG6' },
      { ...KESTREL, symbol: 'SAGA.L', name: 'Saga plc', isin: 'NO0010572589', figi: 'BBG001T8N6X3' },
      { symbol: 'SAT.BE', name: 'Saga Pure ASA', isin: 'NO0010572589', figi: 'BBG001T8N6X3' },
    );
    expect(brands.map(({ name, listings }) => [name, listings.map(({ ticker }) => ticker)])).toEqual([
      ['Oracle Corporation Japan', ['4716']],
      ['Oracle Corporation', ['ORC']],
      ['Saga plc', ['SAGA']],
      ['Saga Pure ASA', ['SAT']],
    ]);
    expect(brands[2]).toMatchObject({ id: 'xlon-saga', company: { sector: 'Materials' } });
  });

  test('an ISIN that is known to be wrong goes, with its FIGIs unless they are the row’s own, and a corrected one stays', async () => {
    const chesnara = { ...KESTREL, symbol: 'CSN.L', name: 'Chesnara plc', figi: '' };
    const weimob = { symbol: '2013.HK', name: 'Weimob Inc.', figi: 'BBG00MYZ1RN0' };
    const shown = async (row: Facts) =>
      (await readRows(row)).brands.map(({ id, listings: [listing] }) => [id, listing?.isin, listing?.cusip]);
    const wrong = { isin: 'US2254011081', cusip: '225401108' };
    expect(await shown({ ...chesnara, ...wrong })).toEqual([['xlon-csn', '', '']]);
    const right = { isin: 'GB00B00FPT80' };
    expect(await shown({ ...chesnara, ...right })).toEqual([['xlon-csn', 'GB00B00FPT80', '']]);
    expect(await shown({ ...weimob, isin: 'CH1226772684' })).toEqual([['xhkg-2013', '', '']]);
  });

  test('a row that is known to have another company’s ISIN stays a listing of its own company', async () => {
    const news = { name: 'News Corporation', country: 'United States', website: 'http://newscorp.com' };
    const align = { name: 'Align Technology Inc.', country: 'United States' };
    const { brands } = await readRows(
      { ...news, symbol: '1105.HK', isin: 'BMG8196H1280', figi: 'BBG001S935S2' },
      { ...news, symbol: 'NWS.AX', isin: 'BMG8196H1280' },
      { ...align, symbol: 'AFW.BE', figi: 'BBG001S8Q5R0' },
      { ...align, symbol: 'AFW.DE', isin: 'KYG0405D1051', figi: 'BBG010T189F0' },
      { symbol: 'TGI.BE', name: 'TETRA TECHS  DL-,01', isin: 'US88162F1057', country: 'United States' },
      { symbol: 'TT6.BE', name: 'Tetra Tech, Inc.', isin: 'US88162G1031', country: 'United States' },
    );
    const shown = brands.map(({ name, listings }) => [
      name,
      listings.map(({ ticker, isin }) => `${ticker} ${isin}`.trim()).join(', '),
    ]);
    expect(Object.fromEntries(shown)).toEqual({
      'Sing Tao News Corporation Limited': '1105',
      'News Corporation': 'NWS',
      'Align Technology Inc.': 'AFW, AFW',
      'TETRA Technologies, Inc.': 'TGI US88162F1057',
      'Tetra Tech, Inc.': 'TT6 US88162G1031',
    });
  });
});

test('one wrong identifier does not merge two companies', async () => {
  const otter: Facts = {
    symbol: 'OTR.L',
    name: 'Otter Foods plc',
    summary: 'Otter Foods plc produces smoked fish.',
    country: 'United Kingdom',
    website: 'http://www.otterfoods.example.org',
    isin: 'GB00B0000026',
    figi: 'BBG001TTRFD5',
  };
  const between: Facts = {
    symbol: 'KO1.BE',
    name: 'KESTREL MINING',
    isin: 'GB00B0000026',
    figi: 'BBG001KSTRL9',
  };
  expect(companies(await readRows(KESTREL, otter, between))).toEqual(['KES@XLON KO1@XBER', 'OTR@XLON']);
});

test('share classes and receipts of one issuer are one record, by name and country', async () => {
  const preferred: Facts = {
    ...KESTREL,
    symbol: 'KESP.L',
    name: 'Kestrel Mining plc Pref',
    isin: '',
    figi: '',
  };
  const receipt: Facts = {
    symbol: 'KMNA.BE',
    name: 'KESTREL MINING PLC SP.ADR/5',
    country: 'United Kingdom',
  };
  expect(companies(await readRows(KESTREL, preferred, receipt))).toEqual(['KES@XLON KESP@XLON KMNA@XBER']);
});

test('websites keep companies with equal names apart, and a listing without a website joins the one with its legal form', async () => {
  const american: Facts = {
    symbol: 'KES.MX',
    name: 'Kestrel Mining Inc.',
    summary: 'Kestrel Mining Inc. mines gold in Nevada.',
    country: 'United States',
    city: 'Reno',
    website: 'http://kestrel-gold.example.net',
  };
  const result = await readRows(
    KESTREL,
    american,
    { symbol: 'K1.BE', name: 'KESTREL MINING INC. DL-,01', country: 'Australia' },
    { symbol: 'K2.BE', name: 'KESTREL MINING PLC LS-,05' },
    { symbol: 'K3.BE', name: 'KESTREL MINING' },
  );
  expect(companies(result)).toEqual(['K1@XBER KES@XMEX', 'K2@XBER KES@XLON', 'K3@XBER']);
});

test('a name that Berlin abbreviates is the full one in its description, and joins the listings with that name', async () => {
  const about = { summary: 'Kestrel Biotherapeutics, Inc. develops therapies.', country: 'United States' };
  const abbreviated: Facts = { symbol: '2LB.BE', name: 'KESTREL BIOTHERAP.DL-,001', ...about };
  const full: Facts = { symbol: '0JDK.L', name: 'Kestrel Biotherapeutics, Inc.', city: 'Boston', ...about };
  const undescribed: Facts = { symbol: 'KBX.BE', name: 'KESTREL BIOTH.DL-,001', country: 'United States' };
  expect(companies(await readRows(abbreviated, full, undescribed))).toEqual([
    '0JDK@XLON 2LB@XBER',
    'KBX@XBER',
  ]);
});

test.each([
  ['Kestrel Mining plc', 'Kestrel Mining Public Limited Company', []],
  ['Kestrel Mining', 'Kestrel Mining plc', ['Kestrel Mining plc']],
])('of "%s" and the description\'s "%s", the further names are %j', async (name, described, names) => {
  const { brands } = await readRows({ ...KESTREL, name, summary: `${described} mines copper in Cornwall.` });
  expect(brands).toMatchObject([{ name, names }]);
});

test('a former name in the description joins', async () => {
  const renamed: Facts = { symbol: 'TIN.BE', name: 'TINNERS LTD', figi: 'BBG001KSTRL9' };
  expect(companies(await readRows(KESTREL, renamed))).toEqual(['KES@XLON TIN@XBER']);
});

test('a row without a name is skipped', async () => {
  const result = await readRows(KESTREL, { symbol: 'X1.BE', figi: 'BBG001KSTRL9' });
  expect(companies(result)).toEqual(['KES@XLON']);
  expect(result.skipped).toMatchObject([{ skipped: expect.stringMatching(/^X1\.BE: it has no name/) }]);
});

test('a name on many tickers of one exchange identifies no company', async () => {
  const everywhere = Array.from(
    { length: 7 },
    (_, index): Facts => ({ symbol: `N${index}.BE`, name: 'Nobody Inc.' }),
  );
  const result = await readRows(
    { ...KESTREL },
    { symbol: 'KMN.BE', name: 'Nobody Inc.', figi: 'BBG001KSTRL9' },
    ...everywhere,
  );
  expect(companies(result)).toEqual(['KES@XLON']);
  expect(result.skipped).toHaveLength(8);
});

test('facts that were looked up by a part of the name are removed', async () => {
  const oak: Facts = {
    symbol: 'OAK.L',
    name: 'Oak plc',
    summary: 'Oak plc builds chairs.',
    country: 'United Kingdom',
    city: 'Leeds',
    website: 'http://oak.example.com',
  };
  const croaker: Facts = { ...oak, symbol: 'CRK.TO', name: 'Croaker Pharma Inc.' };
  const { brands } = await readRows(oak, croaker);
  const [other] = brands.filter(({ name }) => name.startsWith('Croaker'));
  expect(other).toMatchObject({ links: undefined, derivedFields: expect.arrayContaining(['description']) });
});

test('facts whose website begins with the longer name are those of the company with that name', async () => {
  const facts = { country: 'United States', website: 'http://www.charmedinc.com' };
  const { brands } = await readRows(
    { ...facts, symbol: '0J38.L', name: 'Charmed Inc.' },
    { ...facts, symbol: '10VA.L', name: 'Arm Inc.', figi: 'BBG001V10N36' },
  );
  expect(brands.map(({ name, links }) => [name, links?.websites[0]])).toEqual([
    ['Charmed Inc.', 'http://www.charmedinc.com'],
    ['Arm Inc.', undefined],
  ]);
});

test.each([
  [{ symbol: 'FFIV.MX', name: 'F5, Inc.', website: 'http://www.sz000004.cn' }, undefined, undefined],
  [{ symbol: 'RHF.BE', name: 'RHI Magnesita N.V.', website: 'http://www.rh.com' }, undefined, undefined],
  [{ symbol: 'RH.MX', name: 'RH', website: 'http://www.rh.com' }, 'http://www.rh.com', 'San Francisco'],
])(
  'a website and a place that are on many rows by mistake are only those of the company with the website’s name: %s',
  async (row, website, city) => {
    const { brands } = await readRows({ ...row, country: 'United States', city: 'San Francisco' });
    const shown = brands.map(({ links, company }) => [links?.websites[0], company?.headquarters?.city]);
    expect(shown).toEqual([[website, city]]);
  },
);

test('a product that follows shares is no company, and not joined with theirs', async () => {
  const product: Facts = {
    ...KESTREL,
    symbol: 'KES2.L',
    name: 'Lever 2x Kestrel Mining ETP',
    figi: '',
    isin: 'XS0000000017',
  };
  const result = await readRows(KESTREL, product);
  expect(companies(result)).toEqual(['KES@XLON']);
  expect(result.others).toEqual(['KES2 fund']);
});

test('bonds and an exchange’s tests are no companies', async () => {
  const { brands, others } = await readRows(
    { symbol: 'B1.BE', name: 'KESTREL FIN. 19/29 MTN' },
    { symbol: 'T1.L', name: 'FOR LSE USE ONLY LSE INJECTOR 3' },
  );
  expect(brands).toEqual([]);
  expect(others).toEqual(['B1 note', 'T1 test_issue']);
});

test('a company with a listing that trades is listed and has the rank of all its listings, and one that trades nowhere ranks low', async () => {
  const gone: Facts = { ...KESTREL, delisted: 'True' };
  const [first] = (await readRows(gone, IN_BERLIN)).brands;
  expect(first).toMatchObject({
    type: BrandType.STOCK,
    rank: rankOfMarketCapClass('Mid Cap'),
    company: { companyType: ['Public'] },
  });
  const [second] = (await readRows(gone)).brands;
  expect(second).toMatchObject({
    type: BrandType.BRAND,
    derivedFields: expect.arrayContaining(['rank']),
    company: { companyType: [] },
    stock: { isActivelyTrading: false },
  });
});

test("the symbol's suffix gives the exchange if the MIC is of none, and is not part of the ticker", async () => {
  const { brands, skipped, problems } = await readRows(
    { symbol: '7203.T', name: 'Kestrel Jidosha K.K.', mic: 'XJPX' },
    { symbol: 'KEST', name: 'Kestrel America Inc.', mic: 'XNGS' },
    { symbol: 'WHAT.ZZ', name: 'Nowhere Ltd', mic: '' },
  );
  expect(brands.map(({ listings }) => listings.map(({ ticker, mic }) => `${ticker}@${mic}`))).toEqual([
    ['7203@XTKS'],
    ['KEST@XNAS'],
  ]);
  // Nothing is to be corrected in such a row, and it must not keep the import from pruning.
  expect(skipped).toMatchObject([{ skipped: expect.stringContaining('exchange is unknown') }]);
  expect(problems).toEqual([]);
});

test('a description has at most 1,000 characters and ends with a whole sentence', async () => {
  const [brand] = (await readRows({ ...KESTREL, summary: 'Kestrel Mining plc mines copper. '.repeat(90) }))
    .brands;
  expect(brand?.description).toMatch(/copper\.$/);
  expect(brand?.description.length).toBeLessThanOrEqual(1_000);
});

test('companies and refusals do not depend on the order of rows', async () => {
  const names = ['Kestrel Mining plc', 'KESTREL MNG  LS-,05', 'Otter Foods plc', 'Otter Foods Inc.', ''];
  const any = fc.record({
    name: fc.constantFrom(...names),
    summary: fc.constantFrom('', 'Kestrel Mining plc mines copper.', 'Otter Foods plc produces smoked fish.'),
    country: fc.constantFrom('', 'United Kingdom', 'United States'),
    city: fc.constantFrom('', 'Truro'),
    website: fc.constantFrom('', 'http://kestrel.example.com', 'http://otter.example.org'),
    isin: fc.constantFrom('', 'GB00B0000018', 'GB00B0000026'),
    figi: fc.constantFrom('', 'BBG001KSTRL9', 'BBG001TTRFD5'),
    delisted: fc.constantFrom('False', 'True'),
  });
  const symbols = ['A.L', 'B.L', 'C.BE', 'C.DE', 'D.T', 'E.MX'];
  await fc.assert(
    fc.asyncProperty(
      fc
        .tuple(...symbols.map(() => any))
        .map((all) => all.map((row, index): Facts => ({ ...row, symbol: symbols[index] ?? '' }))),
      fc.shuffledSubarray([0, 1, 2, 3, 4, 5], { minLength: 6 }),
      async (rows, order) => {
        const shuffled = order.flatMap((index) => rows[index] ?? []);
        const [one, other] = [await readRows(...rows), await readRows(...shuffled)];
        const comparable = ({ brands, skipped }: Result) => ({
          brands: brands.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
          skipped: skipped.map(({ skipped: why }) => why).sort(),
        });
        expect(comparable(other)).toEqual(comparable(one));
        const accounted = one.brands.flatMap(({ listings }) => listings).length + one.skipped.length;
        expect(accounted).toBe(symbols.length);
      },
    ),
    { numRuns: 40 },
  );
});

test('bad lines are reported with file and line, and the other lines are imported', async () => {
  const good = (symbol: string): string => line({ symbol, name: `${symbol.toLowerCase()} Works Ltd` });
  const bytes = Buffer.concat([
    Buffer.from(
      `${COLUMNS.join(',')}\n${good('ABC.L')}\nDEF.L,"never closed\n${good('GHI.L')}\nJKL.L,too,few\n`,
    ),
    Buffer.from([0x4d, 0xff, 0xfe, 0x0a]),
    Buffer.from(`${good('ABC.L')}\n${good('MNO.L')}\n`),
  ]);
  const dir = await written({ 'LSE.csv': bytes, 'README.csv': 'hello,world\n', 'EMPTY.csv': '' });
  const { brands, problems, skipped } = await read(dir);
  expect(brands.flatMap(({ listings }) => listings.map(({ ticker }) => ticker)).sort()).toEqual([
    'ABC',
    'GHI',
    'MNO',
  ]);
  expect(problems.map(({ from }) => from.slice(dir.length + 1)).sort()).toEqual([
    'EMPTY.csv',
    'LSE.csv:3',
    'LSE.csv:5',
    'LSE.csv:6',
    'README.csv:1',
  ]);
  expect(skipped).toEqual([
    {
      from: `${dir}/LSE.csv:7`,
      skipped: expect.stringContaining('LSE.csv:2 has the same listing, and is used'),
    },
  ]);
});

test('of a copy of the repository only the equities are read, compressed or not', async () => {
  const dir = await written({
    'database/equities/LSE.csv.gz': gzipSync(csv([KESTREL])),
    'database/etfs/LSE.csv': csv([{ symbol: 'FUND.L', name: 'A Fund' }]),
  });
  expect(companies(await read(dir))).toEqual(['KES@XLON']);
});

test('a group and the company that it is the parent of stay apart, on one exchange or by their websites', async () => {
  const carrier: Facts = {
    symbol: '9991.T',
    name: 'Kitsune Corp.',
    summary: 'Kitsune Corp. operates telephones.',
    country: 'Japan',
    city: 'Tokyo',
    zipcode: '105-0001',
    website: 'http://www.kitsune.example.com',
  };
  const parent: Facts = {
    ...carrier,
    symbol: '9992.T',
    name: 'Kitsune Group Corp.',
    summary: 'Kitsune Group Corp. invests.',
    website: 'http://group.example.org',
  };
  const abroad: Facts = { ...parent, symbol: '0KIT.L' };
  expect(companies(await readRows(carrier, parent, abroad))).toEqual(['0KIT@XLON 9992@XTKS', '9991@XTKS']);
});

describe('two facts that agree and none that contradicts make one company', () => {
  const at = (symbol: string, name: string, country: string, city: string, site: string): Facts => ({
    symbol,
    name,
    summary: `${name} operates in ${city}.`,
    country,
    city,
    website: `http://www.${site}`,
  });

  test('a row with one company’s name and the other’s ISIN and FIGI does not join companies of two legal forms', async () => {
    const german = {
      ...at('FLK.DE', 'FALKE Kommanditgesellschaft auf Aktien', 'Germany', 'Ulm', 'falkegroup.com'),
      figi: 'BBG001FLKDX7',
    };
    const american = {
      ...at('FLK.MX', 'Falke & Co., Inc.', 'United States', 'Rahway', 'falke.com'),
      isin: 'US3062001058',
    };
    const result = await readRows(
      german,
      { symbol: 'FLK.BE', name: 'FALKE KGAA O.N.', country: 'United States', figi: 'BBG001FLKDX7' },
      american,
      {
        symbol: 'FLKD.BA',
        name: 'FALKE & CO INC',
        country: 'United States',
        isin: 'DE0006500002',
        figi: 'BBG001FLKDX7',
      },
    );
    expect(companies(result)).toEqual(['FLK@XBER FLK@XETR', 'FLK@XMEX FLKD@XBUE']);
    expect(JSON.stringify(result.brands)).not.toContain('DE0006500002');
  });

  test('a CUSIP that rows of two companies have is no fact, and initials are no name against it', async () => {
    const cusip = '05464C101';
    expect(
      companies(
        await readRows(
          { symbol: 'TKS.IL', name: 'TKS GROUP HOLDING PLC', country: 'India', cusip },
          { ...at('TKS.NS', 'Tana Konsult Services Limited', 'India', 'Mumbai', 'tks.example.com'), cusip },
          { symbol: 'TKS.BE', name: 'Ketch Enterprise Inc', isin: 'US05464C1018', cusip },
        ),
      ),
    ).toEqual(['TKS@XBER', 'TKS@XLON', 'TKS@XNSE']);
    expect(
      companies(
        await readRows(
          { ...at('KSR.AX', 'KSR Limited', 'Australia', 'North Ryde', 'ksr.example.com'), cusip },
          {
            ...at('KSR.BK', 'Kite Sports and Recreation PCL', 'Thailand', 'Bangkok', 'navat.example.com'),
            cusip,
          },
        ),
      ),
    ).toEqual(['KSR@XASX', 'KSR@XBKK']);
    expect(
      companies(
        await readRows(
          { ...at('KEO.NZ', 'Keo Limited', 'New Zealand', 'Wellington', 'keowork.example.com'), cusip },
          { symbol: 'KEG.BE', name: 'KEO GROUP INC. DL -,01', country: 'United States', cusip },
          {
            ...at('KEO1.MX', 'The Keo Group, Inc.', 'United States', 'Boca Raton', 'keogroup.example.com'),
            cusip,
          },
        ),
      ),
    ).toEqual(['KEG@XBER KEO1@XMEX', 'KEO@XNZE']);
    expect(
      companies(
        await readRows(
          {
            ...at('ELY.BK', 'Elly Leasehold Real Estate Trust', 'Thailand', 'Bangkok', ''),
            cusip,
            website: '',
          },
          {
            ...at('ELY1.MX', 'Elly Financial Inc.', 'United States', 'Detroit', 'elly.com'),
            isin: 'US05464C1018',
            cusip,
          },
        ),
      ),
    ).toEqual(['ELY1@XMEX', 'ELY@XBKK']);
  });

  test.each([
    ['Peeka Limited', 'PEEK Limited', 'New Zealand', 'Australia', 'PEK.NZ', 'PEK.AX'],
    [
      'KPM Kingfisher Holdings Limited',
      'Kingfisher Holdings Limited',
      'Hong Kong',
      'China',
      '3817.HK',
      '0529.HK',
    ],
    ['eWan a.s.', 'Everwoman Media Group plc', 'Czech Republic', 'United Kingdom', 'EWAN.PR', 'EWAN.L'],
  ])(
    '%s and %s, in two countries, have one ISIN and FIGI by mistake',
    async (name, otherName, country, other, symbol, otherSymbol) => {
      const ids = { isin: 'KYG525550003', figi: 'BBG003FV0007' };
      const result = await readRows(
        { ...at(symbol, name, country, 'Here', 'one.example.com'), ...ids },
        { ...at(otherSymbol, otherName, other, 'There', 'two.example.com'), ...ids },
      );
      expect(result.brands).toHaveLength(2);
    },
  );

  test('a short name of one word is no abbreviation of another word with its letters', async () => {
    const result = await readRows(
      { ...at('EWAN.PR', 'eWan a.s.', 'Czech Republic', 'Prague', 'ewan.cz'), figi: 'BBG003FV0007' },
      { symbol: 'EWGA.BE', name: 'EWAGIN DL -,01', country: 'United States', figi: 'BBG003FV0007' },
    );
    expect(result.brands).toHaveLength(2);
  });

  test('a listed subsidiary with the parent’s website or name, in another country, is a company', async () => {
    const parent = at('KRB.DE', 'KRB SE & Co. KGaA', 'Germany', 'Ulm', 'krb.com');
    const subsidiary = at('KRB.NS', 'KRB Limited', 'India', 'Pune', 'krb.com');
    expect(companies(await readRows(parent, subsidiary))).toEqual(['KRB@XETR', 'KRB@XNSE']);
    const bank = {
      ...at('BHA.MX', 'Banco Harbour, S.A.', 'Spain', 'Madrid', 'harbour.example.com'),
      figi: 'BBG001BHXRB9',
    };
    const inBrazil = {
      ...at('BHB.BA', 'Banco Harbour SA (Brazil)', 'Brazil', 'Sao Paulo', ''),
      summary: 'Banco Harbour SA is based in Sao Paulo.',
      website: '',
      figi: 'BBG001BHXRB9',
    };
    const inBerlin = {
      symbol: 'BHZ.BE',
      name: 'BCO HARBOUR N.EO0,5',
      country: 'Spain',
      figi: 'BBG001BHXRB9',
    };
    expect(companies(await readRows(bank, inBrazil, inBerlin))).toEqual(['BHA@XMEX BHZ@XBER', 'BHB@XBUE']);
  });

  test('a name with its legal form and website on one exchange is one company’s, whatever country its rows state', async () => {
    const abroad = at('INP.L', 'Harbour plc', 'South Africa', 'Sandton', 'harbour.com');
    const atHome = { ...abroad, country: 'United Kingdom', city: 'London' };
    expect(companies(await readRows(abroad, { ...atHome, symbol: 'INR.L' }))).toEqual(['INP@XLON INR@XLON']);
    expect(companies(await readRows(abroad, { ...atHome, symbol: 'INR.MX' }))).toHaveLength(2);
  });

  test('a row at home that has the name and the ISIN of a company abroad gets the name in its description', async () => {
    const abroad = {
      ...at('HRN.DE', 'Horn Aktiengesellschaft', 'Germany', 'Ulm', 'horn.com'),
      isin: 'DE0007230005',
    };
    const named = {
      ...abroad,
      symbol: 'HORN.NS',
      country: 'India',
      city: 'Mumbai',
      website: 'http://www.horn.co.in',
    };
    const described = await readRows(abroad, { ...named, summary: 'Horn Limited sells motors.' });
    expect(described.brands.map(({ name, stock }) => [name, stock?.isin])).toEqual([
      ['Horn Aktiengesellschaft', 'DE0007230005'],
      ['Horn Limited', ''],
    ]);
    expect(companies(await readRows(abroad, named))).toEqual(['HORN@XNSE', 'HRN@XETR']);
  });
});

test('two codes of Tokyo, and two prefixes of Toronto, belong to two issuers, even if the names are equal', async () => {
  const issuer: Facts = {
    symbol: '9991.T',
    name: 'Kitsune Denki K.K.',
    summary: 'Kitsune Denki K.K. makes motors.',
    country: 'Japan',
    city: 'Osaka',
    website: 'http://www.kitsune.example.com',
  };
  const symbols = ['9991.T', '9992.T', '99925.T', 'KIT.TO', 'KIT-PA.TO', 'KSU.TO'];
  const found = companies(await readRows(...symbols.map((symbol) => ({ ...issuer, symbol }))));
  const together = (one: string, other: string) =>
    found.some((listings) => [one, other].every((each) => listings.split(' ').includes(each)));
  expect(together('9991@XTKS', '9992@XTKS')).toBe(false);
  expect(together('KIT@XTSE', 'KSU@XTSE')).toBe(false);
  expect(together('KIT@XTSE', 'KIT-PA@XTSE')).toBe(true);
});

test('a company and the holding company of its name in one country are two, and their listings abroad are told apart', async () => {
  const japan = { country: 'Japan' };
  const { brands } = await read(
    await written({
      'a.csv': csv([
        { ...japan, symbol: '9602.T', mic: 'XTKS', name: 'Otter Co., Ltd.', city: 'Tokyo' },
        { ...japan, symbol: '8129.T', mic: 'XTKS', name: 'Otter Holdings' },
        { ...japan, symbol: 'TON.BE', mic: 'XBER', name: 'OTTER HOLDINGS CO. LTD.' },
      ]),
    }),
  );
  expect(brands.map(({ listings }) => listings.map(({ ticker }) => ticker).toSorted()).toSorted()).toEqual([
    ['8129', 'TON'],
    ['9602'],
  ]);
});

test('a legal form does not lengthen a name that a holding company has too', async () => {
  const dutch = { country: 'Netherlands' };
  const { brands } = await read(
    await written({
      'a.csv': csv([
        { ...dutch, symbol: 'KES.AS', mic: 'XAMS', name: 'Kestrels N.V.', city: 'Amsterdam' },
        { ...dutch, symbol: 'KHN.VI', mic: 'XWBO', name: 'Kestrels Holding N.V.' },
      ]),
    }),
  );
  expect(brands).toHaveLength(2);
});

test('a Canadian ISIN is not that of a company in London', async () => {
  const misattributed: Facts = { ...KESTREL, isin: 'CA5005000016', figi: '' };
  const [brand] = (await readRows(misattributed)).brands;
  expect(brand).toMatchObject({ id: 'xlon-kes', listings: [{ isin: '' }], stock: { isin: '' } });
});

test('an Australian ISIN is not that of a company if another one has its code in Sydney', async () => {
  const inSydney = { mic: 'XASX', country: 'Australia', city: 'Sydney' };
  const hospitals: Facts = { ...inSydney, symbol: 'RHC.AX', name: 'Ramsay Health Care Limited' };
  const isin = 'AU000000RHC8';
  const misattributed: Facts = { ...inSydney, symbol: 'RMY.AX', name: 'RMA Global Limited', isin };
  const renamed: Facts = { ...inSydney, symbol: 'RHH.AX', name: 'Ramsay Health Care Ltd', isin };
  const isinOf = async (...rows: Facts[]) =>
    (await readRows(...rows)).brands
      .flatMap(({ listings }) => listings.map((listing) => listing.isin))
      .sort();
  expect(await isinOf(hospitals, misattributed)).toEqual(['', '']);
  expect(await isinOf(hospitals, renamed)).toEqual(['', isin]);
  expect(await isinOf(misattributed)).toEqual([isin]);
});

test('the ISIN of an international bond is no company’s, and its FIGIs stay', async () => {
  const bond: Facts = { ...KESTREL, isin: 'XS2158580493', symbol: '3888.HK', country: 'Hong Kong' };
  const [brand] = (await readRows(bond)).brands;
  expect(brand).toMatchObject({
    id: 'xhkg-3888',
    listings: [{ isin: '', shareClassFigi: 'BBG001KSTRL9' }],
    stock: { isin: '' },
  });
});

describe('an ISIN of another country that was looked up by ticker is not shown, and neither are the FIGIs that came with it', () => {
  const shown = async (...rows: Facts[]) =>
    (await readRows(...rows)).brands[0]?.listings.map(({ isin, shareClassFigi }) => [isin, shareClassFigi]);
  const figi = 'BBG001KSTRL9';

  test.each(['NO0004895103', 'LU2290523658', 'US62886E1082'])('at the home venue: %s', async (isin) => {
    expect(await shown({ ...KESTREL, isin })).toEqual([['', '']]);
  });

  test.each([
    ['of a tax haven', { isin: 'JE00B8KF9B49' }],
    ['of American receipts', { isin: 'US62886E1082', venueFigi: 'BBG000KSTRL1' }],
    ['of China in Hong Kong', { isin: 'CNE1000001H3', symbol: '3330.HK', country: 'Hong Kong' }],
  ])('at the home venue it is, if it is one %s', async (_, facts) => {
    expect(await shown({ ...KESTREL, ...facts })).toEqual([[facts.isin, figi]]);
  });

  test('on rows from abroad, unless they have a FIGI of the venue', async () => {
    const isin = 'AU000000APA1';
    const inMexico: Facts = { ...KESTREL, symbol: 'KES.MX', isin };
    expect(await shown(inMexico)).toEqual([['', '']]);
    expect(await shown({ ...inMexico, symbol: '0KES.L' })).toEqual([['', '']]);
    expect(await shown({ ...inMexico, venueFigi: 'BBG000KSTRL1' })).toEqual([[isin, figi]]);
  });

  test('on a row without a city, whose country may be wrong, judged by the company’s country', async () => {
    const isin = 'SGXE13155820';
    const inBerlin: Facts = { ...IN_BERLIN, country: 'Singapore', isin };
    expect(await shown(KESTREL, inBerlin)).toEqual([
      [KESTREL.isin, figi],
      ['', ''],
    ]);
    expect(await shown(inBerlin)).toEqual([[isin, figi]]);
  });
});
