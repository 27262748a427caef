import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { turns } from '../src/storage/change-queue.ts';

test('no more than so many work at once, all get their turn in order, whatever fails or is abandoned', async () => {
  const works = fc.array(fc.constantFrom('succeeds', 'fails', 'is abandoned'), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 4 }), works, async (atOnce, fates) => {
      const inTurn = turns(atOnce);
      const began: number[] = [];
      let working = 0;
      const settled = await Promise.allSettled(
        fates.map((fate, index) =>
          inTurn(fate === 'is abandoned' ? AbortSignal.abort() : undefined, async () => {
            began.push(index);
            expect(++working).toBeLessThanOrEqual(atOnce);
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

test('where very many wait, the next is refused at once', async () => {
  const inTurn = turns(1);
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const waiting = Array.from({ length: 65 }, () => inTurn(undefined, () => end));
  const work = vi.fn(async () => undefined);
  await expect(inTurn(undefined, work)).rejects.toMatchObject({ kind: 'unavailable' });
  expect(work).not.toHaveBeenCalled();
  resolve();
  await Promise.all(waiting);
  await inTurn(undefined, work);
  expect(work).toHaveBeenCalledOnce();
});
