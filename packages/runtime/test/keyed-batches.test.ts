import { createVirtualClock } from '@brand-data/testing/virtual-clock';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createKeyedBatches } from '../src/index.ts';

const bound = { most: 3, tooMany: () => new Error('too many') };
const BATCH_MS = 10;

describe('batches', () => {
  test('of one key run one after another, in order, even if some fail; each item is in one batch, and other keys do not wait', async () => {
    const arrival = fc.record({
      key: fc.constantFrom('a', 'b'),
      afterMs: fc.integer({ min: 0, max: 2 * BATCH_MS }),
      fails: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(arrival, { maxLength: 12 }), async (arrivals) => {
        const clock = createVirtualClock(0);
        const running = new Set<string>();
        const ran: { key: string; index: number }[] = [];
        const fails = new Map(arrivals.map((each, index) => [index, each.fails]));
        const run = async (items: readonly { key: string; index: number }[]) => {
          const key = items[0]?.key ?? '';
          expect(running.has(key)).toBe(false);
          running.add(key);
          await clock.sleep(BATCH_MS);
          running.delete(key);
          ran.push(...items);
          if (items.some(({ index }) => fails.get(index))) throw new Error('failed');
          return items.length;
        };
        const batches = createKeyedBatches(run, { ...bound, most: arrivals.length });
        const all: Promise<unknown>[] = [];
        for (const [index, { key, afterMs }] of arrivals.entries()) {
          await clock.advance(afterMs);
          all.push(batches.add(key, { key, index }).catch(() => {}));
        }
        await clock.advance(2 * BATCH_MS);
        await Promise.all(all);
        for (const wanted of ['a', 'b']) {
          const added = arrivals.flatMap(({ key }, index) => (key === wanted ? [index] : []));
          expect(ran.filter(({ key }) => key === wanted).map(({ index }) => index)).toEqual(added);
        }
      }),
    );
  });

  test('have every waiting item once, and never more items than the bound', async () => {
    const clock = createVirtualClock(0);
    const done: (readonly number[])[] = [];
    const { add } = createKeyedBatches(async (items: readonly number[]) => {
      await clock.sleep(BATCH_MS);
      done.push([...items]);
    }, bound);
    const first = add('a', 1);
    await clock.advance(1);
    const waiting = [2, 3, 4].map((item) => add('a', item));
    await expect(add('a', 5)).rejects.toThrow('too many');
    const other = add('b', 6);
    await clock.advance(50);
    await Promise.all([first, ...waiting, other]);
    expect(done).toEqual([[1], [6], [2, 3, 4]]);
    const again = add('a', 7);
    await clock.advance(50);
    await again;
    expect(done.at(-1)).toEqual([7]);
  });
});
