import { BrandType } from '@brand-data/contracts';
import { createLogger } from '@brand-data/runtime';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import type { Document } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  answerOf,
  bestOfEach,
  byEntry,
  candidateFinder,
  type FindCandidates,
  readQuery,
} from '../src/lookup/answers.ts';
import { similarityQuery } from '../src/lookup/similar-names.ts';
import {
  type FindSimilar,
  RECORDS_OF_ENTRY,
  type Suggest,
  similarFinder,
  suggester,
} from '../src/lookup/suggestions.ts';
import { type FeedDatabase, feedDatabase } from './catalogue-databases.ts';
import { stockOf } from './running-catalog.ts';

const log = createLogger('test', 'silent');
/** Long enough on a busy machine. */
const withinMs = 20_000;
const database = feedDatabase();
const put: FeedDatabase['put'] = (...brands) => database.put(...brands);
let collections: FeedDatabase['collections'];
let findCandidates: FindCandidates;
let suggest: Suggest;

beforeAll(() => {
  collections = database.collections;
  findCandidates = candidateFinder(collections.companies);
  const findSimilar = similarFinder(collections.companies, { withinMs });
  suggest = suggester({ log }, { findSimilar, findCandidates, withinMs });
});

const query = (identifier: string, superinvestors = true) => ({ identifier, superinvestors, suggest: true });

/** "Name [identifier]" of each suggestion. */
async function suggested(identifier: string, { superinvestors = true } = {}): Promise<string[]> {
  const [answer] = await suggest([query(identifier, superinvestors)]);
  return (answer?.suggestions ?? []).map(({ name, identifier }) => `${name} [${identifier}]`);
}

const buffett = brandOf('warren-buffett', {
  name: 'Warren Buffett',
  type: BrandType.SUPERINVESTOR,
  rank: 950,
  manager: { portfolioManager: 'Warren Buffett', firm: 'Berkshire Hathaway' },
});
const someBrands = [
  stockOf('apple', 'AAPL@XNAS', {
    name: 'Apple',
    names: ['Apple Inc.'],
    rank: 995,
    domains: ['apple.com'],
    listings: [{ ticker: 'AAPL', mic: 'XNAS', isin: 'US0378331005' }],
  }),
  stockOf('alphabet', 'GOOGL@XNAS', { name: 'Alphabet', names: ['Google'], rank: 990 }),
  stockOf('nestle', 'NESN@XSWX', { name: 'Nestlé S.A.', rank: 920 }),
  stockOf('samsung', '005930@XKRX', { name: 'Samsung Electronics Co., Ltd.', rank: 940 }),
  brandOf('lego', { name: 'LEGO', rank: 850, domains: ['lego.com'] }),
  brandOf('gazprom', { name: 'Газпром', rank: 800 }),
  brandOf('zorbex', { name: 'Zorbex Systems', rank: 300 }),
  buffett,
];

describe('suggested is', () => {
  test.each([
    ['a misspelt name', 'appel', ['Apple [AAPL]']],
    ['a misspelt other name of a well-known company', 'gogle', ['Alphabet [GOOGL]']],
    ['a misspelt name with its legal form', 'Nesle SA', ['Nestlé S.A. [NESN]']],
    [
      'the misspelt first word of a well-known company',
      'samsang',
      ['Samsung Electronics Co., Ltd. [005930]'],
    ],
    ['a misspelt name of a company without listings', 'leggo', ['LEGO [LEGO]']],
    ['a misspelt name in another script', 'Гaзпрм'.replace('a', 'а'), ['Газпром [Газпром]']],
    ['a misspelt name of a little-known company', 'zorbx systems', ['Zorbex Systems [Zorbex Systems]']],
    ['a misspelt domain', 'https://www.aple.com/x', ['Apple [AAPL]']],
    ['the company of an e-mail address', 'jane.doe@apple.com', ['Apple [AAPL]']],
    ['the security whose check digit is wrong', 'US0378331006', ['Apple [AAPL]']],
    ['the ticker without its unknown exchange', 'AAPL.ZZ', ['Apple [AAPL]']],
    ['the name that is encoded twice', 'Nestl%C3%A9', ['Nestlé S.A. [NESN]']],
    ['the well-known companies in a longer text', 'apple or google', ['Apple [AAPL]', 'Alphabet [GOOGL]']],
    ['a misspelt superinvestor', 'waren buffet', ['Warren Buffett [Warren Buffett]']],
  ])('%s: %s', async (_, identifier, expected) => {
    await put(...someBrands);
    expect((await suggested(identifier)).toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    ['Valve', 'Vale'],
    ['Bayer', 'Bayern Munich'],
    ['Cathay', 'Cathie Wood'],
    ['Square', 'Times Square'],
    ['Siemens', 'Simons'],
    ['Germanium', 'Germany'],
    ['Nationwide', 'National'],
  ])('not %s for "%s"', async (name, identifier) => {
    await put(brandOf('famous', { name, rank: 900 }));
    expect(await suggested(identifier)).toEqual([]);
  });

  test.each([
    ['Nike', 'nkie'],
    ['FedEx', 'fedx'],
    ['Apple', 'appl'],
    ['Tesla', 'tessla motors'],
    ['Siemens', 'siemans'],
    ['Orange', 'orange telecom'],
    ['Square', 'buy from square'],
  ])('%s for "%s"', async (name, identifier) => {
    await put(brandOf('famous', { name, rank: 900 }));
    expect(await suggested(identifier)).toEqual([`${name} [${name}]`]);
  });

  test.each([
    'zzzzzz',
    'asdfghjkl',
    'hello world',
    'null',
    'the best company',
    '12345',
    '???',
    '/etc/passwd',
    '',
    '8.8.8.8',
    'zorbex galactic empire',
    'sap',
    'alp',
    'goo',
    'レゴ',
    '<script>alert(1)</script>',
  ])('nothing for "%s"', async (identifier) => {
    await put(...someBrands);
    expect(await suggested(identifier)).toEqual([]);
  });

  test('no superinvestor where they do not count, but that the identifier names one', async () => {
    await put(...someBrands);
    const answers = await suggest([
      query('warren buffett', false),
      query('Berkshire Hathaway', false),
      query('waren buffet', false),
      query('appel', false),
    ]);
    expect(answers.map(({ namesSuperinvestor }) => namesSuperinvestor)).toEqual([true, true, false, false]);
    expect(answers.map(({ suggestions }) => suggestions.length)).toEqual([0, 0, 0, 1]);
  });

  test('the best known first, at most three, none of them twice', async () => {
    await put(
      ...['a', 'i', 'o', 'u'].map((vowel, index) =>
        brandOf(vowel, { name: `Acme${vowel}`, rank: 800 + index }),
      ),
      ...Array.from({ length: 3 }, (_, index) =>
        brandOf(`twin-${index}`, { name: 'Acmme', rank: 900 + index }),
      ),
    );
    expect(await suggested('acme')).toEqual(['Acmme [Acmme]', 'Acmeu [Acmeu]', 'Acmeo [Acmeo]']);
  });

  test.each([true, false])('nothing for a token, and nothing is searched for it', async (superinvestors) => {
    const searched: string[] = [];
    const findSimilar: FindSimilar = async (entries) => {
      searched.push(...entries);
      return [];
    };
    const suggest = suggester({ log }, { findSimilar, findCandidates });
    const [answer] = await suggest([query('pk_0123456789abcdefghijklmnopqr', superinvestors)]);
    expect(answer?.suggestions).toEqual([]);
    expect(searched).toEqual([]);
    await suggest([query('https://jane:hunter2@apple.com/', superinvestors)]);
    expect(searched).toContain('domain:apple.com');
    expect(searched.join(' ')).not.toContain('hunter2');
  });
});

test('every suggestion resolves to the record that it names, whatever other records share its name and tickers', async () => {
  const names = ['Acme', 'Acmee', 'Acme Inc.', 'Acne', 'Akme Group', 'Globex', 'Globexx AG', 'ACME Globex'];
  const tickers = ['ACME', 'ACNE', 'GLOBEX', 'AKME', 'ACMEE'];
  const some = fc.array(
    fc.record({
      name: fc.constantFrom(...names),
      rank: fc.integer({ min: 300, max: 1_000 }),
      names: fc.subarray(names, { maxLength: 2 }),
      ticker: fc.option(fc.constantFrom(...tickers), { nil: undefined }),
      mic: fc.constantFrom('XNAS', 'XETR'),
      domains: fc.subarray(['acme.com', 'globex.com'], { maxLength: 1 }),
      isManager: fc.boolean(),
    }),
    { minLength: 1, maxLength: 25 },
  );
  const typed = fc.constantFrom(
    'acmme',
    'ackme',
    'glbex',
    'globexs',
    'acmee globex',
    'acme.zz',
    'ACNE.YY',
    'jo@acme.com',
  );
  await fc.assert(
    fc.asyncProperty(some, typed, fc.boolean(), async (facts, identifier, superinvestors) => {
      await collections.companies.deleteMany({});
      await put(
        ...facts.map(({ ticker, mic, isManager, ...fields }, index) => {
          const id = `record-${index}`;
          if (isManager) return brandOf(id, { ...fields, domains: [], type: BrandType.SUPERINVESTOR });
          return ticker === undefined ? brandOf(id, fields) : stockOf(id, `${ticker}@${mic}`, fields);
        }),
      );
      const [answer] = await suggest([query(identifier, superinvestors)]);
      for (const suggestion of answer?.suggestions ?? []) {
        const read = readQuery({ identifier: suggestion.identifier, superinvestors });
        const [meaning] = answerOf(read, byEntry(await findCandidates(read.entries)), 1).meanings;
        expect(meaning?.brand.name).toBe(suggestion.name);
        if (!superinvestors) expect(meaning?.brand.type).not.toBe(BrandType.SUPERINVESTOR);
      }
    }),
    { numRuns: 60 },
  );
});

test('if thousands of names are alike, a miss examines a bounded number of index entries and records, the best known ones', async () => {
  for (let start = 0; start < 2_000; start += 500)
    await put(
      ...Array.from({ length: 500 }, (_, index) =>
        brandOf(`united-${start + index}`, { name: 'United', rank: 300 }),
      ),
    );
  await put(brandOf('best', { name: 'United', names: ['United Best'], rank: 800 }));
  const { entries = [] } = similarityQuery(query('unitd')) ?? {};
  const { companies } = collections;
  const explained = await companies.db
    .aggregate(bestOfEach([...entries, 'none'], RECORDS_OF_ENTRY, companies.collectionName))
    .explain('executionStats');
  const lookup = (explained.stages as Document[]).find((stage) => '$lookup' in stage);
  expect(entries.length).toBeLessThanOrEqual(40);
  expect(Number(lookup?.totalKeysExamined)).toBeLessThanOrEqual(entries.length * (RECORDS_OF_ENTRY + 1));
  expect(Number(lookup?.totalDocsExamined)).toBeLessThanOrEqual(entries.length * RECORDS_OF_ENTRY);
  expect(await suggested('unitd')).toEqual(['United [United]']);
});

test('every identifier has at most 40 entries to read', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 256 }),
    fc.stringMatching(/^[a-z ./@:%+-]{1,100}$/),
    fc.lorem({ maxCount: 12 }),
  );
  fc.assert(
    fc.property(text, fc.boolean(), (identifier, superinvestors) => {
      const { entries = [] } = similarityQuery(query(identifier, superinvestors)) ?? {};
      expect(entries.length).toBeLessThanOrEqual(40);
    }),
  );
});

describe('a miss is answered without suggestions', () => {
  const fails = async () => {
    throw new Error('out of reach');
  };
  const never = () => new Promise<never>(() => {});

  test.each([
    ['the search fails', { findSimilar: fails, findCandidates: async () => [] }],
    ['the search does not end', { findSimilar: never, findCandidates: async () => [] }],
    [
      'the look-up of the suggestions does not end',
      { findSimilar: async () => [apple], findCandidates: never },
    ],
  ])('if %s', async (_, parts) => {
    const began = performance.now();
    expect(await suggester({ log }, { ...parts, withinMs: 50 })([query('appel')])).toEqual([
      { suggestions: [], namesSuperinvestor: false },
    ]);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  const apple = { id: 'apple', rank: 995, keys: ['ticker:AAPL', 'name:apple'] };

  test('if many batches are searched for at once, until some of them are done', async () => {
    const { promise, resolve } = Promise.withResolvers<[]>();
    let searches = 0;
    const findSimilar = () => {
      searches += 1;
      return promise;
    };
    const suggest = suggester({ log }, { findSimilar, findCandidates: async () => [] });
    const flood = Promise.all(Array.from({ length: 100 }, () => suggest([query('appel')])));
    resolve([]);
    await flood;
    expect(searches).toBeLessThan(10);
    await suggest([query('appel')]);
    expect(searches).toBeLessThan(11);
  });

  test('while four searches go on, even after their misses were answered', async () => {
    const { promise, resolve } = Promise.withResolvers<[]>();
    let searches = 0;
    const findSimilar = () => {
      searches += 1;
      return promise;
    };
    const suggest = suggester({ log }, { findSimilar, findCandidates: async () => [], withinMs: 1 });
    for (let miss = 0; miss < 10; miss += 1) await suggest([query('appel')]);
    expect(searches).toBe(4);
    resolve([]);
    await expect.poll(() => suggest([query('appel')]).then(() => searches)).toBeGreaterThan(4);
  });
});

test('suggestions are in the order of the queries, and do not depend on the rest of the batch', async () => {
  await put(...someBrands);
  const texts = ['appel', 'zzzzzz', 'gogle', 'pk_abc', 'waren buffet'];
  const alone = [];
  for (const text of texts) alone.push(...(await suggest([query(text)])));
  expect(await suggest(texts.map((text) => query(text)))).toEqual(alone);
});
