import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { matchOf } from '../src/answer.ts';
import { BrandData, BrandDataError, type BrandDataOptions } from '../src/index.ts';
import { type ScriptedAnswer, type ScriptedServer, startScriptedServer } from './scripted-server.ts';

const TOKEN = 'pk_secret';
const FLAT = { name: 'Apple', type: 'stock' };
const HEADERS = {
  'Content-Type': 'application/json',
  'Cache-Control': 'public, max-age=3600',
  ETag: '"one"',
  'X-Request-Id': 'request-1',
  'X-Quota-Charged': '1',
  'RateLimit-Policy': '"month";q=50000;w=2592000, "second";q=2.5;w=1',
  RateLimit: '"month";r=49958;t=907200, "second";r=1;t=1',
  'Brand-Match': 'kind=ticker, value="AAPL", strength=exact',
  'Brand-Data': 'sources=("hand-written" %"%c3%9c";date="2026-08"), price_date="2026-08-21"',
  'Last-Modified': 'Thu, 19 Nov 2026 08:30:00 GMT',
};
const FOUND: ScriptedAnswer = { status: 200, headers: HEADERS, body: FLAT };
const STALE: ScriptedAnswer = { ...FOUND, headers: { ...HEADERS, 'Cache-Control': 'public, max-age=0' } };
const busy = (retryAfter: string): ScriptedAnswer => ({
  status: 503,
  headers: { 'Retry-After': retryAfter, 'X-Quota-Charged': '0' },
  body: { code: 'upstream_unavailable', detail: 'Try again.', title: 'Busy' },
});

let server: ScriptedServer;
afterEach(() => server?.stop());

async function clientOf(answers: ScriptedAnswer[], options: Partial<BrandDataOptions> = {}) {
  server = await startScriptedServer(...answers);
  return new BrandData({ api: server.url, token: TOKEN, ...options });
}

const failureOf = (call: Promise<unknown>): Promise<BrandDataError> =>
  call.then(
    () => expect.fail('the call did not fail'),
    (error) => error,
  );

describe('a call', () => {
  test('sends any identifier as one segment that decodes to it, and the token in the query alone', async () => {
    const client = await clientOf([STALE]);
    const identifiers = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 50 })
      .filter((text) => text !== '.' && text !== '..');
    await fc.assert(
      fc.asyncProperty(identifiers, async (identifier) => {
        server.requests.length = 0;
        await client.brand(identifier);
        const [{ path = '', query, headers } = {}] = server.requests;
        expect(path.split('/').length).toBe(4);
        expect(decodeURIComponent(path.slice('/v1/brands/'.length))).toBe(identifier);
        expect(query?.get('token')).toBe(TOKEN);
        expect(JSON.stringify(headers)).not.toContain(TOKEN);
      }),
      { numRuns: 50 },
    );
  });

  test.each(['', '.', '..', '\ud800'])('is not made for %j, which no URL can hold', async (identifier) => {
    const client = await clientOf([FOUND]);
    expect((await failureOf(client.logo(identifier))).code).toBe('identifier_invalid');
    expect(server.requests).toEqual([]);
  });

  test('says which kind the identifier is, and keeps its record apart', async () => {
    const client = await clientOf([FOUND]);
    await client.brand('coke');
    await client.brand('coke', { kind: 'ticker' });
    expect(server.requests.map(({ query }) => query.get('kind'))).toEqual([null, 'ticker']);
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('cannot have %d ms of time', (timeoutMs) => {
    expect(() => new BrandData({ api: 'https://api.example.com', token: TOKEN, timeoutMs })).toThrow(
      RangeError,
    );
  });

  test('sends no cookies, and works where requests have no credentials, as in some workers', async () => {
    const mentioned: unknown[] = [];
    const watched: typeof fetch = (url, init) => {
      mentioned.push(init?.credentials);
      return fetch(url, init);
    };
    const client = await clientOf([STALE], { fetch: watched });
    await client.logo('AAPL');
    vi.stubGlobal('Request', class {});
    try {
      await client.logo('AAPL');
    } finally {
      vi.unstubAllGlobals();
    }
    expect(mentioned).toEqual(['omit', undefined]);
  });

  test('keeps the path prefix of the base URL', async () => {
    server = await startScriptedServer(FOUND);
    await new BrandData({ api: `${server.url}/brands/`, token: TOKEN }).logo('AAPL');
    expect(server.requests[0]?.path).toBe('/brands/api/logos/AAPL/info');
  });

  test('tells the charge, the limits, the request id, the match, the sources and the age of its answer', async () => {
    const client = await clientOf([FOUND]);
    expect(await client.logo('AAPL')).toEqual({
      data: FLAT,
      requestId: 'request-1',
      charged: true,
      quota: { allowance: 50_000, remaining: 49_958, resetsIn: 907_200 },
      rate: { allowance: 2.5, remaining: 1, resetsIn: 1 },
      match: { kind: 'ticker', value: 'AAPL', strength: 'exact' },
      sources: [
        { name: 'hand-written', date: undefined },
        { name: 'Ü', date: '2026-08' },
      ],
      priceDate: '2026-08-21',
      lastModified: new Date('2026-11-19T08:30:00Z'),
    });
  });

  test('tells no limits and no sources that the answer does not have', async () => {
    const client = await clientOf([{ status: 200, body: FLAT }]);
    const nothing = { requestId: undefined, charged: undefined, quota: undefined, rate: undefined };
    const ofRecord = { match: undefined, sources: [], priceDate: undefined, lastModified: undefined };
    expect(await client.logo('AAPL')).toEqual({ data: FLAT, ...ofRecord, ...nothing });
  });
});

describe('the match', () => {
  test.each(['', 'kind=ticker', 'kind=name, value=%"%c3", strength=exact'])(
    'is left out if the header is %j',
    (header) => expect(matchOf(new Headers({ 'Brand-Match': header }))).toBeUndefined(),
  );
});

describe('the records in memory', () => {
  test('a record within its max-age is given without a call, and not charged', async () => {
    const client = await clientOf([FOUND]);
    await client.logo('AAPL');
    const again = await client.logo('AAPL');
    expect(again).toMatchObject({ data: FLAT, charged: false });
    expect(server.requests.length).toBe(1);
  });

  test('the time in a cache on the way counts as age', async () => {
    const aged = { ...FOUND, headers: { ...HEADERS, Age: '3600' } };
    const client = await clientOf([aged]);
    await client.logo('AAPL');
    await client.logo('AAPL');
    expect(server.requests.length).toBe(2);
  });

  test('an older record is asked for with its ETag, and a 304 gives it again and is charged', async () => {
    const unchanged = { status: 304, headers: STALE.headers ?? {} };
    const client = await clientOf([STALE, unchanged]);
    await client.logo('AAPL');
    expect(await client.logo('AAPL')).toMatchObject({ data: FLAT, charged: true });
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"']);
  });

  test('an older record that has changed is replaced', async () => {
    const changed = { ...FOUND, body: { name: 'Apple II' } };
    const client = await clientOf([STALE, changed]);
    await client.logo('AAPL');
    expect((await client.logo('AAPL')).data).toEqual({ name: 'Apple II' });
    expect((await client.logo('AAPL')).data).toEqual({ name: 'Apple II' });
    expect(server.requests.length).toBe(2);
  });

  test('the two records of one identifier are kept apart', async () => {
    const client = await clientOf([FOUND, { ...FOUND, body: { type: 'brand' } }]);
    await client.logo('AAPL');
    expect((await client.brand('AAPL')).data).toEqual({ type: 'brand' });
  });

  test('at most `cachedRecords` are kept: those that were used last', async () => {
    const client = await clientOf([FOUND], { cachedRecords: 2 });
    for (const identifier of ['A', 'B', 'A', 'C']) await client.logo(identifier);
    server.requests.length = 0;
    for (const identifier of ['A', 'C', 'B']) await client.logo(identifier);
    expect(server.requests.map(({ path }) => path)).toEqual(['/api/logos/B/info']);
  });

  test('errors are not kept', async () => {
    const client = await clientOf([{ status: 500, headers: HEADERS, body: 'no' }, FOUND]);
    await failureOf(client.logo('AAPL'));
    expect((await client.logo('AAPL')).data).toEqual(FLAT);
  });
});

describe('a 503', () => {
  test('is retried after the time in Retry-After', async () => {
    const client = await clientOf([busy('1'), FOUND]);
    const start = performance.now();
    expect((await client.logo('AAPL')).data).toEqual(FLAT);
    expect(performance.now() - start).toBeGreaterThanOrEqual(999);
    expect(server.requests.length).toBe(2);
  });

  test('is retried at most `retries` times', async () => {
    const client = await clientOf([busy('0')], { retries: 3 });
    const error = await failureOf(client.logo('AAPL'));
    expect(error).toMatchObject({ code: 'upstream_unavailable', status: 503, retryAfter: 0, charged: false });
    expect(server.requests.length).toBe(4);
  });

  test('that asks for a long wait is reported at once', async () => {
    const client = await clientOf([busy('30')]);
    expect((await failureOf(client.logo('AAPL'))).retryAfter).toBe(30);
    expect(server.requests.length).toBe(1);
  });

  test('is retried, and so is a 429 that asks for a short wait', async () => {
    const client = await clientOf([{ ...busy('0'), status: 429 }, FOUND]);
    expect((await client.logo('AAPL')).data).toEqual(FLAT);
  });

  test.each([400, 401, 403, 404, 500])('is retried, but a %i is not', async (status) => {
    const client = await clientOf([{ ...busy('0'), status }]);
    expect((await failureOf(client.logo('AAPL'))).status).toBe(status);
    expect(server.requests.length).toBe(1);
  });
});

describe('a failed call', () => {
  test('tells all that the problem and its headers say', async () => {
    const suggestions = [{ name: "McDonald's", identifier: 'MCD' }];
    const noCompany = { kind: 'fund', name: 'SPDR S&P 500 ETF Trust' };
    const body = {
      code: 'identifier_not_found',
      detail: 'Nothing.',
      request_id: 'request-1',
      suggestions,
      no_company: noCompany,
    };
    const client = await clientOf([{ status: 404, headers: HEADERS, body }]);
    const error = await failureOf(client.logo('mcdonlads'));
    expect(error).toBeInstanceOf(BrandDataError);
    expect(error).toMatchObject({
      name: 'BrandDataError',
      message: 'Nothing.',
      code: 'identifier_not_found',
      status: 404,
      suggestions,
      noCompany,
      charged: true,
      requestId: 'request-1',
      quota: { remaining: 49_958 },
    });
  });

  test.each([
    [502, '<html>Bad gateway</html>'],
    [200, '<html>Welcome</html>'],
    [404, '{"message":"no route"}'],
    [404, '{"detail":"no route"}'],
  ])('with status %i and a body that is not of the service has a code of its own', async (status, body) => {
    const client = await clientOf([{ status, body }]);
    expect(await failureOf(client.logo('AAPL'))).toMatchObject({ code: 'answer_unreadable', status });
  });

  test('rejects with the reason of the caller when the caller aborts it, and ends its request', async () => {
    const client = await clientOf([{ status: 200, isSilent: true }]);
    const controller = new AbortController();
    const call = failureOf(client.brand('AAPL', { signal: controller.signal }));
    await expect.poll(() => server.requests.length).toBe(1);
    const reason = new Error('not needed');
    controller.abort(reason);
    expect(await call).toBe(reason);
    await expect.poll(() => server.requests[0]?.hasEnded).toBe(true);
  });

  test('rejects with the reason of a signal that is aborted already, although the record is in memory', async () => {
    const client = await clientOf([FOUND]);
    await client.logo('AAPL');
    expect((await failureOf(client.logo('AAPL', { signal: AbortSignal.abort() }))).name).toBe('AbortError');
  });

  test('aborted while it waits for a retry makes no further call', async () => {
    const client = await clientOf([busy('5')]);
    const controller = new AbortController();
    const call = failureOf(client.usage({ signal: controller.signal }));
    await expect.poll(() => server.requests[0]?.hasEnded).toBe(true);
    controller.abort();
    expect((await call).name).toBe('AbortError');
    expect(server.requests.length).toBe(1);
  });

  test('without an answer in time ends as timed out', async () => {
    const client = await clientOf([{ status: 200, isSilent: true }], { timeoutMs: 50 });
    expect(await failureOf(client.brand('AAPL'))).toMatchObject({ code: 'timed_out', status: undefined });
    await expect.poll(() => server.requests[0]?.hasEnded).toBe(true);
  });

  test('without a server says so, and neither it nor its causes name the token', async () => {
    const client = await clientOf([FOUND]);
    await server.stop();
    const error = await failureOf(client.brand('AAPL'));
    expect(error.code).toBe('network_failed');
    expect(`${error.stack} ${JSON.stringify(error)} ${error.cause}`).not.toContain(TOKEN);
  });
});

test('a search asks for what was typed, and is never kept', async () => {
  const body = { companies: [{ identifier: 'FIG', name: 'Figma' }] };
  const client = await clientOf([{ status: 200, headers: HEADERS, body }]);
  expect((await client.search('fig & m', { limit: 5 })).data).toEqual(body);
  await client.search('fig & m');
  expect(server.requests.map(({ path, query }) => [path, query.get('q'), query.get('limit')])).toEqual([
    ['/v1/search', 'fig & m', '5'],
    ['/v1/search', 'fig & m', null],
  ]);
});

test('usage asks for the given month, and is never kept', async () => {
  const client = await clientOf([{ status: 200, headers: HEADERS, body: { month: '2026-10' } }]);
  expect((await client.usage({ month: '2026-10' })).data).toEqual({ month: '2026-10' });
  await client.usage();
  expect(server.requests.map(({ query }) => query.get('month'))).toEqual(['2026-10', null]);
});
