import { spawnSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { readLines } from '../src/formats/lines.ts';
import { allOf } from './all-of.ts';
import { fileOf } from './temporary-files.ts';

const collect = (file: string) => allOf(readLines(file));
const text = fc.string({ unit: 'grapheme', maxLength: 40 }).map((value) => value.replace(/[\r\n]/g, ''));

test('a file’s lines are what was written, with their numbers, compressed or not, whatever ends them', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 1, maxLength: 30 }),
      fc.boolean(),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.boolean(),
      async (lines, isPacked, end, endsLast) => {
        const content = Buffer.from(lines.join(end) + (endsLast ? end : ''));
        const file = await fileOf(isPacked ? gzipSync(content) : content);
        // If nothing follows the last line ending, there is no further line.
        const expected = endsLast || lines.at(-1) !== '' ? lines : lines.slice(0, -1);
        expect(await collect(file)).toEqual(
          expected.map((line, index) => ({ from: `${file}:${index + 1}`, number: index + 1, text: line })),
        );
      },
    ),
    { numRuns: 50, examples: [[['a', ''], false, '\n', false]] },
  );
});

test('a line across many chunks is one line, and a byte order mark is not part of the first line', async () => {
  const long = 'ä'.repeat(1_000_000);
  const file = await fileOf(`\uFEFF${long}\nshort`);
  expect(await collect(file)).toMatchObject([{ text: long }, { text: 'short' }]);
});

test('byte order marks of concatenated files are removed from all lines', async () => {
  const file = await fileOf('\uFEFFone\n\uFEFFtwo\n');
  expect(await collect(file)).toMatchObject([{ text: 'one' }, { text: 'two' }]);
});

test('a line that is not UTF-8 is reported with its number, and the other lines are read', async () => {
  const file = await fileOf(Buffer.from('good\nM\xfcnchen\ngood too', 'latin1'));
  expect(await collect(file)).toEqual([
    { from: `${file}:1`, number: 1, text: 'good' },
    { from: `${file}:2`, problem: expect.stringContaining('not UTF-8'), raw: 'M\uFFFDnchen' },
    { from: `${file}:3`, number: 3, text: 'good too' },
  ]);
});

test('a gzip of several members is read whole, and zeros after it are padding', {
  timeout: 20_000,
}, async () => {
  const members = [gzipSync('one\ntwo\n'), gzipSync('three\n')];
  for (const zeros of [0, 1, 500, 300_000]) {
    const file = await fileOf(Buffer.concat([...members, Buffer.alloc(zeros)]));
    expect(await collect(file), `${zeros} zeros`).toMatchObject([
      { text: 'one' },
      { text: 'two' },
      { text: 'three' },
    ]);
  }
});

test('a truncated gzip gives the lines before the break and reports its place', async () => {
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
    problem: expect.stringContaining('the gzip file ends too early'),
  });
});

test('a damaged gzip is reported as such', async () => {
  const packed = gzipSync('line\n'.repeat(100_000));
  packed.fill(0xff, 300, 320);
  const read = await collect(await fileOf(packed));
  expect(read.at(-1)).toMatchObject({
    problem: expect.stringContaining('the gzip file is damaged from here on'),
  });
});

test('a line longer than 16 MiB is refused, and the next line is read', async () => {
  const file = await fileOf(Buffer.concat([Buffer.alloc(17 * 1024 * 1024, 'x'), Buffer.from('\nshort\n')]));
  expect(await collect(file)).toMatchObject([{ problem: expect.stringContaining('16 MiB') }, { number: 2 }]);
});

const hasBzip2 = spawnSync('bzip2', ['--help']).error === undefined;

test.skipIf(!hasBzip2)(
  'a bzip2 is read by a program that is installed, and says where it breaks off',
  async () => {
    const lines = Array.from({ length: 200_000 }, (_, index) => `line ${index} ${Math.sin(index)}`);
    const { stdout: packed } = spawnSync('bzip2', ['-c'], { input: lines.join('\n'), maxBuffer: 1 << 26 });
    const whole = await collect(await fileOf(packed));
    expect(whole.map((line) => ('text' in line ? line.text : line.problem))).toEqual(lines);
    const cut = await collect(await fileOf(packed.subarray(0, packed.length - 200)));
    expect(cut.length).toBeGreaterThan(1_000);
    expect(cut.at(-1)).toMatchObject({
      problem: expect.stringContaining('the bzip2 file is damaged or incomplete'),
    });
  },
);

test('without a program that decompresses bzip2, the error names what to install', async () => {
  const file = await fileOf('BZh91AY&SY');
  vi.stubEnv('PATH', await temporaryFolder());
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  await expect(collect(file)).rejects.toThrow(`${file} is compressed with bzip2: install lbzip2 or bzip2`);
});

test('progress is the place of the line that was taken, however much of the file was read ahead', async () => {
  const [count, length] = [fc.integer({ min: 1, max: 6_000 }), fc.integer({ min: 0, max: 400 })];
  await fc.assert(
    fc.asyncProperty(count, length, fc.boolean(), async (lines, characters, isPacked) => {
      const content = Buffer.from(`${'x'.repeat(characters)}\n`.repeat(lines));
      const stored = isPacked ? gzipSync(content, { level: 0 }) : content;
      const progress = { read: 0, total: stored.length };
      let [taken, farthest] = [0, 0];
      for await (const _ of readLines(await fileOf(stored), progress))
        farthest = Math.max(farthest, Math.abs(progress.read / progress.total - ++taken / lines));
      // What is packed is read in blocks of 4 KiB, of which a part may be a line's that the next block ends.
      expect(farthest).toBeLessThan(0.001 + 1 / lines + (isPacked ? 32_768 / progress.total : 0));
      expect(progress.read).toBe(progress.total);
    }),
    // The last block of the example's file has no line, but the end of the sum that checks it.
    { numRuns: 20, examples: [[2_377, 285, true]] },
  );
});
