import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { startTestStack, type TestStack } from '@brand-data/test/stack/index.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MIB = 1 << 20;
/** An import of these files takes ten seconds of a processor, which a busy machine has in some minutes. */
const WITHIN_MS = 500_000;
/** Prints the most memory that the process ever had. Its `maxRSS` would include that of this process, which has started it. */
const REPORT = `import { readFileSync } from 'node:fs';
process.on('exit', () => process.stderr.write(/VmHWM.*/.exec(readFileSync('/proc/self/status', 'utf8'))[0]));`;

let stack: TestStack;
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startTestStack({ gateways: 1 });
});
afterAll(() => stack?.stop());

/** Runs `bds import` in its own process, as an operator does. Returns what it says at the end. */
function imported(args: readonly string[]): Promise<string> {
  const { catalog, operatorToken } = stack.operator;
  const bds = [join(import.meta.dirname, '../bds.mjs'), 'import', ...args, '--dry-run'];
  const env = {
    BDS_CATALOG: catalog,
    BDS_OPERATOR_TOKEN: operatorToken,
    BDS_CERTIFICATES: join(stack.certificates, 'bds'),
  };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(REPORT)}`, ...bds],
      { cwd: folder, env, timeout: WITHIN_MS },
      (_error, _stdout, stderr) => resolve(stderr),
    );
  });
}

const repeated = (part: string | Buffer, times: number) =>
  gzipSync(Buffer.concat(Array.from({ length: times }, () => Buffer.from(part))));
const rowsOf = (count: number, summary: string) =>
  gzipSync(
    [
      'symbol,name,isin,shareclass_figi,summary',
      ...Array.from({ length: count }, (_, row) => `A${row.toString(36)}.F,Acme Inc.,,,${summary}`),
    ].join('\n'),
  );
const peakMib = (said: string) => Number(/VmHWM:\s+(\d+) kB$/.exec(said)?.[1]) / 1024;

test.each<[what: string, file: string, content: () => Buffer, args: string[], says: RegExp]>([
  [
    '9 million records without content',
    'lines.ndjson.gz',
    () => repeated('{}\n'.repeat(100_000), 90),
    ['records', 'lines.ndjson.gz', '--source', 'hostile'],
    /100,000 items in a row could not be read/,
  ],
  [
    'a line of 200 MB',
    'zeros.ndjson.gz',
    () => repeated(Buffer.alloc(MIB), 200),
    ['records', 'zeros.ndjson.gz', '--source', 'hostile'],
    /1 of 1 records were refused/,
  ],
  [
    'a document of almost 16 Mi characters',
    'large.json.gz',
    () => repeated(`[${'1,'.repeat(450_000)}"${'a'.repeat(14 * MIB)}"]`, 1),
    ['records', 'large.json.gz', '--source', 'hostile'],
    /100,000 items in a row could not be read/,
  ],
  [
    'rows without end',
    'rows/rows.csv.gz',
    () => rowsOf(90_000, 'a '.repeat(200)),
    ['financedatabase', 'rows'],
    /does not fit into 76 MiB/,
  ],
])(
  'the process of an import of %s never has 256 MiB, and says why it ended',
  async (_what, file, content, args, says) => {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), content());
    const said = await imported(args);
    expect(said).toMatch(says);
    expect(peakMib(said)).toBeLessThan(256);
  },
  WITHIN_MS + 30_000,
);

test(
  'an import with --memory never has more than twice this and 100 MiB, also if V8 takes two bytes for each character',
  async () => {
    await mkdir(join(folder, 'wide'), { recursive: true });
    await writeFile(join(folder, 'wide/rows.csv.gz'), rowsOf(220_000, `${'a '.repeat(200)}漢`));
    const said = await imported(['financedatabase', 'wide', '--memory', '150']);
    expect(said).toMatch(/does not fit into 150 MiB/);
    expect(peakMib(said)).toBeLessThan(2 * 150 + 100);
  },
  WITHIN_MS + 30_000,
);
