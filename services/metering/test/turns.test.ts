import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTurns, gatherForTurn } from '../src/ledger/turns.ts';
import { createVirtualClock } from './virtual-clock.ts';

const bound = { most: 3, tooMany: () => new Error('too many') };

describe('turns', () => {
  test('of one name come one after another, in order, though tasks fail; other names wait for none of them', async () => {
    const task = fc.record({
      name: fc.constantFrom('a', 'b'),
      takesMs: fc.integer({ min: 0, max: 50 }),
      fails: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(task, { maxLength: 12 }), async (tasks) => {
        const clock = createVirtualClock(0);
        const { take: takeTurn } = createTurns();
        const running = new Map<string, number>();
        const ended: { index: number; name: string; atMs: number }[] = [];
        const all = tasks.map(({ name, takesMs, fails }, index) =>
          takeTurn(name, async () => {
            expect(running.get(name) ?? 0).toBe(0);
            running.set(name, 1);
            await clock.sleep(takesMs);
            running.set(name, 0);
            ended.push({ index, name, atMs: clock.now().monotonicMs });
            if (fails) throw new Error('failed');
            return index;
          }),
        );
        const settled = Promise.allSettled(all);
        await clock.advance(1_000);
        expect((await settled).map(({ status }) => status === 'rejected')).toEqual(
          tasks.map(({ fails }) => fails),
        );
        for (const wanted of ['a', 'b']) {
          const own = ended.filter(({ name }) => name === wanted);
          expect(own.map(({ index }) => index)).toEqual(
            tasks.flatMap(({ name }, index) => (name === wanted ? [index] : [])),
          );
          const totalMs = tasks.reduce((sum, { name, takesMs }) => sum + (name === wanted ? takesMs : 0), 0);
          expect(own.at(-1)?.atMs ?? 0).toBe(totalMs);
        }
      }),
    );
  });

  test('are shared by all that waits for them, each once, and no more than the bound waits', async () => {
    const clock = createVirtualClock(0);
    const done: (readonly number[])[] = [];
    const gather = gatherForTurn(createTurns().take, bound, async (items: readonly number[]) => {
      await clock.sleep(10);
      done.push([...items]);
    });
    const first = gather('a', 1);
    await clock.advance(1);
    const waiting = [2, 3, 4].map((item) => gather('a', item));
    await expect(gather('a', 5)).rejects.toThrow('too many');
    const other = gather('b', 6);
    await clock.advance(50);
    await Promise.all([first, ...waiting, other]);
    expect(done).toEqual([[1], [6], [2, 3, 4]]);
    const again = gather('a', 7);
    await clock.advance(50);
    await again;
    expect(done.at(-1)).toEqual([7]);
  });
});
