import { METHODS } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { exchange, oddRequests, unreadableRequests } from '@brand-data/testing/odd-requests';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPublicApi } from './public-api.ts';

/**
 * Compares the public API's answers with answers.http, byte for byte. The test masks only the parts that differ between runs: the
 * date, the request id, and the length of a compressed body. It shows bodies without compression.
 */

const api = createPublicApi();
let port: number;

beforeAll(async () => {
  port = await api.listen();
});
afterAll(api.close);

const LAST_REQUEST = 'GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

/** Returns the bytes of the first answer: those before the answer to a second request on the same connection. */
async function answerTo(request: string): Promise<Buffer> {
  const all = await exchange(port, `${request}${LAST_REQUEST}`);
  const last = all.lastIndexOf('HTTP/1.1 404 Not Found');
  return last > 0 ? all.subarray(0, last) : all;
}

function bodyOf(head: string, bytes: Buffer): string {
  if (bytes.length === 0) return '';
  if (head.includes('\r\ncontent-encoding: gzip')) return gunzipSync(bytes).toString();
  if (head.includes('\r\ncontent-encoding: br')) return brotliDecompressSync(bytes).toString();
  return bytes.toString();
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

function shown(answer: Buffer): string {
  if (answer.indexOf(CONTINUE) === 0)
    return `HTTP/1.1 100 Continue\n${shown(answer.subarray(CONTINUE.length))}`;
  const end = answer.indexOf('\r\n\r\n');
  if (end < 0) return '(the connection is closed)';
  const head = answer.subarray(0, end).toString('latin1');
  const body = bodyOf(head, answer.subarray(end + 4));
  const lines = head.replace(/(?<=\r\ndate: ).*/i, '<date>').replace(/(?<=\r\nx-request-id: ).*/i, '<id>');
  const length = head.includes('\r\ncontent-encoding: ') ? '<compressed>' : '$&';
  const fixed = lines.replace(/(?<=\r\ncontent-length: )\d+/i, length).replaceAll('\r\n', '\n');
  return `${fixed}\n\n${body.replace(/(?<="request_id":")[^"]*/, '<id>')}`;
}

interface Case {
  method?: string;
  headers?: Record<string, string>;
  /** The request's body. Its length becomes Content-Length. */
  body?: string;
  version?: string;
}

const get = (target: string, { method = 'GET', headers = {}, body = '', version = '1.1' }: Case = {}) => {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`];
  const lines = Object.entries({ Host: 'x', ...headers }).map(([name, value]) => `${name}: ${value}`);
  return `${[`${method} ${target} HTTP/${version}`, ...lines, ...length].join('\r\n')}\r\n\r\n${body}`;
};
const both = (segment: string, query = '?token=good', more: Case = {}) => [
  get(`/v1/brands/${segment}${query}`, more),
  get(`/api/logos/${segment}/info${query}`, more),
];
/** Decodes one character from each byte, as Node decodes URLs and headers. */
const utf8 = (text: string) => Buffer.from(text).toString('latin1');

const ETAG = '"ZYvNTS7yHdJsF0--GoV-8G87aNt"';
const ROUTES = [
  '/v1/brands/Acme',
  '/api/logos/Acme/info',
  '/api/logos/Acme',
  '/v1/search',
  '/v1/usage',
  '/openapi.json',
  '/docs/errors',
];
const OTHER_PATHS = [
  '//',
  '/v1',
  '/v1/brands',
  '/v1/brands/Acme/',
  '/v1/brands/A/B',
  '//v1/brands/Acme',
  '/v1//brands/Acme',
  '/V1/brands/Acme',
  '/v1/Brands/Acme',
  '/v1/brands',
  '/v2/brands/Acme',
  '/%761/brands/Acme',
  '/v1%2Fbrands/Acme',
  '/api/logos/Acme/',
  '/api/logos/Acme/info/',
  '/api/logos/Acme/infos',
  '/api/logos/A/B/info',
  '/api/logos/Acme%2Finfo',
  '/v1/usage/',
  '/v1/usage/x',
  '/docs/errors/',
  '/docs',
  '/nowhere/%',
  '/%',
  '/%2F',
  '/v1/brands/%/',
  '/v1/brands/Acme;x=1/y',
  '/healthz',
  '/metrics',
  '/*',
  '/v1/brands/Acme/info',
];

const bytesOf = (requests: readonly [bytes: string, ...rest: unknown[]][]) =>
  requests.map(([bytes]) => bytes);

const CASES: Record<string, string[]> = {
  'a record': [
    ...both('Acme'),
    ...both('Deutsche%20Bank'),
    ...both('Nestl%C3%A9'),
    ...both('Acme', '?token=new'),
    ...both('Acme', '?token=rated'),
  ],
  'a record in each encoding': [
    'gzip',
    'br',
    'gzip, br',
    'identity',
    'br;q=0, gzip;q=0.5',
    '*',
    'zstd',
  ].flatMap((encoding) => both('Acme', '?token=good', { headers: { 'Accept-Encoding': encoding } })),
  'a record that the caller has': [
    ...[ETAG, `W/${ETAG}`, `"x", ${ETAG}`, '*', '"x"'].map((tag) =>
      get('/v1/brands/Acme?token=good', { headers: { 'If-None-Match': tag } }),
    ),
    get('/v1/brands/Acme?token=good', { method: 'HEAD', headers: { 'If-None-Match': ETAG } }),
    get('/v1/brands/Acme?token=good', { headers: { 'If-None-Match': ETAG, 'Accept-Encoding': 'gzip' } }),
  ],
  'the age and the sources of a record': [
    ...both('Priced'),
    ...both('Priced', '?token=good', { method: 'HEAD' }),
    ...both('Priced', '?token=good', { headers: { 'If-None-Match': '*' } }),
    // No 304: the body may have changed although the record has not.
    get('/v1/brands/Priced?token=good', {
      headers: { 'If-Modified-Since': 'Thu, 19 Nov 2026 08:30:00 GMT' },
    }),
    get('/api/logos/Priced?token=good'),
  ],
  HEAD: [
    ...both('Acme', '?token=good', { method: 'HEAD' }),
    ...both('Acme', '?token=good', { method: 'HEAD', headers: { 'Accept-Encoding': 'gzip' } }),
    ...both('No%20Such', '?token=good', { method: 'HEAD' }),
    ...both('Acme', '', { method: 'HEAD' }),
    ...['/v1/usage?token=good', '/docs/errors', '/nowhere'].map((path) => get(path, { method: 'HEAD' })),
  ],
  'data in the identifier': [
    'BRK%2FB',
    'BRK%2fB',
    'a%252Fb',
    'a%3Fb',
    'a%23b',
    'a+b',
    'a;b',
    'a:b',
    'a@b',
    "O'Brien",
    '%26%3D%24%2C%40',
    '.',
    '..',
    '%2E%2E',
    '*',
    '%2A',
    'a#b',
    '%25',
    '%2541',
    ':identifier',
    utf8('Nestlé'),
    '%F0%9F%98%80',
    '%20',
  ].flatMap((segment) => both(segment)),
  'an identifier that is not valid, with a bad and with a good token': [
    '',
    '%',
    '%zz',
    '%E0%A4%A',
    '%C3',
    '%00',
    'a%0Ab',
    '%7F',
    '%C2%85',
    'a%',
  ].flatMap((segment) => [...both(segment, '?token=bad'), ...both(segment), ...both(segment, '')]),
  'the longest identifier, and longer ones': [
    'x'.repeat(256),
    'x'.repeat(257),
    '%F0%9F%98%80'.repeat(256),
    '%F0%9F%98%80'.repeat(257),
    '%2F'.repeat(256),
    '%'.repeat(257),
    'x'.repeat(4_000),
  ].flatMap((segment) => [...both(segment), ...both(segment, '?token=bad').slice(0, 1)]),
  'the token': [
    ...both('Acme', ''),
    ...both('Acme', '?'),
    ...both('Acme', '?token'),
    ...both('Acme', '?token='),
    'bad',
    'revoked',
    'expired',
    'closed',
    'untried',
    'good&token=good',
    'good&token=bad',
    'goo%64',
    'good&x=1',
    '%',
    'good%',
    'good;x=1',
    'good#x',
    'good?x=1',
    'good+',
  ]
    .flatMap((given) => (given.startsWith('GET') ? [given] : both('Acme', `?token=${given}`).slice(0, 1)))
    .concat(
      get('/v1/brands/Acme?x=1&token=good'),
      get('/v1/brands/Acme?TOKEN=good'),
      get('/v1/brands/Acme?to%6Ben=good'),
      get('/v1/brands/Acme', { headers: { Authorization: 'Bearer good' } }),
      get('/v1/brands/Acme', { headers: { 'X-Token': 'good', Cookie: 'token=good' } }),
      get('/v1/brands/Acme', {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'token=good',
      }),
    ),
  'the kind of the identifier': [
    ...both('Acme', '?token=good&kind=ticker'),
    ...both('No%20Such', '?token=good&kind=isin'),
    ...['', 'Ticker', 'ticker,name', 'name&kind=name'].map((kind) =>
      get(`/v1/brands/Acme?token=good&kind=${kind}`),
    ),
    get('/v1/brands/Acme?token=bad&kind=no'),
    get('/v1/brands/%00?token=good&kind=no'),
  ],
  'the way to an image': [
    ...['', '&theme=dark&size=64&format=png', '&size=32&kind=name', '&fallback=monogram'].map((more) =>
      get(`/api/logos/Acme?token=good${more}`),
    ),
    get('/api/logos/Acme?token=good', { method: 'HEAD' }),
    get('/api/logos/Acme?token=free', { headers: { 'If-None-Match': '*', 'Accept-Encoding': 'br' } }),
    get('/api/logos/Acme?token=listed', { headers: { Referer: 'https://app.example.com/page' } }),
    get('/api/logos/Acme?token=listed'),
    get('/api/logos/No%20Such?token=good'),
    get('/api/logos/No%20Such?token=good&fallback=404'),
    get('/api/logos/No%20Such?token=good&fallback=monogram'),
    get('/api/logos/no%20such?token=listed&fallback=monogram&size=64', {
      headers: { Referer: 'https://app.example.com/page' },
    }),
    get('/api/logos/No%20Such?token=spent&fallback=monogram'),
    ...['size=63', 'size=', 'theme=auto', 'format=jpg', 'fallback=svg', 'size=32&size=32', 'kind=no'].map(
      (query) => get(`/api/logos/Acme?token=good&${query}`),
    ),
  ],
  'plan and origin': [
    ...both('Acme', '?token=free'),
    ...both('%', '?token=free'),
    ...[
      { Origin: 'https://app.example.com' },
      { Origin: 'https://APP.example.com' },
      { Referer: 'https://app.example.com/page' },
      { Origin: 'https://evil.example', Referer: 'https://app.example.com/' },
      {},
    ].map((headers) => get('/v1/brands/Acme?token=listed', { headers: headers as Record<string, string> })),
    get('/v1/brands/No%20Such?token=listed', { headers: { Origin: 'https://app.example.com' } }),
    get('/v1/usage?token=listed'),
  ],
  'a call that is answered without a record': [
    ...both('No%20Such%20%22Company%22'),
    ...both('No%20Such%20Apple'),
    ...both('No%20Such%20Investor'),
    ...both('No%20Such%20Fund'),
    ...both('pk_No%20Such'),
    ...both('No%20Such%2541.%7A%7A'),
    ...['spent', 'fast', 'wide', 'crowded', 'no-permit', 'not-recorded', 'accounts-away', 'defect'].flatMap(
      (token) => both('Acme', `?token=${token}`),
    ),
    ...both('catalog-away'),
    ...both('No%20Such', '?token=not-recorded'),
  ],
  OPTIONS: [...ROUTES, '/v1/brands/%', '/nowhere', '*'].flatMap((path) => [
    get(path, { method: 'OPTIONS' }),
    get(path, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://example.com',
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization',
      },
    }),
  ]),
  'another method': [
    ...METHODS.filter((method) => !['GET', 'HEAD', 'OPTIONS', 'CONNECT'].includes(method)).flatMap((method) =>
      ['/v1/brands/Acme?token=good', '/nowhere'].map((path) => get(path, { method })),
    ),
    ...ROUTES.flatMap((path) =>
      ['POST', 'TRACE'].map((method) =>
        get(path, { method, headers: { 'Content-Type': 'application/json' }, body: '{' }),
      ),
    ),
    get('/v1/brands/Acme', { method: 'OPTIONS', headers: { 'Content-Type': 'application/json' }, body: '{' }),
    get('/nowhere', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{' }),
    get('/nowhere', { method: 'POST', headers: { 'Content-Type': 'no type at all' }, body: '{' }),
    get('/nowhere', { method: 'POST', body: '{' }),
    get('x:443', { method: 'CONNECT' }),
  ],
  'another path': [
    ...OTHER_PATHS.map((path) => get(`${path}?token=good`)),
    get('/nowhere?token=bad'),
    get('http://x/v1/brands/Acme?token=good'),
    get('http://x'),
    get('HTTPS://x:443/v1/brands/No%20Such%2FCompany?token=good'),
    get('http://x?token=good'),
    get('ftp://x/v1/brands/Acme?token=good'),
  ],
  search: [
    ...[
      '?q=acme&token=good',
      '?q=acme&limit=2&token=free',
      '?q=%C3%A9&token=good',
      '?q=&token=good',
      '?token=good',
      '?q=a&q=b&token=good',
      '?q=%0A&token=good',
      '?q=a&limit=0&token=good',
      '?q=a&limit=2&limit=3&token=good',
      '?q=a&token=listed',
      '?q=a&token=fast',
      '?q=a&token=crowded',
      '?q=catalog-away&token=good',
      '?q=a&token=bad',
      '?q=a',
    ].map((query) => get(`/v1/search${query}`)),
    ...[
      { headers: { 'Accept-Encoding': 'br' } },
      { headers: { 'If-None-Match': '*' } },
      { method: 'HEAD' },
    ].map((more) => get('/v1/search?q=a&token=good', more)),
    get('/v1/search?q=a&token=listed', { headers: { Origin: 'https://app.example.com' } }),
  ],
  usage: [
    '?token=good',
    '?token=good&month=2026-11',
    '?token=good&month=2026-10',
    '?token=good&month=2024-10',
    '?token=good&month=nonsense',
    '?token=good&month=2026-11&month=2026-10',
    '?token=bad',
    '',
    '?token=free',
  ].map((query) => get(`/v1/usage${query}`)),
  'the page of errors': ['/docs/errors', '/docs/errors?token=good', '/docs/errors?%'].map((path) =>
    get(path),
  ),
  'the pages for people': ['/', '/playground', '/elements.js'].flatMap((path) => [
    get(path),
    get(path, { method: 'HEAD', headers: { 'Accept-Encoding': 'br' } }),
    get(path, { headers: { 'If-None-Match': '*' } }),
    get(path, { method: 'POST' }),
  ]),
  'HTTP as old and odd clients speak it': bytesOf(oddRequests('/v1/brands/Acme?token=good')),
  'what cannot be read as HTTP': bytesOf(unreadableRequests('/v1/brands/Acme?token=good')),
};

/** Replaces a long run of one character by the number of its characters. */
const short = (text: string) =>
  text.replace(
    /((?:%\w\w)+?|[^\n])\1{39,}/g,
    (run, unit: string) => `<${run.length / unit.length} × ${unit}>`,
  );

/** For each answer, the first request that got it. */
const firsts = new Map<string, string>();

function entryOf(request: string, answer: Buffer): string {
  const asked = request
    .trimEnd()
    .replaceAll('\r\n', '\n')
    .replace(/\nHost: x(?=\n|$)/, '');
  const text = short(shown(answer).trimEnd());
  const first = firsts.get(text);
  if (!first) firsts.set(text, short(asked));
  const said = first ? `(the same as to ${JSON.stringify(first)})` : text;
  return `${short(asked.replace(/^/gm, '> '))}\n${said}\n`;
}

async function report(title: string, requests: readonly string[]): Promise<string> {
  api.permits.length = 0;
  const answers = await Promise.all(requests.map(answerTo));
  const entries = answers.map((answer, index) => entryOf(requests[index] ?? '', answer));
  const counts = [...new Set(api.permits)].sort().map((outcome) => {
    const count = api.permits.filter((other) => other === outcome).length;
    return `${count} ${outcome}`;
  });
  return `# ${title}\n(permits: ${counts.join('; ') || 'none'})\n\n${entries.join('\n')}`;
}

test('every answer is the same as in answers.http, byte for byte', async () => {
  const sections: string[] = [];
  for (const [title, requests] of Object.entries(CASES)) sections.push(await report(title, requests));
  api.readiness.started = false;
  const stopping = ['/v1/brands/Acme?token=good', '/nowhere', '/docs/errors'].map((path) => get(path));
  sections.push(await report('while the gateway stops', stopping));
  api.readiness.started = true;
  const common =
    /access-control-allow-origin: .*\naccess-control-expose-headers: .*\nx-content-type-options: .*\nx-request-id: <id>/gi;
  const [all, ...others] = new Set(sections.join('\n').match(common));
  expect(others.map((text) => text.toLowerCase())).toEqual(others.map(() => all?.toLowerCase()));
  const written = `${all}\n\n${sections.join('\n').replace(common, '<the four above>')}`;
  await expect(written).toMatchFileSnapshot('./answers.http');
});
