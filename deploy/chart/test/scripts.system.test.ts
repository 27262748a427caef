import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort, startMongod } from '@brand-data/servers';
import { COMPILED_CODE } from '@brand-data/servers/compiled-code';
import { startTestStack, type TestStack } from '@brand-data/test/stack/index.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CHART } from './render.ts';

const ROOT = join(CHART, '..', '..');
// The driver of accounts, because the chart is not a package.
const Driver = createRequire(join(ROOT, 'services', 'accounts', 'package.json'))('mongodb');

let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder();
});

/** Runs a script of files/scripts as a container would, with `bds` on the PATH. */
async function runScript(name: string, env: NodeJS.ProcessEnv, cwd = folder) {
  const child = spawn(process.execPath, [join(CHART, 'files', 'scripts', name)], {
    cwd,
    env: { NODE_COMPILE_CACHE: COMPILED_CODE, ...env, PATH: [folder, process.env.PATH].join(delimiter) },
    timeout: 200_000,
  });
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (chunk) => {
      written[stream] += chunk;
    });
  const [code] = await once(child, 'close');
  return { code, ...written };
}

describe('the scripts of the quickstart and of helm test', () => {
  let stack: TestStack;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    await symlink(join(ROOT, 'packages', 'operator', 'bds.mjs'), join(folder, 'bds'));
    // The companies of the notes and of helm test. Other tests import the whole sample.
    const catalogue = join(folder, 'catalogue');
    for (const part of ['apple.json', 'alphabet.json', 'nike.json', 'banners', 'exchanges'])
      await cp(join(ROOT, 'deploy/local/catalogue', part), join(catalogue, part), { recursive: true });
    stack = await startTestStack({ gateways: 1, ownMongod: true });
    const { accounts, catalog, metering, images, operatorToken } = stack.operator;
    const [{ url = '' } = {}] = stack.images;
    env = {
      BDS_ACCOUNTS: accounts,
      BDS_CATALOG: catalog,
      BDS_METERING: metering,
      BDS_IMAGES: images,
      BDS_OPERATOR_TOKEN: operatorToken,
      BDS_CERTIFICATES: join(stack.certificates, 'bds'),
      GATEWAY_URL: stack.gateways[0]?.url,
      IMAGES_URL: new URL(url).origin,
      LOGO_HOST: url,
      CATALOGUE: catalogue,
    };
  });
  afterAll(() => stack.stop());

  test('the seed, run twice, leads to a passing helm test that bills one call and leaves no key', async () => {
    for (const _ of [1, 2]) expect(await runScript('seed.mjs', env)).toMatchObject({ code: 0 });
    const asked = { TEST_ACCOUNT: 'demo', TEST_IDENTIFIER: 'AAPL' };
    const ran = await runScript('test.mjs', { ...env, ...asked });
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('billed, once') });
    expect(ran.stdout).toContain('the logo of the record is an image');
    expect(ran.stdout + ran.stderr).not.toContain('pk_');
    const { keys } = (await stack.bds('key', 'list', 'demo')) as { keys: { state: string }[] };
    expect(keys.map(({ state }) => state)).toEqual(['revoked']);

    const elsewhere = await runScript('test.mjs', { ...env, ...asked, LOGO_HOST: 'https://cdn.example.com' });
    expect(elsewhere.code).not.toBe(0);
    expect(elsewhere.stderr).toContain('not so: the logo of the record is below https://cdn.example.com');
    const unchecked = await runScript('test.mjs', { ...env, ...asked, LOGO_HOST: '' });
    expect(unchecked).toMatchObject({ code: 0, stdout: expect.stringContaining('not checked: the logo') });

    const wrong = await runScript('test.mjs', { ...env, ...asked, TEST_IDENTIFIER: 'no such company' });
    expect(wrong.code).not.toBe(0);
    expect(wrong.stdout + wrong.stderr).not.toContain('pk_');
  });

  test('the last step of the notes writes a page whose logos are images that exist', async () => {
    const notes = await readFile(join(CHART, 'templates', 'NOTES.txt'), 'utf8');
    const [loop = ''] = /^ *for COMPANY in .*? done > logos\.html$/ms.exec(notes) ?? [];
    const { token } = (await stack.bds('key', 'create', 'demo')) as { token: string };
    const script = loop.replaceAll('http://127.0.0.1:8080', stack.gateways[0]?.url ?? '');
    await promisify(execFile)('sh', ['-euc', script], { cwd: folder, env: { ...process.env, TOKEN: token } });
    const page = await readFile(join(folder, 'logos.html'), 'utf8');
    const logos = [...page.matchAll(/<img src="([^"]+)" height="64">/g)].map(([, url = '']) => url);
    expect(new Set(logos).size).toBe(3);
    for (const logo of logos) {
      expect(logo).toContain('/images/logos/');
      const { status, headers } = await fetch(logo);
      expect([status, headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    }
  });

  test('without an account, helm test asks for nothing that is billed', async () => {
    const ran = await runScript('test.mjs', { ...env, TEST_ACCOUNT: '' });
    expect(ran).toMatchObject({ code: 0, stdout: expect.not.stringContaining('billed') });
  });
});

test('a new MongoDB becomes a replica set that takes writes, with users, and stays one', async () => {
  const { found, stop } = await startMongod({ dataDir: join(folder, 'found'), secret: 'of a test' });
  await stop();
  const port = await freePort();
  const dbPath = join(folder, 'new');
  await mkdir(dbPath);
  const files = { key: join(folder, 'key'), users: join(folder, 'users.json') };
  await writeFile(files.key, 'abc'.repeat(20), { mode: 0o600 });
  const own = {
    name: 'brand_data_catalog',
    privileges: [],
    roles: [{ role: 'readWrite', db: 'brand_data_catalog' }],
  };
  const options = ['--replSet', 'brand-data', '--port', String(port), '--dbpath', dbPath, '--nounixsocket'];
  const mongod = spawn(found.path, [...options, '--auth', '--keyFile', files.key], { stdio: 'ignore' });
  onTestFinished(async () => {
    mongod.kill('SIGKILL');
    if (mongod.exitCode === null && mongod.signalCode === null) await once(mongod, 'exit');
  });
  // Run in accounts' folder, whose node_modules has the driver, as in accounts' image.
  const cwd = join(ROOT, 'services', 'accounts');
  for (const password of ['the-first', 'the-second']) {
    await writeFile(files.users, JSON.stringify([{ ...own, password }]));
    const env = {
      MONGODB_MEMBER: `127.0.0.1:${port}`,
      MONGODB_KEY_FILE: files.key,
      MONGODB_USERS_FILE: files.users,
    };
    expect(await runScript('initiate-replica-set.mjs', env, cwd)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('takes writes'),
    });
    const client = new Driver.MongoClient(
      `mongodb://brand_data_catalog:${password}@127.0.0.1:${port}/?directConnection=true`,
    );
    onTestFinished(() => client.close());
    await client.db('brand_data_catalog').collection('things').insertOne({ password });
    await expect(client.db('brand_data_accounts').collection('things').findOne()).rejects.toThrow(
      /not authorized/,
    );
  }
});
