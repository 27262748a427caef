import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import type { READERS } from './read-hostile-files.ts';
import { fileOf } from './temporary-files.ts';
import { zipOf } from './zip-of.ts';

const MIB = 1 << 20;
/** All that an import takes beside the service itself. */
const MOST_BYTES = 256 * MIB;
const HEAP_MIB = 160;
const EXTENSIONS: Readonly<Record<string, string>> = {
  json: '.json',
  'json table': '.json',
  financedatabase: '.csv',
  settings: '.csv',
};

/** Compressed, and again: a small file that becomes as many bytes. */
const bomb = (bytes: number, of = '\n') => gzipSync(Buffer.alloc(bytes, of), { level: 9 });
const times = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length));

/** The first column counts, so that no two lines are equal. */
const lines = (count: number, rest: string) =>
  Array.from({ length: count }, (_, number) => `A${number.toString(36).toUpperCase()}${rest}`).join('\n');
/** Returns a table with rows of almost 4 MB each. */
const longRows = (heading: string, { count = 60, rest = '' } = {}) =>
  gzipSync(`${heading}\n${lines(count, `,${'a'.repeat(3_900_000)}${rest}`)}\n`, { level: 1 });
const FINANCE_DATABASE = 'symbol,name,isin,shareclass_figi,summary';

/** A file that is meant to take all memory, or for ever, and a part of what its reader must say of it. */
const FILES: readonly (readonly [
  what: string,
  reader: keyof typeof READERS,
  content: () => Buffer | string,
  says: RegExp,
])[] = [
  ['29 KB that become 30 million empty lines', 'records', () => bomb(30 * MIB), /empty lines in a row/],
  ['29 KB that become 30 million empty lines', 'csv', () => bomb(30 * MIB), /empty/],
  ['50 MB of one line', 'records', () => bomb(50 * MIB, 'a'), /longer than 16 MiB/],
  ['50 MB of one line', 'csv', () => bomb(50 * MIB, 'a'), /longer than 4 MiB/],
  [
    'a quote that is never closed',
    'csv',
    () => `name,symbol\n"${times('line\n', MIB)}`,
    /quote is never closed/,
  ],
  ['a million columns', 'csv', () => `${times('c,', 2 * MIB)}x\n`, /1048577 columns/],
  ['a million cells', 'csv', () => `name,symbol\n${times(',', MIB)}x\n`, /1048577 cells/],
  [
    'a document of a million cells',
    'json table',
    () => `[${times('{"a":"b","c":"d"},', 5 * MIB)}5]`,
    /not a JSON object/,
  ],
  [
    'a long name before very many',
    'json table',
    () =>
      `[{"${times('a', 10 * MIB)}":{${Array.from({ length: 400_000 }, (_, number) => `"${number}":1`).join()}}},5]`,
    /not a JSON object/,
  ],
  ['brackets in brackets', 'records', () => `${times('[', 10 * MIB)}\n`, /nested more than 64/],
  ['objects in objects', 'records', () => `${times('{"a":', 10 * MIB)}\n`, /nested more than 64/],
  ['five million objects', 'json', () => `[${times('{},', 15 * MIB)}{}]`, /more than 1,000,000 values/],
  ['40 MB of a document', 'json', () => bomb(40 * MIB, `${'1'.repeat(10_000)}\n`), /too large/],
  ['zeros', 'records', () => Buffer.alloc(10 * MIB), /not valid JSON/],
  ['rows of 4 MB that are kept', 'securities', () => longRows('symbol,name'), /does not fit into 76 MiB/],
  [
    'rows of 4 MB',
    'financedatabase',
    () => longRows('symbol,summary,name,isin,shareclass_figi', { count: 10, rest: ',Acme,,' }),
    /no row has more than/,
  ],
  [
    'rows without end',
    'financedatabase',
    () => gzipSync(`${FINANCE_DATABASE}\n${lines(90_000, `.F,Acme Inc.,,,${'a '.repeat(200)}`)}`),
    /does not fit into 76 MiB/,
  ],
  [
    'a day of 210,000 securities',
    'market data',
    () => gzipSync(`symbol,date,price\n${lines(210_000, ',2026-08-21,1')}`),
    /does not fit into 76 MiB/,
  ],
  [
    '100 MB of settings',
    'settings',
    () => longRows('id,value,field,reason', { rest: ',name,test' }),
    /more than \d+ characters/,
  ],
  ['29 KB that become 30 million empty lines', 'wikidata', () => bomb(30 * MIB), /empty lines in a row/],
  ['50 MB of one line', 'wikidata', () => bomb(50 * MIB, 'a'), /longer than 16 MiB/],
  [
    'an item with five million values',
    'wikidata',
    () => `{"id":"Q1","labels":[${times('{},', 15 * MIB)}{}]}`,
    /more than 1,000,000 values/,
  ],
  ['an item in items', 'wikidata', () => times('{"id":', 10 * MIB), /nested more than 64/],
  [
    'an item with a million classes',
    'wikidata',
    () =>
      `{"type":"item","id":"Q1","claims":{"P31":[{"mainsnak":{}},${times('{"id":"Q1"},', 15 * MIB)}{}],"P1":[{"mainsnak":{}}]}}`,
    /more than 1,000,000 values/,
  ],
  [
    'an item with a million properties',
    'wikidata',
    () =>
      `{"type":"item","id":"Q1","claims":{${Array.from({ length: 400_000 }, (_, number) => `"P${number}":[{"mainsnak":1}]`).join()}}}`,
    /more than 1,000,000 values/,
  ],
  [
    'a zip whose file becomes 200 MB before its filings',
    'sec',
    () => zipOf({ 'CIK0000000901.json': Buffer.alloc(200 * MIB, ' ') }),
    /no cik, name and former names/,
  ],
  ['bytes of no encoding', 'csv', () => Buffer.from([0xc3, 0x28, 0x0a, 0xff, 0x0a]), /UTF-8/],
];

interface Answer {
  readonly problem: string;
  readonly buffers: number;
}
let answers: readonly Answer[];

beforeAll(async () => {
  const files = await Promise.all(
    FILES.map(async ([, reader, content]) => ({
      reader,
      file: await fileOf(content(), EXTENSIONS[reader] ?? ''),
    })),
  );
  const worker = new Worker(new URL('./read-hostile-files.ts', import.meta.url), {
    workerData: files,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: 16 },
  });
  [answers] = await once(worker, 'message');
  await worker.terminate();
});

test.each(FILES.map((file, index) => [...file, index] as const))(
  '%s, read as %s, ends with a reason, in less than 256 MB',
  (_what, _reader, _content, says, index) => {
    const { problem = '', buffers = 0 } = answers[index] ?? {};
    expect(problem).toMatch(says);
    expect(problem.length).toBeLessThan(1_000);
    expect(buffers).toBeLessThan(MOST_BYTES - HEAP_MIB * MIB);
  },
);
