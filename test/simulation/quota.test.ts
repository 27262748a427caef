import { createRandom } from '@brand-data/testing/random';
import { expect, test } from 'vitest';
import { planOfDriftingClocks, planOfLostTail, planOfScenario } from './directed-scenarios.ts';
import type { Invariant } from './invariants.ts';
import { ALL_RULES, type RuleName, WITHOUT } from './rules.ts';
import { planOf } from './seed-plan.ts';
import { runSeeds, type SeedResult } from './seeds.ts';
import { simulate } from './simulate.ts';

const SEEDS = 200;

// The seeds run at a low priority, beside other tests.
test(`in ${SEEDS} random worlds every invariant of the quota holds`, { timeout: 1_800_000 }, async () => {
  const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1);
  const lived: SeedResult[] = [];
  await runSeeds(seeds, undefined, (result) => lived.push(result));
  expect(lived.filter(({ violations }) => violations.length > 0)).toEqual([]);
  expect(lived).toHaveLength(SEEDS);
});

const NEEDED_FOR: Record<RuleName, Invariant> = {
  'marker-barrier': '2 every counted answer is billed',
  'marker-in-each-stream': '2 every counted answer is billed',
  'parked-usage-awaited': '2 every counted answer is billed',
  'unknown-waits-apart': 'settled: no grant stays open',
  'acknowledgement-deadline': '2 every counted answer is billed',
  'grace-and-drift': '2 every counted answer is billed',
  'time-from-first-send': '2 every counted answer is billed',
  'stale-seq-refused': '7 a closed grant never opens again',
  'closed-report-refused': '2 every counted answer is billed',
  'closed-only-when-quiet': '2 every counted answer is billed',
  'closed-events-dropped': '4 a billed call was seen as counted or as failed',
  'closing-only-if-open': '4 a billed call was seen as counted or as failed',
  'signed-limits': '13 an account driven past its limit has billed exactly its allowance',
  'own-grants-only': '2 every counted answer is billed',
  'refused-only-if-proven': '2 every counted answer is billed',
  'compare-and-set': '3 counted answers stay within the allowance',
  'merged-once': '4 a billed call was seen as counted or as failed',
  'no-lock-outlives-its-holder': 'a lost replica leaves no account without permits',
  'revision-order': '3 counted answers stay within the allowance',
  'months-cut': '9 no permit is spent outside its month',
  'opened-in-time': '14 the figures of a month that is final never change',
  'acknowledged-once-stored': '2 every counted answer is billed',
  'unstored-comes-again': '2 every counted answer is billed',
  'only-applied-purged': '2 every counted answer is billed',
};

test.each(Object.entries(NEEDED_FOR))(
  'without %s the invariant "%s" is violated, with it not',
  async (rule, invariant) => {
    const broken = new Set<string>();
    for (let layout = 1; layout <= 5; layout++) {
      const plan = planOfScenario(rule as RuleName, createRandom(layout));
      expect((await simulate(plan, ALL_RULES)).violations).toEqual([]);
      const { violations } = await simulate(plan, WITHOUT[rule as RuleName]);
      for (const violation of violations) broken.add(violation.invariant);
    }
    expect([...broken]).toContain(invariant);
  },
);

test('with the largest allowed drift of clocks no answer is lost at the end of the longest grant', async () => {
  for (const lookUpMs of [12_000, 13_000, 14_000, 15_000, 16_000]) {
    expect((await simulate(planOfDriftingClocks(lookUpMs), ALL_RULES)).violations).toEqual([]);
  }
});

const afterLostTail = async ({ holderLives }: { holderLives: boolean }): Promise<Set<Invariant>> => {
  const broken = new Set<Invariant>();
  for (let layout = 1; layout <= 5; layout++) {
    const { violations } = await simulate(planOfLostTail(createRandom(layout), holderLives), ALL_RULES);
    for (const { invariant } of violations) broken.add(invariant);
  }
  return broken;
};

test('usage of an open grant that a stream loses after acknowledging it is sent again with the next usage of the holder', async () => {
  expect([...(await afterLostTail({ holderLives: true }))]).toEqual([]);
});

test('usage that a stream loses after acknowledging it is never billed if its holder dies: streams must sync and keep copies', async () => {
  expect([...(await afterLostTail({ holderLives: false }))]).toContain('2 every counted answer is billed');
});

test('a seed gives the same history each time', async () => {
  const [first, second] = [
    await simulate(planOf(7), ALL_RULES, true),
    await simulate(planOf(7), ALL_RULES, true),
  ];
  expect(first.history.length).toBeGreaterThan(50);
  expect(second.history).toEqual(first.history);
});
