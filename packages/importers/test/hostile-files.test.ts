import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { fileOf } from './temporary-files.ts';

const MIB = 1 << 20;
/** All that an import takes beside the service itself. */
const MOST_BYTES = 256 * MIB;
const HEAP_MIB = 192;

/** Compressed, and again: a small file that becomes as many bytes. */
const bomb = (bytes: number, of = '\n') => gzipSync(Buffer.alloc(bytes, of), { level: 9 });
const times = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length));

type Reader = 'csv' | 'records' | 'json';

/** A file that is meant to take all memory, or for ever, and a part of what its reader must say of it. */
const FILES: readonly (readonly [
  what: string,
  reader: Reader,
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
  ['a million cells', 'csv', () => `name,symbol\n${times(',', MIB)}\n`, /1048577 cells/],
  ['brackets in brackets', 'records', () => `${times('[', 10 * MIB)}\n`, /nested more than 64/],
  ['objects in objects', 'records', () => `${times('{"a":', 10 * MIB)}\n`, /nested more than 64/],
  ['five million objects', 'json', () => `[${times('{},', 15 * MIB)}{}]`, /more than 1,000,000 values/],
  ['40 MB of a document', 'json', () => bomb(40 * MIB, `${'1'.repeat(10_000)}\n`), /too large/],
  ['zeros', 'records', () => Buffer.alloc(10 * MIB), /not valid JSON/],
  ['UTF-16', 'csv', () => Buffer.from('name,symbol\nAcme,A\n', 'utf16le'), /UTF-8|cells/],
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
      file: await fileOf(content(), reader === 'json' ? '.json' : ''),
    })),
  );
  const worker = new Worker(new URL('./read-hostile-files.ts', import.meta.url), {
    workerData: files,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB, maxYoungGenerationSizeMb: 16 },
  });
  [answers] = await once(worker, 'message');
  await worker.terminate();
}, 240_000);

test.each(FILES.map((file, index) => [...file, index] as const))(
  '%s, read as %s, ends with a reason, in less than 256 MB',
  (_what, _reader, _content, says, index) => {
    const { problem = '', buffers = 0 } = answers[index] ?? {};
    expect(problem).toMatch(says);
    expect(problem.length).toBeLessThan(1_000);
    expect(buffers).toBeLessThan(MOST_BYTES - HEAP_MIB * MIB);
  },
);
