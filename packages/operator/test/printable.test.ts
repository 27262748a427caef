import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { main } from '../src/index.ts';
import { Output } from '../src/terminal/output.ts';
import { table } from '../src/text/tables.ts';

/** Everything that a terminal may obey. */
const CONTROL = /(?!\n)[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;
const TITLE = '\u001b]0;owned\u0007\u009b31m\r\u202egnp.exe';

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(TITLE, 'a\nb', '\ud800', 'plain'));

test('a table has any number of rows', () => {
  expect(
    table(
      ['n'],
      Array.from({ length: 200_000 }, (_, n) => [n]),
    ).split('\n'),
  ).toHaveLength(200_001);
});

function written() {
  let out = '';
  const stream = { isTTY: false, write: (text: string) => (out += text) };
  return { stream, text: () => out };
}

test('no data in an answer controls the terminal, as text or as JSON, and the JSON has the same data', () => {
  fc.assert(
    fc.property(anyText, anyText, fc.boolean(), (name, value, isJson) => {
      const { stream, text } = written();
      const output = new Output({ stdout: stream, stderr: stream }, () => isJson);
      output.answer({ [name]: value }, () => table([name], [[value]]));
      expect(text()).not.toMatch(CONTROL);
      if (isJson) expect(JSON.parse(text())).toEqual({ [name]: value });
      else expect(text().split('\n')).toHaveLength(3);
    }),
  );
});

test.each([
  ['an unknown command', ['\u001b[2J']],
  ['an unknown option', ['import', `--${TITLE}`]],
  ['a file that does not exist', ['import', 'records', `none${TITLE}`]],
  ['a mapping that is no mapping', ['import', 'csv', 'table.csv', '--map', 'map.json']],
])('no error controls the terminal: %s', async (_, args) => {
  const folder = await temporaryFolder();
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'table.csv'), `name${TITLE},symbol\nAcme,A\n`);
  await writeFile(join(folder, 'map.json'), `{"${'\u009b'}": "${'\u202e'}"}`);
  const { stream, text } = written();
  const env = {
    BDS_CATALOG: '127.0.0.1:1',
    BDS_IMAGES: '127.0.0.1:1',
    BDS_OPERATOR_TOKEN: 'x'.repeat(32),
    BDS_GRPC_TRANSPORT: 'insecure_plaintext',
  };
  expect(await main(args, { env, cwd: folder, stdout: stream, stderr: stream })).not.toBe(0);
  expect(text()).not.toBe('');
  expect(text()).not.toMatch(CONTROL);
});
