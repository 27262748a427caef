import { Fault } from '@brand-data/runtime';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { countCharged } from '../src/quota/charged-calls.ts';
import type { Permit } from '../src/quota/grant-book.ts';
import type { Quota } from '../src/quota/quota.ts';

test('every call is counted once: as answered if its usage is durable, and otherwise as unsure', async () => {
  const outcomes = [true, false, true, true];
  const metrics = new Registry();
  const commit = () =>
    outcomes.shift() ? Promise.resolve() : Promise.reject(new Fault('unavailable', 'not recorded'));
  const quota = countCharged({ metrics }, { commit } as unknown as Quota);
  const counted = async () => {
    const [metric] = await metrics.getMetricsAsJSON();
    return metric?.values.map(({ labels, value }) => [labels.certainty, value]);
  };
  expect(await counted(), 'there from the start, so that the first is an increase').toEqual([
    ['answered', 0],
    ['unsure', 0],
  ]);
  const permit = {} as Permit;
  await quota.commit(permit);
  await expect(quota.commit(permit)).rejects.toThrow('not recorded');
  await Promise.all([quota.commit(permit), quota.commit(permit)]);
  for (let scrape = 0; scrape < 2; scrape++)
    expect(await counted()).toEqual([
      ['answered', 3],
      ['unsure', 1],
    ]);
});
