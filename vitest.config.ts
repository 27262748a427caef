import { defineConfig } from 'vitest/config';
import { COMPILED_CODE } from './deploy/local/src/compiled-code.ts';
import { LongFilesFirst } from './test/stack/long-files-first.ts';

/**
 * The tests of the product as a whole: how it is packaged (`npm start`, the chart, the images, the client, the alerts and the
 * dashboards), what a browser shows, what callers notice while a part is down, stops or gets new credentials, and a restore. They take a
 * third of the time of all tests.
 */
const SYSTEM = [
  'deploy/local/test/start.test.ts',
  'deploy/{chart,compose,images,release}/test/**/*.test.ts',
  'packages/client/test/package.test.ts',
  'packages/runtime/test/schema.test.ts',
  'services/{accounts,metering}/test/elections.test.ts',
  'test/e2e/{elements-in-browser,guides,logos-in-browser,playground}.test.ts',
  'test/e2e/{backup,cut-off-nats,life-cycle,notices,outage,server-users,stop,usage-page}.test.ts',
  'test/faults/outages.test.ts',
  'test/monitoring/{alerts,dashboards,prometheus}.test.ts',
];

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'service',
          include: [
            'packages/*/test/**/*.test.ts',
            'services/*/test/**/*.test.ts',
            'deploy/local/test/**/*.test.ts',
            'test/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', ...SYSTEM],
        },
      },
      { extends: true, test: { name: 'system', include: SYSTEM } },
    ],
    globalSetup: ['test/stack/global-setup.ts'],
    sequence: { sequencer: LongFilesFirst },
    reporters: ['default', './test/stack/closing-line.ts'],
    // Tests run on Node's own module loader, as the services do. No test replaces a module by a mock.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Each test file runs in a process of its own.
    env: { NODE_COMPILE_CACHE: COMPILED_CODE },
    setupFiles: ['test/stack/keep-compiled-code.ts'],
    // These times are for a busy machine. An idle one never needs them. Gateways verify their tokens again every minute, so a test
    // of a notice must not wait that long.
    expect: { poll: { timeout: 30_000, interval: 50 } },
    testTimeout: 120_000,
    // With more at once, calls of a busy machine with two cores miss their deadlines, and tests of outages count them as failed.
    maxWorkers: 3,
    // The import of the sample makes 3,700 logos: half a minute on an idle machine with two cores, some minutes on a busy one.
    hookTimeout: 400_000,
  },
});
