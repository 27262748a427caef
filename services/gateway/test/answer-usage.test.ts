import {
  type Credential,
  type MeteringServiceClient,
  MonthUsage,
  type ReadUsageRequest,
  Route,
} from '@brand-data/contracts';
import { expect, test } from 'vitest';
import type { Tokens } from '../src/auth/tokens.ts';
import { answerUsage, createUsageAnswers } from '../src/calls/answer-usage.ts';
import { manualClock, outOfReach, someCaller, unaryMethod } from './stand-ins.ts';

const credential: Credential = {
  limitRevision: 1,
  expiresAtMs: undefined,
  allowance: 'what accounts has signed',
  allowanceUntilMs: 0,
  accountId: 'acme',
  keyId: 'key-1',
  plan: 'team',
  allowedOrigins: [],
  routes: [{ route: Route.BRANDS, pool: 'calls', allowance: 10 }],
};

async function answerWith(usage: Parameters<typeof MonthUsage.fromPartial>[0]): Promise<unknown> {
  const readUsage = unaryMethod(async () => ({ usage: MonthUsage.fromPartial(usage) }));
  const { body } = await answerUsage(
    {
      tokens: { verify: async () => ({ credential }) } as unknown as Tokens,
      usageAnswers: createUsageAnswers({ readUsage } as unknown as MeteringServiceClient, manualClock()),
      now: () => Date.UTC(2026, 10, 20),
    },
    {
      caller: someCaller(),
      months: [],
    },
  );
  return JSON.parse(body?.toString() ?? '');
}

test.each([true, false])('the answer states whether its figures are complete: %s', async (complete) => {
  expect(await answerWith({ complete })).toMatchObject({ final: false, complete });
});

test('the breakdown lists calls whose key is lost, so that its cells add up to the calls used', async () => {
  const cells = [
    { keyId: 'key-1', route: Route.BRANDS, status: 200, day: '2026-11-20', count: 2 },
    { keyId: 'unattributed', route: Route.UNSPECIFIED, status: 0, day: '2026-11-01', count: 1 },
  ];
  expect(await answerWith({ pools: [{ pool: 'calls', limit: 10, used: 3, cells }] })).toMatchObject({
    pools: [
      {
        used: 3,
        breakdown: [
          { day: '2026-11-20', key: 'key-1', route: 'brands', status: 200, count: 2 },
          { day: '2026-11-01', key: 'unattributed', route: 'unknown', status: null, count: 1 },
        ],
      },
    ],
  });
});

test('however many calls come for an account, metering is asked once a second for each month, and again after a failure', async () => {
  const clock = manualClock();
  const asked: string[] = [];
  let isUp = true;
  const readUsage = unaryMethod(async ({ accountId, month, allowance }: ReadUsageRequest) => {
    expect(allowance).toBe(credential.allowance);
    asked.push(`${accountId} ${month}`);
    return isUp ? { usage: MonthUsage.fromPartial({ complete: true }) } : outOfReach();
  });
  const answers = createUsageAnswers({ readUsage } as unknown as MeteringServiceClient, clock);
  const call = () => answers(credential, '2026-11');
  for (let tenth = 0; tenth < 30; tenth++) {
    await Promise.all(Array.from({ length: 100 }, call));
    clock.advance(100);
  }
  expect(asked).toEqual(Array.from({ length: 3 }, () => 'acme 2026-11'));
  await answers(credential, '2026-10');
  await answers({ ...credential, accountId: 'other' }, '2026-11');
  expect(asked.slice(3)).toEqual(['acme 2026-10', 'other 2026-11']);
  isUp = false;
  clock.advance(1_000);
  await expect(call()).rejects.toMatchObject({ kind: 'unavailable' });
  isUp = true;
  await call();
  expect(asked).toHaveLength(7);
});
