import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { recordFromBrand } from '@brand-data/records';
import { acme } from '@brand-data/records/test/acme.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { parseJson } from '../src/formats/json.ts';
import { readRecords } from '../src/index.ts';
import { allOf } from './all-of.ts';

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});
async function read(name: string, content: string) {
  const file = join(folder, name);
  await writeFile(file, content);
  const items = await allOf(readRecords([file]));
  return items.map((item) => ({ ...item, from: item.from.slice(folder.length + 1) }));
}

test('a list of records gives the same brands as the same records line by line, whatever the layout', async () => {
  const ids = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(ids, fc.constantFrom(undefined, 2), async (some, indent) => {
      const records = some.map((id) => ({ ...acme, id, name: `"[${id}],\n` }));
      const list = await read('list.json', JSON.stringify(records, null, indent));
      const lines = await read('lines.ndjson', records.map((record) => JSON.stringify(record)).join('\n'));
      const recordsOf = (items: typeof list) =>
        items.map((item) => ('item' in item ? recordFromBrand(item.item) : item));
      expect(recordsOf(list)).toEqual(records);
      expect(recordsOf(lines)).toEqual(records);
    }),
    { numRuns: 30 },
  );
});

test('an item of a list that is not a record is reported with its place, and the other items are read', async () => {
  expect(await read('items.json', JSON.stringify([acme, { ...acme, rank: 'high' }, acme]))).toMatchObject([
    { from: 'items.json[0]', item: { id: 'acme' } },
    { from: 'items.json[1]', problem: 'rank must be integer', raw: expect.stringContaining('"high"') },
    { from: 'items.json[2]', item: { id: 'acme' } },
  ]);
});

test('a .json file that is not JSON gives no record, and is reported with the text around the error', async () => {
  expect(await read('comma.json', `[\n${JSON.stringify(acme)},\n]\n`)).toEqual([
    { from: 'comma.json', problem: expect.stringMatching(/^not valid JSON, near ".*\}\]\}, \]"$/) },
  ]);
});

test('an empty .json file holds nothing', async () => {
  expect(await read('empty.json', ' \n')).toEqual([]);
});

test('half a character in a list is reported with its field', async () => {
  expect(await read('half.json', JSON.stringify([{ ...acme, names: ['A\ud800'] }]))).toMatchObject([
    { from: 'half.json[0]', problem: expect.stringMatching(/^names\[0\] contains an unpaired surrogate/) },
  ]);
});

test.each([
  ['company,site', 'not valid JSON, near "company,site"'],
  ['{"a": 1,}', 'not valid JSON, from character 9 on'],
  ['{"a', 'not valid JSON, from character 4 on'],
])('the problem of %s has its place and no words of a parser', (text, problem) => {
  expect(parseJson(text)).toEqual({ problem });
});
