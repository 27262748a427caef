import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countCharged } from '../src/quota/connect-quota.ts';
import { createPublicApi } from './public-api.ts';

const api = createPublicApi();
let url: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${await api.listen()}`;
});
afterAll(api.close);

test.each([
  ['whose usage is durable: once, as answered', 'good', 200, { answered: 1, unsure: 0 }],
  ['that finds nothing: once, as answered', 'good', 404, { answered: 1, unsure: 0 }],
  [
    'whose usage could not be recorded in time: once, as unsure',
    'not-recorded',
    503,
    { answered: 0, unsure: 1 },
  ],
  ['that got no permit: not at all', 'no-permit', 503, { answered: 0, unsure: 0 }],
  ['of an account without permits: not at all', 'spent', 429, { answered: 0, unsure: 0 }],
])('a call is counted %s', async (_, token, status, counted) => {
  Object.assign(api.chargedCalls, { answered: 0, unsure: 0 });
  const identifier = status === 404 ? 'No Such Company' : 'AAPL';
  const response = await fetch(`${url}/v1/brands/${encodeURIComponent(identifier)}?token=${token}`);
  expect(response.status).toBe(status);
  expect(response.headers.get('x-quota-charged')).toBe(String(counted.answered + counted.unsure));
  expect(api.chargedCalls).toEqual(counted);
});

test('the counter has both series from the start, so that the first call is an increase', async () => {
  const metrics = new Registry();
  const calls = countCharged({ metrics });
  const counted = async () => {
    const [metric] = await metrics.getMetricsAsJSON();
    return metric?.values.map(({ labels, value }) => [labels.certainty, value]);
  };
  expect(await counted()).toEqual([
    ['answered', 0],
    ['unsure', 0],
  ]);
  calls.answered += 3;
  calls.unsure += 1;
  for (let scrape = 0; scrape < 2; scrape++)
    expect(await counted()).toEqual([
      ['answered', 3],
      ['unsure', 1],
    ]);
});
