import fc from 'fast-check';
import { expect, test } from 'vitest';
import { putImage } from '../src/admin/put.ts';
import { KEPT_UNNAMED_MS, type Swept, sweepImages } from '../src/admin/sweep.ts';
import type { ImageStore } from '../src/store/store.ts';
import { fileOf, standInWorkers } from './stand-in-workers.ts';
import { storeOfTest } from './store-of-test.ts';

const DAY_MS = 24 * 3_600_000;
const IMAGES = 4;

class Crash extends Error {}

/** Returns the store of a process that stops at its `calls`-th call of the database, before or after the call has its effect. */
function crashingStore(store: ImageStore, calls: number, isAfter: boolean): ImageStore {
  let left = calls;
  return new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>;
      return async (...given: unknown[]) => {
        left -= 1;
        if (left < 0 || (left === 0 && !isAfter)) throw new Crash();
        const result = await method.apply(target, given);
        if (left === 0) throw new Crash();
        return result;
      };
    },
  });
}

async function* messagesOf(...messages: string[][]) {
  for (const [index, paths] of messages.entries()) yield { paths, complete: index === messages.length - 1 };
}

/** Messages that break off, with an error or as if they had ended. */
async function* brokenOff(paths: string[], isError: boolean) {
  yield { paths, complete: false };
  if (isError) throw new Crash();
}

/** Images by number, under a clock that only the test moves. */
async function testImages(given?: ImageStore) {
  const store = given ?? (await storeOfTest()).store;
  const clock = { nowMs: Date.UTC(2026, 10, 22) };
  const nowMs = () => clock.nowMs;
  const put = async (number: number, of: ImageStore = store) => {
    const image = await putImage(
      { store: of, workers: standInWorkers, nowMs },
      { kind: 'logo', light: { file: fileOf({ name: `image ${number}` }) }, dark: undefined },
    );
    return image.id;
  };
  const sweep = (paths: string[], of: ImageStore = store): Promise<Swept> =>
    sweepImages(of, messagesOf(paths), nowMs);
  const isStored = async (id: string) => (await store.findStated(id)) !== undefined;
  return { store, clock, nowMs, put, sweep, isStored };
}

const number = fc.nat(IMAGES - 1);
const named = fc.subarray(Array.from({ length: IMAGES }, (_, index) => index));
const crash = fc.record({ calls: fc.integer({ min: 1, max: 6 }), isAfter: fc.boolean() });
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ what: fc.constant('put' as const), number }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('sweep' as const), named }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('two sweeps' as const), named, others: named }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('put during a sweep' as const), named, number }) },
  {
    weight: 1,
    arbitrary: fc.record({
      what: fc.constant('sweep that breaks off' as const),
      named,
      isError: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('sweep that crashes' as const), named, crash }) },
  {
    weight: 4,
    arbitrary: fc.record({ what: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 20 }) }),
  },
);

/**
 * What is known of an image. Between the two times of unnamedSince it depends on how far crashed sweeps came.
 */
interface Known {
  /** The last time at which it was put, or a sweep that ended or not named it. Undefined while it was never put. */
  usedMs: number | undefined;
  /** The first sweep after that which has surely found it unnamed. */
  surelyUnnamedMs: number | undefined;
}

test('under puts, sweeps, crashes and passing days, an image is kept for 30 days after its last use, and then goes', async () => {
  const { store, mongo } = await storeOfTest();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await mongo.db.collection('images').deleteMany();
      const { clock, nowMs, put, sweep, isStored } = await testImages(store);
      const ids: string[] = [];
      for (let index = 0; index < IMAGES; index++) ids.push(await put(index));
      const known: Known[] = ids.map(() => ({ usedMs: clock.nowMs, surelyUnnamedMs: undefined }));
      const pathsOf = (numbers: readonly number[]) => numbers.map((index) => `${ids[index]}.svg`);
      const use = (numbers: readonly number[]) => {
        for (const index of numbers) known[index] = { usedMs: clock.nowMs, surelyUnnamedMs: undefined };
      };
      /** A sweep that ended and named only these. */
      const leave = async (numbers: readonly number[]) => {
        for (const [index, image] of known.entries()) {
          if (numbers.includes(index) || image.usedMs === clock.nowMs) continue;
          const since = image.surelyUnnamedMs;
          if (since !== undefined && clock.nowMs - since >= KEPT_UNNAMED_MS)
            expect([index, await isStored(ids[index] ?? '')]).toEqual([index, false]);
          image.surelyUnnamedMs ??= clock.nowMs;
        }
      };
      for (const action of steps) {
        // Nothing happens at the same time as the step before.
        clock.nowMs += 1_000;
        switch (action.what) {
          case 'put':
            expect(await put(action.number)).toBe(ids[action.number]);
            use([action.number]);
            break;
          case 'sweep': {
            const { missing } = await sweep(pathsOf(action.named));
            for (const path of missing) known[ids.indexOf(path.replace('.svg', ''))] = gone();
            use(action.named.filter((index) => !missing.includes(`${ids[index]}.svg`)));
            await leave(action.named);
            break;
          }
          case 'two sweeps':
            await Promise.all([sweep(pathsOf(action.named)), sweep(pathsOf(action.others))]);
            for (const index of new Set([...action.named, ...action.others]))
              if (await isStored(ids[index] ?? '')) use([index]);
            // Either sweep may have been the last to mark an image that only the other one named.
            for (const image of known) image.surelyUnnamedMs = undefined;
            break;
          case 'put during a sweep': {
            const messages = async function* () {
              yield { paths: pathsOf(action.named), complete: true };
              clock.nowMs += 1;
              await put(action.number);
            };
            await sweepImages(store, messages(), nowMs);
            for (const index of action.named) if (await isStored(ids[index] ?? '')) use([index]);
            use([action.number]);
            break;
          }
          case 'sweep that breaks off': {
            const before = await Promise.all(ids.map(isStored));
            const cut = brokenOff(pathsOf(action.named), action.isError);
            await expect(sweepImages(store, cut, nowMs)).rejects.toThrow(action.isError ? Crash : /cut off/);
            expect(await Promise.all(ids.map(isStored)), 'a sweep that breaks off removes nothing').toEqual(
              before,
            );
            use(action.named.filter((index) => before[index]));
            break;
          }
          case 'sweep that crashes': {
            const { calls, isAfter } = action.crash;
            await sweep(pathsOf(action.named), crashingStore(store, calls, isAfter)).catch((error) =>
              expect(error).toBeInstanceOf(Crash),
            );
            // It may or may not have come to naming these. They are not used, but not surely unnamed either.
            for (const index of action.named) (known[index] as Known).surelyUnnamedMs = undefined;
            break;
          }
          case 'wait':
            clock.nowMs += action.days * DAY_MS;
        }
        for (const [index, { usedMs }] of known.entries())
          if (usedMs !== undefined && clock.nowMs - usedMs < KEPT_UNNAMED_MS)
            expect([action.what, index, await isStored(ids[index] ?? '')]).toEqual([
              action.what,
              index,
              true,
            ]);
      }
    }),
    { numRuns: 25 },
  );
});

function gone(): Known {
  return { usedMs: undefined, surelyUnnamedMs: undefined };
}

test('a sweep says what it has found', async () => {
  const { clock, put, sweep, isStored } = await testImages();
  const [first, second, third] = [await put(1), await put(2), await put(3)];
  clock.nowMs += 1;
  const absent = `logos/${'0'.repeat(32)}.svg`;
  const paths = [
    `${first}.svg`,
    `${first}.svg?size=64`,
    `${second}.png`,
    absent,
    'logos/apple/big.svg',
    absent,
  ];
  expect(await sweep(paths)).toEqual({
    named: 2,
    unnamed: 1,
    removed: 0,
    missing: ['logos/apple/big.svg', absent],
  });
  clock.nowMs += KEPT_UNNAMED_MS - 2;
  expect(await sweep([`${first}.svg`, `${second}.svg`])).toMatchObject({ unnamed: 1, removed: 0 });
  clock.nowMs += 2;
  expect(await sweep([`${first}.svg`])).toMatchObject({ named: 1, unnamed: 1, removed: 1, missing: [] });
  expect([await isStored(first), await isStored(second), await isStored(third)]).toEqual([true, true, false]);
});

test('an image that is put again, or named again, begins its 30 days anew', async () => {
  const { clock, put, sweep, isStored } = await testImages();
  const [first, second] = [await put(1), await put(2)];
  clock.nowMs += 1;
  await sweep([]);
  clock.nowMs += 29 * DAY_MS;
  await put(1);
  await sweep([second]);
  clock.nowMs += 29 * DAY_MS;
  expect(await sweep([])).toMatchObject({ removed: 0, unnamed: 2 });
  clock.nowMs += 29 * DAY_MS;
  expect(await sweep([])).toMatchObject({ removed: 0 });
  clock.nowMs += DAY_MS;
  expect(await sweep([])).toMatchObject({ removed: 2 });
  expect(await isStored(first)).toBe(false);
});

/** Returns the store, with something else that happens just before each call of one of its methods. */
function interrupted(
  store: ImageStore,
  method: keyof ImageStore,
  happens: () => Promise<unknown>,
): ImageStore {
  return new Proxy(store, {
    get: (target, name) => {
      const call = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>;
      return async (...given: unknown[]) => {
        if (name === method) await happens();
        return call.apply(target, given);
      };
    },
  });
}

test('an image that is put or named between the look of a sweep and its write is not removed, and a put one not marked', async () => {
  for (const method of ['markUnnamed', 'removeUnnamed'] as const)
    for (const use of ['put', 'name'] as const) {
      const { store, clock, put, sweep, isStored } = await testImages();
      const id = await put(1);
      clock.nowMs += 1;
      if (method === 'removeUnnamed') {
        await sweep([]);
        clock.nowMs += KEPT_UNNAMED_MS;
      }
      const happens = async () => {
        clock.nowMs += 1;
        await (use === 'put' ? put(1) : store.markNamed([id]));
      };
      const { removed } = await sweep([], interrupted(store, method, happens));
      expect([method, use, removed, await isStored(id)]).toEqual([method, use, 0, true]);
      const [image] = await store.readUseOf([id]);
      // A sweep that did not name it may mark an image that another sweep names. The next sweep clears that.
      if (method === 'removeUnnamed' || use === 'put') expect(image?.unnamedSince).toBeUndefined();
    }
});

test('an image that is put while the paths are read is not marked', async () => {
  const { store, clock, nowMs, put } = await testImages();
  const messages = async function* () {
    clock.nowMs += 1;
    await put(1);
    yield { paths: [], complete: true };
  };
  expect(await sweepImages(store, messages(), nowMs)).toMatchObject({ unnamed: 0, removed: 0 });
});

test('an image that was removed can be put again, at the same path', async () => {
  const { clock, put, sweep, isStored } = await testImages();
  const id = await put(1);
  clock.nowMs += 1;
  await sweep([]);
  clock.nowMs += KEPT_UNNAMED_MS;
  await sweep([]);
  expect(await isStored(id)).toBe(false);
  expect(await put(1)).toBe(id);
  expect(await isStored(id)).toBe(true);
});

test('at most 100 missing paths are reported, and a message of too many paths is refused', async () => {
  const { sweep, store, nowMs } = await testImages();
  const absent = Array.from(
    { length: 250 },
    (_, index) => `logos/${index.toString(16).padStart(32, '0')}.svg`,
  );
  expect((await sweep(absent)).missing).toHaveLength(100);
  const tooMany = messagesOf(Array.from({ length: 10_001 }, () => 'x'));
  await expect(sweepImages(store, tooMany, nowMs)).rejects.toMatchObject({ kind: 'invalid_argument' });
});

test('a sweep reads no pictures: its queries are answered from an index', async () => {
  const { store, mongo } = await storeOfTest();
  const nowMs = () => Date.UTC(2026, 10, 22);
  const ids: string[] = [];
  for (let number = 0; number < 50; number++) {
    const light = { file: fileOf({ name: `image ${number}` }) };
    ids.push(
      (await putImage({ store, workers: standInWorkers, nowMs }, { kind: 'logo', light, dark: undefined }))
        .id,
    );
  }
  await mongo.db.command({ profile: 2 });
  await sweepImages(store, messagesOf(ids), () => nowMs() + 1);
  await mongo.db.command({ profile: 0 });
  const profiled = await mongo.db
    .collection('system.profile')
    .find({ ns: /\.images$/, op: { $in: ['query', 'update', 'getmore'] } })
    .toArray();
  expect(profiled.length).toBeGreaterThanOrEqual(3);
  for (const { docsExamined, keysExamined } of profiled) {
    expect(docsExamined).toBe(0);
    expect(keysExamined).toBeLessThanOrEqual(2 * ids.length + 2);
  }
});
