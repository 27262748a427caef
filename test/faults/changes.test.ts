import { afterAll, beforeAll, expect, test } from 'vitest';
import { MISHAPS, runChanges, startChangeStand, tooLate } from './changes.ts';
import type { Stand } from './stack.ts';

/**
 * Far less than the minute after which a gateway verifies a token anyway, but more than a busy machine takes. `npm run faults --
 * changes` measures the seconds.
 */
const ON_A_BUSY_MACHINE_MS = 12_000;

let stand: Stand;
beforeAll(async () => {
  stand = await startChangeStand();
});
afterAll(() => stand?.stop());

test.each(MISHAPS)(
  'a larger, a smaller and a paid plan, a revoked key and a closed account reach every gateway in time when %s',
  async (mishap) => {
    expect(tooLate(await runChanges(stand, mishap), ON_A_BUSY_MACHINE_MS)).toEqual([]);
  },
);
