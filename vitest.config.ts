import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'packages/*/test/**/*.test.ts',
      'services/*/test/**/*.test.ts',
      'deploy/local/test/**/*.test.ts',
      'test/**/*.test.ts',
    ],
    globalSetup: ['test/stack/global-setup.ts'],
    reporters: ['default', './test/stack/closing-line.ts'],
    // Tests run on Node's own module loader, as the services do.
    experimental: { viteModuleRunner: false },
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});
