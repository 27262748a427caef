import fc from 'fast-check';
import { expect, test } from 'vitest';
import { boundsOfMonth, dayOf, monthOf } from '../src/index.ts';

const FIRST_MS = Date.UTC(2000, 0, 1);
const LAST_MS = Date.UTC(2100, 0, 1);
const instant = fc.integer({ min: FIRST_MS, max: LAST_MS });

test('in whatever order it is asked, each instant has the day and the month of its date, and lies within the bounds of that month', () => {
  fc.assert(
    fc.property(fc.array(instant, { minLength: 1, maxLength: 20 }), (instants) => {
      for (const atMs of instants) {
        for (const near of [
          atMs,
          atMs + 1,
          boundsOfMonth(monthOf(atMs)).endMs,
          boundsOfMonth(monthOf(atMs)).endMs - 1,
        ]) {
          const month = monthOf(near);
          expect(month).toBe(new Date(near).toISOString().slice(0, 7));
          expect(dayOf(near)).toBe(new Date(near).toISOString().slice(0, 10));
          const { startMs, endMs } = boundsOfMonth(month);
          expect(near).toBeGreaterThanOrEqual(startMs);
          expect(near).toBeLessThan(endMs);
          expect(new Date(startMs).toISOString()).toBe(`${month}-01T00:00:00.000Z`);
          expect(boundsOfMonth(monthOf(endMs)).startMs).toBe(endMs);
        }
      }
    }),
  );
});
