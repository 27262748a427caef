import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { addMonths, dayOf, monthOf, Route, type UsageCell } from '@brand-data/contracts';
import { systemClock } from '@brand-data/runtime';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runBds } from '../../packages/operator/test/run-bds.ts';
import { createLedgerStore } from '../../services/metering/src/ledger/ledger-store.ts';
import { openMongoLedgerDatabase } from '../../services/metering/src/ledger/mongo-ledger-database.ts';
import { openGrant } from '../../services/metering/test/ledger-actions.ts';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { chromium } from './browser.ts';
import { expectGoodLooksOf, NOTE_VIOLATIONS } from './good-looks.ts';
import { type Browser, type Page, startBrowser } from './page.ts';

const ALLOWANCE = 1_000_000;
const month = monthOf(Date.now());
const lastMonth = addMonths(month, -1);
const HOSTILE = '<script>violations.push("ran")</script> & "Sons"';

let stack: TestStack;
let folder: string;
let web: { url: string; log: () => string; stop(): Promise<void> };
let credential: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'brand-data-web-'));
  stack = await startTestStack({ gateways: 1, imagesReplicas: 0 });
  await json('plan', 'set', 'team', '--pool', `calls=${ALLOWANCE}:brands,logos`);
  for (const [id, name] of [
    ['acme', HOSTILE],
    ['globex', 'Globex'],
    ['silent', 'Silent'],
  ] as const)
    await json('account', 'create', '--id', id, '--name', name, '--plan', 'team');
  const keys = [await newKey('website'), await newKey('shop')];
  await bill('acme', month, [
    cell(keys[0], Route.BRANDS, 200, `${month}-01`, 1_204),
    cell(keys[1], Route.LOGOS, 404, `${month}-01`, 30),
    cell(keys[0], Route.BRANDS, 200, dayOf(Date.now()), 7),
  ]);
  await bill('acme', lastMonth, [cell(keys[0], Route.BRANDS, 200, `${lastMonth}-03`, 55)]);
  await bill('globex', month, [cell('key-x', Route.BRANDS, 200, `${month}-01`, 3)]);
  credential = (await json('operator', 'create', 'ana', '--role', 'read')).credential;
  web = await startWeb();
});

afterAll(async () => {
  await web?.stop();
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function json(...args: string[]) {
  const { code, out, errors } = await runBds(stack, folder, [...args, '--json']);
  expect({ code, errors }).toEqual({ code: 0, errors: '' });
  return JSON.parse(out);
}

const newKey = async (label: string): Promise<string> =>
  (await json('key', 'create', 'acme', '--label', label)).key.id;

function cell(keyId = '', route: Route, status: number, day: string, count: number): UsageCell {
  return { keyId, route, status, day, count };
}

/** Bills calls as metering does. */
async function bill(accountId: string, of: string, cells: UsageCell[]): Promise<void> {
  const client = new MongoClient(stack.mongodbUrl, { ignoreUndefined: true });
  try {
    const db = client.db(`${stack.databasePrefix}_metering`);
    const database = await openMongoLedgerDatabase({ client, db });
    const store = createLedgerStore({ database, clock: systemClock });
    const used = cells.reduce((sum, { count }) => sum + count, 0);
    const { id } = await openGrant(store, { accountId, pool: 'calls', month: of }, { size: used });
    const usage = { grantId: id, used, returned: 0, closed: true, cells, partial: false };
    expect((await store.applyUsage([usage])).refused).toEqual([]);
  } finally {
    await client.close();
  }
}

/** `bds web` as a process. It has no credential of its own. */
async function startWeb() {
  const { accounts, metering } = stack.operator;
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, '../../packages/operator/bds.mjs'), 'web', '--port', '0'],
    {
      cwd: folder,
      env: {
        ...{ PATH: process.env.PATH, HOME: folder, BDS_ACCOUNTS: accounts, BDS_METERING: metering },
        BDS_CERTIFICATES: join(stack.certificates, 'bds'),
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let log = '';
  child.stdout.on('data', (text) => {
    log += text;
  });
  const exit = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const [address] = /http:\S+/.exec(line) ?? [];
      if (address) resolve(address);
    });
    exit.then(() => reject(new Error(`bds web ended: ${log}`)));
  });
  return {
    ...{ url, log: () => log },
    stop: async () => {
      child.kill('SIGINT');
      expect((await exit)[0]).toBe(0);
    },
  };
}

const get = (path: string, cookie = '') =>
  fetch(`${web.url}${path}`, { redirect: 'manual', headers: cookie ? { cookie } : {} });

async function signIn(text: string, headers: Record<string, string> = {}): Promise<Response> {
  const body = new URLSearchParams({ credential: text });
  return fetch(`${web.url}/sign-in`, { method: 'POST', body, redirect: 'manual', headers });
}

async function cookieOf(text = credential): Promise<string> {
  const response = await signIn(text);
  expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
  const set = response.headers.get('set-cookie') ?? '';
  expect(set).toMatch(/; HttpOnly; SameSite=Strict/);
  return set.split(';')[0] ?? '';
}

describe('who is not signed in', () => {
  test.each(['/', '/accounts/acme', '/?search=acme'])(
    'gets nothing of %s but the way to the form',
    async (path) => {
      for (const cookie of ['', 'bds_session=', `bds_session=${'x'.repeat(43)}`]) {
        const response = await get(path, cookie);
        expect([response.status, response.headers.get('location')]).toEqual([303, '/sign-in']);
        expect(await response.text()).not.toContain('acme');
      }
    },
  );

  test.each([
    ['a wrong credential', 'bdsop_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'],
    ['no credential', ''],
    ['a token of a caller', 'pk_abcdefghijklmnopqrstuvwxyz12'],
  ])('is refused with %s, and gets no session', async (_name, text) => {
    const response = await signIn(text);
    expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null]);
    expect(await response.text()).toContain('role="alert"');
  });

  test('cannot be signed in by a form of another site', async () => {
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }])
      expect((await signIn(credential, headers)).status).toBe(403);
  });
});

describe('an operator', () => {
  test('sees the figures of bds usage, for all accounts and for one', async () => {
    const cookie = await cookieOf();
    const all = await (await get('/', cookie)).text();
    const { accounts } = await json('usage', '--all');
    const format = new Intl.NumberFormat('en');
    for (const { account, pools } of accounts.filter(
      ({ account: id }: { account: string }) => id !== 'silent',
    )) {
      const row = all.split('<tr>').find((text) => text.includes(`>${account}</a>`)) ?? '';
      for (const { allowance, used, remaining } of pools)
        for (const figure of [allowance, used, remaining])
          expect(row).toContain(`<td class="number">${format.format(figure)}</td>`);
    }
    const total = accounts
      .flatMap(({ pools }: { pools: { used: number }[] }) => pools)
      .reduce((sum: number, { used }: { used: number }) => sum + used, 0);
    expect(all.split('<tfoot>')[1]).toContain(`<td class="number">${format.format(total)}</td>`);

    const one = await (await get('/accounts/acme', cookie)).text();
    const { pools } = await json('usage', 'acme');
    const byKey = Map.groupBy(pools[0].breakdown as { key: string; count: number }[], ({ key }) => key);
    for (const [key, cells] of byKey) {
      const row = one.split('<tr>').find((text) => text.includes(`<td>${key}</td>`)) ?? '';
      expect(row).toContain(`>${format.format(cells.reduce((sum, { count }) => sum + count, 0))}</td>`);
    }
    expect(one).toContain(`<title>${month}-01: 1,234 calls</title>`);
    expect(one).toContain(`<title>${lastMonth}: 55 calls</title>`);
    const before = await (await get(`/accounts/acme?month=${lastMonth}`, cookie)).text();
    expect(before).toContain(`<title>${lastMonth}-03: 55 calls</title>`);
  });

  test('finds accounts by id or name, also those without calls', async () => {
    const cookie = await cookieOf();
    const found = await (await get('/?search=Silen', cookie)).text();
    expect(found).toContain('>silent</a>');
    expect(found).not.toContain('>acme</a>');
    expect(await (await get('/?search=nobody', cookie)).text()).toContain('There is no such account.');
    expect(await (await get('/?month=2020-01', cookie)).text()).toContain(
      'There are no calls in this month.',
    );
  });

  test.each([
    ['/accounts/nobody', 404, 'There is no account nobody'],
    ['/nothing', 404, 'There is no such page'],
    ['/?month=November', 400, 'Write a month as YYYY-MM'],
    ['/?month=2999-01', 400, 'has not begun'],
  ])('gets a page that says what is wrong with %s', async (path, status, says) => {
    const response = await get(path, await cookieOf());
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(says)]);
  });

  test('gets pages that no other site can embed or script, and that no cache keeps', async () => {
    const { headers } = await get('/', await cookieOf());
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy':
        "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
    });
  });

  test('is signed out by the button, and by the revocation of the credential within minutes', async () => {
    const cookie = await cookieOf();
    const signOut = await fetch(`${web.url}/sign-out`, {
      method: 'POST',
      headers: { cookie },
      redirect: 'manual',
    });
    expect(signOut.status).toBe(303);
    expect((await get('/', cookie)).status).toBe(303);

    const { credential: other } = await json('operator', 'create', 'ben', '--role', 'read');
    const held = await cookieOf(other);
    expect((await get('/', held)).status).toBe(200);
    await json('operator', 'revoke', 'ben', '--yes');
    const refused = await get('/accounts/acme', held);
    expect([refused.status, await refused.text()]).toEqual([401, expect.stringContaining('Sign in')]);
    expect((await get('/', held)).status).toBe(303);
  });

  test('finds the own name and no credential in what the server prints', async () => {
    await cookieOf();
    expect(web.log()).toContain('ana has signed in from 127.0.0.1');
    expect(web.log()).not.toContain('bdsop_');
  });

  test('is told which service is away', async () => {
    const cookie = await cookieOf();
    await stack.kill('metering');
    try {
      const response = await get('/', cookie);
      expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('metering at')]);
    } finally {
      await stack.restart('metering');
    }
    await expect.poll(async () => (await get('/', cookie)).status).toBe(200);
  });
});

describe.skipIf(chromium === undefined)('in a browser', () => {
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    browser = await startBrowser(folder);
    page = await browser.newPage();
    await page.beforeEachPage(NOTE_VIOLATIONS);
  });

  afterAll(() => browser?.stop());

  const submit = async (form: string, until: string) => {
    await page.evaluate(`document.querySelector(${JSON.stringify(form)}).submit()`);
    await expect.poll(() => page.evaluate(`document.querySelector('h1')?.textContent`)).toBe(until);
  };

  test('an operator signs in, opens an account and signs out; every page is legible in both themes and widths', async () => {
    await page.open(`${web.url}/`);
    await expectGoodLooksOf(page);
    await page.evaluate(`document.querySelector('[name=credential]').value = ${JSON.stringify(credential)}`);
    await submit('main form', `Usage in ${month} so far`);
    await expectGoodLooksOf(page);
    expect(await page.evaluate(`document.querySelector('tbody td').textContent`)).toBe(HOSTILE);
    await page.evaluate(`document.querySelector('tbody a').click()`);
    await expect.poll(() => page.evaluate(`document.querySelector('h1')?.textContent`)).toBe('acme');
    await expectGoodLooksOf(page);
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll('.chart')[0].querySelectorAll('rect')].map(({ height }) => height.baseVal.value)`,
    );
    expect(heights.filter((height) => height > 0).length).toBeGreaterThanOrEqual(1);
    expect(Math.max(...heights)).toBe(heights[0]);
    await submit('header form', 'Sign in');
  });
});
