import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ChangeStand, MISHAPS, startChangeStand, tooLate } from './changes.ts';

let stand: ChangeStand;
beforeAll(async () => {
  stand = await startChangeStand();
});
afterAll(() => stand?.stop());

test.each(MISHAPS)(
  'a larger, a smaller and a paid plan, a revoked key and a closed account reach every gateway in time when %s',
  async (mishap) => {
    expect(tooLate(await stand.run(mishap))).toEqual([]);
  },
);
