import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { itemsOfList } from '../src/formats/json-texts.ts';
import { readLines } from '../src/formats/lines.ts';
import { openTable } from '../src/formats/table.ts';
import { allOf } from './all-of.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-data-files-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

let files = 0;
async function fileOf(content: string | Buffer): Promise<string> {
  const file = join(folder, `file-${files++}`);
  await writeFile(file, content);
  return file;
}

const collect = (file: string) => allOf(readLines(file));
const text = fc.string({ unit: 'grapheme', maxLength: 40 }).map((value) => value.replace(/[\r\n]/g, ''));

test('a file’s lines are what was written, with their numbers, compressed or not, whatever ends them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 30 }),
      fc.boolean(),
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      async (lines, isPacked, end, endsLast) => {
        const content = Buffer.from(lines.join(end) + (endsLast ? end : ''));
        const file = await fileOf(isPacked ? gzipSync(content) : content);
        // Nothing after the last end of a line is no line.
        const expected = endsLast || lines.at(-1) !== '' ? lines : lines.slice(0, -1);
        expect(await collect(file)).toEqual(
          expected.map((line, index) => ({ from: `${file}:${index + 1}`, number: index + 1, text: line })),
        );
      },
    ),
    { numRuns: 50, examples: [[['a', ''], false, '\n', false]] },
  );
});

test('a line across many chunks is one line, and a byte order mark is no part of the first', async () => {
  const long = 'ä'.repeat(1_000_000);
  const file = await fileOf(`\uFEFF${long}\nshort`);
  expect(await collect(file)).toMatchObject([{ text: long }, { text: 'short' }]);
});

test('of files that were put one behind the other, no byte order mark is left in a line', async () => {
  const file = await fileOf('\uFEFFone\n\uFEFFtwo\n');
  expect(await collect(file)).toMatchObject([{ text: 'one' }, { text: 'two' }]);
});

test('a line that is not UTF-8 is told by its number, and the others are read', async () => {
  const file = await fileOf(Buffer.from('good\nM\xfcnchen\ngood too', 'latin1'));
  expect(await collect(file)).toEqual([
    { from: `${file}:1`, number: 1, text: 'good' },
    { from: `${file}:2`, problem: expect.stringContaining('not UTF-8'), raw: 'M\uFFFDnchen' },
    { from: `${file}:3`, number: 3, text: 'good too' },
  ]);
});

test('a gzip that breaks off gives the lines before and says where it does', async () => {
  const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index} ${Math.sin(index)}`);
  const packed = gzipSync(lines.join('\n'));
  const file = await fileOf(packed.subarray(0, packed.length / 2));
  const read = await collect(file);
  const good = read.slice(0, -1);
  expect(good.length).toBeGreaterThan(1_000);
  expect(good).toEqual(
    lines
      .slice(0, good.length)
      .map((line, index) => expect.objectContaining({ number: index + 1, text: line })),
  );
  expect(read.at(-1)).toMatchObject({
    from: `${file}:${good.length + 1}`,
    problem: expect.stringContaining('the gzip breaks off here'),
  });
});

test('a gzip that is damaged says so', async () => {
  const packed = gzipSync('line\n'.repeat(100_000));
  packed.fill(0xff, 300, 320);
  const read = await collect(await fileOf(packed));
  expect(read.at(-1)).toMatchObject({ problem: expect.stringContaining('damaged here') });
});

test('a line longer than 16 MiB is refused, and the next is read', async () => {
  const file = await fileOf(Buffer.concat([Buffer.alloc(17 * 1024 * 1024, 'x'), Buffer.from('\nshort\n')]));
  expect(await collect(file)).toMatchObject([{ problem: expect.stringContaining('16 MiB') }, { number: 2 }]);
});

test('the items of a JSON list are what they are, each with its line', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 8 }),
      fc.constantFrom(undefined, 2),
      (values, indent) => {
        const json = JSON.stringify(values, null, indent);
        const items = itemsOfList(json) ?? [];
        expect(items.map((item) => JSON.parse(item.text))).toEqual(JSON.parse(json));
        for (const { text: item, line } of items)
          expect(
            json
              .split('\n')
              .slice(line - 1)
              .join('\n')
              .trim(),
          ).toContain(item.split('\n')[0]);
      },
    ),
  );
});

test('an item of a JSON list that is malformed does not lose the others', () => {
  expect(itemsOfList('[\n{"a": 1},\n{"b": },\n{"c": "]"}\n]')).toEqual([
    { text: '{"a": 1}', line: 2 },
    { text: '{"b": }', line: 3 },
    { text: '{"c": "]"}', line: 4 },
  ]);
  expect(itemsOfList('{"a": []}')).toBeUndefined();
});

const cell = fc.string({
  unit: fc.constantFrom('a', 'B', '7', ' ', ',', ';', '"', '\n', 'é', '東'),
  maxLength: 8,
});
const quoted = (value: string) => (/[",;\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

test('a table’s cells are what was written into them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(cell, cell, cell), { maxLength: 10 }),
      fc.constantFrom(',', ';'),
      async (rows, delimiter) => {
        const heading = ['one', 'two', 'three'];
        const file = await fileOf(
          [heading, ...rows].map((row) => row.map(quoted).join(delimiter)).join('\n'),
        );
        const { columns, rows: read } = await openTable(file);
        const values = (await allOf(read)).map((row) => ('cells' in row ? [...row.cells.values()] : row));
        expect(columns).toEqual(heading);
        expect(values).toEqual(rows.filter((row) => row.map(quoted).join(delimiter).trim() !== ''));
      },
    ),
    { numRuns: 100 },
  );
});

test('a quote that is not closed, and a row with too few cells, cost their own line alone', async () => {
  const file = await fileOf('name,city\nA,"Rome\nB,Oslo\nC\n"D","Bonn\non the Rhine"\nE,Bern\n');
  const rows = await allOf((await openTable(file)).rows);
  expect(rows.map(({ from, ...row }) => [from.slice(file.length), 'problem' in row])).toEqual([
    [':2', true],
    [':3', false],
    [':4', true],
    [':5', false],
    [':7', false],
  ]);
});
