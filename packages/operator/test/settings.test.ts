import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSettings } from '../src/connection.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-data-settings-'));
  await mkdir(join(folder, '.local'));
  await mkdir(join(folder, 'below', 'it'), { recursive: true });
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const stack = {
  accounts: 'a:1',
  catalog: 'c:1',
  metering: 'm:1',
  images: 'i:1',
  operatorToken: 'stack secret',
};
const writeStack = (text: string) => writeFile(join(folder, '.local', 'operator.json'), text);

test('without options and environment, the settings of the running stack are found from the working directory upward', async () => {
  await writeStack(JSON.stringify(stack));
  expect(readSettings({}, {}, join(folder, 'below', 'it'))).toEqual(stack);
});

test('BDS_STACK names another stack', async () => {
  await writeStack(JSON.stringify(stack));
  const other = join(folder, 'other.json');
  await writeFile(other, JSON.stringify({ ...stack, catalog: 'c:2' }));
  expect(readSettings({}, { BDS_STACK: other }, folder)).toMatchObject({ catalog: 'c:2' });
});

test('options override the environment, and a running stack is then ignored', async () => {
  await writeStack(JSON.stringify(stack));
  const env = {
    BDS_CATALOG: 'env:1',
    BDS_METERING: 'env:2',
    BDS_IMAGES: 'env:3',
    BDS_OPERATOR_TOKEN: 'env secret',
  };
  expect(readSettings({ catalog: 'option:1' }, env, folder)).toEqual({
    accounts: undefined,
    catalog: 'option:1',
    metering: 'env:2',
    images: 'env:3',
    operatorToken: 'env secret',
  });
});

test('the credential in a file overrides the credential in the environment', async () => {
  const file = join(folder, 'token');
  await writeFile(file, 'file secret\n');
  const env = { BDS_CATALOG: 'env:1', BDS_OPERATOR_TOKEN: 'env secret' };
  expect(readSettings({ operatorTokenFile: file }, env, folder).operatorToken).toBe('file secret');
});

test('of two credentials, each on a line of its own, the first is sent', async () => {
  const file = join(folder, 'tokens');
  const two = '\nfirst secret\r\nsecond secret\n';
  await writeFile(file, two);
  const env = { BDS_CATALOG: 'env:1' };
  expect(readSettings({ operatorTokenFile: file }, env, folder).operatorToken).toBe('first secret');
  expect(readSettings({}, { ...env, BDS_OPERATOR_TOKEN: two }, folder).operatorToken).toBe('first secret');
});

test.each(['{"operatorToken":"stack secret",', 'stack secret', '{}', '[]', 'null'])(
  'a stack that cannot be read is refused without being quoted: %s',
  async (text) => {
    await writeStack(text);
    expect(() => readSettings({}, {}, folder)).toThrow(/operator\.json/);
    expect(() => readSettings({}, {}, folder)).not.toThrow(/secret/);
  },
);
