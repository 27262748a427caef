import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { addMonths, isOperatorCredential, monthOf } from '@brand-data/contracts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { chromium } from './browser.ts';
import { expectGoodLooksOf, NOTE_VIOLATIONS } from './good-looks.ts';
import { type Browser, type Page, startBrowser } from './page.ts';

const BDS = join(import.meta.dirname, '../../packages/operator/bds.mjs');
const NAME = `<script>document.title = 'taken'</script> "R&D" 'Acme'`;
const MONTH = monthOf(Date.now());
const LAST_MONTH = addMonths(MONTH, -1);

interface UsagePageProcess {
  url: string;
  /** Everything that the process has written. */
  written(): string;
  /** Resolves to the exit code. */
  stop(): Promise<number | null>;
}

let stack: TestStack;
let folder: string;
let credential: string;
let page: UsagePageProcess;
const tokens: string[] = [];
const keys: string[] = [];

/** Runs `bds usage-page` at a free port, in a process without any credential. */
async function startUsagePage(...more: string[]): Promise<UsagePageProcess> {
  const { accounts, metering } = stack.operator;
  const certificates = join(stack.certificates, 'bds');
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(
    process.execPath,
    [BDS, 'usage-page', '--port', '0', '--accounts', accounts, '--metering', metering, ...more],
    {
      env: { PATH: process.env.PATH, BDS_CERTIFICATES: certificates },
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const exit = once(child, 'exit');
  let written = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      written += chunk;
    });
  for await (const line of createInterface(child.stdout)) {
    const [url] = /http:\S+$/.exec(line) ?? [];
    if (url === undefined) continue;
    return {
      url,
      written: () => written,
      async stop() {
        child.kill('SIGTERM');
        const [code] = await exit;
        return code;
      },
    };
  }
  throw new Error(`bds usage-page ended: ${written}`);
}

/** Billed calls of a month that has ended, as metering stores them: some keys on some days. */
async function fillLastMonth(accountId: string, cells: Record<string, number>): Promise<void> {
  const client = new MongoClient(stack.mongodbUrl);
  try {
    const db = client.db(`${stack.databasePrefix}_metering`);
    const _id = `${accountId}/calls/${LAST_MONTH}`;
    const expiresAt = new Date(Date.now() + 1e9);
    const closedUsed = Object.values(cells).reduce((total, count) => total + count, 0);
    const none = { grants: [], closed: [], holders: [], nextGrant: 2, version: 1 };
    const ledger = { accountId, pool: 'calls', month: LAST_MONTH, limit: 40, limitRevision: 1 };
    await db
      .collection<{ _id: string }>('ledgers')
      .insertOne({ _id, ...ledger, closedUsed, ...none, expiresAt } as never);
    for (const [name, count] of Object.entries(cells)) {
      const [day = ''] = name.split('/');
      const merged = { mergedBelow: 2, merged: [], cells: { [name]: count } };
      await db
        .collection<{ _id: string }>('daily_breakdowns')
        .insertOne({ _id: `${_id}/${day}`, ledgerId: _id, day, ...merged, expiresAt } as never);
    }
  } finally {
    await client.close();
  }
}

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startTestStack({ gateways: 1, replicas: { images: 0 } });
  await stack.bds('plan', 'set', 'team', '--pool', 'calls=1000:brands,logos');
  await stack.bds('account', 'create', '--id', 'acme', '--name', NAME, '--plan', 'team');
  await stack.bds('account', 'create', '--id', 'quiet', '--name', 'Quiet', '--plan', 'team');
  await stack.bds('account', 'close', 'quiet', '--yes');
  for (const label of ['website', 'batch']) {
    const made = (await stack.bds('key', 'create', 'acme', '--label', label)) as {
      token: string;
      key: { id: string };
    };
    tokens.push(made.token);
    keys.push(made.key.id);
  }
  for (const [place, calls] of [5, 2].entries())
    for (let call = 0; call < calls; call += 1) {
      const path = place === 0 ? 'v1/brands' : 'api/logos';
      const response = await fetch(
        `${stack.gateways[0]?.url}/${path}/nothing-has-this${place === 0 ? '' : '/info'}?token=${tokens[place]}`,
      );
      expect(response.status).toBe(404);
    }
  await fillLastMonth('acme', {
    [`${LAST_MONTH}-02/${keys[0]}/ROUTE_BRANDS/200`]: 11,
    [`${LAST_MONTH}-17/${keys[1]}/ROUTE_LOGOS/404`]: 7,
  });
  ({ credential } = (await stack.bds('operator', 'create', 'ana', '--role', 'read')) as {
    credential: string;
  });
  expect(isOperatorCredential(credential)).toBe(true);
  page = await startUsagePage();
});

afterAll(async () => {
  await page?.stop();
  await stack?.stop();
});

function get(path: string, password: string = credential, more: Record<string, string> = {}) {
  const authorization = `Basic ${Buffer.from(`ana:${password}`).toString('base64')}`;
  return fetch(new URL(path, page.url), { headers: { authorization, ...more } });
}

async function show(path: string): Promise<string> {
  const response = await get(path);
  expect(response.status).toBe(200);
  return response.text();
}

function textOf(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/** Returns the cells of a table's rows below its heading, as people read them. The last row may be that of the sums. */
function tableIn(markup: string, label: string): string[][] {
  const [, table = ''] = new RegExp(`aria-label="${label}"><table>(.*?)</table>`, 's').exec(markup) ?? [];
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)]
    .slice(1)
    .map(([, row = '']) =>
      [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell = '']) => textOf(cell)),
    );
}

interface Use {
  pool: string;
  allowance: number;
  used: number;
  remaining: number;
  held_by_gateways: number;
  breakdown: { key: string; route: string; status: number; day: string; count: number }[];
}

const figures = ({ allowance, used, remaining, held_by_gateways: held }: Use) =>
  [allowance, used, remaining, held].map((value) => value.toLocaleString('en'));

/** Returns the sums of counts with the same name, by name. */
function sums(cells: Use['breakdown'], nameOf: (cell: Use['breakdown'][number]) => string): string[][] {
  const counts = Map.groupBy(cells, nameOf);
  return [...counts]
    .map(([name, same]) => [name, String(same.reduce((total, { count }) => total + count, 0))])
    .sort();
}

describe.each([
  ['this month', MONTH, 7],
  ['a month that has ended', LAST_MONTH, 18],
])('in %s', (_which, month, calls) => {
  test('the page of all accounts has the figures of bds usage --all, and their sum', async () => {
    // Gateways hold and return permits all the time, so both are read until they fit.
    await expect
      .poll(async () => {
        const shown = tableIn(await show(`/?month=${month}&sort=account`), 'Accounts');
        const { accounts } = (await stack.bds('usage', '--all', '--month', month)) as {
          accounts: { account: string; name: string; plan: string; state: string; pools: Use[] }[];
        };
        const uses = accounts.flatMap((account) => account.pools.map((use) => ({ account, use })));
        expect(uses.reduce((total, { use }) => total + use.used, 0)).toBe(calls);
        const sum = (of: keyof Use) =>
          uses.reduce((total, { use }) => total + Number(use[of]), 0).toLocaleString('en');
        const wanted = uses.map(({ account: { account, name, plan, state }, use }) =>
          [account, name, plan, state, use.pool, ...figures(use)].join('|'),
        );
        const all = (['allowance', 'used', 'remaining', 'held_by_gateways'] as const).map(sum).join('|');
        return (
          shown
            .slice(0, -1)
            .map((row) => row.slice(0, 9).join('|'))
            .join('\n') === wanted.join('\n') && shown.at(-1)?.slice(5, 9).join('|') === all
        );
      })
      .toBe(true);
  });

  test('the page of an account has the figures of bds usage and of /v1/usage, by day, key, route and status', async () => {
    const usage = async () =>
      (await (
        await fetch(`${stack.gateways[0]?.url}/v1/usage?token=${tokens[0]}&month=${month}`)
      ).json()) as { pools: Use[] };
    await expect.poll(async () => (await usage()).pools[0]?.used).toBe(calls);
    const [ofCaller] = (await usage()).pools;
    const [use] = ((await stack.bds('usage', 'acme', '--month', month)) as { pools: Use[] }).pools;
    const markup = await show(`/accounts/acme?month=${month}`);
    const [row = []] = tableIn(markup, 'Allowances');
    expect(row.slice(0, 4)).toEqual([
      'calls',
      ...[use?.allowance, use?.used, use?.remaining].map((value) => value?.toLocaleString('en')),
    ]);
    expect(ofCaller).toMatchObject({ used: use?.used, allowance: use?.allowance, remaining: use?.remaining });
    const cells = use?.breakdown ?? [];
    expect(tableIn(markup, 'Calls by day')).toEqual(sums(cells, ({ day }) => day));
    expect(
      tableIn(markup, 'Calls by key')
        .map(([key, , count]) => [key, count])
        .sort(),
    ).toEqual(sums(cells, ({ key }) => key));
    expect(tableIn(markup, 'Calls by route and status')).toEqual(
      sums(cells, ({ route, status }) => `${route} ${status}`),
    );
    expect(tableIn(markup, 'Calls by month')[0]).toEqual([month, expect.anything(), String(calls)]);
  });
});

test('accounts are found by plan, state and a part of their id or name', async () => {
  const found = async (query: string) =>
    tableIn(await show(`/?${query}`), 'Accounts')
      .slice(0, -1)
      .map(([id]) => id);
  expect(await found('sort=account')).toEqual(['acme', 'quiet']);
  expect(await found('state=closed')).toEqual(['quiet']);
  expect(await found('search=R%26D')).toEqual(['acme']);
  expect(await found('plan=none')).toEqual([]);
});

test('the name of an account is shown as text, whatever is in it', async () => {
  for (const path of ['/', '/accounts/acme']) {
    const markup = await show(path);
    expect(markup).not.toContain('<script');
    expect(textOf(markup)).toContain(NAME);
  }
});

describe('nothing of any account is shown', () => {
  test.each([
    ['no credential', () => undefined],
    ['a made-up credential', () => `bdsop_${'x'.repeat(32)}`],
    ["the installation's operator token", () => stack.operator.operatorToken],
    ['a token of an account', () => tokens[0]],
  ])('with %s', async (_what, passwordOf) => {
    const password = passwordOf();
    for (const path of ['/', '/accounts/acme', '/accounts/none']) {
      const response = await (password === undefined ? fetch(new URL(path, page.url)) : get(path, password));
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toMatch(/^Basic /);
      expect(await response.text()).not.toMatch(/acme|quiet|team/i);
    }
  });

  test('to another site that uses the credential which the browser holds', async () => {
    const response = await get('/', credential, {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-dest': 'empty',
    });
    expect(response.status).toBe(403);
    expect(await response.text()).not.toContain('acme');
  });

  test('after ten wrong credentials in a minute, not even with the right one', async () => {
    const other = await startUsagePage();
    try {
      const status = async (password: string) => {
        const authorization = `Basic ${Buffer.from(`ana:${password}`).toString('base64')}`;
        return (await fetch(other.url, { headers: { authorization } })).status;
      };
      expect(await status(credential)).toBe(200);
      for (let attempt = 0; attempt < 10; attempt += 1)
        expect(await status(`bdsop_${String(attempt).repeat(32)}`)).toBe(401);
      expect(await status(credential)).toBe(429);
    } finally {
      expect(await other.stop()).toBe(0);
    }
  });
});

test.each([
  ['an account that does not exist', '/accounts/nobody', 404, /no account/i],
  ['a page that does not exist', '/nothing', 404, /no such page/],
  ['a path that is no text', '/accounts/%ff', 404, /no such page/],
  ['a month that has not begun', `/?month=${addMonths(MONTH, 1)}`, 400, /has not begun/],
  ['a text that is no month', '/?month=November', 400, /YYYY-MM/],
])('%s is a page that says so', async (_what, path, status, says) => {
  const response = await get(path);
  expect(response.status).toBe(status);
  expect(textOf(await response.text())).toMatch(says);
});

test('only with --all-addresses the page can be reached at other addresses, as in a container', async () => {
  const other = await startUsagePage('--all-addresses');
  try {
    expect((await fetch(`http://127.0.0.2:${new URL(other.url).port}/style.css`)).status).toBe(200);
  } finally {
    expect(await other.stop()).toBe(0);
  }
});

test('the page can be reached from its own machine alone', async () => {
  const others = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4');
  for (const { address } of [...others, { address: '127.0.0.2' }])
    await expect(fetch(`http://${address}:${new URL(page.url).port}/style.css`)).rejects.toThrow();
});

test('no answer may be stored, framed or read by other sites, or run a script', async () => {
  for (const path of ['/', '/accounts/nobody', '/style.css']) {
    const { headers } = await get(path);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers.get('content-security-policy')).not.toMatch(/script-src|unsafe/);
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  }
});

describe.skipIf(chromium === undefined)('in Chromium', () => {
  let browser: Browser;
  let shown: Page;

  beforeAll(async () => {
    browser = await startBrowser(folder);
    shown = await browser.newPage();
    await shown.beforeEachPage(NOTE_VIOLATIONS);
    const url = new URL(page.url);
    url.username = 'ana';
    url.password = credential;
    await shown.open(url.href);
  });
  afterAll(() => browser?.stop());

  test.each([
    ['all accounts', '/'],
    ['an account', '/accounts/acme'],
    ['an account without calls', '/accounts/quiet'],
    ['an unknown account', '/accounts/nobody'],
  ])(
    'the page of %s looks good in light and dark, narrow and wide, and breaks no policy',
    async (_what, path) => {
      await shown.open(new URL(path, page.url).href);
      expect(await shown.evaluate('document.title')).not.toBe('taken');
      expect(await shown.evaluate(`getComputedStyle(document.querySelector('header')).fontWeight`)).toBe(
        '650',
      );
      await expectGoodLooksOf(shown);
    },
  );
});

test('while metering is down, the page says so with 503 and what to do, and works again afterwards', async () => {
  await stack.kill('metering');
  const response = await get('/');
  expect(response.status).toBe(503);
  expect(textOf(await response.text())).toMatch(/metering at .* did not answer/);
  await stack.restart('metering');
  await expect.poll(async () => (await get('/')).status).toBe(200);
});

test('the process writes no credential, and ends at a signal with its answers given', async () => {
  expect(await page.stop()).toBe(0);
  expect(page.written()).not.toContain(credential);
  expect(page.written()).not.toContain('bdsop_');
});
