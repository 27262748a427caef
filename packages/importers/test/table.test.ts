import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openTable } from '../src/formats/table.ts';
import { allOf } from './all-of.ts';
import { fileOf } from './temporary-files.ts';

const cell = fc.string({
  unit: fc.constantFrom('a', 'B', '7', ' ', ',', ';', '"', '\n', 'é', '東'),
  maxLength: 8,
});
const quoted = (value: string) => (/[",;\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

test('a table’s cells are read as they were written', async () => {
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

test('for an unclosed quote or a row with too few cells, only that line is refused', async () => {
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
