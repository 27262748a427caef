import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { changeQueue } from '../src/storage/change-loop.ts';

test('changes run in order and never more than the limit at once, even if some fail or are abandoned', async () => {
  const works = fc.array(fc.constantFrom('succeeds', 'fails', 'is abandoned'), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), works, async (limit, fates) => {
      const runChange = changeQueue(limit);
      const began: number[] = [];
      let working = 0;
      const settled = await Promise.allSettled(
        fates.map((fate, index) =>
          runChange(fate === 'is abandoned' ? AbortSignal.abort() : undefined, async () => {
            began.push(index);
            expect(++working).toBeLessThanOrEqual(limit);
            await Promise.resolve();
            working--;
            if (fate === 'fails') throw new Error(fate);
          }),
        ),
      );
      expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(
        fates.map((fate) => fate === 'succeeds'),
      );
      expect(began).toEqual([...fates.keys()].filter((index) => fates[index] !== 'is abandoned'));
    }),
  );
});

test('when too many changes wait, the next is refused at once', async () => {
  const runChange = changeQueue(1);
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const waiting = Array.from({ length: 65 }, () => runChange(undefined, () => end));
  const work = vi.fn(async () => undefined);
  await expect(runChange(undefined, work)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(work).not.toHaveBeenCalled();
  resolve();
  await Promise.all(waiting);
  await runChange(undefined, work);
  expect(work).toHaveBeenCalledOnce();
});
