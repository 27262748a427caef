import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Brand, BrandType } from '@brand-data/contracts';
import { type BrandRecord, readRecord, recordFromBrand } from '@brand-data/records';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readSec } from '../src/index.ts';
import { allOf } from './all-of.ts';
import { fileOf } from './temporary-files.ts';
import { zipOf } from './zip-of.ts';

type Submission = ReturnType<typeof submission>;

/** A filer as submissions.zip has it. The filings stand last. */
function submission(cik: number, facts: object = {}) {
  return {
    cik: String(cik).padStart(10, '0'),
    entityType: 'operating',
    sic: '7372',
    sicDescription: 'Services-Prepackaged Software',
    name: 'KESTREL SYSTEMS INC',
    tickers: ['KSTL'],
    exchanges: ['Nasdaq'],
    lei: null,
    website: '',
    addresses: {
      mailing: { city: 'RENO', stateOrCountry: 'NV' },
      business: { city: 'KING OF PRUSSIA', stateOrCountry: 'PA', stateOrCountryDescription: 'PA' },
    },
    formerNames: [] as object[],
    ...facts,
    filings: { recent: { accessionNumber: ['0000000000-26-000001'] }, files: [] },
  };
}

const nameOf = ({ cik }: Submission) => `CIK${cik}.json`;
const former = (name: string, from: number, to: number) => ({
  name,
  from: `${from}-02-03T00:00:00.000Z`,
  to: `${to}-11-12T00:00:00.000Z`,
});

function zipped(...filers: Submission[]): Promise<string> {
  return fileOf(
    zipOf(Object.fromEntries(filers.map((filer) => [nameOf(filer), JSON.stringify(filer)]))),
    '.zip',
  );
}

function listOf(
  ...data: readonly (readonly [cik: number, name: string, ticker: string, exchange: string | null])[]
) {
  return fileOf(JSON.stringify({ fields: ['cik', 'name', 'ticker', 'exchange'], data }), '.json');
}

async function read(paths: readonly string[], options: Parameters<typeof readSec>[1] = {}) {
  const items = await allOf(readSec(paths, options));
  const brands = items.flatMap((item) => ('item' in item ? [item.item] : []));
  return {
    companies: brands.filter(({ type }) => type !== BrandType.OTHER_SECURITY).map(recordOf),
    others: brands.filter(({ type }) => type === BrandType.OTHER_SECURITY).map(recordOf),
    problems: items.flatMap((item) => ('problem' in item ? [item] : [])),
  };
}

function recordOf(brand: Brand): BrandRecord {
  const read = readRecord(recordFromBrand(brand));
  if ('problems' in read) throw new Error(read.problems.join('; '));
  return read.record;
}

/** The record of one filer with these facts. */
async function companyOf(facts: object) {
  const { companies, problems } = await read([await zipped(submission(901, facts))]);
  expect(problems).toEqual([]);
  return companies[0];
}

test('a filer becomes a record of what the SEC states, and its id is its number', async () => {
  expect(
    await companyOf({ formerNames: [former('FALCON CORP', 2001, 2014)], website: 'www.kestrel.com' }),
  ).toEqual({
    id: 'cik-901',
    name: 'KESTREL SYSTEMS INC',
    listings: [{ ticker: 'KSTL', mic: 'XNAS' }],
    company: {
      industry: 'Prepackaged Software',
      headquarters: {
        city: 'King of Prussia',
        state: 'Pennsylvania',
        country: 'United States',
        country_code: 'US',
      },
    },
    history: { formerly: ['Falcon (until 2014)'] },
    links: { websites: ['https://www.kestrel.com'] },
    sources: [
      { name: 'SEC EDGAR', url: 'https://www.sec.gov/edgar/browse/?CIK=901', licence: 'public domain' },
    ],
  });
});

test.each([
  ['DUBLIN 2', 'L2', { city: 'Dublin', country: 'Ireland', country_code: 'IE' }],
  ['LONDON, ENGLAND', 'X0', { city: 'London', country: 'United Kingdom', country_code: 'GB' }],
  ['HAMILTON HM 11', 'D0', { city: 'Hamilton', country: 'Bermuda', country_code: 'BM' }],
  ['TEL AVIV 6701101', 'L3', { city: 'Tel Aviv', country: 'Israel', country_code: 'IL' }],
  ['CALGARY', 'A0', { city: 'Calgary', state: 'Alberta', country: 'Canada', country_code: 'CA' }],
  ['MCLEAN', 'VA', { city: 'McLean', state: 'Virginia', country: 'United States', country_code: 'US' }],
  ["O'FALLON", 'MO', { city: "O'Fallon", state: 'Missouri', country: 'United States', country_code: 'US' }],
  [
    'WINSTON-SALEM',
    'NC',
    { city: 'Winston-Salem', state: 'North Carolina', country: 'United States', country_code: 'US' },
  ],
  ['St. Louis', 'MO', { city: 'St. Louis', state: 'Missouri', country: 'United States', country_code: 'US' }],
  ['C/O A TRUST COMPANY', 'E9', { country: 'Cayman Islands', country_code: 'KY' }],
  [null, 'F4', { country: 'China', country_code: 'CN' }],
  ['SOMEWHERE', 'XX', undefined],
])('the headquarters are the business address: %s, %s', async (city, stateOrCountry, expected) => {
  const company = await companyOf({ addresses: { business: { city, stateOrCountry } } });
  expect(company?.company?.headquarters).toEqual(expected);
});

test('neither a mailing address nor the address of a bank that issues receipts is that of the headquarters', async () => {
  const mailing = { city: 'RENO', stateOrCountry: 'NV' };
  expect(await companyOf({ addresses: { mailing } })).not.toHaveProperty('company.headquarters');
  for (const bank of [
    { name: 'Kestrel Co., Ltd./ADR' },
    { sic: '8880', sicDescription: 'American Depositary Receipts' },
  ]) {
    expect(await companyOf(bank)).not.toHaveProperty('company.headquarters');
  }
  expect(await companyOf({ sic: '8880', sicDescription: 'American Depositary Receipts' })).not.toHaveProperty(
    'company',
  );
});

test.each([
  ['another spelling', [former('KESTREL SYSTEMS, INC.', 1999, 2004)], undefined],
  ['another legal form', [former('KESTREL SYSTEMS CORP /DE/', 1999, 2004)], undefined],
  [
    'its beginning, if EDGAR has an earlier name',
    [former('FALCON CORP', 2004, 2014), former('MERLIN FOODS INC', 1996, 2004)],
    ['Falcon (2004–2014)', 'Merlin Foods (until 2004)'],
  ],
  [
    'two spellings of one former name',
    [former('FALCON CORP/ FA', 1997, 1997), former('FALCON CORP', 1994, 2007)],
    ['Falcon (until 2007)'],
  ],
  ['dates that cannot be', [former('FALCON CORP', 2014, 2004)], ['Falcon']],
  ['no dates', [{ name: 'FALCON CORP', from: null, to: null }], ['Falcon']],
])(
  'a former name is one that no other spelling is, with the years that EDGAR knows: %s',
  async (_, formerNames, formerly) => {
    expect((await companyOf({ formerNames }))?.history?.formerly).toEqual(formerly);
  },
);

test.each([
  ['BRK-B BRK-A', 'NYSE', ['BRK-B', 'BRK-A'], []],
  ['GOOGL GOOG GOOGM', 'Nasdaq', ['GOOGL', 'GOOG'], ['preferred_share']],
  ['FWONA FWONK', 'Nasdaq', ['FWONA', 'FWONK'], []],
  ['DUK DUKB DUK-PA', 'NYSE', ['DUK'], ['security', 'preferred_share']],
  ['BMO FNGD AIQU', 'NYSE', ['BMO'], ['security', 'security']],
  ['TCEHY TCTZF', 'OTC', ['TCEHY', 'TCTZF'], []],
  ['ENB EBBNF EBBGF EBGEF', 'OTC', ['ENB'], ['security', 'security', 'security']],
])(
  'of the tickers %s, those of other securities than shares are no listings',
  async (tickers, exchange, shares, kinds) => {
    const all = tickers.split(' ');
    const { companies, others } = await read([
      await zipped(submission(901, { tickers: all, exchanges: all.map(() => exchange) })),
    ]);
    expect(companies[0]?.listings?.map(({ ticker }) => ticker)).toEqual(shares);
    expect(others.map(({ category }) => category)).toEqual(kinds);
  },
);

test('filers without a listed share are counted, and operating companies are taken if asked for', async () => {
  const person = submission(5, {
    name: 'DOE JANE',
    entityType: 'other',
    tickers: [],
    exchanges: [],
    sic: '',
  });
  const trust = submission(6, { tickers: ['KST-PA'], exchanges: ['NYSE'] });
  const shell = submission(7, { tickers: ['SHLO'], exchanges: [null] });
  const paths = [await zipped(person, trust, shell)];
  const figures: object[] = [];
  const byDefault = await read(paths, { onFigures: (counted) => figures.push(counted) });
  expect(byDefault).toMatchObject({
    companies: [],
    others: [{ id: 'xnys-kst-pa-preferred-share' }],
    problems: [],
  });
  expect(figures).toEqual([
    { securities: { 'preferred shares': 1 }, left_out: { 'filers that no exchange lists': 2 } },
  ]);
  const { companies } = await read(paths, { unlisted: true });
  expect(companies.map(({ id, listings }) => [id, listings])).toEqual([
    ['cik-6', undefined],
    ['cik-7', undefined],
  ]);
});

test('the files give the same records in any order, and a company of both files has the tickers of the list', async () => {
  const list = await listOf(
    [901, 'Kestrel Systems Inc.', 'KSTL', 'NYSE'],
    [902, 'Merlin Foods Inc.', 'MRLN', 'NYSE'],
    [902, 'Merlin Foods Inc.', 'MRLN-PA', 'NYSE'],
    [903, 'Shell of a Company Inc.', 'SHLO', null],
  );
  const zip = await zipped(submission(901), submission(904));
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'more'));
  await writeFile(join(folder, 'more', 'CIK0000000905.json'), JSON.stringify(submission(905), undefined, 2));
  await writeFile(join(folder, 'more', 'CIK0000000905-submissions-001.json'), '{"accessionNumber":[]}');
  const { companies, others, problems } = await read([list, zip, folder]);
  expect(companies.map(({ id, listings }) => [id, listings?.[0]?.mic])).toEqual([
    ['cik-901', 'XNYS'],
    ['cik-904', 'XNAS'],
    ['cik-905', 'XNAS'],
    ['cik-902', 'XNYS'],
  ]);
  expect(others).toHaveLength(1);
  expect(problems).toEqual([]);
  const byId = (records: typeof companies) => records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  expect(byId((await read([folder, zip, list])).companies)).toEqual(byId(companies));
});

test('what cannot be read is named with its place, and the rest is read', async () => {
  const zip = zipOf({
    'CIK0000000901.json': JSON.stringify(submission(901)),
    'CIK0000000902.json': '{"cik":"902","name":"No Former Names Inc","filings":{}}',
    'CIK0000000903.json': '{"cik":"903","name":',
    'CIK0000000904.json': JSON.stringify(submission(904, { exchanges: ['Moon Exchange'] })),
    'CIK0000000905-submissions-001.json': 'no JSON at all',
    'placeholder.txt': 'nor is this',
  });
  const file = await fileOf(zip, '.zip');
  const { companies, problems } = await read([file]);
  expect(companies.map(({ id }) => id)).toEqual(['cik-901']);
  expect(problems.map(({ from, problem }) => [from, problem])).toEqual([
    [`${file}:CIK0000000902.json`, expect.stringContaining('no cik, name and former names')],
    [`${file}:CIK0000000903.json`, expect.stringContaining('not valid JSON')],
    [`${file}:CIK0000000904.json`, '"Moon Exchange" is not a known exchange'],
  ]);
  for (const [content, says] of [
    [zip.subarray(0, -30), /zip file is damaged/],
    [JSON.stringify({ 0: { cik_str: 901, ticker: 'KSTL', title: 'Kestrel' } }), /neither a list of tickers/],
    ['{"fields":["cik","name","ticker"],"data":[]}', /no column "exchange"/],
    [
      '{"fields":["cik","name","ticker","exchange"],"data":[["x","Kestrel","KSTL","NYSE"]]}',
      /no cik or no name/,
    ],
  ] as const)
    expect((await read([await fileOf(content)])).problems).toMatchObject([
      { problem: expect.stringMatching(says) },
    ]);
});

test('a filer is read no further than its filings, however many these are', async () => {
  const { filings: _, ...facts } = submission(901);
  const start = JSON.stringify(facts).slice(0, -1);
  const filings = Buffer.alloc(24 << 20, '"0000000000-26-000001",');
  const file = await fileOf(
    zipOf({ 'CIK0000000901.json': Buffer.concat([Buffer.from(`${start},"filings":[`), filings]) }),
  );
  const before = process.memoryUsage().arrayBuffers;
  const { companies } = await read([file]);
  expect(companies).toHaveLength(1);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 << 20);
  const endless = await fileOf(zipOf({ 'CIK0000000901.json': Buffer.concat([Buffer.from(start), filings]) }));
  expect((await read([endless])).problems).toHaveLength(1);
});

const anyText = fc.oneof(
  fc.string(),
  fc.constantFrom('NEW YORK', 'KESTREL SYSTEMS INC', 'X0', 'A6', '8880', 'None'),
);
const anyValue = fc.oneof(anyText, fc.jsonValue({ maxDepth: 2 }));

test('a filer becomes valid records or is refused with a reason, whatever it states', async () => {
  const facts = fc.record(
    {
      name: anyText,
      sic: anyValue,
      sicDescription: anyValue,
      website: anyValue,
      lei: anyValue,
      tickers: fc.array(fc.stringMatching(/^[A-Z]{1,5}(-[A-Z]{1,2})?$/)),
      exchanges: fc.oneof(anyValue, fc.constant(['NYSE', 'Nasdaq', 'OTC', 'CBOE'])),
      addresses: fc.oneof(
        anyValue,
        fc.record({ business: fc.record({ city: anyValue, stateOrCountry: anyValue }) }),
      ),
      formerNames: fc.oneof(anyValue, fc.array(fc.record({ name: anyValue, from: anyValue, to: anyValue }))),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(facts, async (stated) => {
      const items = await allOf(readSec([await zipped(submission(901, stated))], { unlisted: true }));
      expect(items.length).toBeGreaterThan(0);
      for (const item of items) if ('item' in item) recordOf(item.item);
    }),
    { numRuns: 100 },
  );
});

test('EDGAR has one code for each country of its table, and each is a code of ISO 3166-1', async () => {
  const { provinces, countries } = JSON.parse(
    await readFile(join(import.meta.dirname, '../src/sources/sec/edgar-codes.json'), 'utf8'),
  ) as { provinces: string; countries: string[] };
  const pairs = countries.flatMap((line) => line.split(' ').map((pair) => pair.split('=')));
  expect(new Set(pairs.map(([code]) => code)).size).toBe(pairs.length);
  for (const pair of provinces.split(' ')) expect(pair).toMatch(/^[AB]\d=CA-[A-Z]{2}$/);
  for (const [, country = ''] of pairs) expect(new Intl.Locale(`und-${country}`).region).toBe(country);
});
