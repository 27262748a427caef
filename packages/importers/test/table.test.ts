import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openTable, type TableLayout } from '../src/formats/table.ts';
import { allOf } from './all-of.ts';
import { fileOf } from './temporary-files.ts';

const cell = fc.string({
  unit: fc.constantFrom('a', 'B', '7', ' ', ',', ';', '"', '\n', '\r', 'é', '東'),
  maxLength: 8,
});
const quoted = (value: string) => (/[",;\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);

test('a table’s cells are read as they were written, but for white space', async () => {
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
        const plain = rows.map((row) => row.map((text) => text.replace(/\s+/g, ' ').trim()));
        expect(values).toEqual(plain.filter((row) => row.some((text) => text !== '')));
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

/** Returns the columns and the rows of a table, the problems and the footers. */
async function read(text: string | Buffer, layout: TableLayout = {}, ending = '') {
  const file = await fileOf(text, ending);
  const table = await openTable(file, layout);
  const rows = await allOf(table.rows);
  return {
    columns: table.columns,
    rows: rows.map((row) => ('cells' in row ? [...row.cells.values()] : row.problem)),
    places: rows.map((row) => row.from.slice(file.length)),
    remarks: table.remarks.map((each) => each.from.slice(file.length)),
  };
}

const ROWS = [
  ['ACM', 'Acme'],
  ['BLU', 'Blue'],
  ['CAN', 'Cane'],
];
const TABLE = { columns: ['symbol', 'name'], rows: ROWS };

test.each<[what: string, text: string]>([
  ['at the top', 'symbol,name\nACM,Acme\nBLU,Blue\nCAN,Cane'],
  [
    'below a title, a date and a blank line',
    'All companies\nAs of: 21 August 2026\n\nsymbol,name\nACM,Acme\nBLU,Blue\nCAN,Cane',
  ],
  ['below a title with commas', 'Companies, markets, and more\nsymbol,name\nACM,Acme\nBLU,Blue\nCAN,Cane'],
  [
    'below a title that a spreadsheet fills up with delimiters',
    'Companies,,\n,,\nsymbol,name,\nACM,Acme,\nBLU,Blue,\nCAN,Cane,',
  ],
  ['below Excel’s line that names the delimiter', 'sep=;\nsymbol;name\nACM;Acme\nBLU;Blue\nCAN;Cane'],
  ['below a delimiter that nobody else uses', 'sep=^\nsymbol^name\nACM^Acme\nBLU^Blue\nCAN^Cane'],
  ['in quotes over two lines', '"symbol";"\nname"\nACM;Acme\nBLU;Blue\nCAN;Cane'],
  ['before rows with delimiters at the end', 'symbol,name\nACM,Acme,\nBLU,Blue,,\nCAN,Cane'],
  [
    'before and between rows and columns of delimiters only',
    ',,\nsymbol,,name\n,,\nACM,,Acme\n, ,\nBLU,,Blue\nCAN,,Cane\n,,\n',
  ],
  ['beside a column without a name', ',symbol,name\n0,ACM,Acme\n1,BLU,Blue\n2,CAN,Cane'],
  [
    'with all white space and invisible characters',
    'symbol\u00a0\t,name\n\u200bACM,"\u00a0Acme\n"\n BLU\ufeff,Blue\nCAN,\u3000Cane',
  ],
])('the heading of a table is found %s', async (_what, text) => {
  const { columns, rows } = await read(text);
  expect({ columns, rows }).toEqual(TABLE);
});

test.each<[written: string, text: string]>([
  ['="00700"', '00700'],
  ['"=""00700"""', '00700'],
  ["'00005", '00005'],
  ["'90s Nails", "'90s Nails"],
  ['=1+1', '=1+1'],
  ['AT&amp;T Inc.', 'AT&T Inc.'],
  ['&#34;L&#39;Or&#xE9;al&quot;&nbsp;&lt;&gt;', '"L\'Oréal" <>'],
  ['&amp;amp;&apos;', "&amp;'"],
  ['A&B; C &co; &#1; &', 'A&B; C &co; &#1; &'],
])('a cell is read as the text that a spreadsheet or a browser shows: %s', async (written, text) => {
  expect((await read(`name,code\nAcme,${written}\n${written},7`)).rows).toEqual([
    ['Acme', text],
    [text, '7'],
  ]);
});

test('the heading is in the line that the caller names, whatever is above it', async () => {
  const text = 'Date,2026-08-21\nLicence,free\nsymbol,name\nACM,Acme\nBLU,Blue\nCAN,Cane';
  expect(await read(text, { headingLine: 3 })).toMatchObject({ ...TABLE, places: [':4', ':5', ':6'] });
  await expect(read(text, { headingLine: 9 })).rejects.toThrow(/:9: the line is blank or missing/);
});

test.each<[text: string, lines: string[]]>([
  ['File Creation Time: 0209202311:02|||||', [':5']],
  ['File Creation Time: 0731202621:31,,,,\n,,', [':5']],
  ['Total,"1,234.50 €"', [':5']],
  ['Past performance is no guarantee of future results.,\nHoldings may change at any time.,', [':5', ':6']],
  ['"Accounts with Tickers"\n"A report, in\nconfidence"\n\nBy Jane Doe\n"Acme"', [':5', ':6', ':9', ':10']],
  [
    'Total (3),7\nTotal général,7\nΣύνολο,7\nИТОГО:,7\nŁącznie,,7\nI alt,7\n总计,7',
    [5, 6, 7, 8, 9, 10, 11].map((line) => `:${line}`),
  ],
  ['Totals:,3\n\nSource: Exchange, New York\n© 2026 Exchange', [':5', ':7', ':8']],
])('lines below a table that are no rows are its footer: %j', async (text, lines) => {
  expect(await read(`symbol,name\nACM,Acme\nBLU,Blue\nCAN,Cane\n${text}\n`)).toMatchObject({
    ...TABLE,
    remarks: lines,
  });
});

test('lines of one cell between the heading and the first row are remarks', async () => {
  const text =
    'symbol,name\n"All shares, and more"\n21 Aug 2026\n\nDelayed by a day.\nACM,Acme\nBLU,Blue\nCAN,Cane\nCUT';
  const { columns, rows, remarks } = await read(text);
  expect({ columns, rows }).toEqual({ ...TABLE, rows: [...ROWS, expect.stringContaining('1 cells')] });
  expect(remarks).toEqual([':2', ':3', ':5']);
});

test('a delimiter at the end of the heading makes no column', async () => {
  const { rows } = await read('symbol,name,,\nACM,Acme\nBLU,Blue,\nCAN,Cane,x\nDUN,Dune,,\n');
  expect(rows).toEqual([
    ['ACM', 'Acme'],
    ['BLU', 'Blue'],
    ['CAN', 'Cane'],
    ['DUN', 'Dune'],
  ]);
});

test('a heading that is repeated on each page is a remark', async () => {
  const text =
    ' symbol ,name,\nACM,Acme,\nsymbol,"na\u00adme",\nBLU,Blue,\nsymbol,Name,x,y\nsymbol,name,,\nCAN,Cane,\n';
  const { rows, remarks } = await read(text);
  expect(rows).toEqual([
    ['ACM', 'Acme'],
    ['BLU', 'Blue'],
    expect.stringContaining('4 cells'),
    ['CAN', 'Cane'],
  ]);
  expect(remarks).toEqual([':3', ':6']);
});

test.each([
  ['Total', 'TTE'],
  ['Sourcebooks', 'SRC'],
  ['Sum', ''],
  ['Total', ''],
  ['Copyright Clearance', 'CCC'],
  ['Totality', '7'],
  ['Razem SA', '7'],
  ['The Bank of Acme Inc.', ''],
  ['Holdings are subject to change.', 'HLD'],
  ['Yum and Sons of China Corp.', ''],
  ['Acme Bank S.A.', ''],
])('no company in the last row is taken for a footer: %s %s', async (...row) => {
  const text = `name,symbol\nAcme,ACM\n${row.join(',')}\n`;
  expect(await read(text)).toMatchObject({ rows: [['Acme', 'ACM'], row], remarks: [] });
});

test.each(['Alphabet I', 'The Bank of New Y', '"Acme, Inc'])(
  'a download that is cut off in its last row has a problem there: %s',
  async (cut) => {
    const { rows, remarks } = await read(`name,symbol\nAcme,ACM\nBlue,BLU\n${cut}`);
    expect(rows).toEqual([['Acme', 'ACM'], ['Blue', 'BLU'], expect.any(String)]);
    expect(remarks).toEqual([]);
  },
);

test('a footer among rows, and a row that breaks off, are problems', async () => {
  const { rows, remarks } = await read('a,b,c\n1,2,3\nSource: x\n4,5,6\nA remark\n7,8,9\n7,8\nCUT\n');
  expect(rows).toEqual([
    ['1', '2', '3'],
    expect.stringContaining('1 cells'),
    ['4', '5', '6'],
    expect.stringContaining('1 cells'),
    ['7', '8', '9'],
    expect.stringContaining('2 cells'),
    expect.stringContaining('1 cells'),
  ]);
  expect(remarks).toEqual([]);
});

test('a table may be UTF-16, with its mark or without, or of an encoding that the caller names', async () => {
  const text = 'name\tcity\nZürich AG\tGenève\nłódź\tŁódź\n';
  const rows = [
    ['Zürich AG', 'Genève'],
    ['łódź', 'Łódź'],
  ];
  const littleEndian = Buffer.from(`\ufeff${text}`, 'utf16le');
  expect((await read(littleEndian)).rows).toEqual(rows);
  expect((await read(littleEndian.subarray(2))).rows).toEqual(rows);
  expect((await read(Buffer.from(littleEndian).swap16())).rows).toEqual(rows);
  expect((await read(Buffer.from(littleEndian.subarray(2)).swap16())).rows).toEqual(rows);
  expect((await read(`\ufeff${text}`)).columns).toEqual(['name', 'city']);
  const latin = Buffer.from('name;city\nZürich AG;Genève\n', 'latin1');
  expect((await read(latin)).rows).toEqual([expect.stringContaining('encoding')]);
  expect((await read(latin, { encoding: 'windows-1252' })).rows).toEqual([['Zürich AG', 'Genève']]);
});

test('a workbook is refused with advice', async () => {
  const workbook = Buffer.from('PK\u0003\u0004\u0014\u0000\u0006\u0000\u00ff\u00fe\n', 'latin1');
  await expect(read(workbook)).rejects.toThrow('the file is a workbook: save it as CSV UTF-8');
});

test('a table in JSON has no line that names the columns', async () => {
  const file = await fileOf('[{"name":"Acme"}]', '.json');
  await expect(openTable(file, { headingLine: 2 })).rejects.toThrow(
    'JSON has no line that names the columns',
  );
});

const OBJECTS = ROWS.map(([symbol, name]) => ({ symbol, name }));

test.each<[what: string, value: unknown]>([
  ['a list of objects', OBJECTS],
  ['a list of lists', [['symbol', 'name'], ...ROWS]],
  ['fields and data', { fields: ['symbol', 'name'], data: ROWS }],
  ['columns and rows', { columns: ['symbol', 'name'], rows: ROWS }],
  ['an object around a list of objects', { count: 3, next: null, tags: ['a'], results: OBJECTS }],
  ['an object around a list of lists', { count: 3, data: [['symbol', 'name'], ...ROWS] }],
  ['an answer with a list below an object', { status: { code: 200 }, data: { total: 3, rows: OBJECTS } }],
  ['an object around fields and data', { result: { fields: ['symbol', 'name'], data: ROWS } }],
  ['columns with further facts', { columns: [{ name: 'symbol' }, { name: 'name', type: 1 }], data: ROWS }],
])('%s in JSON is a table', async (_what, value) => {
  expect(await read(JSON.stringify(value, null, 2), {}, '.json')).toMatchObject({
    ...TABLE,
    places: ['[0]', '[1]', '[2]'],
  });
});

test('an object of objects in JSON is a table, with the objects’ names in a column', async () => {
  const value = Object.fromEntries(OBJECTS.map((each, index) => [String(index), each]));
  expect(await read(JSON.stringify(value), {}, '.json')).toMatchObject({
    columns: ['key', ...TABLE.columns],
    rows: ROWS.map((row, index) => [String(index), ...row]),
  });
});

test('values of any kind in JSON are cells, and rows that are none are problems', async () => {
  const rows = [{ a: 1, b: null, c: { d: true, e: ['x&amp;', 'y'] } }, 5, { a: ' z\n', f: [{ g: 1 }] }];
  const expected = [['1', '', 'true', 'x&; y'], 'the row is not a JSON object', ['z', '[{"g":1}]']];
  for (const [text, ending] of [
    [JSON.stringify(rows), '.json'],
    [rows.map((row) => JSON.stringify(row)).join('\n'), '.ndjson'],
  ] as const)
    expect(await read(text, {}, ending)).toMatchObject({
      columns: ['a', 'b', 'c.d', 'c.e', 'f'],
      rows: expected,
    });
});

test.each<[text: string, reason: RegExp]>([
  ['{"name": "Acme"}', /the JSON is no table: write a list of objects/],
  ['"text"', /the JSON is no table/],
  ['{}', /the JSON is no table/],
  [' ', /empty/],
  ['[{]', /not valid JSON/],
])('JSON that is no table is refused with what to write: %s', async (text, reason) => {
  await expect(read(text, {}, '.json')).rejects.toThrow(reason);
});

test('JSON in the encoding that is given is a table', async () => {
  for (const [text, ending] of [
    ['[{"name": "Café"}]', '.json'],
    ['{"name": "Café"}', '.ndjson'],
  ] as const) {
    const bytes = Buffer.from(text, 'latin1');
    expect(await read(bytes, { encoding: 'windows-1252' }, ending)).toMatchObject({ rows: [['Café']] });
  }
});

test('a list in JSON that names two columns alike is refused', async () => {
  await expect(read('[["name", " name"], ["Acme", "Oslo"]]', {}, '.json')).rejects.toThrow('two columns');
});

test('a table of one column beside the numbers of its rows keeps its heading', async () => {
  expect(await read(',symbol\n0,ACM\n1,BDR\n')).toMatchObject({
    columns: ['symbol'],
    rows: [['ACM'], ['BDR']],
  });
});
