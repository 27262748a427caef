import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import type { Violation } from './invariants.ts';
import { ALL_RULES, isRuleName, WITHOUT } from './rules.ts';
import { planOf } from './seed-plan.ts';
import { simulate } from './simulate.ts';

/** Seeds that one thread runs. */
export interface SeedTask {
  seeds: number[];
  without: string | undefined;
}

/** The seeds with a violation, each with the first violation of each invariant. */
export interface SeedResult {
  violated: { seed: number; violations: Violation[] }[];
}

// On Linux this is the priority of this thread. Seeds take all the time of the processors that nothing else needs.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

parentPort?.on('message', async ({ seeds, without }: SeedTask) => {
  const rules = without !== undefined && isRuleName(without) ? WITHOUT[without] : ALL_RULES;
  const result: SeedResult = { violated: [] };
  for (const seed of seeds) {
    const { violations } = await simulate(planOf(seed), rules);
    const first = new Map([...violations].reverse().map((violation) => [violation.invariant, violation]));
    if (first.size > 0) result.violated.push({ seed, violations: [...first.values()].reverse() });
  }
  parentPort?.postMessage(result);
});
