import axe from 'axe-core';
import { expect } from 'vitest';
import type { Page } from './page.ts';

/** Notes what the content security policy refuses, and errors of scripts. To be run before the scripts of each page. */
export const NOTE_VIOLATIONS = `
window.violations = [];
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => violations.push([violatedDirective, blockedURI]));
addEventListener('error', ({ message }) => violations.push(['error', message]));
addEventListener('unhandledrejection', ({ reason }) => violations.push(['rejection', String(reason)]));
`;

const LOOKS = (['light', 'dark'] as const).flatMap((theme) =>
  [360, 1_280].map((width) => ({ theme, width })),
);
/**
 * Expects that the page fits into narrow and wide windows, in light and dark, that axe-core finds nothing, and that all files
 * but images come from the page's own origin.
 */
export async function expectGoodLooksOf(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate(`[...document.images].every((image) => image.complete)`)).toBe(true);
  await page.evaluate(axe.source);
  for (const look of LOOKS) {
    await page.show(look);
    const [inner, outer] = await page.evaluate<number[]>(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    );
    expect(inner, JSON.stringify(look)).toBeLessThanOrEqual(outer ?? 0);
    const faults = await page.evaluate<object[]>(
      `axe.run({ resultTypes: ['violations'], reporter: 'no-passes' }).then(({ violations }) => violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) })))`,
    );
    expect(faults, JSON.stringify(look)).toEqual([]);
  }
  expect(await page.evaluate('violations')).toEqual([]);
  const elsewhere = await page.evaluate<string[]>(
    `performance.getEntriesByType('resource').filter(({ initiatorType }) => initiatorType !== 'img').map(({ name }) => new URL(name).origin).filter((origin) => origin !== location.origin)`,
  );
  expect(elsewhere).toEqual([]);
}
