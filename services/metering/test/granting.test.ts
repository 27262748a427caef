import type {
  AcquireRequest,
  AcquireResponse,
  GrantUsage,
  Recall,
  SignedAllowance,
} from '@brand-data/contracts';
import { createVirtualClock } from '@brand-data/testing/virtual-clock';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Allowances } from '../src/granting/allowances.ts';
import { Metering } from '../src/granting/metering.ts';
import type { LedgerStore } from '../src/ledger/ledger-store.ts';
import { usageOf } from './ledger-actions.ts';
import { memoryStore } from './ledger-stores.ts';

const DECEMBER_MS = Date.UTC(2026, 11, 1);
const MINUTE_MS = 60_000;
const ANSWER_WITHIN_MS = 250;

const request: AcquireRequest = {
  holder: 'a',
  seq: 1,
  accountId: 'acct',
  pool: 'calls',
  limit: 1,
  limitRevision: 1,
  want: 1,
  ignoredFromSeq: 0,
  usage: [],
  fromMs: 0,
  urgent: false,
  wantSoon: 0,
  waiting: 0,
  allowance: '',
};

/** Stands in for accounts: signs whatever a test asks for. */
const sign = (allowance: SignedAllowance) => JSON.stringify({ ...allowance, limits: [...allowance.limits] });
const allowances: Pick<Allowances, 'verify'> = {
  verify: async (token) => {
    if (!token.startsWith('{')) return undefined;
    const { limits, ...allowance } = JSON.parse(token);
    return { ...allowance, limits: new Map(limits) };
  },
};
const signedFor = (
  { accountId, pool, limit, limitRevision }: AcquireRequest,
  more: Partial<SignedAllowance> = {},
) =>
  sign({
    accountId,
    limitRevision,
    limits: new Map([[pool, limit]]),
    untilMs: Number.MAX_SAFE_INTEGER,
    ...more,
  });

function meteringAt(nowMs: number, store: LedgerStore = memoryStore()) {
  const rejected: string[] = [];
  const clock = createVirtualClock(nowMs);
  const recalls: Recall[] = [];
  const real = new Metering(
    { store, clock, allowances, recall: (recall) => recalls.push(recall) },
    { decided: () => {}, recalled: () => {}, dropped: () => {}, rejected: (reason) => rejected.push(reason) },
  );
  const metering = {
    acquire: (
      wanted: AcquireRequest,
      sender = wanted.holder,
      allowance = signedFor(wanted),
      isOver?: () => boolean,
    ) => real.acquire({ ...wanted, allowance }, sender, isOver),
    applyUsage: (usage: readonly GrantUsage[], sender = request.holder) => real.report(usage, sender),
  };
  return { clock, metering, recalls, rejected };
}

function grantOf({ outcome }: AcquireResponse) {
  if (outcome?.$case !== 'grant') throw new Error(`expected a grant, got ${outcome?.$case}`);
  return outcome.value;
}

describe('permits of the next month', () => {
  test('are given out on request in the last minute of this month, and not before', async () => {
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

  test('are never given out for a request for another month, however late and in whatever order its copies arrive', async () => {
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

  test('do not change the permits of this month', async () => {
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

test('a request whose holder no longer waits gets no grant, and changes nothing', async () => {
  const store = memoryStore();
  const real = meteringAt(DECEMBER_MS, store);
  const late = real.metering.acquire(request, request.holder, signedFor(request), () => true);
  await expect(late).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await store.readUsage('acct', '2026-12')).toEqual([]);
  grantOf(await real.metering.acquire(request));
});

describe('a request that calls wait for', () => {
  test('causes one recall, and gets a grant as soon as permits are returned', async () => {
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

  test('gets `wait` after 200 ms if no permit is returned, and `exhausted` if all are used', async () => {
    for (const isUsed of [false, true]) {
      const { clock, metering } = meteringAt(DECEMBER_MS);
      const { id } = grantOf(await metering.acquire(request));
      const waiting = metering.acquire({ ...request, holder: 'b', urgent: true });
      if (isUsed) await metering.applyUsage([usageOf(id, 1, { closed: true })]);
      await clock.advance(ANSWER_WITHIN_MS);
      expect((await waiting).outcome?.$case).toBe(isUsed ? 'exhausted' : 'wait');
    }
  });

  test('gets permits from a recall in time, even if another request caused a recall just before', async () => {
    const { clock, metering, recalls } = meteringAt(DECEMBER_MS);
    const { id } = grantOf(await metering.acquire(request));
    const first = metering.acquire({ ...request, holder: 'b', urgent: true });
    await clock.advance(10);
    const second = metering.acquire({ ...request, holder: 'c', urgent: true });
    await clock.advance(30);
    // At the first recall a call had reserved the permit. Now no call has.
    expect(recalls).toHaveLength(1);
    while (recalls.length < 2) await clock.advance(1);
    await metering.applyUsage([usageOf(id, 0, { returned: 1 })]);
    await clock.advance(10 + ANSWER_WITHIN_MS - clock.now().monotonicMs);
    const outcomes = [(await first).outcome?.$case, (await second).outcome?.$case];
    expect(outcomes).toContain('grant');
    expect(recalls).toHaveLength(2);
  });

  test('that is not urgent is answered at once and causes no recall', async () => {
    const { metering, recalls } = meteringAt(DECEMBER_MS);
    await metering.acquire(request);
    expect((await metering.acquire({ ...request, holder: 'b' })).outcome?.$case).toBe('wait');
    expect(recalls).toEqual([]);
  });
});

test('a limit that is lowered below the permits that holders have causes a recall to all; a raised or older limit does not', async () => {
  const { metering, recalls } = meteringAt(DECEMBER_MS);
  const { size } = grantOf(await metering.acquire({ ...request, limit: 1_000, want: 100, limitRevision: 5 }));
  await metering.acquire({ ...request, seq: 2, limit: 1_000_000, limitRevision: 6 });
  await metering.acquire({ ...request, seq: 3, limit: 1, limitRevision: 4 });
  expect(recalls).toEqual([]);
  expect(size).toBeGreaterThan(1);
  await metering.acquire({ ...request, seq: 4, limit: 1, limitRevision: 7 });
  expect(recalls).toEqual([{ accountId: 'acct', pool: 'calls', holder: '' }]);
});

test('usage that contradicts itself is refused, and other usage in the same request is applied', async () => {
  const { metering } = meteringAt(DECEMBER_MS);
  const good = grantOf(await metering.acquire({ ...request, limit: 1_000 }));
  const bad = grantOf(await metering.acquire({ ...request, seq: 2, limit: 1_000 }));
  const answer = await metering.applyUsage([
    usageOf(good.id, 1),
    usageOf(bad.id, 1, { cells: [] }),
    usageOf(bad.id, 99),
    usageOf('nonsense', 1),
  ]);
  expect(answer.refused).toEqual([]);
  expect(new Set(answer.unreadable)).toEqual(new Set([bad.id, 'nonsense']));
  expect(await metering.applyUsage([usageOf(good.id, 1, { closed: true }), usageOf(bad.id, 1)])).toEqual({
    refused: [],
    foreign: [],
    impossible: [],
    unreadable: [],
    unknown: [],
    unavailable: [],
  });
});

test('a seq whose grant is closed is answered with `stale`', async () => {
  const { metering } = meteringAt(DECEMBER_MS);
  const { id } = grantOf(await metering.acquire(request));
  await metering.applyUsage([usageOf(id, 0, { closed: true })]);
  expect((await metering.acquire(request)).outcome?.$case).toBe('stale');
});

describe('a request names a limit that accounts has not signed:', () => {
  const poison = { ...request, holder: 'attacker', limit: 0, limitRevision: Number.MAX_SAFE_INTEGER };
  const otherPool = { limits: new Map([['other', 1_000]]) };
  test.each<[string, string, string]>([
    ['there is no allowance', '', 'no_allowance'],
    ['accounts did not sign it', 'made up', 'foreign_allowance'],
    ['it is of another account', signedFor(request, { accountId: 'other' }), 'foreign_allowance'],
    ['it is of another pool', signedFor(request, otherPool), 'foreign_allowance'],
    ['its time is over', signedFor(request, { untilMs: DECEMBER_MS - MINUTE_MS }), 'expired_allowance'],
  ])('%s, so it is refused and counted, and changes nothing', async (_what, allowance, reason) => {
    const store = memoryStore();
    const { metering, rejected } = meteringAt(DECEMBER_MS, store);
    const { size } = grantOf(await metering.acquire({ ...request, limit: 1_000 }));
    const asked = metering.acquire(poison, poison.holder, allowance);
    await expect(asked).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect(rejected).toEqual([reason]);
    const [only] = await store.readUsage('acct', '2026-12');
    expect(only?.ledger).toMatchObject({ limit: 1_000, limitRevision: 1, grants: [{ size }] });
  });

  test('with an allowance of its account, the signed limit and revision are taken and not those that the request names', async () => {
    const store = memoryStore();
    const { metering } = meteringAt(DECEMBER_MS, store);
    for (const limit of [0, 60])
      await metering.acquire({ ...poison, limit }, poison.holder, signedFor({ ...request, limit: 5 }));
    const [only] = await store.readUsage('acct', '2026-12');
    expect(only?.ledger).toMatchObject({ limit: 5, limitRevision: 1 });
  });
});
