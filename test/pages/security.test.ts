import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8');
/** `- claim`, and below it `  - test`, each with the lines that go on with it. Sections without claims have other text alone. */
const ITEM = /^(?<indent> *)- (?<text>.*(?:\n(?! *- ) +.*)*)/gm;
const TEST = /^`(?<file>[^`]+\.test\.ts)`:\s+(?<title>[\s\S]+)$/;

interface Claim {
  text: string;
  tests: { file: string; title: string }[];
}

function claimsIn(markdown: string): Claim[] {
  const claims: Claim[] = [];
  for (const { groups } of markdown.matchAll(ITEM)) {
    const text = (groups?.text ?? '').replace(/\s*\n\s*/g, ' ');
    if (groups?.indent === '') claims.push({ text, tests: [] });
    else {
      const { file = '', title = '' } = TEST.exec(text)?.groups ?? {};
      claims.at(-1)?.tests.push({ file, title });
    }
  }
  // The lists of what an attacker can do begin in lower case. Nothing prevents these things, so no test holds them.
  return claims.filter(({ text }) => !/^[a-z]/.test(text));
}

/** Whether a file has a test, a group of tests or a case with this title. */
function hasTitle(file: string, title: string): boolean {
  if (!existsSync(join(ROOT, file))) return false;
  const source = readFileSync(join(ROOT, file), 'utf8');
  return ["'", '"', '`'].some((quote) => source.includes(`${quote}${title}${quote}`));
}

const claims = claimsIn(page);

test('each claim of SECURITY.md names the test that holds it', () => {
  expect(claims.length).toBeGreaterThan(30);
  expect(claims.filter(({ tests }) => tests.length === 0)).toEqual([]);
});

test('each test that SECURITY.md names is in the file that it names', () => {
  const missing = claims.flatMap(({ tests }) => tests.filter(({ file, title }) => !hasTitle(file, title)));
  expect(missing).toEqual([]);
});

test('a claim without a test, with a wrong title or with a wrong file is noticed', () => {
  const [bare, wrong] = claimsIn(
    '- Bare.\n- Other.\n  - `test/pages/security.test.ts`:\n    no such\n    title\n',
  );
  expect(bare).toEqual({ text: 'Bare.', tests: [] });
  expect(wrong?.tests).toEqual([{ file: 'test/pages/security.test.ts', title: 'no such title' }]);
  expect(hasTitle('test/pages/security.test.ts', ['no such', 'title at all'].join(' '))).toBe(false);
  expect(hasTitle('test/pages/none.test.ts', 'each claim of SECURITY.md names the test that holds it')).toBe(
    false,
  );
  expect(
    hasTitle('test/pages/security.test.ts', 'each claim of SECURITY.md names the test that holds it'),
  ).toBe(true);
});
