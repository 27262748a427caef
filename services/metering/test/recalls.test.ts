import { createVirtualClock } from '@brand-data/testing/virtual-clock';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRecalls } from '../src/granting/recalls.ts';

const LATEST_MS = 50;

const wanted = fc.array(
  fc.record({
    afterMs: fc.integer({ min: 0, max: 70 }),
    accountId: fc.constantFrom('one', 'two'),
    holder: fc.constantFrom('a', 'b', ''),
  }),
  { minLength: 1, maxLength: 30 },
);

test('an account has at most one recall in 50 ms, and no recall is delayed longer than that', async () => {
  await fc.assert(
    fc.asyncProperty(wanted, async (requests) => {
      const clock = createVirtualClock(0);
      const made: { accountId: string; holder: string; atMs: number }[] = [];
      const recall = createRecalls(clock, ({ accountId, holder }) =>
        made.push({ accountId, holder, atMs: clock.now().monotonicMs }),
      );
      const asked: typeof made = [];
      for (const { afterMs, accountId, holder } of requests) {
        await clock.advance(afterMs);
        asked.push({ accountId, holder, atMs: clock.now().monotonicMs });
        recall({ accountId, pool: 'calls', holder });
      }
      await clock.advance(2 * LATEST_MS);
      for (const { accountId, holder, atMs } of asked) {
        // A recall reaches all holders, except at most the one that asked for it.
        const answers = made.filter(
          (each) => each.accountId === accountId && each.atMs >= atMs && each.atMs <= atMs + LATEST_MS,
        );
        expect(answers.some((each) => each.holder === holder || each.holder === '')).toBe(true);
      }
      for (const accountId of ['one', 'two']) {
        const times = made.filter((each) => each.accountId === accountId).map(({ atMs }) => atMs);
        for (const [index, atMs] of times.entries())
          if (index > 0) expect(atMs - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(LATEST_MS);
      }
      expect(made.length).toBeLessThanOrEqual(asked.length);
    }),
  );
});
