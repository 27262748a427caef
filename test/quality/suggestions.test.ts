import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MemoryCatalogue } from './memory-catalogue.ts';
import { sample, simpleIcons } from './sources.ts';

/** The companies that the first lines of made-up.txt misspell, in the order of the lines. */
const MISSPELT = `
  mcdonalds apple microsoft alphabet amazon meta netflix tesla nvidia starbucks walmart cocacola
  pepsico walt-disney toyota samsung hyundai nestle volkswagen mercedes-benz-group adidas nike ikea
  siemens boeing airbnb berkshire-hathaway goldmansachs jpmorgan-chase exxonmobil chevron pfizer
  johnson-and-johnson procter-and-gamble costco target fedex unilever vodafone rolls-royce-holdings
  ryanair lufthansa ericsson ericsson huawei alibaba-group tencent nintendo sony honda
`
  .trim()
  .split(/\s+/);

const lines = (await readFile(join(import.meta.dirname, '../e2e/inputs/made-up.txt'), 'utf8'))
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((input) => input.trim()));
const catalogue = new MemoryCatalogue();
await catalogue.put(sample.source, sample.read());
await catalogue.put(simpleIcons.source, simpleIcons.read());

const idOf = (identifier: string) => catalogue.resolve(identifier)[0]?.brand.id;
const misses = (inputs: readonly string[]) => inputs.filter((input) => idOf(input) === undefined);

test('at least nine of ten misspelt names have their company among three suggestions', async () => {
  const asked = lines
    .slice(0, MISSPELT.length)
    .flatMap((inputs, line) => misses(inputs).map((input) => ({ input, id: MISSPELT[line] })));
  const missing: string[] = [];
  for (const { input, id } of asked) {
    const suggestions = await catalogue.suggest(input);
    expect(suggestions.length).toBeLessThanOrEqual(3);
    if (!suggestions.some(({ identifier }) => idOf(identifier) === id)) missing.push(`${input}: ${id}`);
  }
  expect(asked.length).toBeGreaterThan(150);
  expect(missing.length / asked.length, missing.join('\n')).toBeLessThanOrEqual(0.1);
});

test('every suggestion resolves to the record that it names', async () => {
  for (const input of misses(lines.flat())) {
    for (const { name, identifier } of await catalogue.suggest(input))
      expect(catalogue.resolve(identifier)[0]?.brand.name, input).toBe(name);
  }
});

test.each([
  'zorbulax industries',
  'quantexa fjord holdings',
  'wayne enterprises',
  'vandelay industries',
  'foobar gmbh',
  'lorem ipsum plc',
  'asdf',
  'qwerty',
  'zxcvbnm',
  'aaaaaaa',
  'hello world',
  'foo bar baz',
  'null',
  'undefined',
  'none',
  'true',
  'false',
  'test',
  'admin',
  '12345678',
  '1e10',
  '3.14159',
  '---',
  'a b c d e f g',
  'group',
  'the quick brown fox',
  'to be or not to be',
  'holdings',
  'limited',
  'company',
  'john smith',
  'max mustermann',
  'US0000000000',
  '99999.HK',
  'example.com',
  '192.168.0.1',
  'http://',
  'someone@example.com',
  '/etc/passwd',
  '<script>alert(1)</script>',
  "' OR 1=1 --",
  'pk_live_abc',
  'Компания Ромашка',
  '株式会社テスト',
])('nothing is suggested for "%s"', async (input) => {
  expect(await catalogue.suggest(input)).toEqual([]);
});
