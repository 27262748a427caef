import { tmpdir } from 'node:os';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';
import ResultsTable from './harness/results-table.ts';

// A bench measures servers that write to a disk.
process.env.TEST_FOLDER ??= tmpdir();

/** The benches of which results.json has comparisons. The others run by their names. */
const COMPARISONS = 'test/bench/{hot,miss,usual,limit,import,memory,catalogue,images}.bench.ts';
const isNamed = process.argv.slice(2).some((argument) => /^\w[\w/-]*$/.test(argument) && argument !== 'run');
// A run of all comparisons is to take a quarter of an hour. These calls fill the cache, but a gateway's memory also grows with accounts.
if (!isNamed) {
  process.env.BENCH_CALLS ??= '60000';
  process.env.BENCH_ACCOUNTS ??= '2000';
}

const { projects: _tests, ...test } = base.test ?? {};
export default mergeConfig(
  { ...base, test },
  defineConfig({
    test: {
      include: [isNamed ? 'test/bench/**/*.bench.ts' : COMPARISONS],
      fileParallelism: false,
      reporters: [new ResultsTable()],
    },
  }),
);
