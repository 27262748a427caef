import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countCharged } from '../src/quota/charged-calls.ts';
import { createPublicApi } from './public-api.ts';

const api = createPublicApi();
let url: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${await api.listen()}`;
});
afterAll(api.close);

test.each([
  ['whose usage is durable: once, as answered', 'good', 200, ['answered']],
  ['that finds nothing: once, as answered', 'good', 404, ['answered']],
  ['whose usage could not be recorded in time: once, as unsure', 'not-recorded', 503, ['unsure']],
  ['that got no permit: not at all', 'no-permit', 503, []],
  ['of an account without permits: not at all', 'spent', 429, []],
])('a call is counted %s', async (_, token, status, counted) => {
  api.charged.length = 0;
  const identifier = status === 404 ? 'No Such Company' : 'AAPL';
  const response = await fetch(`${url}/v1/brands/${encodeURIComponent(identifier)}?token=${token}`);
  expect(response.status).toBe(status);
  expect(response.headers.get('x-quota-charged')).toBe(String(counted.length));
  expect(api.charged).toEqual(counted);
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
  for (let call = 0; call < 3; call++) calls.answered();
  calls.unsure();
  for (let scrape = 0; scrape < 2; scrape++)
    expect(await counted()).toEqual([
      ['answered', 3],
      ['unsure', 1],
    ]);
});
