import { Route } from '@brand-data/contracts';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { bareMerchant, flatAnswer, fullStock, groupedAnswer } from './fixtures.ts';
import { TestOperator } from './operator.ts';

const LOGO_HOST = 'https://logos.example.com';
const ACCEPT = 'application/json, text/event-stream';

let stack: TestStack;
let operator: TestOperator;
let url: string;
const clients: Client[] = [];

beforeAll(async () => {
  stack = await startTestStack({ gateways: 1, environment: { MCP: 'on', LOGO_HOST } });
  operator = new TestOperator(stack);
  url = `${stack.gateways[0]?.url}/mcp`;
  await operator.putBrands([fullStock, bareMerchant]);
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(async () => {
  operator?.close();
  await stack?.stop();
});

/** Connects the SDK's own client. `era`: the form of requests before and since revision 2026-07-28. */
async function connect(
  token: string,
  { era = 'modern', headers = {} }: { era?: string; headers?: Record<string, string> } = {},
) {
  const mode = era === 'legacy' ? 'legacy' : { pin: '2026-07-28' };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { Authorization: `Bearer ${token}`, ...headers } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  clients.push(client);
  return async (name: string, args: Record<string, unknown> = {}) => {
    for (let attempt = 1; ; attempt++) {
      const { content, isError = false } = await client.callTool({ name, arguments: args });
      const [first] = content as { text: string }[];
      const answer = { isError, ...JSON.parse(first?.text ?? '') };
      // As in `untilAnswered`. The last permits of a month may be out elsewhere for a moment, too.
      const isBusy = answer.problem?.status === 503 && !answer.charged;
      if (!isBusy || attempt === 10) return answer;
    }
  };
}

const post = (body: unknown, token: string, headers: Record<string, string> = {}) =>
  fetch(`${url}?token=${token}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: ACCEPT, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const lookUp = (id: number, identifier: string) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'look_up_brand', arguments: { identifier } },
});
const cellsOf = async (accountId: string) => {
  const [pool] = await operator.usage(accountId);
  return pool?.cells.map(({ route, status, count }) => [route, status, count]);
};

describe.each(['modern', 'legacy'])('with requests in the %s form, an assistant', (era) => {
  test('looks records up as calls of both routes do, and each look-up is counted once and says so', async () => {
    const account = await operator.newAccount(100);
    const call = await connect(account.token, { era });
    const found = await call('look_up_brand', { identifier: 'ZPHX' });
    expect(found).toMatchObject({ isError: false, charged: true, remaining: expect.any(Number) });
    expect(found.record).toEqual(groupedAnswer(fullStock, LOGO_HOST));
    expect(found.brand_match).toBe('kind=ticker, value="ZPHX", strength=exact');
    expect(Date.parse(found.last_modified)).toBeLessThanOrEqual(Date.now());
    const short = await call('look_up_brand', { identifier: 'ZPHX', record: 'logo' });
    expect(short.record).toEqual(flatAnswer(fullStock, LOGO_HOST));
    const missed = await call('look_up_brand', { identifier: 'zephyr', kind: 'ticker' });
    expect(missed).toMatchObject({
      isError: true,
      charged: true,
      problem: {
        code: 'identifier_not_found',
        title: expect.any(String),
        detail: expect.stringContaining('zephyr'),
      },
    });
    expect(await call('look_up_brand', { identifier: 'a\nb' })).toMatchObject({
      isError: true,
      charged: false,
      problem: { code: 'identifier_invalid' },
    });
    const { companies } = await call('search_brands', { text: 'zeph' });
    expect(companies).toMatchObject([{ identifier: 'ZPHX', logo: expect.stringContaining(LOGO_HOST) }]);
    // Its figures may be those of up to 2 s ago.
    await expect
      .poll(() => call('read_usage'))
      .toMatchObject({
        charged: false,
        usage: { account: account.accountId, pools: [{ used: 3, remaining: 97 }] },
      });
    expect(await cellsOf(account.accountId)).toEqual(
      expect.arrayContaining([
        [Route.BRANDS, 200, 1],
        [Route.BRANDS, 404, 1],
        [Route.LOGOS, 200, 1],
      ]),
    );
  });

  test('gets exactly as many look-ups as are left, however many it asks for at once', async () => {
    const account = await operator.newAccount(12);
    const call = await connect(account.token, { era });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => call('look_up_brand', { identifier: 'ZPHX' })),
    );
    const counted = answers.filter(({ charged }) => charged);
    expect(counted.length).toBe(12);
    for (const { charged, problem } of answers)
      if (!charged) expect(problem).toMatchObject({ code: 'quota_exceeded', status: 429 });
    const [pool] = await operator.usage(account.accountId);
    expect(pool?.used).toBe(12);
  });
});

describe('a request', () => {
  test('may hold ten messages of the form before 2025-06-18, and no more', async () => {
    const { token, accountId } = await operator.newAccount(100);
    const ten = Array.from({ length: 10 }, (_, id) => lookUp(id, 'ZPHX'));
    const answer = await post(ten, token);
    expect(answer.headers.get('content-type')).toBe('application/json');
    const results = (await answer.json()) as { id: number; result: { isError: boolean } }[];
    expect(results.map(({ id }) => id).toSorted()).toEqual(ten.map(({ id }) => id));
    expect(results.every(({ result }) => !result.isError)).toBe(true);
    expect((await post([...ten, lookUp(10, 'ZPHX')], token)).status).toBe(400);
    expect(await cellsOf(accountId)).toEqual([[Route.BRANDS, 200, 10]]);
  });

  test('is refused before any look-up if a message in it could get no answer', async () => {
    const { token, accountId } = await operator.newAccount(100);
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    for (const body of [
      [lookUp(1, 'ZPHX'), lookUp(1, 'ZPHX')],
      [lookUp(1, 'ZPHX'), cancel],
      [lookUp(1, 'ZPHX'), { jsonrpc: '2.0', id: 2, result: {} }],
    ]) {
      const answer = await post(body, token);
      expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'request_invalid' }]);
    }
    expect((await post(cancel, token)).status).toBe(202);
    expect(await operator.usage(accountId)).toEqual([]);
  });

  test.each([
    ['of more than 64 KiB', JSON.stringify(lookUp(1, 'x'.repeat(70_000))), {}],
    ['that is no JSON', '{', {}],
    ['of another type', '{}', { 'Content-Type': 'text/csv' }],
  ])('%s is a 400 request_invalid', async (_, body, headers) => {
    const { token } = await operator.newAccount(100);
    const answer = await post(body, token, headers);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'request_invalid' });
  });

  test('with any other JSON gets an answer of the protocol, is no failure of the service and costs nothing', async () => {
    const { token, accountId } = await operator.newAccount(100);
    const called = fc.record({
      jsonrpc: fc.constant('2.0'),
      id: fc.oneof(fc.integer(), fc.string(), fc.constant(null)),
      method: fc.constantFrom('tools/call', 'initialize', 'ping', 'tools/list', 'no/such', 'server/discover'),
      params: fc.oneof(
        fc.jsonValue(),
        fc.record({
          name: fc.constantFrom('look_up_brand', 'search_brands', 'none'),
          arguments: fc.jsonValue(),
        }),
      ),
    });
    const headers = fc.constantFrom(
      {},
      { 'MCP-Protocol-Version': '2026-07-28' },
      { 'MCP-Protocol-Version': 'x' },
    );
    const body = fc.oneof(fc.jsonValue(), called, fc.array(called, { maxLength: 3 }));
    await fc.assert(
      fc.asyncProperty(body, headers, async (body, headers) => {
        const answer = await post(JSON.stringify(body), token, headers);
        expect(answer.status).toBeLessThan(500);
        const text = await answer.text();
        if (text !== '')
          expect(answer.headers.get('content-type')).toMatch(/^application\/(problem\+)?json$/);
      }),
      { numRuns: 100 },
    );
    expect(await operator.usage(accountId)).toEqual([]);
  });

  test('without a good token, with two, or from an origin that is not on the list of the key is refused', async () => {
    const { accountId, token } = await operator.newAccount(100);
    const body = lookUp(1, 'ZPHX');
    const codeOf = async (answer: Response) => ((await answer.json()) as { code: string }).code;
    expect(await codeOf(await post(body, ''))).toBe('token_missing');
    expect(await codeOf(await post(body, `${token}x`))).toBe('token_invalid');
    expect(await codeOf(await post(body, token, { Authorization: `Bearer ${token}` }))).toBe('token_invalid');
    const listed = await operator.createKey(accountId, { allowedOrigins: ['https://app.example.com'] });
    expect(await codeOf(await post(body, listed.token, { Origin: 'https://evil.example' }))).toBe(
      'origin_not_allowed',
    );
    expect(await codeOf(await post(body, listed.token))).toBe('origin_not_allowed');
    expect((await post(body, listed.token, { Origin: 'https://app.example.com' })).status).toBe(200);
    expect(await cellsOf(accountId)).toEqual([[Route.BRANDS, 200, 1]]);
  });

  test('gets no record that the plan does not include', async () => {
    const plan = 'logos-only';
    await operator.setPlan(plan, [{ name: 'logos', allowance: 5, routes: [Route.LOGOS] }]);
    const { token } = await operator.createKey(await operator.createAccount(plan));
    const call = await connect(token);
    const refused = await call('look_up_brand', { identifier: 'ZPHX' });
    expect(refused).toMatchObject({ isError: true, charged: false, problem: { code: 'plan_required' } });
    expect(await call('look_up_brand', { identifier: 'ZPHX', record: 'logo' })).toMatchObject({
      charged: true,
    });
  });

  test('opens no stream: subscriptions are refused, and GET is answered with 405', async () => {
    const { token } = await operator.newAccount(100);
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 't', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const listen = {
      jsonrpc: '2.0',
      id: 1,
      method: 'subscriptions/listen',
      params: { notifications: { toolsListChanged: true }, _meta: meta },
    };
    const headers = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'subscriptions/listen' };
    const answer = await post(listen, token, headers);
    expect(await answer.text()).toContain('Subscription limit reached');
    const get = await fetch(url, { headers: { Accept: 'text/event-stream' } });
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });
});
