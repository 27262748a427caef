import { createVirtualClock, type VirtualClock } from '@brand-data/testing/virtual-clock';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { newGrantSecret, remainingOf, usedOf } from '../src/ledger/ledger.ts';

import {
  type Barrier,
  type SettlerBounds,
  type SettlerStore,
  startSettler,
} from '../src/settling/settler.ts';
import { NOW_MS, newKey, openGrant, read, sumOf, usageOf } from './ledger-actions.ts';
import { memoryStore } from './ledger-stores.ts';

const GRACE_MS = 5_000;
/** More than the sum of the drift of clocks, the settler's period of a second, and the marker's time in the stream. */
const SOON_MS = 3_000;

/**
 * Creates a stream whose consumer applies messages only while `consumes` is true, and that does not answer while `away` is true.
 */
function createStream(): Barrier & { away: boolean; consumes: boolean; marks: number } {
  return {
    away: false,
    consumes: true,
    marks: 0,
    async pass() {
      if (this.away) throw new Error('the stream is away');
      this.marks += 1;
      return this.consumes ? new Set<string>() : undefined;
    },
  };
}

let running: { clock: VirtualClock; settler: ReturnType<typeof startSettler> }[] = [];
afterEach(async () => {
  for (const { clock, settler } of running) {
    const stopped = settler.stop();
    await clock.advance(60_000);
    await stopped;
  }
  running = [];
});

function replica(store: SettlerStore, clock: VirtualClock, bounds?: SettlerBounds) {
  const stream = createStream();
  const told = { settled: 0, failures: 0 };
  const settler = startSettler(
    { store, clock, barrier: stream, ...(bounds && { bounds }) },
    {
      settled: (grants) => {
        told.settled += grants;
      },
      failed: () => {
        told.failures += 1;
      },
    },
  );
  running.push({ clock, settler });
  return { settler, stream, told };
}

const waitMsOf = (ttlMs: number) => (ttlMs + GRACE_MS) * 1.035;

describe('a holder that has disappeared', () => {
  test('keeps its grant for its lifetime, the grace and the drift of clocks, and loses it soon after', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 600_000 }), async (ttlMs) => {
        const clock = createVirtualClock(NOW_MS);
        const store = memoryStore();
        const key = newKey();
        await openGrant(store, key, { ttlMs });
        replica(store, clock);
        await clock.advance(waitMsOf(ttlMs));
        expect((await read(store, key)).ledger.grants).toHaveLength(1);
        await clock.advance(SOON_MS);
        expect((await read(store, key)).ledger.grants).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  test('is billed for its known usage, and its other permits become available', async () => {
    const clock = createVirtualClock(NOW_MS);
    const store = memoryStore();
    const key = newKey();
    const { id } = await openGrant(store, key, { size: 10, ttlMs: 5_000 });
    await store.applyUsage([usageOf(id, 4, { returned: 2 })]);
    const before = remainingOf((await read(store, key)).ledger);
    const { told } = replica(store, clock);
    await clock.advance(20_000);
    const { ledger, cells } = await read(store, key);
    expect(usedOf(ledger)).toBe(4);
    expect(sumOf(cells)).toBe(4);
    expect(remainingOf(ledger)).toBe(before + 4);
    expect(told).toEqual({ settled: 1, failures: 0 });
  });

  test('is not settled before all its messages in the stream are applied', async () => {
    const clock = createVirtualClock(NOW_MS);
    const store = memoryStore();
    const key = newKey();
    const { id } = await openGrant(store, key, { ttlMs: 5_000 });
    const { stream } = replica(store, clock);
    stream.consumes = false;
    await clock.advance(600_000);
    expect((await read(store, key)).ledger.grants).toHaveLength(1);
    await store.applyUsage([usageOf(id, 9)]);
    stream.consumes = true;
    await clock.advance(SOON_MS);
    expect((await read(store, key)).ledger).toMatchObject({ closedUsed: 9, grants: [] });
  });

  test('is settled once, even if several replicas settle it at the same time', async () => {
    const clock = createVirtualClock(NOW_MS);
    const store = memoryStore();
    const key = newKey();
    for (let grant = 0; grant < 5; grant++) {
      const { id } = await openGrant(store, key, { ttlMs: 5_000 });
      await store.applyUsage([usageOf(id, 3)]);
    }
    const replicas = [replica(store, clock), replica(store, clock)];
    await clock.advance(30_000);
    expect((await read(store, key)).ledger).toMatchObject({ closedUsed: 15, grants: [] });
    expect(replicas.reduce((sum, { told }) => sum + told.settled, 0)).toBe(5);
  });

  test('is not settled earlier when the wall clock jumps', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: -1e8, max: 1e8 })), {
          maxLength: 5,
        }),
        async (jumps) => {
          const clock = createVirtualClock(NOW_MS);
          const store = memoryStore();
          const key = newKey();
          const ttlMs = 60_000;
          await openGrant(store, key, { ttlMs });
          replica(store, clock);
          let passedMs = 0;
          for (const [ms, jumpMs] of jumps) {
            clock.jumpWall(jumpMs);
            await clock.advance(ms);
            passedMs += ms;
            if (passedMs <= waitMsOf(ttlMs)) expect((await read(store, key)).ledger.grants).toHaveLength(1);
          }
          // Sets the wall clock right again.
          clock.jumpWall(-jumps.reduce((sum, [, jumpMs]) => sum + jumpMs, 0));
          await clock.advance(waitMsOf(ttlMs) + SOON_MS);
          expect((await read(store, key)).ledger.grants).toEqual([]);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('is settled in the end, even if the store and the stream fail meanwhile', async () => {
    const clock = createVirtualClock(NOW_MS);
    const memory = memoryStore();
    let isAway = true;
    const guarded =
      <Given extends unknown[], T>(method: (...given: Given) => Promise<T>) =>
      async (...given: Given): Promise<T> => {
        if (isAway) throw new Error('the store is away');
        return method(...given);
      };
    const store: SettlerStore = {
      listOpen: guarded(memory.listOpen.bind(memory)),
      listOverdue: guarded(memory.listOverdue.bind(memory)),
      settle: guarded(memory.settle.bind(memory)),
    };
    const key = newKey();
    await openGrant(memory, key, { ttlMs: 5_000 });
    const { stream, told } = replica(store, clock);
    stream.away = true;
    await clock.advance(20_000);
    isAway = false;
    await clock.advance(20_000);
    expect((await read(memory, key)).ledger.grants).toHaveLength(1);
    expect(told.failures).toBeGreaterThan(20);
    stream.away = false;
    await clock.advance(SOON_MS);
    expect((await read(memory, key)).ledger.grants).toEqual([]);
    expect(told.settled).toBe(1);
  });

  test('does not delay others: due grants are settled although thousands of others must wait', async () => {
    const clock = createVirtualClock(NOW_MS);
    const store = memoryStore();
    const key = newKey();
    const openedAtMs = NOW_MS - 600_000;
    // These grants are long overdue, but this settler sees them for the first time. Therefore it waits ten minutes more.
    await store.update(key, (before) => ({
      ledger: {
        ...before,
        limit: 1e6,
        nextGrant: 1_501,
        grants: Array.from({ length: 1_500 }, (_, index) => ({
          number: index + 1,
          secret: newGrantSecret(),
          holder: 'gone',
          seq: index + 1,
          size: 1,
          used: 0,
          returned: 0,
          ttlMs: 590_000,
          idleMs: 0,
          openedAtMs,
        })),
      },
      result: undefined,
    }));
    const short = newKey();
    await openGrant(store, short, { ttlMs: 5_000 });
    const { told } = replica(store, clock);
    await clock.advance(20_000);
    expect((await read(store, short)).ledger.grants).toEqual([]);
    expect(told.settled).toBe(1);
    await clock.advance(700_000);
    expect(told.settled).toBe(1_501);
  });
});

test('a pass that finds no due grant does not use the stream', async () => {
  const clock = createVirtualClock(NOW_MS);
  const store = memoryStore();
  await openGrant(store, newKey(), { ttlMs: 600_000 });
  const { stream } = replica(store, clock);
  await clock.advance(600_000);
  expect(stream.marks).toBe(0);
});

test('a replica settles a grant on time that another replica gave out at any time', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 100_000 }),
      fc.constantFrom(5_000, 60_000, 600_000),
      async (openedMs, ttlMs) => {
        const clock = createVirtualClock(NOW_MS);
        const store = memoryStore();
        replica(store, clock);
        await clock.advance(openedMs);
        const key = newKey();
        await openGrant(store, key, { ttlMs, openedAtMs: clock.now().wallMs });
        await clock.advance(waitMsOf(ttlMs));
        expect((await read(store, key)).ledger.grants).toHaveLength(1);
        await clock.advance(SOON_MS);
        expect((await read(store, key)).ledger.grants).toEqual([]);
      },
    ),
    { numRuns: 20 },
  );
});

test('if one pass cannot read all grants, they are settled a round later at most', async () => {
  const clock = createVirtualClock(NOW_MS);
  const store = memoryStore();
  const looks = 10;
  replica(store, clock, { seenInOneLook: 4, kept: 1_000 });
  const ttlMs = 60_000;
  const keys = Array.from({ length: 4 * looks }, newKey);
  for (const key of keys) await openGrant(store, key, { ttlMs });
  await clock.advance(waitMsOf(ttlMs) + looks * 1_000 + SOON_MS);
  for (const key of keys) expect((await read(store, key)).ledger.grants).toEqual([]);
});

test('if there are more grants than a replica keeps, all are settled, none too early, in the order of their ends', async () => {
  const clock = createVirtualClock(NOW_MS);
  const store = memoryStore();
  replica(store, clock, { seenInOneLook: 3, kept: 10 });
  const ttlMs = 20_000;
  const keys = Array.from({ length: 50 }, newKey);
  for (const [index, key] of keys.entries())
    await openGrant(store, key, { ttlMs, openedAtMs: NOW_MS + index });
  await clock.advance(waitMsOf(ttlMs));
  for (const key of keys) expect((await read(store, key)).ledger.grants).toHaveLength(1);
  await clock.advance(8_000);
  for (const key of keys.slice(0, 10)) expect((await read(store, key)).ledger.grants).toEqual([]);
  await clock.advance(ttlMs + SOON_MS);
  for (const key of keys) expect((await read(store, key)).ledger.grants).toEqual([]);
});
