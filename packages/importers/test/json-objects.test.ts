import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readJsonObjects } from '../src/formats/json-objects.ts';
import { allOf } from './all-of.ts';
import { fileOf } from './temporary-files.ts';
import { zipOf } from './zip-of.ts';

async function read(content: string | Buffer) {
  const items = await allOf(readJsonObjects(await fileOf(content, '.json')));
  return items.map((item) => ('value' in item ? item.value : item.problem));
}

test('the objects of a list are those that JSON.parse finds, however the file is written and compressed', async () => {
  const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(
      objects,
      fc.constantFrom(undefined, 1, '\t'),
      fc.constantFrom('', '{"count": 3, "by": {"[": "}"}, "records":', '\uFEFF\n{"relations": '),
      fc.constantFrom(Buffer.from, gzipSync, (text: string) => zipOf({ 'list.json': text })),
      async (list, indent, before, packed) => {
        const json = `${before}${JSON.stringify(list, undefined, indent)}${before.includes('{') ? ', "also": [{}]}' : ''}\n`;
        expect(await read(packed(json))).toEqual(JSON.parse(JSON.stringify(list)));
      },
    ),
    { numRuns: 100 },
  );
});

test('objects that end in another chunk of the file than they begin in are read whole', async () => {
  const list = Array.from({ length: 30_000 }, (_, index) => ({ index, text: '\\"{['.repeat(index % 40) }));
  const json = JSON.stringify({ list });
  expect(json.length).toBeGreaterThan(2 << 20);
  expect(await read(json)).toEqual(list);
});

test('text that cannot be read is refused with its place, and the objects before it are read', async () => {
  const truncated = zipOf({ 'list.json': JSON.stringify([{ a: 1 }]) });
  const cases: [string | Buffer, unknown[]][] = [
    ['[{"a": 1}, {"a": 2', [{ a: 1 }, expect.stringContaining('ends before its list')]],
    ['[{"a": 1}, {"a": tru}, {"a": 3}]', [{ a: 1 }, expect.stringContaining('not valid JSON'), { a: 3 }]],
    ['<html>{"a": [{}]}</html>', [expect.stringContaining('not JSON with a list of objects')]],
    [`[{"a": "${'x'.repeat(5 << 20)}"}, {"a": 2}]`, [expect.stringContaining('more than'), { a: 2 }]],
    [Buffer.from('[{"a": "ü"}]', 'latin1'), ['the object is not UTF-8']],
    ['', [expect.stringContaining('ends before')]],
  ];
  for (const [content, expected] of cases) expect(await read(content)).toEqual(expected);
  const file = await fileOf(truncated.subarray(0, truncated.length - 10), '.json.zip');
  expect(await allOf(readJsonObjects(file))).toEqual([
    { from: `${file}[0]`, problem: expect.stringContaining('the zip file is damaged or incomplete') },
  ]);
});
