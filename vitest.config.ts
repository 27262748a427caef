import { COMPILED_CODE } from '@brand-data/servers/compiled-code';
import { LongFilesFirst } from '@brand-data/test/stack/long-files-first.ts';
import { defineConfig } from 'vitest/config';

/**
 * The tests of the product as a whole: how it is packaged (`npm start`, the chart, the images, the client, the alerts and the
 * dashboards), what the sample catalogue answers, what a browser shows, what callers notice while a part is down, stops or gets new
 * credentials, a restore, and the traces, metrics and `bds` commands of a whole installation. They take half of the time of all tests.
 */
const SYSTEM = '{deploy,packages,services,test}/**/*.system.test.ts';
/**
 * Those of them that break a part of the service, and count every call that fails as a defect. A file runs alone, because calls of a
 * machine that is busy with other tests miss their deadlines.
 */
const ALONE = [
  'test/faults/*.system.test.ts',
  'test/e2e/{credentials,cut-off-nats,dead-gateway,full-disk,life-cycle,notices,outage,rotation,stop}.system.test.ts',
  'services/*/test/{elections,outage}.system.test.ts',
];
/**
 * Most of these tests take less time than the start of a process. They share processes, as they leave nothing there. `costs` measures
 * time, and has a process of its own, because the garbage of other tests would slow it.
 */
const TOGETHER =
  '{packages/{contracts,identifiers,monograms,presenters,records,site}/test,services/gateway/test,test/pages}/**/!(costs).test.ts';

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'service',
          include: ['{deploy,packages,services,test}/**/*.test.ts'],
          exclude: ['**/node_modules/**', SYSTEM, TOGETHER],
        },
      },
      { extends: true, test: { name: 'together', isolate: false, include: [TOGETHER], exclude: [SYSTEM] } },
      {
        extends: true,
        test: { name: 'system', include: [SYSTEM], exclude: ['**/node_modules/**', ...ALONE] },
      },
      {
        extends: true,
        test: { name: 'system-alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
    globalSetup: ['test/stack/global-setup.ts'],
    sequence: { sequencer: LongFilesFirst },
    // `npm test -- --coverage` counts the code that tests run in their own process, and not that of services which they start.
    coverage: {
      include: ['{packages,services}/*/src/**/*.ts'],
      exclude: ['**/gen/**'],
      reporter: ['text-summary', 'html'],
    },
    reporters: ['default', './test/stack/closing-line.ts'],
    // Tests run on Node's own module loader, as the services do. No test replaces a module by a mock.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Each test file runs in a process of its own, but for those of TOGETHER.
    env: { NODE_COMPILE_CACHE: COMPILED_CODE },
    setupFiles: ['test/stack/keep-compiled-code.ts', 'test/stack/property-seed.ts'],
    // These times are for a busy machine. An idle one never needs them. Gateways verify their tokens again every minute, so a test
    // of a notice must not wait that long.
    expect: { poll: { timeout: 30_000, interval: 50 } },
    testTimeout: 400_000,
    maxWorkers: 3,
    // The import of the sample makes 3,700 logos: half a minute on an idle machine with two cores, some minutes on a busy one.
    hookTimeout: 400_000,
  },
});
