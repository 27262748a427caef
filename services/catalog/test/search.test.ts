import { domainToUnicode } from 'node:url';
import { type Brand, BrandType, FoundCompany } from '@brand-data/contracts';
import { coreName, nameForms, namesOfBrand, normalName, readWebHost } from '@brand-data/identifiers';
import { presentFlat } from '@brand-data/presenters';
import { brandOf } from '@brand-data/testing/brand-of';
import fc from 'fast-check';
import type { Collection } from 'mongodb';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { candidateFinder, candidateFromDoc, findAnswers, readQuery } from '../src/lookup/answers.ts';
import { searcher } from '../src/lookup/search.ts';
import { LookUpsFirst, takeTurns } from '../src/lookup/search-turns.ts';
import { type CatalogDoc, compareDocs } from '../src/records/catalog-doc.ts';
import { recordFromBytes } from '../src/records/merge.ts';
import { searchFilter, textsTyped } from '../src/records/search-entries.ts';
import { feedDatabase } from './catalogue-databases.ts';
import { stockOf } from './running-catalog.ts';

const database = feedDatabase();
let companies: Collection<CatalogDoc>;
let search: ReturnType<typeof newSearch>;
let monotonicMs = 1;

const newSearch = (findCandidates = candidateFinder(companies), read = companies) => {
  const clock = { now: () => ({ monotonicMs, wallMs: 0 }) };
  const find = searcher(read, findCandidates, { giveWay: async () => {}, withinMs: 20_000, clock });
  return (text: string, limit: number) => find({ text, limit, accountId: 'acme' });
};

beforeAll(() => {
  companies = database.collections.companies;
});

beforeEach(() => {
  search = newSearch();
});

const namesFound = async (text: string, limit = 10) =>
  (await search(text, limit)).map(({ brand }) => brand?.name);

/** Returns what a company is found by, from its record alone: texts, and up to where a search may begin at any of their words. */
function textsOf(brand: Brand): { text: string; wordsUntil: number }[] {
  const { current, former } = namesOfBrand(brand);
  const names = [...current, ...former].flatMap((name) =>
    nameForms(name).map(({ form }) => {
      const words = Array.from(form.matchAll(/ /g), ({ index }) => index + 1);
      // From here on, the name is nothing but its legal form.
      const ofForm = words.find((at) => coreName(`Nova ${form.slice(at)}`) === 'nova');
      return { text: form, wordsUntil: ofForm ?? form.length };
    }),
  );
  const hosts = [...(brand.links?.websites ?? []), ...brand.domains].flatMap((address) => {
    const { host = '', domain = '' } = readWebHost(address) ?? {};
    return [host, domain].map(domainToUnicode);
  });
  const others = [...brand.listings.map(({ ticker }) => ticker), ...hosts].map(normalName);
  return [...names, ...others.map((text) => ({ text, wordsUntil: 0 }))];
}

/** Compares every company with the typed text. Returns the first text of each that matches. */
function scan(docs: readonly CatalogDoc[], typed: string): Map<CatalogDoc, string> {
  const matches = docs.flatMap((doc) => {
    const brand = recordFromBytes(doc.brand);
    if (brand.type === BrandType.SUPERINVESTOR || brand.type === BrandType.OTHER_SECURITY) return [];
    const found = textsTyped(typed).flatMap((beginning) =>
      textsOf(brand).flatMap(({ text, wordsUntil }) =>
        [...text].flatMap((_, at) => {
          const isStart = at === 0 || (at < wordsUntil && text[at - 1] === ' ');
          return isStart && text.startsWith(beginning, at) ? [text.slice(at)] : [];
        }),
      ),
    );
    const [first] = found.sort();
    return first === undefined ? [] : [[doc, first] as const];
  });
  return new Map(matches);
}

/** Returns the twenty companies that a search is to read: by steps of ten ranks, and in one step by the alphabet of their texts. */
function read(found: ReadonlyMap<CatalogDoc, string>): CatalogDoc[] {
  const stepOf = ({ rank }: CatalogDoc) => Math.floor(Math.max(299, Math.min(999, rank)) / 10);
  return [...found]
    .sort(
      ([a, textOfA], [b, textOfB]) =>
        stepOf(b) - stepOf(a) ||
        Buffer.compare(Buffer.from(textOfA), Buffer.from(textOfB)) ||
        Buffer.compare(Buffer.from(a._id), Buffer.from(b._id)),
    )
    .slice(0, 20)
    .map(([doc]) => doc)
    .sort(compareDocs);
}

/** Returns what a company may be looked up by, the handiest first. */
function identifiersOf({ name, listings: [listing], links, domains }: Brand): string[] {
  const ticker = listing && [listing.ticker, `${listing.mic}:${listing.ticker}`];
  const host = readWebHost([...(links?.websites ?? []), ...domains][0] ?? '')?.host;
  return [ticker?.[0], host, name, ticker?.[1]].filter((identifier) => identifier !== undefined);
}

/** Checks whether the identifier means the company, with superinvestors and without, if a look-up compares all records. */
async function means(docs: readonly CatalogDoc[], identifier: string, id: string): Promise<boolean> {
  const queries = [true, false].map((superinvestors) => readQuery({ identifier, superinvestors }));
  const all = async (entries: readonly string[]) =>
    docs.map((doc) => candidateFromDoc(doc, new Set(entries))).filter((one) => one.entries.length > 0);
  const answers = await findAnswers(queries, all, { perEntry: docs.length, most: 1 });
  return answers.every(({ answer }) => answer.meanings[0]?.brand.id === id);
}

const word = fc.constantFrom(
  ...['Acme', 'Acmé', 'Ac', 'Coca', 'Cola', 'Bank', 'of', 'America', 'Inc.', 'AG', 'J. P.', '&', 'Müller'],
  ...['Газпром', 'Банк', 'Εθνική', '삼성', '三菱', 'セブン', 'बैंक', 'بنك', '𝒜cme', 'Zürich-Group'],
);
const name = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
const someCompany = fc
  .record({
    type: fc.constantFrom(
      ...[BrandType.STOCK, BrandType.BRAND, BrandType.BRAND],
      ...[BrandType.SUPERINVESTOR, BrandType.OTHER_SECURITY],
    ),
    name,
    names: fc.array(name, { maxLength: 2 }),
    formerly: fc.array(name, { maxLength: 1 }),
    rank: fc.constantFrom(1, 299, 300, 301, 309, 310, 655, 655, 999, 1000),
    ticker: fc.constantFrom('AC', 'ACME', 'COLA', 'BRK-B', '005930'),
    mic: fc.constantFrom('XNYS', 'XETR', 'XKRX'),
    domains: fc.subarray(['acme.com', 'coca-cola.com', 'www.bank.co.uk', 'shop.acme.com', 'müller.de'], {
      maxLength: 2,
    }),
    isBare: fc.boolean(),
  })
  .map(({ type, ticker, mic, formerly, isBare, ...fields }): Omit<Brand, 'id'> => {
    const isListed = type === BrandType.STOCK || type === BrandType.OTHER_SECURITY;
    const { id: _, ...brand } = brandOf('', {
      ...fields,
      type,
      listings: isListed ? [{ ticker, mic }] : [],
      ...(formerly.length > 0 && type !== BrandType.SUPERINVESTOR && { history: { formerly } }),
      ...(type === BrandType.SUPERINVESTOR && { manager: { portfolioManager: fields.name, firm: 'Acme' } }),
      ...(isBare && type === BrandType.BRAND && { description: '' }),
    });
    return brand;
  });
const someCatalogue = fc
  .array(someCompany, { maxLength: 30 })
  .map((all) => all.map((brand, index): Brand => ({ ...brand, id: `c${(index * 7) % 31}` })));
const typed = fc.oneof(
  fc
    .tuple(name, fc.nat(12))
    .map(([text, length]) => [...text].slice(0, length + 1).join(''))
    .filter((text) => text.trim() !== ''),
  fc.constantFrom('a', 'ACM', 'coca-', 'bank o', 'bank of am', 'j. p. a', 'brk.', 'https://www.acme.c', '00'),
);

describe('a search', () => {
  test('finds the companies that a scan of all records finds, each once and by an identifier that means it', async () => {
    await fc.assert(
      fc.asyncProperty(
        someCatalogue,
        fc.array(fc.tuple(typed, fc.integer({ min: 1, max: 10 })), { minLength: 1, maxLength: 6 }),
        async (brands, searches) => {
          await companies.deleteMany({});
          if (brands.length > 0) await database.put(...brands);
          const docs = await companies.find().toArray();
          search = newSearch();
          for (const [text, limit] of searches) {
            const expected: [id: string, identifier: string][] = [];
            for (const doc of read(scan(docs, text))) {
              for (const identifier of identifiersOf(recordFromBytes(doc.brand)))
                if (expected.at(-1)?.[0] !== doc._id && (await means(docs, identifier, doc._id)))
                  expected.push([doc._id, identifier]);
            }
            const found = await search(text, limit);
            expect(found.map(({ brand, identifier }) => [brand?.id, identifier])).toEqual(
              expected.slice(0, limit),
            );
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test('of what somebody types on finds what a search of the whole text finds, without reading once a text finds few', async () => {
    const afterwards = fc.constantFrom('', ' ', 'x', '.', '-');
    await fc.assert(
      fc.asyncProperty(someCatalogue, typed, afterwards, async (brands, beginning, end) => {
        await companies.deleteMany({});
        if (brands.length > 0) await database.put(...brands);
        const docs = await companies.find().toArray();
        let reads = 0;
        const find = (...asked: Parameters<typeof companies.find>) => {
          reads += 1;
          return companies.find(...asked);
        };
        const typing = newSearch(candidateFinder(companies), { find } as unknown as typeof companies);
        const text = beginning + end;
        let wereFew = false;
        for (let length = 1; length <= text.length; length++) {
          const asked = text.slice(0, length);
          const readsBefore = reads;
          const found = await typing(asked, 10);
          expect(found).toEqual(await newSearch()(asked, 10));
          // A letter that only ends a sign may make another text of it.
          const goesOn = /^[\p{L}\p{N}]{2,}$/u.test(asked);
          if (wereFew && goesOn) expect([asked, reads]).toEqual([asked, readsBefore]);
          wereFew = scan(docs, asked).size < 20;
        }
      }),
      { numRuns: 15 },
    );
  });

  test('shows of a company what its record shows: name, type, symbol, website and logo', async () => {
    const image = fc.constantFrom(undefined, { path: 'a.svg', width: 2, height: 1 });
    const logo = fc
      .constantFrom(undefined, 'big', 'small')
      .chain((place) => image.map((found) => (place === undefined ? undefined : { [place]: found })));
    const images = fc.record({ logo, stockLogo: logo });
    const websites = fc.subarray(['https://Acme.com/', 'https://acme.com', 'not an address', ' ']);
    const options = { logoHost: 'https://example.com/logos', monogramKey: 'key' };
    const shown = (brand: Brand | undefined) => {
      const { name, type, symbol, website, logo } = (brand && presentFlat(brand, options)) ?? {};
      return { name, type, symbol, website: website ?? brand?.domains[0], logo };
    };
    await fc.assert(
      fc.asyncProperty(someCatalogue, images, websites, async (brands, images, websites) => {
        await companies.deleteMany({});
        const all = brands.map((brand) => brandOf(brand.id, { ...brand, images, links: { websites } }));
        if (all.length > 0) await database.put(...all);
        const found = await newSearch()('a', 10);
        const docs = await companies
          .find({ _id: { $in: found.map(({ brand }) => brand?.id ?? '') } })
          .toArray();
        const records = new Map(docs.map((doc) => [doc._id, recordFromBytes(doc.brand)]));
        for (const { brand } of found) expect(shown(brand)).toEqual(shown(records.get(brand?.id ?? '')));
      }),
      { numRuns: 15 },
    );
  });

  test('gives the same bytes in whatever order the records came', async () => {
    const brands = Array.from({ length: 60 }, (_, index) =>
      stockOf(`c${(index * 37) % 61}`, `T${index}@XNYS`, {
        name: `Acme ${index % 9} Works`,
        rank: 400 + (index % 4),
      }),
    );
    const bytes = async () => {
      const found = [...(await search('acme', 10)), ...(await search('4 w', 10))];
      return Buffer.concat(found.map((one) => FoundCompany.encode(one).finish())).toString('hex');
    };
    await database.put(...brands);
    const expected = await bytes();
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(brands, { minLength: brands.length }), async (shuffled) => {
        await companies.deleteMany({});
        for (const half of [shuffled.slice(0, 30), shuffled.slice(30)]) await database.put(...half);
        expect(await bytes()).toBe(expected);
      }),
      { numRuns: 5 },
    );
  });

  test.each([
    ['a word of a name', 'depot', ['The Home Depot']],
    ['several words from any word on', 'home dep', ['The Home Depot']],
    ['a name without accents', 'NESTLE', ['Nestlé S.A.']],
    ['a former name', 'faceb', ['Meta Platforms']],
    ['a ticker', 'hd', ['The Home Depot']],
    ['a ticker with its share class', 'brk.', ['Berkshire Hathaway']],
    ['a domain', 'lego.c', ['LEGO']],
    ['an address', 'https://www.lego', ['LEGO']],
    ['initials', 'j. p. m', ['J.P. Morgan']],
    ['another script', 'газ', ['Газпром']],
    ['the inside of a word', 'epot', []],
    ['signs alone', '!?', []],
  ])('by %s: %s', async (_, text, expected) => {
    await database.put(
      stockOf('hd', 'HD@XNYS', { name: 'The Home Depot' }),
      stockOf('nestle', 'NESN@XSWX', { name: 'Nestlé S.A.' }),
      stockOf('meta', 'META@XNAS', {
        name: 'Meta Platforms',
        history: { formerly: ['Facebook (2004–2021)'] },
      }),
      stockOf('berkshire', 'BRK-B@XNYS', { name: 'Berkshire Hathaway' }),
      brandOf('lego', { name: 'LEGO', domains: ['lego.com'] }),
      brandOf('jpm', { name: 'J.P. Morgan' }),
      brandOf('gazprom', { name: 'Газпром' }),
    );
    expect(await namesFound(text)).toEqual(expected);
  });

  test.each([
    ['ag', ['AGCO Corporation']],
    ['inc', []],
    ['company', []],
    ['corp', ['Corporate Travel']],
    ['kgaa', []],
    ['plc', ['PLC Systems Inc.']],
    ['limited', ['The Limited, Inc.']],
    ['bayer a', ['Bayer AG']],
    ['motor corp', ['Toyota Motor Corporation']],
  ])('for "%s" finds no company by the legal form at the end of its name', async (text, expected) => {
    const names = ['Bayer AG', 'AGCO Corporation', 'Corporate Travel', 'Merck KGaA', 'PLC Systems Inc.'];
    const further = [
      'Tesco plc',
      'Toyota Motor Corporation',
      'Rolex Limited',
      'The Limited, Inc.',
      'The Home Depot, Inc.',
    ];
    const others = ['Münchener Rückversicherungs-AG', 'ÖMV AG', 'The Coca-Cola Company', 'Kühne + Nagel AG'];
    await database.put(
      ...[...names, ...further, ...others].map((name, index) => brandOf(`c${index}`, { name })),
    );
    expect(await namesFound(text)).toEqual(expected);
  });

  test('finds the best known first, and the tenth of ten thousand that begin so after as many index keys as of twenty', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      brandOf(`c${index}`, { name: `International ${index} Bank`, rank: 300 + ((index * 7919) % 700) }),
    );
    const keysExamined = async (text: string) => {
      const found = companies.find(searchFilter(textsTyped(text)), { hint: 'search', limit: 20 });
      return (await found.explain('executionStats')).executionStats.totalKeysExamined as number;
    };
    for (let start = 0; start < many.length; start += 500)
      await database.put(...many.slice(start, start + 500));
    const rankOf = new Map(many.map(({ id, rank }) => [id, rank]));
    const ranks = (await search('international', 10)).map(({ brand }) => rankOf.get(brand?.id ?? '') ?? 0);
    expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
    expect(Math.min(...ranks)).toBeGreaterThanOrEqual(990);
    // One key for each result and one for each step at most, with the one after the last range.
    for (const text of ['i', 'int', 'international', 'international 77', 'bank', 'international zzz', 'zzz'])
      expect([text, await keysExamined(text)]).toEqual([
        text,
        expect.toSatisfy((keys) => keys <= 20 + 2 * 71),
      ]);
  });

  test('leaves out a company whose only identifier is longer than an identifier may be', async () => {
    const names = ['Acme', `Acme ${'of a very long name '.repeat(15)}`];
    await database.put(...names.map((name, index) => brandOf(`c${index}`, { name })));
    expect(await namesFound('acme')).toEqual(['Acme']);
  });

  test('finds a company of an earlier version after its next import, and no removed or renamed one ten seconds later', async () => {
    const acme = brandOf('acme', { name: 'Acme' });
    const namesFound = async (text: string) => {
      monotonicMs += 10_001;
      return (await search(text, 10)).map(({ brand }) => brand?.name);
    };
    await database.put(acme);
    await companies.updateMany({}, { $unset: { search: 1 } });
    expect(await namesFound('acm')).toEqual([]);
    await database.put(acme);
    expect(await namesFound('acm')).toEqual(['Acme']);
    await database.put({ ...acme, name: 'Globex' });
    expect([await namesFound('acm'), await namesFound('glo')]).toEqual([[], ['Globex']]);
    await companies.deleteMany({});
    expect(await namesFound('glo')).toEqual([]);
  });

  test('gives the same answer for ten seconds, and then looks an identifier up again if it has changed', async () => {
    const acme = (bannerPath: string) => stockOf('acme', 'AC@XNYS', { name: 'Acme', images: { bannerPath } });
    const lookUps: unknown[] = [];
    const findCandidates = candidateFinder(companies);
    const counted: typeof findCandidates = (...asked) => {
      lookUps.push(asked);
      return findCandidates(...asked);
    };
    search = newSearch(counted);
    const found = async (text = 'acm') =>
      (await search(text, 10)).map(({ brand, identifier }) => [brand?.images?.bannerPath, identifier]);
    await database.put(acme('old.svg'));
    const before = await found();
    expect(before).toEqual([['old.svg', 'AC']]);
    const { length } = lookUps;
    await database.put(acme('new.svg'));
    monotonicMs += 9_999;
    expect([await found(), await found('ACM '), await found('acme')]).toEqual([before, before, before]);
    monotonicMs += 2;
    for (const text of ['acme', 'acm']) expect(await found(text)).toEqual([['new.svg', 'AC']]);
    expect(lookUps).toHaveLength(length);
    await database.put(stockOf('acme', 'ACM@XNYS', { name: 'Acme', images: { bannerPath: '' } }));
    monotonicMs += 10_001;
    expect(await found()).toEqual([['', 'ACM']]);
    expect(lookUps.length).toBeGreaterThan(length);
  });

  test.each([
    ['x'.repeat(257), 10],
    ['x', 0],
    ['x', 11],
  ])('is refused: %s, at most %i', async (text, limit) => {
    await expect(search(text, limit)).rejects.toMatchObject({ kind: 'invalid_argument' });
  });
});

test('whatever accounts search at once, each search ends: at most sixty-four wait, and none for ever', async () => {
  const accounts = fc.array(fc.integer({ min: 0, max: 100 }).map(String), { maxLength: 150, size: 'max' });
  await fc.assert(
    fc.asyncProperty(accounts, fc.array(fc.nat(149), { maxLength: 5 }), async (all, pauses) => {
      const inTurn = takeTurns({ mostWaiting: 64 });
      let running = 0;
      const task = async () => {
        running += 1;
        expect(running).toBe(1);
        await Promise.resolve();
        running -= 1;
      };
      const searches: Promise<void>[] = [];
      for (const [index, accountId] of all.entries()) {
        searches.push(inTurn(accountId, task));
        if (pauses.includes(index)) await Promise.race([...searches, Promise.resolve()]);
      }
      const ends = await Promise.allSettled([...searches, inTurn('last', task)]);
      const refused = ends.filter(({ status }) => status === 'rejected').length;
      expect(refused).toBeLessThanOrEqual(Math.max(0, all.length - 64));
    }),
  );
});

test('a search lets the look-ups under way go first, however they end, and waits no more than 5 ms', async () => {
  const ends = fc.array(fc.boolean(), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(ends, fc.boolean(), async (all, areLate) => {
      const passed = Promise.withResolvers<void>();
      const waits: number[] = [];
      const sleep = (ms: number) => {
        waits.push(ms);
        return passed.promise;
      };
      const lookUps = new LookUpsFirst({ sleep });
      const happened: string[] = [];
      const held = all.map((isFine) => ({ isFine, ...Promise.withResolvers<void>() }));
      const running = held.map(({ promise }) =>
        lookUps.run(() => promise).finally(() => void happened.push('look-up')),
      );
      const search = lookUps.giveWay().then(() => void happened.push('search'));
      if (areLate) {
        passed.resolve();
        await search;
        expect(happened).toEqual(['search']);
      }
      for (const { isFine, resolve, reject } of held) isFine ? resolve() : reject(new Error('failed'));
      await Promise.allSettled(running);
      await search;
      if (!areLate) expect(happened.indexOf('search')).toBeGreaterThanOrEqual(all.length - 1);
      await lookUps.giveWay();
      expect(waits).toEqual([5]);
    }),
  );
});

describe('of a flood of searches', () => {
  let begun: number;
  let held: PromiseWithResolvers<never[]>;
  let find: (accountId: string, options?: { signal?: AbortSignal; text?: string }) => Promise<unknown>;

  beforeEach(() => {
    begun = 0;
    held = Promise.withResolvers();
    const reading = () => {
      begun += 1;
      return { toArray: () => held.promise };
    };
    const reader = { find: reading } as unknown as Collection<CatalogDoc>;
    const flooded = searcher(reader, async () => [], { giveWay: async () => {} });
    let asked = 0;
    find = (accountId, { signal, text } = {}) => {
      asked += 1;
      return flooded({ text: text ?? `acme ${asked}x`, limit: 10, accountId }, signal);
    };
  });

  test('one runs, sixty-four wait, and the others are refused; an abandoned one is not begun', async () => {
    const abandoned = new AbortController();
    const running = find('acme');
    const waiting = Array.from({ length: 64 }, () => find('acme', abandoned));
    await expect(find('acme')).rejects.toMatchObject({ kind: 'unavailable' });
    expect(begun).toBe(1);
    abandoned.abort();
    held.resolve([]);
    expect(await running).toEqual([]);
    for (const one of await Promise.allSettled(waiting)) expect(one.status).toBe('rejected');
    expect(begun).toBe(1);
  });

  test('those of one text make one reading, and a text whose answer is kept does not wait', async () => {
    const same = Array.from({ length: 50 }, () => find('acme', { text: 'acme' }));
    held.resolve([]);
    for (const one of same) expect(await one).toEqual([]);
    expect(begun).toBe(1);
    held = Promise.withResolvers();
    const running = find('acme');
    expect(await find('acme', { text: 'acme' })).toEqual([]);
    held.resolve([]);
    await running;
  });

  test('those of other accounts are not refused, and each waits for at most one search of every account', async () => {
    const asked = fc.array(fc.constantFrom('flood', 'flood', 'flood', 'flood', 'a', 'b'), { maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(asked, async (accounts) => {
        const few = accounts.filter(
          (accountId, at) => accountId === 'flood' || accounts.indexOf(accountId) === at,
        );
        const ended: string[] = [];
        const all = ['flood', ...few].map((accountId) => find(accountId).then(() => ended.push(accountId)));
        held.resolve([]);
        const refused = (await Promise.allSettled(all)).filter(({ status }) => status === 'rejected');
        const others = new Set(few.filter((accountId) => accountId !== 'flood'));
        expect(refused).toHaveLength(Math.max(0, few.length - 64));
        expect(ended.toSorted().slice(0, others.size)).toEqual([...others].toSorted());
        // One is under way already, and one of each account may come first.
        expect(new Set(ended.slice(0, 2 + others.size)).isSupersetOf(others)).toBe(true);
      }),
    );
  });
});
