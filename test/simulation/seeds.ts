import { once } from 'node:events';
import { availableParallelism, constants, setPriority } from 'node:os';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import type { Violation } from './invariants.ts';
import { ALL_RULES, type RuleName, WITHOUT } from './rules.ts';
import { planOf } from './seed-plan.ts';
import { simulate } from './simulate.ts';

/** The seeds that one thread runs. */
interface SeedTask {
  seeds: readonly number[];
  without: RuleName | undefined;
}

/** A seed that was run, with the first violation of each invariant. */
export interface SeedResult {
  seed: number;
  violations: readonly Violation[];
}

/** Runs all these seeds on every core, in threads that begin with this file. Calls `done` for each of them. */
export async function runSeeds(
  seeds: readonly number[],
  without: RuleName | undefined,
  done: (result: SeedResult) => void,
): Promise<void> {
  const threads = Math.min(seeds.length, availableParallelism());
  const run = async (_: unknown, thread: number) => {
    const seedTask: SeedTask = { seeds: seeds.filter((_, index) => index % threads === thread), without };
    const worker = new Worker(new URL(import.meta.url), { workerData: { seedTask } });
    worker.on('message', done);
    await once(worker, 'exit');
  };
  await Promise.all(Array.from({ length: threads }, run));
}

async function runTask({ seeds, without }: SeedTask): Promise<void> {
  // On Linux this is the priority of this thread. Seeds take all the time of the processors that nothing else needs.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  for (const seed of seeds) {
    const { violations } = await simulate(planOf(seed), without ? WITHOUT[without] : ALL_RULES);
    const byInvariant = Map.groupBy(violations, ({ invariant }) => invariant);
    const result: SeedResult = {
      seed,
      violations: [...byInvariant.values()].flatMap(([first]) => first ?? []),
    };
    parentPort?.postMessage(result);
  }
}

const task: SeedTask | undefined = workerData?.seedTask;
if (task) await runTask(task);
