import {
  Brand,
  BrandType,
  type CatalogServiceClient,
  type LookupRequest,
  type LookupResponse,
  MatchKind,
  MatchStrength,
} from '@brand-data/contracts';
import { describe, expect, test } from 'vitest';
import { createRecords } from '../src/records/records.ts';
import { manualClock, outOfReach, unaryMethod } from './stand-ins.ts';

const MINUTE_MS = 60_000;

/** Catalog's answer to every identifier: a company of this name, or no company. */
const found = (name: string | undefined): LookupResponse => ({
  results: [
    {
      ...(name === undefined
        ? { suggestions: [{ name: 'Acme Inc.', identifier: 'ACME' }] }
        : {
            brand: Brand.fromPartial({
              ...{ id: 'acme', type: BrandType.BRAND, name, description: 'Made up.', category: 'brand' },
            }),
            match: { kind: MatchKind.NAME, value: name, strength: MatchStrength.EXACT },
            suggestions: [],
          }),
      namesSuperinvestor: false,
      leftOut: false,
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
  const records = createRecords({ lookup } as unknown as CatalogServiceClient, {
    logoHost: 'https://logos.example.com',
    cacheBytes: 1_000_000,
    now: () => clock.now().monotonicMs,
  });
  const nameFound = async () => {
    const { record } = await records.find('grouped', 'acme');
    return record && (JSON.parse(record.body.toString()) as { name: string }).name;
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
    expect(catalog.asked).toBe(2);
    catalog.answer = async () => found('Acme Renamed');
    clock.advance(1_000);
    expect(await nameFound()).toBe('Acme Renamed');
  });

  test('is fetched again after an import, before the next call gets it', async () => {
    const { clock, catalog, records, nameFound } = setUp('Acme');
    await nameFound();
    clock.advance(1);
    catalog.answer = async () => found('Acme Renamed');
    records.expireAll();
    clock.advance(1);
    expect(await nameFound()).toBe('Acme Renamed');
  });
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

test('results that had no room in an answer are asked for again, in batches of the size that fitted', async () => {
  const { catalog, records } = setUp('Acme');
  const batches: number[] = [];
  catalog.answer = async ({ queries }) => {
    batches.push(queries.length);
    const results = queries.map(({ identifier }, index) => {
      const [result] = found(identifier).results;
      if (!result || index < 3) return result;
      return { suggestions: [], namesSuperinvestor: false, leftOut: true };
    });
    return { results: results.flatMap((result) => result ?? []) };
  };
  const names = Array.from({ length: 10 }, (_, index) => `company ${index}`);
  const answers = await Promise.all(names.map((name) => records.find('flat', name)));
  expect(answers.map(({ record }) => JSON.parse(String(record?.body)).name)).toEqual(names);
  expect(batches).toEqual([10, 3, 3, 1]);
});

test('a catalog that has room for nothing fails the look-ups', async () => {
  const { catalog, records } = setUp('Acme');
  catalog.answer = async ({ queries }) => ({
    results: queries.map(() => ({ suggestions: [], namesSuperinvestor: false, leftOut: true })),
  });
  const answers = ['a', 'b', 'c'].map((name) => records.find('flat', name));
  for (const { status } of await Promise.allSettled(answers)) expect(status).toBe('rejected');
});

test('a miss is answered without suggestions if catalog does not answer the request for them', async () => {
  const { catalog, records } = setUp(undefined);
  catalog.answer = async ({ queries }) => {
    if (queries[0]?.suggest) return outOfReach();
    return { results: [{ suggestions: [], namesSuperinvestor: false, leftOut: false }] };
  };
  const miss = { record: undefined, suggestions: [] };
  expect(await records.find('grouped', 'acme')).toMatchObject(miss);
  expect(await records.find('grouped', 'acme')).toMatchObject(miss);
  expect(catalog.asked).toBe(2);
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
