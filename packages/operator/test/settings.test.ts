import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { beforeEach, describe, expect, test } from 'vitest';
import { openConnection } from '../src/connection/connection.ts';
import { UsageError } from '../src/connection/failures.ts';
import { connectionSettings } from '../src/connection/settings.ts';

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  await mkdir(join(folder, '.local'));
  await mkdir(join(folder, 'below', 'it'), { recursive: true });
});

const stack = {
  accounts: 'a:1',
  catalog: 'c:1',
  metering: 'm:1',
  images: 'i:1',
  operatorToken: 'stack secret',
  certificates: '/stack/certificates/bds',
};
const writeStack = (text: string) => writeFile(join(folder, '.local', 'operator.json'), text);

test('without options and environment, the settings of the running stack are found from the working directory upward', async () => {
  await writeStack(JSON.stringify(stack));
  expect(connectionSettings({}, {}, join(folder, 'below', 'it'))).toEqual(stack);
});

test('BDS_STACK names another stack', async () => {
  await writeStack(JSON.stringify(stack));
  const other = join(folder, 'other.json');
  await writeFile(other, JSON.stringify({ ...stack, catalog: 'c:2' }));
  expect(connectionSettings({}, { BDS_STACK: other }, folder)).toMatchObject({ catalog: 'c:2' });
});

test('options override the environment, and a running stack is then ignored', async () => {
  await writeStack(JSON.stringify(stack));
  const env = {
    BDS_CATALOG: 'env:1',
    BDS_METERING: 'env:2',
    BDS_IMAGES: 'env:3',
    BDS_OPERATOR_TOKEN: 'env secret',
    BDS_CERTIFICATES: '/env/certificates',
  };
  expect(connectionSettings({ catalog: 'option:1' }, env, folder)).toEqual({
    accounts: undefined,
    catalog: 'option:1',
    metering: 'env:2',
    images: 'env:3',
    operatorToken: 'env secret',
    certificates: '/env/certificates',
  });
  const given = connectionSettings({ certificates: '/option/certificates' }, env, folder);
  expect(given).toMatchObject({ certificates: '/option/certificates' });
});

test('a file that is empty never lets bds use another credential', async () => {
  await writeStack(JSON.stringify(stack));
  const file = join(folder, 'token');
  await writeFile(file, '\n');
  const both = { BDS_OPERATOR_TOKEN_FILE: file, BDS_OPERATOR_TOKEN: 'other' };
  const reading = (options: object, env: NodeJS.ProcessEnv) => () => connectionSettings(options, env, folder);
  const refused = /does not begin with a credential/;
  expect(reading({ operatorTokenFile: file }, {})).toThrow(refused);
  expect(reading({}, { BDS_CREDENTIAL_FILE: file })).toThrow(refused);
  expect(reading({}, both)).toThrow(refused);
});

test('calls without certificates need a setting that says so', () => {
  const env = { BDS_CATALOG: 'env:1', BDS_OPERATOR_TOKEN: 'env secret' };
  expect(() => connectionSettings({}, env, folder)).toThrow(
    /the certificates are missing: give --certificates/,
  );
  expect(() => connectionSettings({}, { ...env, BDS_GRPC_TRANSPORT: 'plaintext' }, folder)).toThrow(
    UsageError,
  );
  const transport = 'insecure_plaintext';
  expect(connectionSettings({}, { ...env, BDS_GRPC_TRANSPORT: transport }, folder)).toMatchObject({
    transport,
  });
});

test('a folder without usable certificates is wrong usage', () => {
  const settings = { catalog: 'c:1', operatorToken: 'secret', certificates: join(folder, 'none') };
  expect(() => openConnection(settings)).toThrow(
    /the certificates in .*none are not usable: .*tls\.crt does not exist: check its name/,
  );
});

test('the credential in a file overrides the credential in the environment', async () => {
  const file = join(folder, 'token');
  await writeFile(file, 'file secret\n');
  const env = { BDS_CATALOG: 'env:1', BDS_OPERATOR_TOKEN: 'env secret', BDS_CERTIFICATES: 'here' };
  expect(connectionSettings({ operatorTokenFile: file }, env, folder).operatorToken).toBe('file secret');
});

test('of two credentials, each on a line of its own, the first is sent', async () => {
  const file = join(folder, 'tokens');
  const two = '\nfirst secret\r\nsecond secret\n';
  await writeFile(file, two);
  const env = { BDS_CATALOG: 'env:1', BDS_CERTIFICATES: 'here' };
  expect(connectionSettings({ operatorTokenFile: file }, env, folder).operatorToken).toBe('first secret');
  expect(connectionSettings({}, { ...env, BDS_OPERATOR_TOKEN: two }, folder).operatorToken).toBe(
    'first secret',
  );
});

test.each(['{"operatorToken":"stack secret",', 'stack secret', '{}', '[]', 'null'])(
  'a stack that cannot be read is refused without being quoted: %s',
  async (text) => {
    await writeStack(text);
    expect(() => connectionSettings({}, {}, folder)).toThrow(/operator\.json/);
    expect(() => connectionSettings({}, {}, folder)).not.toThrow(/secret/);
  },
);

describe("an operator's own credential", () => {
  const at = { BDS_CATALOG: 'c:1', BDS_CERTIFICATES: 'here' };
  const home = () => ({ HOME: folder });
  const token = (options: object, env: NodeJS.ProcessEnv) =>
    connectionSettings(options, env, folder).operatorToken;

  async function save(name: string, text: string, mode = 0o600): Promise<void> {
    await mkdir(join(folder, '.config', 'bds'), { recursive: true });
    const file = join(folder, '.config', 'bds', name);
    await writeFile(file, text);
    await chmod(file, mode);
  }

  test('is read from the home folder, and --as takes that of another operator', async () => {
    await save('credential', 'my own\n');
    await save('ana.credential', 'that of ana\n');
    expect(token({}, { ...at, ...home() })).toBe('my own');
    expect(token({ as: 'ana' }, { ...at, ...home() })).toBe('that of ana');
    expect(token({}, { ...at, XDG_CONFIG_HOME: join(folder, '.config') })).toBe('my own');
  });

  test('comes after what the environment names, and --as before it', async () => {
    await save('credential', 'my own');
    await save('ana.credential', 'that of ana');
    const file = join(folder, 'mounted');
    await writeFile(file, 'in a file');
    const env = { ...at, ...home(), BDS_OPERATOR_TOKEN: 'in the environment' };
    expect(token({}, env)).toBe('in the environment');
    expect(token({}, { ...env, BDS_CREDENTIAL_FILE: file })).toBe('in a file');
    expect(token({ as: 'ana' }, { ...env, BDS_CREDENTIAL_FILE: file })).toBe('that of ana');
    expect(() => token({ as: 'ana', operatorTokenFile: file }, env)).toThrow(/not both/);
  });

  test('in the home folder is never sent to a local stack that bds has found by itself', async () => {
    await save('credential', 'my own');
    await writeStack(JSON.stringify(stack));
    expect(token({}, home())).toBe('stack secret');
  });

  test.each([0o644, 0o640, 0o606])(
    'is refused if others may read its file (mode %o), with the command that mends it',
    async (mode) => {
      await save('credential', 'my own', mode);
      expect(() => token({}, { ...at, ...home() })).toThrow(
        /can be read by other users: run chmod 600 .*credential$/,
      );
      expect(() => token({}, { ...at, ...home() })).not.toThrow(/my own/);
    },
  );

  test.each(['../ana', 'Ana', ''])('is not looked for under the name %j', (as) => {
    expect(() => token({ as }, { ...at, ...home() })).toThrow(/not the name of an operator/);
  });
});

test('the gateways of a local stack are its own, whatever the environment says of another installation', async () => {
  await writeStack(JSON.stringify({ ...stack, gateways: ['http://stack:1'] }));
  const env = { BDS_GATEWAYS: 'http://other:1' };
  expect(connectionSettings({}, env, folder)).toMatchObject({ gateways: ['http://stack:1'] });
});

test('certificates and gateways of the options are used with the local stack too', async () => {
  await writeStack(JSON.stringify({ ...stack, gateways: ['http://stack:1'] }));
  const options = { certificates: '/others', gateway: ['http://other:1'] };
  expect(connectionSettings(options, {}, folder)).toEqual({
    ...stack,
    certificates: '/others',
    gateways: ['http://other:1'],
  });
});

test('a wrong address is named before a missing credential, and the credential of a local stack goes nowhere else', async () => {
  await writeStack(JSON.stringify(stack));
  const withAccounts = (accounts: string) => () => connectionSettings({ accounts }, {}, folder);
  expect(withAccounts('elsewhere')).toThrow('"elsewhere" is not an address of accounts');
  expect(withAccounts('elsewhere:1')).toThrow('that of a local stack is only for its own addresses');
});
