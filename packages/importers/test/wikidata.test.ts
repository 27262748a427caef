import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Worker } from 'node:worker_threads';
import { constants, createGzip, gunzipSync, gzipSync } from 'node:zlib';
import type { Brand } from '@brand-data/contracts';
import { EXCHANGES } from '@brand-data/identifiers';
import { readRecord, recordFromBrand } from '@brand-data/records';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { micOfExchange } from '../src/sources/wikidata/brand.ts';
import { evidenceOf, isCompany } from '../src/sources/wikidata/classes.ts';
import { worthOf } from '../src/sources/wikidata/raw-line.ts';
import {
  readWikidata,
  type WikidataFigures,
  type WikidataOptions,
} from '../src/sources/wikidata/read-wikidata.ts';
import { companies, others, strangers } from './wikidata/companies.ts';
import {
  amount,
  type Described,
  dumpOf,
  entity,
  item,
  local,
  somevalue,
  text,
  time,
} from './wikidata/entities.ts';

const now = new Date('2025-06-30T00:00:00Z');
let folder: string;
let workDir: string;
let files = 0;

beforeAll(async () => {
  folder = await temporaryFolder();
  workDir = join(folder, 'work');
  await mkdir(workDir);
});

async function fileOf(content: string | Buffer, name = `dump-${files++}.json`): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
}

async function read(file: string, options: WikidataOptions = {}) {
  const brands = new Map<string, Brand>();
  const problems: { from: string; problem: string; raw?: string | undefined }[] = [];
  let figures: WikidataFigures | undefined;
  const onFigures = (reported: WikidataFigures) => {
    figures = reported;
  };
  for await (const each of readWikidata(file, { now, workDir, onFigures, ...options })) {
    if ('item' in each) brands.set(each.item.id, each.item);
    else problems.push({ ...each, from: each.from.replace(file, 'dump') });
  }
  return { brands, problems, figures };
}

const all = [...others, ...companies, ...strangers];
const ids = companies.map(({ id }) => id.toLowerCase()).sort();

/** Returns the record of one company, if the dump contains these other entities too. */
async function recordOf(...entities: unknown[]) {
  const { brands } = await read(await fileOf(dumpOf([...others, ...entities])));
  expect([...brands.keys()]).toHaveLength(1);
  return [...brands.values()].map(recordFromBrand)[0] as Record<string, Record<string, unknown>>;
}

const business = (claims: NonNullable<Parameters<typeof entity>[1]>['claims'], id = 'Q555') =>
  entity(id, { labels: { en: 'Example' }, claims: { P31: item('Q4830453'), ...claims } });

describe('what becomes a record', () => {
  test('every company and brand of a dump becomes a record, and nothing else', async () => {
    const { brands, problems, figures } = await read(await fileOf(dumpOf(all)));
    expect([...brands.keys()].sort()).toEqual(ids);
    expect(problems).toEqual([]);
    expect(figures).toMatchObject({ companies: companies.length, nameless: 0 });
    for (const brand of brands.values()) expect(readRecord(recordFromBrand(brand))).toHaveProperty('record');
  });

  test('a record has the facts of the item and of the items that it refers to', async () => {
    const { brands } = await read(await fileOf(dumpOf(all)));
    const apple = brands.get('q312');
    expect(apple && recordFromBrand(apple)).toEqual({
      id: 'q312',
      name: 'Apple Inc.',
      description: 'American multinational technology company',
      category: 'technology_company',
      rank: 500,
      names: ['Apple'],
      listings: [{ ticker: 'AAPL', mic: 'XNAS', isin: 'US0378331005' }],
      lei: 'HWUPKR0MPOU8FGXBT394',
      company: {
        industry: 'information technology',
        industries: ['information technology'],
        company_type: ['Public'],
        founded: '1976-04-01',
        founders: ['Steve Jobs', 'Steve Wozniak', 'Ronald Wayne'],
        ceo: 'Tim Cook',
        key_people: [{ name: 'Tim Cook', role: 'Chief Executive Officer, Board member' }],
        employees: '164,000 (2024)',
        headquarters: {
          city: 'Cupertino',
          state: 'California',
          country: 'United States',
          country_code: 'US',
          latitude: 37.3349,
          longitude: -122.009,
        },
      },
      history: { formerly: ['Apple Computer, Inc. (1977–2007)'] },
      links: {
        websites: ['https://www.apple.com/', 'https://www.apple.com/jp/'],
        wikipedia: 'https://en.wikipedia.org/wiki/Apple_Inc.',
        wikidata_qid: 'Q312',
        social_media: [
          { name: 'X', url: 'https://x.com/Apple' },
          { name: 'YouTube', url: 'https://www.youtube.com/channel/UCE_M8A5yxnLfW0KghEeajjw' },
        ],
      },
      images: { logo_file: 'Apple logo black.svg' },
      stock: {
        exchange: 'NASDAQ',
        exchange_full_name: 'Nasdaq Stock Market',
        index_memberships: ['S&P 500'],
        isin: 'US0378331005',
        ipo_date: '1980-12-12',
        is_actively_trading: true,
      },
      sources: [
        {
          name: 'Wikidata',
          url: 'https://www.wikidata.org/wiki/Q312',
          licence: 'CC0-1.0',
          date: '2026-08-01',
        },
      ],
    });
  });

  test('native names of companies and places come from the country’s language', async () => {
    const { brands } = await read(await fileOf(dumpOf(all)));
    expect(brands.get('q8093')).toMatchObject({
      name: 'Nintendo',
      names: ['任天堂株式会社', '任天堂'],
      company: {
        headquarters: {
          city: 'Kyoto',
          state: 'Kyoto Prefecture',
          cityNative: '京都市',
          stateNative: '京都府',
          countryNative: '日本',
        },
      },
    });
    expect(brands.get('q860580')?.names).toContain('腾讯');
  });

  test('several tickers of one listing are several listings, and a foreign ticker keeps its exchange', async () => {
    const { brands, figures } = await read(await fileOf(dumpOf(all)));
    const listings = (id: string) => brands.get(id)?.listings.map(({ mic, ticker }) => `${mic}:${ticker}`);
    expect(listings('q217583')).toEqual(['XNYS:BRK-A', 'XNYS:BRK-B']);
    expect(listings('q860580')).toEqual(['XHKG:700']);
    // The venue is unknown, so the listing is left out and counted.
    expect(figures?.unknownExchanges).toEqual({ Q4242424: 1 });
  });

  test('a company that no longer exists has no listings, and names its fate', async () => {
    const { brands } = await read(await fileOf(dumpOf(all)));
    const sun = brands.get('q14647');
    expect(sun && recordFromBrand(sun)).toMatchObject({
      history: { defunct: ['2010-01-27'], fate: ['Merged into Oracle Corporation'] },
    });
    expect(sun?.stock).toBeUndefined();
  });

  test('a page on a shared host is not a company’s website, nor is a text that is not an address', async () => {
    const { brands } = await read(await fileOf(dumpOf(all)));
    expect(brands.get('q151954')?.links?.websites).toEqual(['https://www.lidl.de/']);
  });

  test('a company without English texts has a native name and a sentence made from its facts', async () => {
    const record = await recordOf(
      entity('Q77', {
        labels: { ja: '例' },
        claims: { P31: item('Q46970'), P17: item('Q17'), P159: item('Q34600') },
      }),
    );
    expect(record).toMatchObject({
      name: '例',
      category: 'airline',
    });
  });

  test('a listing makes a company of an item without a company’s class, but never of a person, place or work', async () => {
    const listed = (id: string, of: string) =>
      entity(id, { labels: { en: id }, claims: { P31: item(of), P414: item('Q13677') } });
    const entities = [
      listed('Q81', 'Q98765432'),
      listed('Q82', 'Q5'),
      listed('Q83', 'Q515'),
      listed('Q84', 'Q11424'),
    ];
    const { brands } = await read(await fileOf(dumpOf(entities)));
    expect([...brands.keys()]).toEqual(['q81']);
  });
});

describe('which statements are used', () => {
  test('only preferred statements if there are any, and never deprecated ones', async () => {
    const record = await recordOf(
      business({
        P112: [item('Q19837'), { is: item('Q483382'), rank: 'preferred' }],
        P452: [{ is: item('Q11661'), rank: 'deprecated' }],
      }),
    );
    expect(record.company).toEqual({ founders: ['Steve Wozniak'] });
  });

  test('a statement that has ended, even at an unknown time, or has not begun is ignored', async () => {
    const record = await recordOf(
      business({
        P112: [
          { is: item('Q19837'), with: { P582: time('2025-06-30') } },
          { is: item('Q483382'), with: { P582: time('2025-07-01') } },
          { is: item('Q332591'), with: { P582: somevalue } },
          { is: item('Q19873'), with: { P580: time('2026') } },
        ],
      }),
    );
    expect(record.company).toEqual({ founders: ['Steve Wozniak'] });
  });

  test('a value that is "unknown" or "none" is treated as missing', async () => {
    const record = await recordOf(
      business({ P571: somevalue, P169: 'novalue', P856: somevalue, P159: 'novalue' }),
    );
    expect(Object.keys(record).sort()).toEqual(['id', 'links', 'name', 'sources']);
  });

  test.each([
    ['1999-12-31', 'Q1985727', '1999-12-31'],
    ['1999-12', 'Q1985727', '1999-12'],
    ['1999', 'Q1985727', '1999'],
    ['1990s', 'Q1985727', '1990s'],
    // A day in the Julian calendar is another day in the Gregorian calendar.
    ['1712-03-03', 'Q1985786', '1712'],
  ])('a date is as precise as its statement: %s', async (date, calendar, founded) => {
    expect((await recordOf(business({ P571: time(date, calendar) }))).company).toEqual({ founded });
  });

  test('the latest number of employees is used, whatever its position', async () => {
    const count = (number: string, year: string) => ({ is: amount(number), with: { P585: time(year) } });
    const record = await recordOf(
      business({ P1128: [count('+900', '2019'), count('+1200', '2023'), count('+1', '2001')] }),
    );
    expect(record.company).toEqual({ employees: '1,200 (2023)' });
  });

  test('a name that has ended is a former name, and not a current name even if an alias repeats it', async () => {
    const record = await recordOf(
      entity('Q90', {
        labels: { en: 'Meta Platforms' },
        aliases: { en: ['Facebook, Inc.', 'Meta'] },
        claims: {
          P31: item('Q891723'),
          P1448: [{ is: local('en', 'Facebook, Inc.'), with: { P582: time('2021-10-28') } }],
        },
      }),
    );
    expect(record).toMatchObject({ names: ['Meta'], history: { formerly: ['Facebook, Inc. (until 2021)'] } });
  });

  test('identifiers with wrong check digits are left out', async () => {
    const record = await recordOf(
      business({
        P1278: text('HWUPKR0MPOU8FGXBT395'),
        P946: text('US0378331006'),
        P414: [{ is: item('Q82059'), with: { P249: text('EXMP') } }],
      }),
    );
    expect(record.lei).toBeUndefined();
    expect(record.listings).toEqual([{ ticker: 'EXMP', mic: 'XNAS' }]);
  });

  test('an ISIN belongs to the listings in its own country', async () => {
    const listing = (exchange: string, ticker: string) => ({
      is: item(exchange),
      with: { P249: text(ticker) },
    });
    const record = await recordOf(
      business({
        P17: item('Q17'),
        P946: text('JP3633400001'),
        P414: [listing('Q13677', 'TM'), listing('Q217475', '7203')],
      }),
    );
    expect(record.listings).toEqual([
      { ticker: '7203', mic: 'XTKS', isin: 'JP3633400001' },
      { ticker: 'TM', mic: 'XNYS' },
    ]);
  });

  test('an exchange that is not in our table gets the MIC that the dump gives it', async () => {
    const exchange = entity('Q4242424', { labels: { en: 'Elsewhere' }, claims: { P7534: text('XELS') } });
    const company = business({ P414: [{ is: item('Q4242424'), with: { P249: text('NYSE: exm.b') } }] });
    const { brands } = await read(await fileOf(dumpOf([company, exchange])));
    expect(brands.get('q555')?.listings).toMatchObject([{ ticker: 'EXM-B', mic: 'XELS' }]);
  });
});

test('every exchange in our table is in the table of packages/identifiers', () => {
  const known = new Set(EXCHANGES.map(({ mic }) => mic));
  const numbers = [82059, 13677, 171240, 217475, 819468, 151139, 661834, 2385849, 496672, 732670];
  expect(numbers.map((number) => micOfExchange(number, []))).toEqual(
    'XNAS XNYS XLON XTKS XETR XFRA XSWX XPAR XHKG XASX'.split(' '),
  );
  for (const number of numbers) expect(known).toContain(micOfExchange(number, []));
  expect(micOfExchange(4_242_424, [])).toBeUndefined();
});

describe('the file', () => {
  test('records do not depend on the order of the entities', async () => {
    const { brands: expected } = await read(await fileOf(dumpOf(all)));
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(all, { minLength: all.length }), async (shuffled) => {
        const { brands } = await read(await fileOf(dumpOf(shuffled), 'shuffled.json'));
        expect(brands).toEqual(expected);
      }),
      { numRuns: 20 },
    );
  });

  test('an array, separate lines and any spacing give the same records', async () => {
    const { brands: expected } = await read(await fileOf(dumpOf(all)));
    const turned = ({ id, type, ...rest }: Record<string, unknown>) => ({ ...rest, type, id });
    for (const content of [
      all.map((each) => JSON.stringify(each)).join('\n'),
      `[${all.map((each) => JSON.stringify(each)).join(',\r\n')}]`,
      all.map((each) => JSON.stringify(each, null, 1).replaceAll('\n', ' ')).join('\n'),
      all.map((each) => JSON.stringify(turned(each))).join('\n'),
    ]) {
      const { brands, problems } = await read(await fileOf(content));
      expect(problems).toEqual([]);
      expect(brands).toEqual(expected);
    }
  });

  test("a gzip of many members is read to its end, whatever the file's name", async () => {
    const dump = Buffer.from(dumpOf(all));
    const members = [0, 1, 2, 3].map((part) =>
      gzipSync(dump.subarray((dump.length / 4) * part, (dump.length / 4) * (part + 1))),
    );
    const { brands, problems } = await read(await fileOf(Buffer.concat(members)));
    expect(problems).toEqual([]);
    expect([...brands.keys()].sort()).toEqual(ids);
  });

  const bz2 = join(import.meta.dirname, 'wikidata/nintendo.json.bz2');
  const hasBzip2 = spawnSync('bzip2', ['--help']).error === undefined;

  test.skipIf(!hasBzip2)('a bzip2 of several streams is read to its end', async () => {
    const { brands, problems } = await read(bz2);
    expect(problems).toEqual([]);
    expect([...brands.values()]).toMatchObject([
      { id: 'q8093', company: { headquarters: { state: 'Kyoto Prefecture', country: 'Japan' } } },
    ]);
  });

  test.skipIf(!hasBzip2)('a bzip2 that is cut off is reported', async () => {
    const whole = await readFile(bz2);
    const file = await fileOf(whole.subarray(0, whole.length - 200));
    const { problems } = await read(file);
    expect(problems).toMatchObject([
      { problem: expect.stringMatching(/^the bzip2 file is damaged or incomplete/) },
    ]);
  });

  test('of a gzip that is truncated anywhere, every whole line before the break is read and the place is reported', async () => {
    const lines = all.map((each) => JSON.stringify(each));
    const whole = gzipSync(`${lines.join('\n')}\n`);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 30, max: whole.length - 1 }), async (length) => {
        const cut = whole.subarray(0, length);
        const seen =
          gunzipSync(cut, { finishFlush: constants.Z_SYNC_FLUSH }).toString('latin1').split('\n').length - 1;
        const { brands, problems } = await read(await fileOf(cut, 'cut.json.gz'));
        const wholly = companies.filter(
          ({ id }) => lines.findIndex((line) => line.includes(`"id":"${id}","l`)) < seen,
        );
        expect([...brands.keys()].sort()).toEqual(wholly.map(({ id }) => id.toLowerCase()).sort());
        expect(problems.at(-1)).toMatchObject({ from: `dump:${seen + 1}` });
      }),
      { numRuns: 30 },
    );
  });

  test('a line that cannot be read is reported with its place, and the rest is imported', async () => {
    const [first = '', ...rest] = companies.map((each) => JSON.stringify(each));
    const invalid = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d, 0x0a]);
    const content = Buffer.concat([
      Buffer.from(`[\n${first},\n{"type":"item","id":"Q1","labels":\n{"no":"id"},\n`),
      invalid,
      Buffer.from(`${first},\n${rest.join(',\n')}\n]\n`),
    ]);
    const { brands, problems } = await read(await fileOf(content));
    expect([...brands.keys()].sort()).toEqual(ids);
    expect(problems).toMatchObject([
      {
        from: 'dump:3',
        problem: expect.stringContaining('not valid JSON'),
        raw: '{"type":"item","id":"Q1","labels":',
      },
      { from: 'dump:4', problem: expect.stringContaining('not an entity') },
      { from: 'dump:5', problem: 'the line is not UTF-8' },
      { from: 'dump:6', problem: expect.stringContaining('Q312 occurs twice') },
    ]);
  });

  test('an array that is not closed, an empty file and one of another kind are reported', async () => {
    const unclosed = await read(await fileOf(dumpOf(all).slice(0, -2)));
    expect(unclosed.problems).toMatchObject([
      { problem: expect.stringContaining('before its JSON array is closed') },
    ]);
    expect([...unclosed.brands.keys()].sort()).toEqual(ids);
    expect((await read(await fileOf(''))).problems).toMatchObject([{ problem: 'the file is empty' }]);
    const other = await read(await fileOf('<Q312> <P31> <Q4830453> .\n'.repeat(5_000)));
    expect(other.problems.length).toBeLessThan(1_100);
    expect(other.problems.at(-1)?.problem).toContain('not a JSON dump of Wikidata');
  });

  test('no content of an entity makes the reader throw', async () => {
    const claims = fc.dictionary(
      fc.constantFrom('P31', 'P414', 'P159', 'P571', 'P1448', 'P1128', 'P856', 'P625'),
      fc.oneof(
        fc.jsonValue(),
        fc.constant([{ mainsnak: { snaktype: 'value', datavalue: { value: { id: 'Q4830453' } } } }]),
      ),
    );
    const anything = fc.record({
      id: fc.constant('Q7'),
      labels: fc.jsonValue(),
      aliases: fc.jsonValue(),
      claims,
      sitelinks: fc.jsonValue(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(anything, { minLength: 1, maxLength: 3 }), async (entities) => {
        await read(await fileOf(dumpOf(entities), 'anything.json'));
      }),
      { numRuns: 100 },
    );
  });

  test('no company is missed because of the form of its line', () => {
    const number = fc.constantFrom('Q5', 'Q515', 'Q4830453', 'Q431289', 'Q3918', 'Q999', 'Q46970');
    const statements = fc.array(
      fc.record({
        is: number.map(item),
        rank: fc.constantFrom('preferred' as const, 'normal' as const, 'deprecated' as const),
      }),
      { minLength: 1, maxLength: 3 },
    );
    const claims = fc.dictionary(
      fc.constantFrom('P31', 'P414', 'P946', 'P452', 'P1454', 'P2139', 'P1056', 'P131', 'P297', 'P18'),
      statements,
    );
    const label = fc.oneof(fc.string(), fc.constant('":[{"mainsnak":'), fc.constant('"P31":[{"mainsnak":'));
    fc.assert(
      fc.property(claims, label, (some, en) => {
        const made = entity('Q1', { labels: { en }, claims: some });
        const worth = worthOf(Buffer.from(JSON.stringify(made)));
        if (isCompany(evidenceOf(made))) expect(worth.company).toBe(true);
        if (some.P297 !== undefined) expect(worth.landmark).toBe(true);
        if (some.P131 !== undefined)
          expect(worth.company || worth.landmark || worth.partOf.length > 0).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test("the reader's files on disk are removed at the end, even if the reader stops in the middle", async () => {
    const file = await fileOf(dumpOf(all));
    for await (const _each of readWikidata(file, { now, workDir })) break;
    if (hasBzip2) for await (const _each of readWikidata(bz2, { now, workDir })) break;
    expect(await readdir(workDir)).toEqual([]);
  });

  test('a reading that is interrupted ends in its first pass, and leaves nothing on disk', async () => {
    const file = await fileOf(dumpOf(all));
    const signal = AbortSignal.abort();
    const { brands, problems, figures } = await read(file, { signal });
    expect([brands.size, problems, figures]).toEqual([0, [], undefined]);
    expect(await readdir(workDir)).toEqual([]);
  });

  test('a process that is killed leaves no files, because they have no names while they are used', async () => {
    const file = await fileOf(dumpOf(all));
    for await (const _each of readWikidata(file, { now, workDir }))
      expect(await readdir(workDir)).toEqual([]);
  });

  test('progress grows up to the size of the file', async () => {
    const file = await fileOf(gzipSync(dumpOf(all)));
    const progress = { read: 0, total: 0 };
    await read(file, { progress });
    expect(progress.read).toBe((await readFile(file)).length);
  });
});

test('memory does not grow with the dump: a heap of 32 MiB is enough for 200,000 entities', async () => {
  const file = join(folder, 'large.json.gz');
  const ENTITIES = 200_000;
  const like = (claims: NonNullable<Described['claims']>) =>
    JSON.stringify(entity('Q1', { labels: { en: 'Thing Q1', de: 'Ding Q1' }, claims })).split('Q1"');
  const company = like({ P31: item('Q4830453'), P159: item('Q77'), P112: item('Q78') });
  const village = like({ P31: item('Q532'), P131: item('Q77') });
  // The entities have no identifiers in common.
  const line = (number: number) =>
    (number % 100 === 0 ? company : village).join(`Q${number}"`).replaceAll('Q77"', `Q${number - 1}"`);
  function* lines() {
    yield '[\n';
    for (let number = 1; number < ENTITIES; number += 1_000) {
      const thousand = Array.from({ length: 1_000 }, (_, index) => line(number + index));
      yield `${number === 1 ? '' : ',\n'}${thousand.join(',\n')}`;
    }
    yield '\n]\n';
  }
  await pipeline(Readable.from(lines()), createGzip({ level: 1 }), createWriteStream(file));

  const worker = new Worker(new URL('./wikidata/read-in-little-memory.ts', import.meta.url), {
    workerData: { file, workDir },
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 },
  });
  const [{ records, buffers }] = await once(worker, 'message');
  await worker.terminate();
  expect(records).toBe(ENTITIES / 100);
  expect(buffers).toBeLessThan(64 << 20);
  console.info(`buffers outside the heap: ${Math.round(buffers / (1 << 20))} MiB at the most`);
});

test('an item with a number that no item has is left out, and the others are read', async () => {
  const items = [
    entity(`Q${'9'.repeat(25)}`, { labels: { en: 'Nowhere' }, claims: { P131: item('Q30') } }),
    entity('Q7', { labels: { en: 'Seven' }, claims: { P31: item('Q4830453') } }),
  ];
  const { brands, problems } = await read(await fileOf(dumpOf(items)));
  expect([[...brands.keys()], problems]).toEqual([['q7'], []]);
});

test('half a character in a title or an account does not end the import', async () => {
  const half = entity('Q7', {
    labels: { en: 'Se\ud800ven' },
    claims: { P31: item('Q4830453'), P2002: text('\udc00') },
  });
  const sitelinks = { enwiki: { site: 'enwiki', title: 'Seven\ud800' } };
  const { brands, problems } = await read(await fileOf(dumpOf([{ ...half, sitelinks }])));
  expect([brands.get('q7')?.name, problems]).toEqual(['Se\ufffdven', []]);
  expect(brands.get('q7')?.links?.wikipedia).toBe('https://en.wikipedia.org/wiki/Seven%EF%BF%BD');
});
