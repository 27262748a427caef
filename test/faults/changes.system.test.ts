import { afterAll, beforeAll, expect, test } from 'vitest';
import { MISHAPS, runChanges, startChangeHarness, tooLate } from './changes.ts';
import type { Harness } from './stack.ts';

/**
 * Far less than the minute after which a gateway verifies a token anyway, but more than a busy machine takes. `npm run faults --
 * changes` measures the seconds.
 */
const ON_A_BUSY_MACHINE_MS = 12_000;

let harness: Harness;
beforeAll(async () => {
  harness = await startChangeHarness();
});
afterAll(() => harness?.stop());

test.each(MISHAPS)(
  'a larger, a smaller and a paid plan, a revoked key and a closed account reach every gateway in time when %s',
  async (mishap) => {
    expect(tooLate(await runChanges(harness, mishap), ON_A_BUSY_MACHINE_MS)).toEqual([]);
  },
);
