import { afterAll, beforeAll, expect, test } from 'vitest';
import { ELECTIONS, type ElectionStand, startElectionStand } from './elections.ts';

let stand: ElectionStand;
beforeAll(async () => {
  stand = await startElectionStand(3_000);
});
afterAll(async () => {
  expect(await stand?.stop()).toEqual([]);
}, 60_000);

// `npm run faults -- elections` freezes them too, and takes followers away.
for (const election of ELECTIONS.filter(({ how, member }) => how === 'killed' && member === 'leader'))
  test(`with ${election.name}, callers notice nothing, and all that needs it goes on with the next leader`, {
    timeout: 120_000,
  }, async () => {
    expect((await stand.run(election)).broken).toEqual([]);
  });
