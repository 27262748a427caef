import { defineConfig, mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

const { projects: _tests, ...test } = base.test ?? {};
export default mergeConfig(
  { ...base, test },
  defineConfig({ test: { include: ['test/bench/**/*.bench.ts'], fileParallelism: false } }),
);
