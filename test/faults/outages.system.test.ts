import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCampaign } from './engine.ts';
import { outageCampaign, outages } from './outages.ts';

/** Long enough for every deadline and reconnection to take effect: a commit fails after 1.5 s, and calls may wait for two commits. */
const AWAY_MS = 5_000;
/**
 * Gateways hold grants for half a minute at an account's usual pace, which they learn within this time. A part that starts on a slow
 * machine is away for longer than AWAY_MS.
 */
const LEAD_IN_MS = 30_000;
const ROWS = outages(AWAY_MS).filter(({ name }) => name.endsWith('killed'));

let campaign: Awaited<ReturnType<typeof startCampaign>>;
beforeAll(async () => {
  const options = { seed: 1, minutes: 0, only: '', settleMinutes: 0, say: () => {} };
  campaign = await startCampaign(outageCampaign(LEAD_IN_MS, ROWS), options);
});
// Calls that had to be answered and the bill.
afterAll(async () => {
  expect(await campaign?.end()).toEqual([]);
});

for (const row of ROWS) {
  const told = row.mayTell503 ? 'are told 503 with Retry-After' : 'are answered';
  const name =
    row.name === 'a gateway killed'
      ? 'a permit that a killed gateway had reserved is used by another call, and billed once'
      : `with ${row.name}, active accounts ${told}, no call waits for ever, and every call is answered when the part is back`;
  test(name, async () => {
    const { broken, unallowed } = await campaign.run(row);
    expect({ broken, unallowed }).toEqual({ broken: [], unallowed: 0 });
  });
}
