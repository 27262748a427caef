import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPacing, TooManyHeld } from '../src/admission/pacing.ts';
import { createPublicApi } from './public-api.ts';
import { manualClock } from './stand-ins.ts';

const PACE = { perSecond: 200, burst: 400 };

describe('answers that are not counted', () => {
  test('go to one account at its pace, after a burst, and to others at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(30), { minLength: 100, maxLength: 100 }), async (arrivals) => {
        const clock = manualClock();
        const pacing = createPacing(clock, PACE);
        let sent = 0;
        for (const calls of arrivals) {
          for (let call = 0; call < calls; call++)
            void Promise.resolve(pacing.admit('noisy')).then(() => {
              sent += 1;
            });
          expect(pacing.admit(`quiet ${clock.now().monotonicMs}`)).toBeUndefined();
          await setImmediate();
          const { monotonicMs } = clock.now();
          expect(sent).toBeLessThanOrEqual(PACE.burst + (PACE.perSecond * monotonicMs) / 1_000 + 1);
          clock.advance(10);
        }
      }),
      { numRuns: 20 },
    );
  });

  test('wait two seconds at most, and 5,000 of them at once', async () => {
    const clock = manualClock();
    const pacing = createPacing(clock, PACE);
    const waits = Array.from({ length: 5_400 }, () => pacing.admit('noisy'));
    expect(waits.filter((wait) => wait !== undefined)).toHaveLength(5_000);
    await expect(pacing.admit('noisy')).rejects.toThrow(TooManyHeld);
    clock.advance(2_000);
    await Promise.all(waits);
  });
});

describe('over HTTP', () => {
  const api = createPublicApi({ pace: { perSecond: 1, burst: 3 }, trustedProxies: ['127.0.0.1'] });
  let base: string;
  beforeAll(async () => {
    base = `http://127.0.0.1:${await api.listen()}`;
  });
  afterAll(api.close);

  /** Returns the statuses of the calls that are answered before a counted call that comes last. */
  async function answeredBeforeOthers(calls: { path: string; address?: string }[]): Promise<number[]> {
    const statuses: number[] = [];
    const pending = calls.map(async ({ path, address = '192.0.2.1' }) => {
      const { status } = await fetch(`${base}${path}`, { headers: { 'x-forwarded-for': address } });
      statuses.push(status);
    });
    await expect.poll(() => statuses.length).toBeGreaterThanOrEqual(Math.min(3, calls.length));
    expect((await fetch(`${base}/v1/brands/Acme?token=good`)).status).toBe(200);
    const before = [...statuses];
    await Promise.all(pending);
    return before;
  }
  const repeat = (path: string, address?: string) =>
    Array.from({ length: 5 }, () => ({ path, ...(address === undefined ? {} : { address }) }));

  test.each([
    ['401', '/v1/brands/Acme?token=unknown', '192.0.2.1'],
    ['404 of an unknown route', '/nowhere', '192.0.2.2'],
    ['403', '/v1/brands/Acme?token=free', '192.0.2.3'],
    ['429', '/v1/brands/Acme?token=spent', '192.0.2.4'],
  ])(
    'many answers with %s at once are spread over time, and counted calls do not wait',
    async (_status, path, address) => {
      expect((await answeredBeforeOthers(repeat(path, address))).length).toBeLessThan(5);
    },
  );

  test('clients behind a trusted proxy have a pace each', async () => {
    const calls = [10, 11, 12].flatMap((host) => repeat('/nowhere', `192.0.2.${host}`).slice(0, 3));
    const before = await answeredBeforeOthers(calls);
    expect(before.length).toBeGreaterThan(3);
  });
});
