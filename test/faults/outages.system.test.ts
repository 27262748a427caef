import { afterAll, beforeAll, expect, test } from 'vitest';
import { OUTAGES, type OutageStand, startOutageStand } from './outages.ts';

/** Long enough for every deadline and reconnection to take effect: a commit fails after 1.5 s, and calls may wait for two commits. */
const AWAY_MS = 5_000;

let stand: OutageStand;
beforeAll(async () => {
  stand = await startOutageStand(3_000);
});
afterAll(async () => {
  expect(await stand?.stop()).toEqual([]);
});

const told = { answers: 'are answered', '503': 'are told 503 with Retry-After' };

for (const outage of OUTAGES.filter(({ how }) => how === 'killed')) {
  const { name } = outage;
  test(`with ${name}, active accounts ${told[outage.told]}, no call waits for ever, and every call is answered when the part is back`, async () => {
    expect((await stand.run(outage, AWAY_MS)).broken).toEqual([]);
  });
}

test('a permit that a killed gateway had reserved is used by another call, and billed once', async () => {
  expect((await stand.runGatewayKill()).broken).toEqual([]);
});
