import { tmpdir } from 'node:os';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';
import ResultsTable from './harness/results-table.ts';

// A bench measures servers that write to a disk.
process.env.TEST_FOLDER ??= tmpdir();

const isNamed = process.argv.slice(2).some((argument) => /^\w[\w/-]*$/.test(argument) && argument !== 'run');
// A run of all benches is to take a quarter of an hour. These calls fill the cache, but a gateway's memory also grows with accounts.
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
