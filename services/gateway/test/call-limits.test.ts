import type { CallLimits, GatewayDemand } from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CallsLimiter, TICK_MS } from '../src/admission/limits/call-limits.ts';
import { fairShare } from '../src/admission/limits/peers.ts';

const STEP_MS = 5;

/** Gateways on one simulated clock, with a bus that delays and loses messages. */
function cluster(gateways: number, { isLost = () => false }: { isLost?: () => boolean } = {}) {
  let now = 0;
  let onTheWay: { at: number; to: number; message: GatewayDemand }[] = [];
  const cutOff = new Set<number>();
  const limiters: CallsLimiter[] = [];
  const publish = (from: number) => (message: GatewayDemand) => {
    for (let to = 0; to < gateways; to++)
      if (!cutOff.has(from) && !cutOff.has(to) && (to === from || !isLost()))
        onTheWay.push({ at: now + STEP_MS * (1 + ((from + to) % 3)), to, message });
  };
  for (let index = 0; index < gateways; index++)
    limiters.push(
      new CallsLimiter({ gateway: `gateway-${index}`, publish: publish(index), nowMs: () => now }),
    );
  for (const limiter of limiters) limiter.hello();
  const step = () => {
    now += STEP_MS;
    const due = onTheWay.filter(({ at }) => at <= now);
    onTheWay = onTheWay.filter(({ at }) => at > now);
    for (const { to, message } of due) limiters[to]?.heard(message);
    for (const [index, limiter] of limiters.entries())
      if ((now + index * 35) % TICK_MS < STEP_MS) limiter.tick();
  };
  for (let ms = 0; ms < 1_000; ms += STEP_MS) step();
  return { limiters, cutOff, step, now: () => now };
}

const callOf = (accountLimits: CallLimits, keyId = 'key', keyLimits?: CallLimits) => ({
  accountId: 'acct',
  keyId,
  accountLimits,
  keyLimits,
});
const isAdmitted = (limiter: CallsLimiter | undefined, call: ReturnType<typeof callOf>): boolean => {
  const decision = limiter?.admit(call);
  if (decision && 'release' in decision) decision.release();
  return decision !== undefined && 'release' in decision;
};

/**
 * Sends calls at these rates to each gateway, one after the other for `forMs`. Returns how many calls were admitted and how long
 * it took.
 */
function load(
  { limiters, step }: ReturnType<typeof cluster>,
  rate: { perSecond: number; burst: number },
  phases: readonly { perSecond: readonly number[]; forMs: number }[],
) {
  let admitted = 0;
  let tookMs = 0;
  const due = limiters.map(() => 0);
  for (const { perSecond, forMs } of phases) {
    for (let ms = 0; ms < forMs; ms += STEP_MS) {
      step();
      for (const [index, limiter] of limiters.entries()) {
        due[index] = (due[index] ?? 0) + ((perSecond[index] ?? 0) * STEP_MS) / 1_000;
        for (; (due[index] ?? 0) >= 1; due[index] = (due[index] ?? 0) - 1)
          if (isAdmitted(limiter, callOf({ rate }))) admitted += 1;
      }
    }
    tookMs += forMs;
  }
  return { admitted, tookMs };
}

const rates = fc.record({
  perSecond: fc.integer({ min: 20, max: 500 }),
  factor: fc.double({ min: 0.2, max: 1.5, noNaN: true }),
});
/** How the calls are spread over three gateways. */
const spread: fc.Arbitrary<number[]> = fc.oneof(
  fc.constantFrom<number[][]>([1, 0, 0], [0, 1, 0], [1, 1, 1], [10, 1, 0]),
  fc.tuple(fc.nat(10), fc.nat(10), fc.integer({ min: 1, max: 10 })).map((weights) => [...weights]),
);

describe('the rate of an account', () => {
  test('is kept within 5 % by three gateways, however its calls are spread and if every tenth message is lost', () => {
    fc.assert(
      fc.property(
        rates,
        fc.array(fc.record({ weights: spread, overload: fc.double({ min: 1.3, max: 20, noNaN: true }) }), {
          minLength: 1,
          maxLength: 3,
        }),
        fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
        ({ perSecond, factor }, phases, losses) => {
          const rate = { perSecond, burst: Math.ceil(perSecond * factor) };
          const gateways = cluster(3, { isLost: () => losses.next().value === 0 });
          const { admitted, tookMs } = load(
            gateways,
            rate,
            phases.map(({ weights, overload }) => {
              const sum = weights.reduce((all, weight) => all + weight, 0);
              return {
                perSecond: weights.map((weight) => (perSecond * overload * weight) / sum),
                forMs: 40_000,
              };
            }),
          );
          const allowed = rate.burst + (perSecond * tookMs) / 1_000;
          expect(admitted / allowed).toBeGreaterThan(0.95);
          expect(admitted / allowed).toBeLessThan(1.05);
        },
      ),
      { numRuns: 15 },
    );
  });

  test('is not noticed by an account that stays below it', () => {
    fc.assert(
      fc.property(rates, spread, ({ perSecond }, weights) => {
        const sum = weights.reduce((all, weight) => all + weight, 0);
        const calls = weights.map((weight) => (perSecond * 0.8 * weight) / sum);
        const { admitted, tookMs } = load(cluster(3), { perSecond, burst: perSecond }, [
          { perSecond: calls, forMs: 20_000 },
        ]);
        expect(admitted).toBeGreaterThan((0.8 * perSecond * tookMs) / 1_000 - perSecond * 0.1 - 3);
      }),
      { numRuns: 20 },
    );
  });

  test('is not exceeded by gateways that are cut off from one another: each keeps its last equal share', () => {
    const rate = { perSecond: 90, burst: 90 };
    const gateways = cluster(3);
    const phase = { perSecond: [900, 900, 900], forMs: 10_000 };
    load(gateways, rate, [phase]);
    for (const index of [0, 1, 2]) gateways.cutOff.add(index);
    load(gateways, rate, [{ ...phase, forMs: 2_000 }]);
    const { admitted } = load(gateways, rate, [{ ...phase, forMs: 60_000 }]);
    expect(admitted / (90 * 60)).toBeLessThan(1.05);
    expect(admitted / (90 * 60)).toBeGreaterThan(0.95);
  });

  test('belongs to one gateway after the others have left', () => {
    const rate = { perSecond: 90, burst: 30 };
    const gateways = cluster(3);
    for (const limiter of gateways.limiters.slice(1)) limiter.leave();
    const { admitted } = load(gateways, rate, [{ perSecond: [200], forMs: 20_000 }]);
    expect(admitted / (90 * 20 + 30)).toBeGreaterThan(0.95);
  });
});

test('a key has a rate of its own, and other keys of the account do not suffer from it', () => {
  const { limiters } = cluster(1);
  const account = { rate: { perSecond: 100, burst: 100 } };
  const limited = callOf(account, 'limited', { rate: { perSecond: 10, burst: 10 } });
  const admitted = Array.from({ length: 50 }, () => isAdmitted(limiters[0], limited));
  expect(admitted.filter(Boolean)).toHaveLength(10);
  expect(limiters[0]?.admit(limited)).toMatchObject({ refusedBy: 'key_rate', retryAfterMs: 100 });
  const others = Array.from({ length: 100 }, () => isAdmitted(limiters[0], callOf(account, 'other')));
  expect(others.filter(Boolean)).toHaveLength(90);
});

test('no more calls are under way at once than the account may have', () => {
  const { limiters, step } = cluster(3);
  const call = callOf({ concurrency: 9 });
  const admit = () => limiters.map((limiter) => limiter.admit(call));
  const first = [...admit(), ...admit(), ...admit(), ...admit()];
  const releases = first.flatMap((decision) => (decision && 'release' in decision ? [decision.release] : []));
  expect(releases).toHaveLength(9);
  expect(first.at(-1)).toMatchObject({ refusedBy: 'account_concurrency', retryAfterMs: 1_000 });
  for (const release of releases) release();
  for (let ms = 0; ms < 10_000; ms += STEP_MS) step();
  expect(admit().every((decision) => decision && 'release' in decision)).toBe(true);
});

test('an account and a key without limits cost nothing, and cause no message', () => {
  const { limiters } = cluster(1);
  expect(limiters[0]?.admit({ accountId: 'a', keyId: 'k' })).toBeUndefined();
});

test('the shares of gateways with the same news add up to one', () => {
  const demand = fc.double({ min: 0, max: 20, noNaN: true });
  fc.assert(
    fc.property(fc.array(demand, { minLength: 1, maxLength: 20 }), (demands) => {
      const shares = demands.map((own, index) => fairShare(own, demands.toSpliced(index, 1)));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
      for (const share of shares) expect(share).toBeGreaterThanOrEqual(0);
    }),
  );
  expect(fairShare(9, [undefined, undefined])).toBeCloseTo(1 / 3);
  expect(fairShare(0, [undefined, 0])).toBeCloseTo(1 / 3);
});
