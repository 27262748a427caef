import { defineConfig } from 'vitest/config';

/** The test files run one after another, because they share a cluster and each of them puts load on it. */
export default defineConfig({
  test: {
    include: ['test/cluster/**/*.cluster.ts'],
    fileParallelism: false,
    reporters: ['verbose', './test/stack/closing-line.ts'],
    experimental: { viteModuleRunner: false },
    testTimeout: 10 * 60_000,
    hookTimeout: 15 * 60_000,
    bail: 1,
  },
});
