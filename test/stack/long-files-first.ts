import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The files that take longest, so that none of them runs alone at the end. Files that wait stand beside files that compute. The
 * first one that needs the sample catalogue imports it, and the other files that need it come late, because they would wait for
 * the import. Vitest orders the rest.
 */
const LONG = [
  'deploy/local/test/start.system.test.ts',
  'test/e2e/sample.system.test.ts',
  'test/simulation/quota.test.ts',
  'services/metering/test/usage-consumer.system.test.ts',
  'packages/operator/test/bds.test.ts',
  'services/metering/test/ledger-database.test.ts',
  'services/metering/test/metering.test.ts',
  'test/monitoring/unbilled.test.ts',
  'services/metering/test/usage-streams.test.ts',
  'test/e2e/set-up.test.ts',
  'test/e2e/logos-in-browser.system.test.ts',
  'test/e2e/inputs.system.test.ts',
  'test/e2e/docs.system.test.ts',
  'test/e2e/identifiers.system.test.ts',
];

export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONG.indexOf(relative(this.ctx.config.root, moduleId));
      return at < 0 ? LONG.length : at;
    };
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other));
  }
}
