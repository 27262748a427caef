import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Holding, Holdings, newHolding } from '../src/quota/holding.ts';

const now = { monotonicMs: 0, wallMs: 0 };
const place = fc.record({
  accountId: fc.constantFrom('a', 'b', 'a/b'),
  pool: fc.constantFrom('calls', 'logos', 'b/calls'),
});

test('an account has one holding of each pool, and none of another account or pool is found or forgotten in its place', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ place, isAdded: fc.boolean() }), { maxLength: 40 }), (steps) => {
      const holdings = new Holdings();
      const model = new Map<string, Holding>();
      for (const { place, isAdded } of steps) {
        const key = JSON.stringify([place.accountId, place.pool]);
        expect(holdings.get(place)).toBe(model.get(key));
        if (!isAdded) {
          holdings.delete(place);
          model.delete(key);
        } else if (!model.has(key)) {
          const holding = newHolding({ ...place, limit: 1, limitRevision: 1 }, 0, now);
          holdings.add(holding);
          model.set(key, holding);
        }
        expect(new Set(holdings.all())).toEqual(new Set(model.values()));
        expect(holdings.all()).toHaveLength(model.size);
      }
    }),
  );
});
