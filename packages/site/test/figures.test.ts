import { expect, test } from 'vitest';
import { dateText } from '../playground/figures.ts';

test.each([
  ['2026-08-21', '21 August 2026'],
  ['2026-08', 'August 2026'],
  ['2026', '2026'],
  ['2026-99-99', '2026-99-99'],
  ['yesterday', 'yesterday'],
])('the playground shows the date %s as %s, and no day that the source does not state', (date, text) => {
  expect(dateText(date)).toBe(text);
});
