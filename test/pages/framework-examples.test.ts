import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'packages/site/docs/frameworks.md'), 'utf8');

/** Returns an example as the tests of frameworks have it: with the names of values in place of the values. */
const asTested = (example: string) =>
  example
    .replaceAll('="https://api.example.com"', '={API}')
    .replaceAll('="pk_…"', '={TOKEN}')
    .replaceAll("'https://api.example.com'", 'API')
    .replaceAll("'pk_…'", 'TOKEN')
    .replaceAll("'NKE'", "'OTHR'");

test.each([
  ['tsx', 'react/app.tsx'],
  ['vue', 'vue/app.vue'],
  ['svelte', 'svelte/app.svelte'],
])('the example in %s is the page that runs in a browser in test/frameworks: %s', (language, file) => {
  const examples = [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, found]) => found === language)
    .map(([, , text = '']) => asTested(text));
  expect(examples).toContain(readFileSync(join(ROOT, 'test/frameworks/projects', file), 'utf8'));
});
