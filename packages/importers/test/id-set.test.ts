import fc from 'fast-check';
import { expect, test } from 'vitest';
import { IdSet } from '../src/framework/batches.ts';

test('an id is new only the first time, as in a set of the ids themselves', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 200 }), (ids) => {
      const known = new Set<string>();
      const hashes = new IdSet();
      for (const id of ids) {
        expect(hashes.add(id)).toBe(!known.has(id));
        known.add(id);
      }
    }),
  );
  const many = new IdSet();
  const ids = Array.from({ length: 50_000 }, (_, index) => `id-${index}`);
  expect(ids.every((id) => many.add(id))).toBe(true);
  expect(ids.some((id) => many.add(id))).toBe(false);
});
