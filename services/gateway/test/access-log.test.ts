import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Logger } from '@brand-data/runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPublicApi } from './public-api.ts';

const lines: Record<string, unknown>[] = [];
/** A log whose own level suppresses everything. Its child has the level that the child asks for. */
const log = {
  info: () => {},
  warn: () => {},
  error: () => {},
  child: (_bindings: object, { level }: { level: string }) => ({
    info: (fields: object, msg: string) => level === 'info' && lines.push({ ...fields, msg }),
  }),
} as unknown as Logger;

const logged = createPublicApi({ log, accessLog: 'on' });
const unlogged = createPublicApi({ log });
let port: number;

beforeAll(async () => {
  port = await logged.listen();
});
afterAll(() => Promise.all([logged.close(), unlogged.close()]));
beforeEach(() => {
  lines.length = 0;
});

const BRANDS = '/v1/brands/Canary-Identifier';

test.each([
  ['GET', `${BRANDS}?token=good`, { route: 'brands', status: 200, keyId: 'key-1' }],
  ['HEAD', '/api/logos/Canary-Identifier/info?token=good', { route: 'logos', status: 200, keyId: 'key-1' }],
  [
    'GET',
    '/v1/brands/No%20Such%20Canary-Identifier?token=good',
    { route: 'brands', status: 404, keyId: 'key-1' },
  ],
  ['GET', `${BRANDS}?token=free`, { route: 'brands', status: 403, keyId: 'key-1' }],
  ['GET', `${BRANDS}?token=spent`, { route: 'brands', status: 429, keyId: 'key-1' }],
  ['GET', `${BRANDS}?token=not-recorded`, { route: 'brands', status: 503, keyId: 'key-1' }],
  ['GET', `${BRANDS}?token=defect`, { route: 'brands', status: 500 }],
  ['GET', `${BRANDS}?token=canary-token`, { route: 'brands', status: 401 }],
  ['GET', `${BRANDS}?token=good&token=canary-token`, { route: 'brands', status: 401 }],
  ['GET', `${BRANDS}?other=canary-query`, { route: 'brands', status: 401 }],
  ['GET', '/v1/search?token=good&q=canary-text', { route: 'search', status: 200, keyId: 'key-1' }],
  ['GET', '/v1/usage?token=good', { route: 'usage', status: 200, keyId: 'key-1' }],
  ['GET', '/v1/usage?token=canary-token', { route: 'usage', status: 401 }],
  ['OPTIONS', `${BRANDS}?token=canary-token`, { route: 'brands', status: 204 }],
  ['PUT', `${BRANDS}?token=canary-token`, { route: 'brands', status: 405 }],
  ['GET', '/canary-path?token=canary-token', { route: 'none', status: 404 }],
])('%s %s leaves one line, which shows nothing that the caller wrote', async (method, path, shown) => {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { referer: 'https://canary.example', 'user-agent': 'canary', origin: 'https://canary.example' },
  });
  const requestId = answer.headers.get('x-request-id');
  expect(lines).toEqual([
    { keyId: undefined, method, ...shown, requestId, durationMs: expect.any(Number), msg: 'answered' },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/canary/i);
});

test('bytes that are not HTTP leave one line without these bytes', async () => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /canary HTTP/9.9\r\n\r\n');
  const [, requestId] = /^X-Request-Id: (.*)\r$/im.exec(await text(socket)) ?? [];
  expect(lines).toEqual([{ route: 'none', status: 400, requestId, msg: 'answered' }]);
});

test('without the setting there is no line', async () => {
  await unlogged.app.inject({ url: `${BRANDS}?token=good` });
  expect(lines).toEqual([]);
});

describe('the client of a line', () => {
  const trustedProxies = ['127.0.0.1'];
  async function clientsIn(accessLog: 'hash' | 'address', addresses: string[]): Promise<unknown[]> {
    const api = createPublicApi({ log, accessLog, trustedProxies });
    for (const address of addresses)
      await api.app.inject({ url: `${BRANDS}?token=good`, headers: { 'x-forwarded-for': address } });
    await api.close();
    return lines.splice(0).map(({ client }) => client);
  }
  const PLACES = [
    '192.0.2.7',
    '::ffff:192.0.2.7',
    '192.0.2.7:4711',
    '2001:db8::7',
    '[2001:db8::7]:443',
    'canary',
  ];

  test('is its address with the setting "address", and never another text', async () => {
    expect(await clientsIn('address', PLACES)).toEqual([
      ...Array(3).fill('192.0.2.7'),
      ...Array(2).fill('2001:db8::7'),
      'unknown',
    ]);
  });

  test('is with the setting "hash" the same for one client, another for each, and another after a restart', async () => {
    const [first, ...others] = await clientsIn('hash', [...PLACES, '2001:db8::8', '192.0.2.8']);
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    const [ipv6] = others.slice(2);
    expect(others).toEqual([first, first, ipv6, ipv6, expect.any(String), ipv6, expect.any(String)]);
    expect(new Set([first, ...others]).size).toBe(4);
    expect(await clientsIn('hash', PLACES)).not.toContain(first);
  });
});
