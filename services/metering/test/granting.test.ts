import type { AcquireRequest, AcquireResponse, Recall } from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createMetering } from '../src/granting/metering.ts';
import type { LedgerStore } from '../src/ledger/ledger-store.ts';
import { usageOf } from './ledger-actions.ts';
import { memoryStore } from './ledger-stores.ts';
import { createVirtualClock } from './virtual-clock.ts';

const DECEMBER_MS = Date.UTC(2026, 11, 1);
const MINUTE_MS = 60_000;
const ANSWER_WITHIN_MS = 250;

const request: AcquireRequest = {
  ...{ holder: 'a', seq: 1, accountId: 'acct', pool: 'calls', limit: 1, limitRevision: 1, want: 1 },
  ...{ ignoredFromSeq: 0, usage: [], fromMs: 0, urgent: false, wantSoon: 0, waiting: 0, readsStale: true },
};

function meteringAt(nowMs: number, store: LedgerStore = memoryStore()) {
  const clock = createVirtualClock(nowMs);
  const recalls: Recall[] = [];
  const metering = createMetering(
    { store, clock, recall: (recall) => recalls.push(recall) },
    { decided: () => {}, recalled: () => {}, dropped: () => {} },
  );
  return { clock, metering, recalls };
}

function grantOf({ outcome }: AcquireResponse) {
  if (outcome?.$case !== 'grant') throw new Error(`expected a grant, got ${outcome?.$case}`);
  return outcome.value;
}

describe('permits of the next month', () => {
  test('are given out in the last minute of this one and not before, to those that ask for them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 * 86_400_000 }), async (beforeMs) => {
        // The clocks may differ by a few seconds, so near the boundary both answers are right.
        if (beforeMs > MINUTE_MS && beforeMs < MINUTE_MS + 10_000) return;
        const { metering } = meteringAt(DECEMBER_MS - beforeMs);
        const { periodEndMs } = grantOf(await metering.acquire(request));
        expect(periodEndMs).toBe(DECEMBER_MS);
        const asked = metering.acquire({ ...request, seq: 2, fromMs: DECEMBER_MS });
        if (beforeMs > MINUTE_MS) await expect(asked).rejects.toMatchObject({ kind: 'failed_precondition' });
        else expect(grantOf(await asked).periodStartMs).toBe(DECEMBER_MS);
      }),
    );
  });

  test('are opened by no request for another month, however late it comes, in whatever order its copies come', async () => {
    const whenMs = fc.integer({ min: -3 * MINUTE_MS, max: 3 * MINUTE_MS });
    await fc.assert(
      fc.asyncProperty(whenMs, fc.array(whenMs, { minLength: 1, maxLength: 5 }), async (sentMs, heardMs) => {
        const store = memoryStore();
        for (const ms of heardMs) {
          const { metering } = meteringAt(DECEMBER_MS + ms, store);
          await metering.acquire({ ...request, fromMs: DECEMBER_MS + sentMs }).catch(() => {});
        }
        const [wanted, other] = sentMs < 0 ? ['2026-11', '2026-12'] : ['2026-12', '2026-11'];
        expect(await store.readUsage('acct', other)).toEqual([]);
        const isHeard = heardMs.some((ms) => Math.sign(ms + 0.5) === Math.sign(sentMs + 0.5));
        if (isHeard) expect(await store.readUsage('acct', wanted)).toHaveLength(1);
      }),
    );
  });

  test('leave those of this month as they are', async () => {
    const store = memoryStore();
    const { metering } = meteringAt(DECEMBER_MS - MINUTE_MS / 2, store);
    grantOf(await metering.acquire(request));
    grantOf(await metering.acquire({ ...request, seq: 2, fromMs: DECEMBER_MS }));
    for (const month of ['2026-11', '2026-12']) {
      const [only] = await store.readUsage('acct', month);
      expect(only?.ledger.grants.map(({ size }) => size)).toEqual([1]);
    }
  });
});

describe('a request that calls wait for', () => {
  test('makes one recall and is answered with a grant as soon as permits come back', async () => {
    const { clock, metering, recalls } = meteringAt(DECEMBER_MS);
    const { id } = grantOf(await metering.acquire(request));
    const waiting = metering.acquire({ ...request, holder: 'b', urgent: true });
    await clock.advance(40);
    expect(recalls).toEqual([{ accountId: 'acct', pool: 'calls', holder: 'b' }]);
    await metering.applyUsage([usageOf(id, 0, { returned: 1 })]);
    await clock.advance(40);
    expect(grantOf(await waiting).size).toBe(1);
    expect(recalls).toHaveLength(1);
  });

  test('is told to wait after a fifth of a second when nothing comes back, and that it is over when it is', async () => {
    for (const isUsed of [false, true]) {
      const { clock, metering } = meteringAt(DECEMBER_MS);
      const { id } = grantOf(await metering.acquire(request));
      const waiting = metering.acquire({ ...request, holder: 'b', urgent: true });
      if (isUsed) await metering.applyUsage([usageOf(id, 1, { closed: true })]);
      await clock.advance(ANSWER_WITHIN_MS);
      expect((await waiting).outcome?.$case).toBe(isUsed ? 'exhausted' : 'wait');
    }
  });

  test('is answered in time by what a recall brings back, though another request has had its recall just before', async () => {
    const { clock, metering, recalls } = meteringAt(DECEMBER_MS);
    const { id } = grantOf(await metering.acquire(request));
    const first = metering.acquire({ ...request, holder: 'b', urgent: true });
    await clock.advance(10);
    const second = metering.acquire({ ...request, holder: 'c', urgent: true });
    await clock.advance(30);
    // At the first recall the permit was in use. Now it is not.
    expect(recalls).toHaveLength(1);
    while (recalls.length < 2) await clock.advance(1);
    await metering.applyUsage([usageOf(id, 0, { returned: 1 })]);
    await clock.advance(10 + ANSWER_WITHIN_MS - clock.now().monotonicMs);
    const outcomes = [(await first).outcome?.$case, (await second).outcome?.$case];
    expect(outcomes).toContain('grant');
    expect(recalls).toHaveLength(2);
  });

  test('that is not urgent is answered at once and disturbs nobody', async () => {
    const { metering, recalls } = meteringAt(DECEMBER_MS);
    await metering.acquire(request);
    expect((await metering.acquire({ ...request, holder: 'b' })).outcome?.$case).toBe('wait');
    expect(recalls).toEqual([]);
  });
});

test('a limit that is lowered below what is out recalls it from everybody; a raised or older one does not', async () => {
  const { metering, recalls } = meteringAt(DECEMBER_MS);
  const { size } = grantOf(await metering.acquire({ ...request, limit: 1_000, want: 100, limitRevision: 5 }));
  await metering.acquire({ ...request, seq: 2, limit: 1_000_000, limitRevision: 6 });
  await metering.acquire({ ...request, seq: 3, limit: 1, limitRevision: 4 });
  expect(recalls).toEqual([]);
  expect(size).toBeGreaterThan(1);
  await metering.acquire({ ...request, seq: 4, limit: 1, limitRevision: 7 });
  expect(recalls).toEqual([{ accountId: 'acct', pool: 'calls', holder: '' }]);
});

test('usage without sense is refused by itself: what came with it is applied', async () => {
  const { metering } = meteringAt(DECEMBER_MS);
  const good = grantOf(await metering.acquire({ ...request, limit: 1_000 }));
  const bad = grantOf(await metering.acquire({ ...request, holder: 'b', limit: 1_000 }));
  const answer = await metering.applyUsage([
    usageOf(good.id, 1),
    usageOf(bad.id, 1, { cells: [] }),
    usageOf(bad.id, 99),
    usageOf('nonsense', 1),
  ]);
  expect(answer.refused).toEqual([]);
  expect(new Set(answer.unreadable)).toEqual(new Set([bad.id, 'nonsense']));
  expect(await metering.applyUsage([usageOf(good.id, 1, { closed: true }), usageOf(bad.id, 1)])).toEqual({
    ...{ refused: [], impossible: [], unreadable: [], unknown: [], unavailable: [] },
  });
});

describe('a seq whose grant is closed', () => {
  const afterClose = async (readsStale: boolean): Promise<AcquireResponse> => {
    const { metering } = meteringAt(DECEMBER_MS);
    const { id } = grantOf(await metering.acquire(request));
    await metering.applyUsage([usageOf(id, 0, { closed: true })]);
    return metering.acquire({ ...request, readsStale });
  };

  test('is said to be stale in the answer', async () => {
    expect((await afterClose(true)).outcome?.$case).toBe('stale');
  });

  test('is refused where the holder is of a version that does not read that from the answer', async () => {
    await expect(afterClose(false)).rejects.toMatchObject({ kind: 'failed_precondition' });
  });
});
