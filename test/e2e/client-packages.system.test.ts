import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BrandType } from '@brand-data/contracts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { startWebServer } from '@brand-data/testing/web-server';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { chromium } from './browser.ts';
import { TestOperator } from './operator.ts';
import { startBrowser } from './page.ts';

/** What the package of Python needs. The test fetches it first, so that a registry that fails later changes nothing. */
const wheels = await temporaryFolder();
const DOWNLOAD = ['-m', 'pip', 'download', '--quiet', '--only-binary=:all:', '--dest', wheels];
const succeeds = (args: readonly string[]) =>
  promisify(execFile)('python3', args, { timeout: 120_000 }).then(
    () => true,
    () => false,
  );
const canInstall =
  (await succeeds(['-c', 'import sys; sys.exit(sys.version_info < (3, 11))'])) &&
  (await succeeds([...DOWNLOAD, 'flit_core<5', 'httpx<1']));
if (!canInstall)
  process.stderr.write('\nSKIPPED: the package of Python: it needs Python 3.11 with pip, and PyPI\n');

/** pip makes an environment and builds the package in it: 8 s on an idle machine. */
const INSTALL_MS = 250_000;

let stack: TestStack;
let api: string;
let token: string;
let folder: string;

beforeAll(async () => {
  stack = await startTestStack({ gateways: 1 });
  api = stack.gateways[0]?.url ?? '';
  const operator = new TestOperator(stack);
  await operator.putBrands([
    {
      id: 'apple',
      type: BrandType.STOCK,
      name: 'Apple',
      category: 'technology',
      rank: 900,
      sources: [
        { name: 'hand-written', date: '2024', fields: ['name'], url: '', licence: '' },
        { name: 'Größen', date: '', fields: ['category'], url: '', licence: '' },
        { name: 'hand-written', date: '2026-11', fields: ['listings'], url: '', licence: '' },
      ],
      listings: [{ ticker: 'AAPL', mic: 'XNAS', primary: true }],
    },
  ]);
  ({ token } = await operator.newAccount(100));
  operator.close();
});
afterAll(() => stack?.stop());
beforeEach(async () => {
  folder = await temporaryFolder();
});

const run = async (program: string, args: readonly string[]) =>
  (await promisify(execFile)(program, args, { cwd: folder, timeout: INSTALL_MS })).stdout;

test('npm installs the client from the service into an empty project, and a program calls with it', async () => {
  await writeFile(join(folder, 'package.json'), '{}');
  await run('npm', ['install', '--no-audit', '--no-fund', `${api}/client.tgz`]);
  const program = `import { BrandData } from '@brand-data/client';
const client = new BrandData({ api: '${api}', token: '${token}' });
const { data, charged } = await client.brand('AAPL');
console.log(data.name, charged);`;
  await writeFile(join(folder, 'main.mjs'), program);
  expect(await run(process.execPath, ['main.mjs'])).toBe('Apple true\n');
});

test.skipIf(chromium === undefined)(
  'a page of another origin imports the client from the service',
  async () => {
    const html = `<!doctype html><title>Test</title><output></output><script type="module">
import { BrandData } from '${api}/client.js';
const { data } = await new BrandData({ api: '${api}', token: '${token}' }).logo('AAPL');
document.querySelector('output').textContent = data.name;
</script>`;
    const own = await startWebServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(html);
    });
    const browser = await startBrowser(folder);
    try {
      const page = await browser.newPage();
      await page.open(own.url);
      await expect.poll(() => page.evaluate(`document.querySelector('output').textContent`)).toBe('Apple');
    } finally {
      await browser.stop();
      await own.stop();
    }
  },
);

test.skipIf(!canInstall)(
  'pip installs the client from the service, and a program calls with it',
  async () => {
    const python = join(folder, 'venv/bin/python');
    await run('python3', ['-m', 'venv', '--without-pip', 'venv']);
    const offline = ['--no-index', `--find-links=${wheels}`];
    await run('python3', [
      '-m',
      'pip',
      '--python',
      python,
      'install',
      '--quiet',
      ...offline,
      `${api}/client-python.tar.gz`,
    ]);
    const program = `import logging
from brand_data import BrandData, BrandDataError

logging.basicConfig(level=logging.DEBUG)
with BrandData("${api}", "${token}") as client:
    answer = client.brand("AAPL", kind="ticker")
    print(answer.data["name"], answer.charged, answer.quota.allowance, answer.match)
    print(answer.sources, answer.price_date, answer.last_modified.tzinfo, client.usage().sources)
    print(client.logo("AAPL").data["website"], client.usage().data["plan"] != "")
    for identifier in ["Nestlé/Ä & Co?", "..", ""]:
        try:
            client.logo(identifier)
        except BrandDataError as error:
            print(error.code, error.status, error.charged)
    try:
        BrandData("http://127.0.0.1:9", "${token}").usage()
    except BrandDataError as error:
        print(error.code)`;
    await writeFile(join(folder, 'main.py'), program);
    const { stdout, stderr } = await promisify(execFile)(python, ['main.py'], {
      cwd: folder,
      timeout: 100_000,
    });
    expect(stdout.trim().split('\n')).toEqual([
      "Apple True 100.0 Match(kind='ticker', value='AAPL', strength='exact')",
      "[Source(name='hand-written', date='2026-11', oldest='2024'), Source(name='Größen', date=None, oldest=None)] None UTC []",
      'None True',
      'identifier_not_found 404 True',
      'identifier_invalid None None',
      'identifier_invalid None None',
      'network_failed',
    ]);
    expect(stderr).toContain('/v1/brands/AAPL?kind=ticker');
    expect(stderr).not.toContain(token);
  },
  2 * INSTALL_MS,
);
