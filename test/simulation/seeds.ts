import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { RuleName } from './rules.ts';
import type { SeedResult, SeedTask } from './seed-worker.ts';

const SEEDS_AT_ONCE = 20;

/** Runs all these seeds on every core. Calls `done` for each finished part of them. */
export async function runSeeds(
  seeds: readonly number[],
  without: RuleName | undefined,
  done: (seeds: readonly number[], result: SeedResult) => void,
): Promise<void> {
  const parts: number[][] = [];
  for (let at = 0; at < seeds.length; at += SEEDS_AT_ONCE) parts.push(seeds.slice(at, at + SEEDS_AT_ONCE));
  const threads = Math.min(parts.length, availableParallelism());
  await Promise.all(
    Array.from({ length: threads }, async () => {
      const worker = new Worker(new URL('./seed-worker.ts', import.meta.url));
      try {
        for (let part = parts.shift(); part; part = parts.shift()) {
          const task: SeedTask = { seeds: part, without };
          const answer = once(worker, 'message');
          worker.postMessage(task);
          const [result]: SeedResult[] = await answer;
          if (result) done(part, result);
        }
      } finally {
        await worker.terminate();
      }
    }),
  );
}
