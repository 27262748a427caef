import { setImmediate as settled } from 'node:timers/promises';
import {
  Brand,
  BrandType,
  type CatalogServiceClient,
  type LookupRequest,
  type LookupResponse,
  MatchKind,
  MatchStrength,
} from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RecordCache } from '../src/records/record-cache.ts';
import { Records } from '../src/records/records.ts';
import { manualClock, outOfReach, unaryMethod } from './stand-ins.ts';

const MINUTE_MS = 60_000;

/** What the answers of the stand-in for catalog depend on. */
const KEYS = [7, 8];

/** Catalog's answer to every identifier: a company of this name, or no company. */
const found = (name: string | undefined, keys: number[] = KEYS): LookupResponse => ({
  results: [
    {
      ...(name === undefined
        ? { suggestions: [{ name: 'Acme Inc.', identifier: 'ACME' }] }
        : {
            brand: Brand.fromPartial({
              id: 'acme',
              type: BrandType.BRAND,
              name,
              description: 'Made up.',
              category: 'brand',
            }),
            match: { kind: MatchKind.NAME, value: name, strength: MatchStrength.EXACT },
            suggestions: [],
          }),
      namesSuperinvestor: false,
      leftOut: false,
      keys,
    },
  ],
});

/** Records with a stand-in for catalog, whose answers the test chooses. */
function setUp(first: string | undefined) {
  const clock = manualClock();
  const catalog = { answer: async (_request: LookupRequest) => found(first), asked: 0 };
  const lookup = unaryMethod((request: LookupRequest) => {
    catalog.asked += 1;
    return catalog.answer(request);
  });
  const records = new Records({ lookup } as unknown as CatalogServiceClient, {
    logoHost: 'https://logos.example.com',
    monogramKey: 'any',
    cacheBytes: 1_000_000,
    now: () => clock.now().monotonicMs,
  });
  const nameFound = async () => {
    const { record } = await records.find('grouped', 'acme');
    return record && (JSON.parse(record.content.body.toString()) as { name: string }).name;
  };
  return { clock, catalog, records, nameFound };
}

describe('a record', () => {
  test('is served for an hour while catalog does not answer, and then is unavailable', async () => {
    const { clock, catalog, nameFound } = setUp('Acme');
    expect(await nameFound()).toBe('Acme');
    catalog.answer = outOfReach;
    clock.advance(60 * MINUTE_MS - 1);
    expect(await nameFound()).toBe('Acme');
    clock.advance(1);
    await expect(nameFound()).rejects.toMatchObject({ kind: 'unavailable' });
  });

  test('that is stale is served during a slow look-up, and the new record as soon as the look-up ends', async () => {
    const { clock, catalog, nameFound } = setUp('Acme');
    await nameFound();
    const { promise, resolve } = Promise.withResolvers<LookupResponse>();
    catalog.answer = () => promise;
    clock.advance(2 * MINUTE_MS);
    expect(await nameFound()).toBe('Acme');
    resolve(found('Acme Renamed'));
    await expect.poll(nameFound).toBe('Acme Renamed');
    expect(catalog.asked).toBe(2);
  });

  test('that is stale is served for a second without another request after catalog did not answer', async () => {
    const { clock, catalog, nameFound } = setUp('Acme');
    await nameFound();
    catalog.answer = outOfReach;
    catalog.asked = 0;
    clock.advance(2 * MINUTE_MS);
    for (let call = 0; call < 20; call++) {
      expect(await nameFound()).toBe('Acme');
      clock.advance(100);
    }
    // Two look-ups, each of which also asked another replica.
    expect(catalog.asked).toBe(4);
    catalog.answer = async () => found('Acme Renamed');
    clock.advance(1_000);
    expect(await nameFound()).toBe('Acme Renamed');
  });

  test('of an age between one and two minutes is answered at once, while one look-up renews it', async () => {
    const { clock, catalog, records, nameFound } = setUp('Acme');
    await nameFound();
    catalog.answer = async () => found('Acme Renamed');
    clock.advance(2 * MINUTE_MS - 1);
    for (let call = 0; call < 3; call++) {
      expect(records.find('grouped', 'acme')).not.toBeInstanceOf(Promise);
      expect(await nameFound()).toBe(call === 0 ? 'Acme' : 'Acme Renamed');
      await settled();
    }
    expect(catalog.asked).toBe(2);
  });

  test('that has changed is answered as it was for at most a second, while one look-up renews it', async () => {
    const { clock, catalog, records, nameFound } = setUp('Acme');
    await nameFound();
    const { promise, resolve } = Promise.withResolvers<LookupResponse>();
    catalog.answer = () => promise;
    records.expire([1, 8]);
    for (const ms of [0, 999]) {
      clock.advance(ms);
      expect(records.find('grouped', 'acme')).not.toBeInstanceOf(Promise);
    }
    clock.advance(1);
    const waiting = nameFound();
    resolve(found('Acme Renamed'));
    expect(await waiting).toBe('Acme Renamed');
    expect(catalog.asked).toBe(2);
  });

  test('that has changed while nobody called is answered anew', async () => {
    const { clock, catalog, records, nameFound } = setUp('Acme');
    await nameFound();
    catalog.answer = async () => found('Acme Renamed');
    records.expire([7]);
    clock.advance(1_000);
    expect(await nameFound()).toBe('Acme Renamed');
  });

  test('on which no changed record has a bearing is not looked up again', async () => {
    const { catalog, records, nameFound } = setUp('Acme');
    await nameFound();
    records.expire([1, 2, 3]);
    records.expire([]);
    await nameFound();
    await settled();
    expect(catalog.asked).toBe(1);
  });

  test('is looked up again when all records have expired', async () => {
    const { clock, catalog, records, nameFound } = setUp('Acme');
    await nameFound();
    catalog.answer = async () => found('Acme Renamed');
    records.expireAll();
    clock.advance(1_000);
    expect(await nameFound()).toBe('Acme Renamed');
  });
});

describe('a change during a look-up', () => {
  /** Announces changes while the first look-up is under way, and returns the name that its caller gets. */
  const overtakenBy = async (announce: (records: Records) => void) => {
    const { catalog, records, nameFound } = setUp(undefined);
    const { promise, resolve } = Promise.withResolvers<LookupResponse>();
    catalog.answer = ({ queries }) => (queries[0]?.suggest ? Promise.resolve(found(undefined)) : promise);
    const name = nameFound();
    await settled();
    announce(records);
    catalog.answer = async () => found('Acme');
    resolve(found(undefined));
    return name;
  };

  test('of which the answer depends is in the answer', async () => {
    expect(await overtakenBy((records) => records.expire([8]))).toBe('Acme');
    expect(await overtakenBy((records) => records.expireAll())).toBe('Acme');
  });

  test('that never ends is not waited for: the answer is used, and not kept', async () => {
    const { clock, catalog, records, nameFound } = setUp('Acme');
    catalog.answer = async () => {
      records.expire([7]);
      clock.advance(500);
      return found('Acme');
    };
    expect(await nameFound()).toBe('Acme');
    expect(catalog.asked).toBe(4);
    clock.advance(1_000);
    catalog.answer = async () => found('Acme Renamed');
    expect(await nameFound()).toBe('Acme Renamed');
  });
});

test('a 404 is never repeated after a record has changed that may turn it into a hit', async () => {
  const { catalog, records, nameFound } = setUp(undefined);
  expect(await nameFound()).toBeUndefined();
  catalog.answer = async () => found('Acme');
  records.expire([1]);
  expect(await nameFound()).toBeUndefined();
  records.expire([8]);
  expect(await nameFound()).toBe('Acme');
});

test('the cache forgets what depended on answers that it no longer holds', async () => {
  const clock = manualClock();
  const cache = new RecordCache({ maxBytes: 20_000, now: () => clock.now().monotonicMs });
  const miss = { record: undefined, suggestions: [], namesSuperinvestor: false, noCompany: undefined };
  for (let number = 0; number < 1_000; number++)
    cache.set(`flat ${number}`, { ...miss, keys: [number, 5_000], fetchedAtMs: 0 }, { changed: false });
  expect(cache.size().bytes).toBeLessThanOrEqual(20_000);
  expect(cache.size().keys).toBe((cache.size().entries ?? 0) + 1);
});

test('identifiers of one record share its body, and the cache keeps to its bytes and frees what it drops', () => {
  const answer = fc.record({
    identifier: fc.nat(40),
    /** undefined: a miss */
    record: fc.option(fc.nat(5), { nil: undefined }),
    changed: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(answer, { maxLength: 200 }), (answers) => {
      const cache = new RecordCache({ maxBytes: 30_000, now: () => 0 });
      const found = (number: number | undefined) => ({
        record:
          number === undefined
            ? undefined
            : {
                content: { tag: `tag ${number}`, body: Buffer.alloc(1_500 * (number + 1)), encoded: {} },
                brandMatch: 'kind=name',
                dataHeaders: {},
                heads: [],
              },
        suggestions: [],
        namesSuperinvestor: false,
        noCompany: undefined,
        fetchedAtMs: 0,
      });
      for (const { identifier, record, changed } of answers) {
        const keys = [identifier, 1_000 + (record ?? 0)];
        cache.set(`flat ${identifier}`, { ...found(record), keys }, { changed });
        expect(cache.size().bytes).toBeLessThanOrEqual(30_000);
      }
      const bodies = new Map<string, Set<Buffer>>();
      for (let identifier = 0; identifier <= 40; identifier++) {
        const content = cache.get(`flat ${identifier}`)?.record?.content;
        if (content) bodies.set(content.tag, (bodies.get(content.tag) ?? new Set()).add(content.body));
      }
      for (const different of bodies.values()) expect(different.size).toBe(1);
      const misses = new RecordCache({ maxBytes: 30_000, now: () => 0 });
      for (const each of [cache, misses])
        for (let number = 0; number < 100; number++)
          each.set(`miss ${number}`, { ...found(undefined), keys: [number] }, { changed: false });
      expect(cache.size()).toEqual(misses.size());
    }),
  );
});

test('what catalog suggests for a miss is answered until the miss is looked up again', async () => {
  const { clock, catalog, records } = setUp(undefined);
  const suggestions = [{ name: 'Acme Inc.', identifier: 'ACME' }];
  expect(await records.find('grouped', 'acme')).toMatchObject({ record: undefined, suggestions });
  catalog.answer = async () => found('Acme');
  clock.advance(9_999);
  expect(await records.find('grouped', 'acme')).toMatchObject({ record: undefined, suggestions });
  expect(catalog.asked).toBe(2);
  clock.advance(1);
  expect(await records.find('grouped', 'acme')).toMatchObject({ record: {}, suggestions: [] });
});

test('suggestions are asked for in a second request, with the misses alone, and no other caller waits for them', async () => {
  const { catalog, records } = setUp(undefined);
  const { promise, resolve } = Promise.withResolvers<void>();
  const requests: LookupRequest[] = [];
  catalog.answer = async (request) => {
    requests.push(request);
    if (request.queries.some(({ suggest }) => suggest)) await promise;
    const results = request.queries.map(
      ({ identifier }) => found(identifier === 'acme' ? 'Acme' : undefined).results,
    );
    return { results: results.flat() };
  };
  const misses = ['akme', 'acmee'].map((identifier) => records.find('flat', identifier));
  expect(await records.find('flat', 'acme')).toMatchObject({ record: {} });
  resolve();
  for (const { suggestions } of await Promise.all(misses)) expect(suggestions).toHaveLength(1);
  const query = (identifier: string, suggest: boolean) => ({ identifier, superinvestors: false, suggest });
  const asked = { weakMatches: true, maxBytes: 256 * 1024 };
  expect(requests).toEqual([
    { queries: ['akme', 'acmee', 'acme'].map((identifier) => query(identifier, false)), ...asked },
    { queries: ['akme', 'acmee'].map((identifier) => query(identifier, true)), ...asked },
  ]);
});

test('an identifier is cached apart for each kind that callers name, and catalog is asked for this kind', async () => {
  const { catalog, records } = setUp(undefined);
  const asked: unknown[] = [];
  catalog.answer = async ({ queries }) => {
    const answers = queries.map(({ kind }) => {
      asked.push(kind);
      const [result] = found(`as ${kind}`).results;
      return result?.match ? [{ ...result, match: { ...result.match, kind: kind ?? MatchKind.NAME } }] : [];
    });
    return { results: answers.flat() };
  };
  // "ticker AAPL" is an identifier too.
  const calls = [['AAPL'], ['AAPL', 'ticker'], ['AAPL', 'name'], ['ticker AAPL']] as const;
  const names = async () => {
    const answers = await Promise.all(
      calls.map(([identifier, kind]) => records.find('grouped', identifier, kind)),
    );
    return answers.map(({ record }) => JSON.parse(String(record?.content.body)).name);
  };
  const kinds = [undefined, MatchKind.TICKER, MatchKind.NAME, undefined];
  for (let times = 0; times < 2; times++) expect(await names()).toEqual(kinds.map((kind) => `as ${kind}`));
  expect(asked.toSorted()).toEqual(kinds.toSorted());
});

test('the URLs of images are such as a header may hold, whatever the letters of the host', async () => {
  const { catalog } = setUp('Acme');
  const lookup = unaryMethod((request: LookupRequest) => catalog.answer(request));
  const records = new Records({ lookup } as unknown as CatalogServiceClient, {
    logoHost: 'https://löschen.漢字.example/bilder',
    monogramKey: 'any',
    cacheBytes: 1_000_000,
  });
  const { record } = await records.find('flat', 'acme');
  for (const url of [record?.content.logo, records.monogramUrl('Acme')])
    expect(url).toMatch(/^https:\/\/xn--[!-~]+\/bilder\/monograms\/[!-~]+$/);
});

test('a catalog that does not know kinds yet never answers by another kind: the answer is 503', async () => {
  const { records } = setUp('Acme');
  expect(await records.find('grouped', 'acme', 'name')).toMatchObject({ record: {} });
  await expect(records.find('grouped', 'acme', 'ticker')).rejects.toMatchObject({ kind: 'unavailable' });
});

test('results that had no room in an answer are asked for again, in batches of the size that fitted', async () => {
  const { catalog, records } = setUp('Acme');
  const batches: number[] = [];
  catalog.answer = async ({ queries }) => {
    batches.push(queries.length);
    const results = queries.map(({ identifier }, index) => {
      const [result] = found(identifier).results;
      if (!result || index < 3) return result;
      return { suggestions: [], namesSuperinvestor: false, leftOut: true, keys: [] };
    });
    return { results: results.flatMap((result) => result ?? []) };
  };
  const names = Array.from({ length: 10 }, (_, index) => `company ${index}`);
  const answers = await Promise.all(names.map((name) => records.find('flat', name)));
  expect(answers.map(({ record }) => JSON.parse(String(record?.content.body)).name)).toEqual(names);
  expect(batches).toEqual([10, 3, 3, 1]);
});

test('a catalog that has room for nothing fails the look-ups', async () => {
  const { catalog, records } = setUp('Acme');
  catalog.answer = async ({ queries }) => ({
    results: queries.map(() => ({ suggestions: [], namesSuperinvestor: false, leftOut: true, keys: [] })),
  });
  const answers = ['a', 'b', 'c'].map((name) => records.find('flat', name));
  for (const { status } of await Promise.allSettled(answers)) expect(status).toBe('rejected');
});

test('a miss is answered without suggestions if catalog does not answer the request for them', async () => {
  const { catalog, records } = setUp(undefined);
  catalog.answer = async ({ queries }) => {
    if (queries[0]?.suggest) return outOfReach();
    return { results: [{ suggestions: [], namesSuperinvestor: false, leftOut: false, keys: KEYS }] };
  };
  const miss = { record: undefined, suggestions: [] };
  expect(await records.find('grouped', 'acme')).toMatchObject(miss);
  expect(await records.find('grouped', 'acme')).toMatchObject(miss);
  // The request for suggestions also went to another replica.
  expect(catalog.asked).toBe(3);
});

test('a record of a type that this gateway does not know fails alone, and the others of its batch are answered', async () => {
  const { catalog, records } = setUp('Acme');
  catalog.answer = async ({ queries }) => ({
    results: queries.flatMap(({ identifier }) => {
      const [result] = found(identifier).results;
      const type = identifier === 'new' ? BrandType.UNSPECIFIED : BrandType.BRAND;
      return result?.brand ? [{ ...result, brand: { ...result.brand, type } }] : [];
    }),
  });
  const [known, unknown] = [records.find('grouped', 'acme'), records.find('grouped', 'new')];
  await expect(unknown).rejects.toThrow('no type');
  expect(await known).toMatchObject({ record: {} });
  expect(catalog.asked).toBe(1);
});

test('an outdated 404 is never repeated: the answer is 503 while catalog does not answer', async () => {
  const { clock, catalog, nameFound } = setUp(undefined);
  expect(await nameFound()).toBeUndefined();
  catalog.answer = outOfReach;
  clock.advance(9_999);
  expect(await nameFound()).toBeUndefined();
  clock.advance(1);
  await expect(nameFound()).rejects.toMatchObject({ kind: 'unavailable' });
});
