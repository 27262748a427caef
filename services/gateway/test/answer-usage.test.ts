import { createToken, type MeteringServiceClient, MonthUsage, Route } from '@brand-data/contracts';
import { expect, test } from 'vitest';
import { answerUsage } from '../src/answer-usage.ts';
import type { Tokens } from '../src/auth/tokens.ts';
import { unaryMethod } from './stand-ins.ts';

const credential = {
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
      metering: { readUsage } as unknown as MeteringServiceClient,
      now: () => Date.UTC(2026, 10, 20),
    },
    { tokens: [createToken()], months: [], origin: undefined, referer: undefined },
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
