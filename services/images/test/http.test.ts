import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { closeHttpServer, createLogger, Fault } from '@brand-data/runtime';
import { chooseEncoding, compress } from '@brand-data/runtime/http';
import fc from 'fast-check';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createImageServer } from '../src/http/server.ts';
import type { Format } from '../src/image/image.ts';
import type { Pictures } from '../src/pictures/pictures.ts';

const HASH = 'a'.repeat(32);
const RASTER = 'b'.repeat(32);
const ABSENT = '0'.repeat(32);
const BODIES: Record<string, string> = { svg: '<svg xmlns="http://www.w3.org/2000/svg"/>' };

const pictures: Pick<Pictures, 'find'> = {
  find: ({ source, format }, { acceptEncoding }) => {
    const id = source.kind === 'monogram' ? source.path : source.id.split('/')[1];
    if (id === ABSENT) return 'no_image';
    if (id === RASTER && format === 'svg') return 'no_svg';
    if (id === 'd'.repeat(32)) throw new TypeError('a defect that nobody may read');
    if (id === 'e'.repeat(32)) throw new Fault('unavailable', 'mongodb://inside does not answer');
    if (id === 'c'.repeat(32)) throw new Fault('failed_precondition', 'too much memory');
    if (id === 'f'.repeat(32)) return Promise.reject(new Fault('resource_exhausted', 'too much'));
    const answered: Format = format ?? 'webp';
    const encoding = answered === 'svg' ? chooseEncoding(acceptEncoding) : 'identity';
    const text = Buffer.from(BODIES[answered] ?? answered);
    const picture = { format: answered, tag: `tag-${answered}`, encoding };
    if (encoding === 'identity') return { ...picture, body: text };
    return compress(text, encoding).then((body) => ({ ...picture, body }));
  },
};

const metrics = new Registry();
const readiness = { started: true };
const app = createImageServer(
  { log: createLogger('images', 'silent'), metrics, tracer: undefined, readiness },
  pictures,
  [],
);
let url: string;
let port: number;

beforeAll(async () => {
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  port = Number(new URL(url).port);
});
afterAll(() => closeHttpServer(app));

function expectCommon(headers: Headers): void {
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
}

async function expectProblem(response: Response, status: number, code: string): Promise<string> {
  expect(response.status).toBe(status);
  expectCommon(response.headers);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  const problem = (await response.json()) as { detail: string };
  const request_id = response.headers.get('x-request-id');
  expect(problem).toMatchObject({ status, code, request_id, type: `/images/errors#${code}` });
  return problem.detail;
}

test.each([
  ['.svg', 'image/svg+xml', 'Accept-Encoding'],
  ['.png?size=64', 'image/png', null],
  ['.svg?format=avif&theme=dark', 'image/avif', null],
  ['?format=webp', 'image/webp', null],
  ['', 'image/webp', 'Accept'],
])('%s is answered as %s for ever, to pages of every origin', async (rest, type, vary) => {
  const headers = { 'accept-encoding': 'identity' };
  const response = await fetch(`${url}/images/logos/${HASH}${rest}`, { headers });
  expect(response.status).toBe(200);
  expectCommon(response.headers);
  expect(response.headers.get('content-type')).toBe(type);
  expect(response.headers.get('content-encoding')).toBeNull();
  expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(response.headers.get('vary')).toBe(vary);
  expect(response.headers.get('etag')).toMatch(/^"tag-\w+"$/);
  expect(response.headers.get('content-security-policy')).toBe(
    type === 'image/svg+xml' ? "default-src 'none'; style-src 'unsafe-inline'; sandbox" : null,
  );
  const body = await response.text();
  expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(body)));

  const head = await fetch(response.url, { method: 'HEAD', headers });
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(ofPicture(head)).toEqual(ofPicture(response));
});

function ofPicture({ headers }: Response): [string, string][] {
  return [...headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name));
}

test.each([
  ['br', 'br', '"tag-svg-br"'],
  ['gzip, deflate', 'gzip', '"tag-svg-gzip"'],
  ['br;q=0.1, gzip', 'gzip', '"tag-svg-gzip"'],
  ['identity', null, '"tag-svg"'],
  ['br;q=0, gzip;q=0', null, '"tag-svg"'],
  ['zstd', null, '"tag-svg"'],
])('for Accept-Encoding %j an SVG comes in %s, with the ETag %s', async (accept, encoding, etag) => {
  const path = `${url}/images/logos/${HASH}.svg`;
  const headers = { 'accept-encoding': accept };
  const response = await fetch(path, { headers });
  expect(response.headers.get('content-encoding')).toBe(encoding);
  expect(response.headers.get('etag')).toBe(etag);
  expect(response.headers.get('vary')).toBe('Accept-Encoding');
  expect(await response.text()).toBe(BODIES.svg);
  const head = await fetch(path, { method: 'HEAD', headers });
  expect(ofPicture(head)).toEqual(ofPicture(response));
  // A cache may revalidate with the ETag of any encoding. It learns the one of the encoding that it asked for.
  for (const known of ['"tag-svg"', '"tag-svg-br"', '"tag-svg-gzip"']) {
    const fresh = await fetch(path, { headers: { ...headers, 'if-none-match': known } });
    expect([fresh.status, fresh.headers.get('etag'), fresh.headers.get('vary')]).toEqual([
      304,
      etag,
      'Accept-Encoding',
    ]);
    expect(fresh.headers.get('content-encoding')).toBeNull();
  }
  const raster = await fetch(`${url}/images/logos/${HASH}.png`, { headers });
  expect(raster.headers.get('content-encoding')).toBeNull();
  expect(raster.headers.get('vary')).toBeNull();
  expect(raster.headers.get('etag')).toBe('"tag-png"');
});

test.each([
  ['"tag-svg"', 304],
  ['W/"tag-svg"', 304],
  ['"other", "tag-svg"', 304],
  ['*', 304],
  ['"tag-png"', 200],
  ['tag-svg', 200],
  ['', 200],
])('If-None-Match: %s gets %i', async (ifNoneMatch, status) => {
  for (const method of ['GET', 'HEAD']) {
    const response = await fetch(`${url}/images/logos/${HASH}.svg`, {
      method,
      headers: { 'if-none-match': ifNoneMatch, 'accept-encoding': 'identity' },
    });
    expect(response.status).toBe(status);
    expectCommon(response.headers);
    expect(response.headers.get('etag')).toBe('"tag-svg"');
    expect(response.headers.get('cache-control')).toContain('immutable');
    if (status === 304) expect(await response.text()).toBe('');
  }
});

test('a range is ignored: the whole picture is answered', async () => {
  const response = await fetch(`${url}/images/logos/${HASH}.svg`, { headers: { range: 'bytes=0-3' } });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe(BODIES.svg);
});

test('a query that is not allowed is 400, with the allowed values', async () => {
  const detail = await expectProblem(
    await fetch(`${url}/images/logos/${HASH}.svg?size=100`),
    400,
    'parameters_invalid',
  );
  for (const value of ['32|64|128|256|512', 'svg|png|webp|avif', 'light|dark'])
    expect(detail).toContain(value);
  const noSvg = await fetch(`${url}/images/logos/${RASTER}.svg`);
  expect(await expectProblem(noSvg, 400, 'parameters_invalid')).toContain('png, webp and avif');
});

test('an unknown image is 404 and may be cached for a minute, and an unknown route is 404', async () => {
  const absent = await fetch(`${url}/images/logos/${ABSENT}.svg`);
  expect(absent.headers.get('cache-control')).toBe('public, max-age=60');
  await expectProblem(absent, 404, 'image_not_found');
  await expectProblem(await fetch(`${url}/images/logos/apple/big.svg`), 404, 'image_not_found');
  await expectProblem(await fetch(`${url}/v1/brands/AAPL?token=x`), 404, 'route_not_found');
});

test('what cannot be had now is 503 with Retry-After, a defect is 500, and neither says what happened inside', async () => {
  for (const [hash, status, retryAfter, code] of [
    ['d', 500, null, 'internal'],
    ['c', 503, '30', 'upstream_unavailable'],
    ['e', 503, '1', 'upstream_unavailable'],
    ['f', 503, '1', 'upstream_unavailable'],
  ] as const) {
    const response = await fetch(`${url}/images/logos/${hash.repeat(32)}.svg`);
    expect(response.headers.get('retry-after')).toBe(retryAfter);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await expectProblem(response, status, code)).not.toMatch(/defect that|inside|too much/);
  }
});

test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'QUERY', 'PROPFIND'])(
  '%s is 405, whatever the body',
  async (method) => {
    for (const body of [undefined, 'x'.repeat(100_000)]) {
      const response = await fetch(`${url}/images/logos/${HASH}.svg`, { method, ...(body ? { body } : {}) });
      expect(response.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
      await expectProblem(response, 405, 'method_not_allowed');
    }
  },
);

test.each(['/images/logos/HASH.svg', '/images/logos/HASH.png?size=64', '/images/errors', '/', '*'])(
  'a preflight of %s allows a fetch with any header, whatever the body',
  async (path) => {
    const before = await countsOf(204);
    for (const body of ['', 'x'.repeat(1_000)]) {
      const answer = await answerTo(
        `OPTIONS ${path.replace('HASH', HASH)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\norigin: https://page.example\r\n` +
          'access-control-request-method: GET\r\naccess-control-request-headers: if-none-match, x-own\r\n' +
          `content-type: a/b\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      const [status, ...headers] = (answer.split('\r\n\r\n')[0] ?? '').split('\r\n');
      expect(status).toBe('HTTP/1.1 204 No Content');
      for (const header of [
        'access-control-allow-origin: *',
        'access-control-allow-methods: GET, HEAD, OPTIONS',
        'access-control-allow-headers: if-none-match, x-own',
        'access-control-max-age: 86400',
      ])
        expect(headers).toContain(header);
    }
    expect(await countsOf(204)).toBe(before + 2);
  },
);

/** Returns how many answers of this status are counted. */
async function countsOf(status: number): Promise<number> {
  const [, count = '0'] =
    new RegExp(`images_http_requests_total\\{[^}]*status="${status}"[^}]*\\} (\\d+)`).exec(
      await metrics.metrics(),
    ) ?? [];
  return Number(count);
}

test('the page of errors explains every code', async () => {
  const page = await (await fetch(`${url}/images/errors`)).text();
  for (const code of ['parameters_invalid', 'image_not_found', 'upstream_unavailable', 'internal'])
    expect(page).toContain(`<h2 id="${code}">`);
});

/** Sends bytes on a new connection and returns the answer. */
async function answerTo(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  return text(socket);
}

async function statusLineOf(bytes: string): Promise<string> {
  return (await answerTo(bytes)).split('\r\n')[0] ?? '';
}

test('no URL, however malformed, is a 5xx, and every answer to one says that pages may read it', async () => {
  const start = fc.constantFrom(
    '/',
    '/images/',
    '/images/logos/',
    `/images/logos/${HASH}`,
    '/images/monograms/',
  );
  const printable = fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  });
  await fc.assert(
    fc.asyncProperty(start, printable, async (start, end) => {
      const line = await statusLineOf(`GET ${start}${end} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      expect(line).toMatch(/^HTTP\/1\.1 (200|400|404) /);
    }),
    { numRuns: 200 },
  );
});

test.each([
  ['nonsense\r\n\r\n', 400],
  ['GET /images HTTP/1.1\r\nhost: x\r\n: x\r\n\r\n', 400],
  [`GET /images/${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
  ['GET * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404],
  ['GET http://x/images/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 404],
])('%j is answered %i', async (bytes, status) => {
  expect(await statusLineOf(bytes.slice(0, 30_000))).toContain(` ${status} `);
});

test('while the service drains, answers close their connections', async () => {
  readiness.started = false;
  const response = await fetch(`${url}/images/logos/${HASH}.svg`);
  readiness.started = true;
  expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
});

test('requests are counted by kind, format and status, and timed, and no series grows with the URLs', async () => {
  await fetch(`${url}/images/banners/${HASH}.png?size=32`);
  const before = await metrics.metrics();
  expect(before).toMatch(/images_http_requests_total\{[^}]*kind="banner",format="png",status="200"[^}]*\} 1/);
  expect(before).not.toContain(HASH);
  const [, seconds] =
    /images_http_request_duration_seconds_sum\{[^}]*status="200"[^}]*\} (\S+)/.exec(before) ?? [];
  expect(Number(seconds)).toBeGreaterThan(0);
  for (let number = 0; number < 50; number++) await fetch(`${url}/images/banners/${HASH}.png?v=${number}`);
  await fetch(`${url}/images/exchanges/${ABSENT}.png`);
  const seriesOf = (exposition: string) =>
    exposition.split('\n').filter((line) => line.includes('_total{')).length;
  expect(seriesOf(await metrics.metrics())).toBeLessThanOrEqual(seriesOf(before) + 2);
});
