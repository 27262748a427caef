import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/*/test/**/*.test.ts',
      'services/*/test/**/*.test.ts',
      'deploy/*/test/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    globalSetup: ['test/stack/global-setup.ts'],
    reporters: ['default', './test/stack/closing-line.ts'],
    // Tests run on Node's own module loader, as the services do.
    experimental: { viteModuleRunner: false },
    // A condition is waited for generously: it is met at once, or never.
    expect: { poll: { timeout: 15_000, interval: 50 } },
    testTimeout: 30_000,
    // Most of the time tests wait, for servers that start, fail and come back.
    maxWorkers: 3,
    hookTimeout: 120_000,
  },
});
