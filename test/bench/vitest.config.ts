import { tmpdir } from 'node:os';
import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

// A bench measures servers that write to a disk.
process.env.TEST_FOLDER ??= tmpdir();

const { projects: _tests, ...test } = base.test ?? {};
export default mergeConfig(
  { ...base, test },
  defineConfig({ test: { include: ['test/bench/**/*.bench.ts'], fileParallelism: false } }),
);
