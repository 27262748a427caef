import { createToken, Route } from '@brand-data/contracts';
import {
  exchange,
  expectOddRequestsAnswered,
  SLOW,
  sendSlowly,
  statusesIn,
} from '@brand-data/testing/odd-requests';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { type Caller, callerOf } from './caller.ts';
import { bareMerchant, flatAnswer, fullManager, fullStock, groupedAnswer } from './fixtures.ts';
import { TestOperator } from './operator.ts';

const LOGO_HOST = 'https://logos.example.com';
const EXPOSED = [
  'Brand-Data',
  'Brand-Match',
  'ETag',
  'Last-Modified',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Quota-Charged',
  'X-Request-Id',
];

let stack: TestStack;
let operator: TestOperator;
let call: Caller;
let other: Caller;
let paid: { accountId: string; keyId: string; token: string };
let free: { accountId: string; token: string };

beforeAll(async () => {
  stack = await startTestStack({ gateways: 2, environment: { ACCESS_LOG: 'on', LOGO_HOST } });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock, bareMerchant, fullManager]);
  paid = await operator.newAccount(100_000);
  await operator.setPlan('free', [{ name: 'free-logos', allowance: 50, routes: [Route.LOGOS] }]);
  const accountId = await operator.createAccount('free');
  free = { accountId, ...(await operator.createKey(accountId)) };
  const [first, second] = stack.gateways;
  if (!first || !second) throw new Error('two gateways are needed');
  call = callerOf(first);
  other = callerOf(second);
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

const used = async (accountId: string) =>
  (await operator.usage(accountId)).reduce((sum, pool) => sum + pool.used, 0);

/** Usage is exact at once: the usage of every answered call is durable, and a read of usage includes all durable usage. */
const expectUsed = async (accountId: string, count: number) => expect(await used(accountId)).toBe(count);

function expectCommonHeaders({ headers }: Response): void {
  expect(headers.get('access-control-allow-origin')).toBe('*');
  const exposed = headers.get('access-control-expose-headers')?.split(', ') ?? [];
  for (const name of EXPOSED) expect(exposed).toContain(name);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('x-request-id')).toMatch(/^[\w-]{8,}$/);
}

async function expectProblem(response: Response, status: number, code: string): Promise<void> {
  expectCommonHeaders(response);
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const body = (await response.json()) as Record<string, unknown>;
  const members = ['type', 'title', 'status', 'detail', 'code', 'request_id'];
  expect(Object.keys(body)).toEqual(code === 'identifier_not_found' ? [...members, 'suggestions'] : members);
  expect(body).toMatchObject({ status, code, request_id: response.headers.get('x-request-id') });
  expect(body.type).toMatch(new RegExp(`^http://.*/docs/errors#${code}$`));
  const cached = code === 'identifier_not_found' ? 'public, max-age=60' : 'no-store';
  expect(response.headers.get('cache-control')).toBe(cached);
}

function expectQuota(response: Response, charged: '0' | '1', allowance: number): void {
  const now = new Date();
  const days = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 0)).getUTCDate();
  expect(response.headers.get('x-quota-charged')).toBe(charged);
  expect(response.headers.get('ratelimit-policy')).toBe(`"month";q=${allowance};w=${days * 86_400}`);
  const [, left, seconds] = /^"month";r=(\d+);t=(\d+)$/.exec(response.headers.get('ratelimit') ?? '') ?? [];
  expect(Number(left)).toBeLessThanOrEqual(allowance);
  expect(Number(seconds)).toBeGreaterThan(0);
  expect(Number(seconds)).toBeLessThanOrEqual(days * 86_400);
}

describe('the grouped route', () => {
  test('answers with every field of a full record, in the order of the specification', async () => {
    const response = await call.brand('ZPHX', paid.token);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe(JSON.stringify(groupedAnswer(fullStock, LOGO_HOST)));
    expectCommonHeaders(response);
    expectQuota(response, '1', 100_000);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(response.headers.get('brand-match')).toBe('kind=ticker, value="ZPHX", strength=exact');
  });

  test('leaves out every field and group without data', async () => {
    const response = await call.brand("O'Brien's Corner-Shop", paid.token);
    expect(await response.text()).toBe(
      JSON.stringify(groupedAnswer(bareMerchant, LOGO_HOST, stack.secrets.monogramKey)),
    );
  });

  test('answers with the minimal shape of a superinvestor, by name with or without hyphen and accent', async () => {
    for (const name of ['Jean-Luc Dupré', 'jean luc dupre']) {
      const response = await call.brand(name, paid.token);
      expect(await response.text()).toBe(JSON.stringify(groupedAnswer(fullManager, LOGO_HOST)));
    }
  });

  test.each([
    ['ticker', 'ZPHX'],
    ['ticker', 'zphx'],
    ['ticker', 'ZPHX.DE'],
    ['ticker', 'XETR:ZPHX'],
    ['ticker', 'ZP1.BE'],
    ['ticker', 'ZPHY'],
    ['domain', 'zephyr-air.com'],
    ['domain', 'https://WWW.Zephyr-Air.com:443/de?x=1#y'],
    ['name', "Zéphyr & Sons' Air-Lines"],
    ['name', 'zephyr and sons air lines'],
    ['name', 'Zephyr Airlines'],
    ['name', 'ゼファー航空'],
    ['name', 'Breeze Air'],
  ])('finds a company by %s %s and describes its main listing', async (kind, identifier) => {
    const response = await call.brand(identifier, paid.token);
    expect(response.status).toBe(200);
    expect(response.headers.get('brand-match')).toContain(`kind=${kind}, `);
    expect(await response.json()).toMatchObject({ symbol: 'ZPHX', stock: { exchange: 'XETRA' } });
  });

  test('does not match a ticker without exchange with a secondary listing', async () => {
    await expectProblem(await call.brand('ZP1', paid.token), 404, 'identifier_not_found');
  });
});

describe('the flat route', () => {
  test('answers with every key for a stock and for a merchant, null where there is no data', async () => {
    const stock = await call.logo('ZPHX', paid.token);
    expect(await stock.text()).toBe(JSON.stringify(flatAnswer(fullStock, LOGO_HOST)));
    expectQuota(stock, '1', 100_000);
    const merchant = await call.logo("O'Brien's Corner-Shop", paid.token);
    expect(await merchant.text()).toBe(
      JSON.stringify(flatAnswer(bareMerchant, LOGO_HOST, stack.secrets.monogramKey)),
    );
  });

  test('finds no superinvestors', async () => {
    await expectProblem(await call.logo('Jean-Luc Dupré', paid.token), 404, 'identifier_not_found');
  });

  test('is included in the free plan, with its own pool', async () => {
    const response = await call.logo('ZPHX', free.token);
    expect(response.status).toBe(200);
    expectQuota(response, '1', 50);
    expect((await operator.usage(free.accountId)).map(({ pool }) => pool)).toEqual(['free-logos']);
  });
});

describe('an answer', () => {
  test('has the same bytes and the same strong ETag from every gateway', async () => {
    const [one, two] = await Promise.all([call.brand('ZPHX', paid.token), other.brand('ZPHX', paid.token)]);
    expect(one.headers.get('etag')).toMatch(/^"[^"]+"$/);
    expect(two.headers.get('etag')).toBe(one.headers.get('etag'));
    expect(await two.text()).toBe(await one.text());
  });

  test('says when the record changed and where it comes from, and a change of its date alone reaches who has the body', async () => {
    const brand = (date: string) => ({
      ...fullStock,
      id: 'dated',
      name: 'Dated Works',
      listings: [{ ticker: 'ZDAT', mic: 'XETR' }],
      domains: [],
      names: [],
      links: {},
      history: {},
      sources: [{ name: 'exchange', date, fields: ['stock'] }],
    });
    const dataOf = (date: string) => `sources=("exchange";date="${date}"), price_date="${date}"`;
    const began = Math.floor(Date.now() / 1_000) * 1_000;
    await operator.putBrands([brand('2026-11-19')]);
    const first = await call.brand('Dated Works', paid.token);
    expect(first.headers.get('brand-data')).toBe(dataOf('2026-11-19'));
    const changedAt = Date.parse(first.headers.get('last-modified') ?? '');
    expect(changedAt).toBeGreaterThanOrEqual(began);
    expect(changedAt).toBeLessThanOrEqual(Date.now());
    await operator.putBrands([brand('2026-11-20')]);
    const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
    await vi.waitFor(
      async () => {
        const again = await call.brand('Dated Works', paid.token, { headers });
        expect(again.status).toBe(304);
        expect(again.headers.get('brand-data')).toBe(dataOf('2026-11-20'));
      },
      { timeout: 20_000, interval: 200 },
    );
  });

  test('is 304 without a body if the caller has the record, and is counted', async () => {
    const account = await operator.newAccount(100);
    const etag = (await call.brand('ZPHX', account.token)).headers.get('etag') ?? '';
    const again = await call.brand('ZPHX', account.token, { headers: { 'if-none-match': `W/"x", ${etag}` } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
    expect(again.headers.get('etag')).toBe(etag);
    expect(again.headers.get('cache-control')).toBe('public, max-age=3600');
    expectCommonHeaders(again);
    expectQuota(again, '1', 100);
    await expectUsed(account.accountId, 2);
    const [pool] = await operator.usage(account.accountId);
    expect(pool?.cells.map(({ status, count }) => [status, count])).toEqual([
      [200, 1],
      [304, 1],
    ]);
  });

  test('to HEAD is the same as to GET without the body, and is counted', async () => {
    const account = await operator.newAccount(100);
    const get = await call.brand('ZPHX', account.token, { headers: { 'accept-encoding': 'identity' } });
    const head = await call.brand('ZPHX', account.token, {
      method: 'HEAD',
      headers: { 'accept-encoding': 'identity' },
    });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    for (const name of [
      'etag',
      'content-type',
      'cache-control',
      'brand-match',
      'ratelimit-policy',
      'x-quota-charged',
    ]) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(await get.text())));
    await expectUsed(account.accountId, 2);
  });

  test('is compressed in the encoding that the caller accepts, and contains the same record', async () => {
    const plain = await call.brand('ZPHX', paid.token, { headers: { 'accept-encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    const text = await plain.text();
    for (const encoding of ['gzip', 'br']) {
      const response = await call.brand('ZPHX', paid.token, { headers: { 'accept-encoding': encoding } });
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect(response.headers.get('vary')).toBe('Accept-Encoding');
      expect(await response.text()).toBe(text);
    }
  });

  test('to a CORS preflight is 204 without a token, and is never counted', async () => {
    for (const method of ['brand', 'logo'] as const) {
      const response = await call[method]('ZPHX', null, {
        method: 'OPTIONS',
        headers: { origin: 'https://example.com', 'access-control-request-method': 'GET' },
      });
      expect(response.status).toBe(204);
      expectCommonHeaders(response);
      expect(response.headers.get('access-control-allow-methods')).toBe('GET, HEAD, OPTIONS');
      expect(response.headers.get('x-quota-charged')).toBeNull();
    }
  });
});

describe('a call is refused', () => {
  test('without a token in the query: 401 token_missing, even with a token elsewhere', async () => {
    await expectProblem(await call.brand('ZPHX', null), 401, 'token_missing');
    const inHeader = await call.brand('ZPHX', null, { headers: { authorization: `Bearer ${paid.token}` } });
    await expectProblem(inHeader.clone() as Response, 401, 'token_missing');
    expect(((await inHeader.json()) as { detail: string }).detail).toContain('query parameter');
  });

  test('with a token that is mistyped, unknown or given twice: 401 token_invalid', async () => {
    const typo = paid.token.slice(0, -1) + (paid.token.endsWith('a') ? 'b' : 'a');
    for (const token of [typo, createToken(), 'pk_', 'nonsense', paid.token.toLowerCase()]) {
      await expectProblem(await call.brand('ZPHX', token), 401, 'token_invalid');
    }
    const twice = await fetch(
      `${stack.gateways[0]?.url}/v1/brands/ZPHX?token=${paid.token}&token=${paid.token}`,
    );
    await expectProblem(twice, 401, 'token_invalid');
  });

  test('with the token of a revoked key, an expired key or a closed account, on every gateway: 401', async () => {
    const account = await operator.newAccount(100);
    const revoked = await operator.createKey(account.accountId);
    const expiresAtMs = Date.now() + 5_000;
    const expiring = await operator.createKey(account.accountId, { expiresAtMs });
    for (const { token } of [account, revoked, expiring]) {
      expect((await call.brand('ZPHX', token)).status).toBe(200);
      expect((await other.brand('ZPHX', token)).status).toBe(200);
    }
    await operator.revokeKey(revoked.keyId);
    const refused = async (caller: Caller, token: string) => {
      await expect.poll(async () => (await caller.brand('ZPHX', token)).status).toBe(401);
      await expectProblem(await caller.brand('ZPHX', token), 401, 'token_invalid');
    };
    for (const caller of [call, other]) await refused(caller, revoked.token);
    for (const caller of [call, other]) expect((await caller.brand('ZPHX', account.token)).status).toBe(200);
    for (const caller of [call, other]) await refused(caller, expiring.token);
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAtMs);
    await operator.closeAccount(account.accountId);
    for (const caller of [call, other]) await refused(caller, account.token);
  });

  test('on a plan without this route: 403 plan_required, not counted', async () => {
    await expectProblem(await call.brand('ZPHX', free.token), 403, 'plan_required');
  });

  test("from an origin that is not on the key's list: 403 origin_not_allowed, not counted", async () => {
    const account = await operator.newAccount(100);
    const { token } = await operator.createKey(account.accountId, {
      allowedOrigins: ['https://app.example.com'],
    });
    const from = (headers: Record<string, string>) => call.brand('ZPHX', token, { headers });
    expect((await from({ origin: 'https://app.example.com' })).status).toBe(200);
    expect((await from({ referer: 'https://app.example.com/page' })).status).toBe(200);
    await expectUsed(account.accountId, 2);
    await expectProblem(await from({ origin: 'https://evil.example' }), 403, 'origin_not_allowed');
    await expectProblem(await from({}), 403, 'origin_not_allowed');
    expect((await from({ origin: 'https://evil.example' })).headers.get('x-quota-charged')).toBe('0');
    expect(await used(account.accountId)).toBe(2);
  });

  test.each(['%', '%E0%A4%A', '%00', '', 'x'.repeat(257)])(
    'with the identifier %j: 400 identifier_invalid, not counted, but only once its token is good',
    async (segment) => {
      const url = `${stack.gateways[0]?.url}/v1/brands/${segment}`;
      await expectProblem(await fetch(`${url}?token=${createToken()}`), 401, 'token_invalid');
      const response = await fetch(`${url}?token=${paid.token}`);
      expect(response.headers.get('x-quota-charged')).toBe('0');
      await expectProblem(response, 400, 'identifier_invalid');
    },
  );

  test('with an identifier that matches no record: 404 identifier_not_found, cached for a minute, and counted', async () => {
    const account = await operator.newAccount(100);
    const response = await call.brand('No Such Company Anywhere', account.token);
    expectQuota(response, '1', 100);
    await expectProblem(response, 404, 'identifier_not_found');
    await expectUsed(account.accountId, 1);
  });

  test('on other paths: 404 route_not_found; with other methods: 405 with Allow; neither is counted', async () => {
    const base = stack.gateways[0]?.url;
    for (const path of [
      '//',
      '/v1/brands',
      '/v1/brands/A/B',
      '/v1/brands/ZPHX/',
      '/api/logos/ZPHX/infos',
      '/v2/brands/ZPHX',
    ]) {
      await expectProblem(await fetch(`${base}${path}?token=${paid.token}`), 404, 'route_not_found');
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const response = await call.brand('ZPHX', paid.token, {
        method,
        body: '{"a":',
        headers: { 'content-type': 'application/json' },
      });
      expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      expect(response.headers.get('x-quota-charged')).toBeNull();
      await expectProblem(response, 405, 'method_not_allowed');
    }
  });

  test('after the allowance is used up: 429 quota_exceeded until the next month, on every gateway, and not counted', async () => {
    const account = await operator.newAccount(5);
    for (let left = 4; left >= 0; left--) {
      const response = await call.brand('ZPHX', account.token);
      expect(response.status).toBe(200);
      expect(response.headers.get('ratelimit')).toMatch(new RegExp(`^"month";r=${left};t=`));
    }
    for (const caller of [call, other]) {
      const response = await caller.brand('ZPHX', account.token);
      const seconds = Number(response.headers.get('retry-after'));
      const now = new Date();
      const nextMonth = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
      expect(Math.abs(Date.now() + seconds * 1000 - nextMonth)).toBeLessThan(60_000);
      expectQuota(response, '0', 5);
      expect(response.headers.get('ratelimit')).toMatch(/^"month";r=0;/);
      await expectProblem(response, 429, 'quota_exceeded');
    }
    await expectUsed(account.accountId, 5);
  });

  test('in the order route, token, plan, origin, identifier, quota, look-up', async () => {
    const account = await operator.newAccount(0);
    const base = stack.gateways[0]?.url;
    await expectProblem(await fetch(`${base}/nowhere/%`), 404, 'route_not_found');
    await expectProblem(await fetch(`${base}/v1/brands/%`), 401, 'token_missing');
    await expectProblem(await fetch(`${base}/v1/brands/%?token=${free.token}`), 403, 'plan_required');
    await expectProblem(await fetch(`${base}/v1/brands/%?token=${account.token}`), 400, 'identifier_invalid');
    await expectProblem(await call.brand('No Such Company', account.token), 429, 'quota_exceeded');
  });
});

describe('GET /v1/usage', () => {
  interface UsageAnswer {
    pools: { used: number }[];
  }

  const usageOf = (token: string, more = '', caller = stack.gateways[0]) =>
    fetch(`${caller?.url}/v1/usage?token=${token}${more}`);

  test('answers the number of calls up to 2 s ago by day, key, route and status, and is not counted itself', async () => {
    const account = await operator.newAccount(100);
    const second = await operator.createKey(account.accountId);
    const calls = [
      ...Array.from({ length: 7 }, () => call.brand('ZPHX', account.token)),
      ...Array.from({ length: 3 }, () => other.logo('ZPHX', second.token)),
      ...Array.from({ length: 2 }, () => other.brand('No Such Company', second.token)),
    ];
    await Promise.all(calls);
    const day = new Date().toISOString().slice(0, 10);
    for (const gateway of stack.gateways) {
      const used = async () => {
        const { pools } = (await (await usageOf(account.token, '', gateway)).json()) as UsageAnswer;
        return pools.map((pool) => pool.used);
      };
      await expect.poll(used).toEqual([12]);
      const response = await usageOf(account.token, '', gateway);
      expectCommonHeaders(response);
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(response.headers.get('x-quota-charged')).toBeNull();
      const breakdown = [
        { day, key: account.keyId, route: 'brands', status: 200, count: 7 },
        { day, key: second.keyId, route: 'brands', status: 404, count: 2 },
        { day, key: second.keyId, route: 'logos', status: 200, count: 3 },
      ];
      expect(await response.json()).toEqual({
        account: account.accountId,
        plan: account.plan,
        month: day.slice(0, 7),
        final: false,
        complete: true,
        pools: [
          {
            pool: 'calls',
            allowance: 100,
            used: 12,
            remaining: 88,
            breakdown: expect.arrayContaining(breakdown),
          },
        ],
      });
    }
  });

  test('shows the allowance of an unused pool, and answers for the 24 past months', async () => {
    const account = await operator.newAccount(100);
    const now = new Date();
    const monthsAgo = (months: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 1)).toISOString().slice(0, 7);
    expect(await (await usageOf(account.token)).json()).toMatchObject({
      pools: [{ pool: 'calls', allowance: 100, used: 0, remaining: 100, breakdown: [] }],
    });
    const past = await usageOf(account.token, `&month=${monthsAgo(24)}`);
    expect(await past.json()).toMatchObject({ month: monthsAgo(24), final: true });
    for (const month of [
      monthsAgo(25),
      monthsAgo(-1),
      '2026-13',
      '2026',
      'x',
      `${monthsAgo(1)}&month=${monthsAgo(1)}`,
    ]) {
      await expectProblem(await usageOf(account.token, `&month=${month}`), 400, 'month_invalid');
    }
  });

  test('requires a valid token', async () => {
    await expectProblem(await fetch(`${stack.gateways[0]?.url}/v1/usage`), 401, 'token_missing');
    await expectProblem(await usageOf(createToken()), 401, 'token_invalid');
  });
});

test("a problem's type links to a page that explains its code", async () => {
  const { type, code } = (await (await call.brand('ZPHX', null)).json()) as { type: string; code: string };
  const page = await fetch(type);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await page.text()).toContain(`id="${code}"`);
});

/** The port of a process of the public services, a page of it, and how it answers a POST to an unknown path. */
const PUBLIC = {
  gateway: { url: () => stack.gateways[0]?.url, page: '/docs/errors', post: 404 },
  images: { url: () => stack.images[0]?.url, page: '/images/errors', post: 405 },
};
const portOf = (service: keyof typeof PUBLIC) => Number(new URL(PUBLIC[service].url() ?? '').port);

describe.each(['gateway', 'images'] as const)('a process of %s', (service) => {
  test('answers odd requests and bytes that are no request like all others, or closes the connection', async () => {
    await expectOddRequestsAnswered(portOf(service), PUBLIC[service].page, 200);
  });

  test('answers a thousand requests at once, in order', async () => {
    const requests = Array.from(
      { length: 1_000 },
      (_, at) => `GET ${at % 2 === 0 ? '/nowhere' : PUBLIC[service].page} HTTP/1.1\r\nHost: x\r\n`,
    );
    const answers = await exchange(portOf(service), `${requests.join('\r\n')}Connection: close\r\n\r\n`);
    expect(statusesIn(answers.toString('latin1'))).toEqual(
      requests.map((_, at) => (at % 2 === 0 ? 404 : 200)),
    );
  });
});

test('processes of the gateway and of images cut requests that come slowly', async () => {
  const all = (['gateway', 'images'] as const).flatMap((service) =>
    SLOW.map(async ([, start, statuses]) => {
      const expected = statuses.map((status) => (status === 404 ? PUBLIC[service].post : status));
      expect(await sendSlowly(portOf(service), start), `${service}: ${start}`).toEqual(expected);
    }),
  );
  await Promise.all(all);
});

const PROCESSES = ['gateway-1', 'gateway-2', 'accounts', 'catalog', 'metering', 'images', 'nats-server'];

test('a token in place of the identifier is 404 without the token, and reaches no log either', async () => {
  const typed = createToken();
  for (const identifier of [typed, `AAPL?token=${typed}`, typed.replace('_', '%5F')]) {
    for (const response of [
      await call.brand(identifier, paid.token),
      await call.logo(identifier, paid.token),
    ]) {
      expect(response.status).toBe(404);
      const { detail, suggestions } = (await response.json()) as { detail: string; suggestions: unknown[] };
      expect(detail).toContain('looks like a token');
      expect(detail).not.toContain(typed.slice(3, 20));
      expect(suggestions).toEqual([]);
    }
  }
  for (const name of PROCESSES) expect(await stack.logs(name)).not.toContain(typed.slice(3, 20));
});

test('the access log names the key of an answered call, and neither its query nor its identifier', async () => {
  const { headers } = await call.brand('ZPHX', paid.token);
  const requestId = headers.get('X-Request-Id');
  const linesOfCall = async () =>
    (await stack.logs('gateway-1')).split('\n').filter((text) => text.includes(`"${requestId}"`));
  // The line is written just after the answer.
  await expect.poll(linesOfCall).toHaveLength(1);
  const [line = ''] = await linesOfCall();
  const { time, durationMs, ...fields } = JSON.parse(line);
  expect(fields).toEqual({
    level: 'info',
    service: 'gateway',
    msg: 'answered',
    method: 'GET',
    route: 'brands',
    status: 200,
    requestId,
    keyId: paid.keyId,
  });
  expect(Math.abs(Date.now() - Date.parse(time))).toBeLessThan(60_000);
  expect(durationMs).toBeGreaterThanOrEqual(0);
});

test('no token reaches a log of any process', async () => {
  expect((await call.brand('ZPHX', paid.token)).status).toBe(200);
  for (const name of PROCESSES) {
    const log = await stack.logs(name);
    expect(log.length).toBeGreaterThan(0);
    for (const token of [paid.token, free.token]) expect(log).not.toContain(token.slice(3, 20));
  }
});
