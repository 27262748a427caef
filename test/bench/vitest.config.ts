import { tmpdir } from 'node:os';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';
import { ResultsTable } from './harness/results.ts';

// Benches must measure servers that write to a real disk.
process.env.TEST_FOLDER ??= tmpdir();

const isNamed = process.argv.slice(2).some((argument) => /^\w[\w/-]*$/.test(argument) && argument !== 'run');
// These figures keep a run of all benches to a quarter of an hour. This many calls fill the cache. A gateway's memory also grows
// with the number of accounts.
if (!isNamed) {
  process.env.BENCH_CALLS ??= '60000';
  process.env.BENCH_ACCOUNTS ??= '2000';
}

const { projects: _tests, ...test } = base.test ?? {};
export default mergeConfig(
  { ...base, test },
  defineConfig({
    test: {
      include: ['test/bench/*.bench.ts'],
      fileParallelism: false,
      reporters: [new ResultsTable()],
    },
  }),
);
