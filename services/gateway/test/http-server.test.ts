import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { SLOW, sendSlowly, statusesIn } from '@brand-data/testing/odd-requests';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPublicApi } from './public-api.ts';

const api = createPublicApi();
const { app } = api;
let port: number;

beforeAll(async () => {
  port = await api.listen();
});
afterAll(api.close);

function expectProblem(status: number, headers: Headers, body: string, code: string): void {
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-expose-headers')).toContain('X-Request-Id');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('content-type')).toBe('application/problem+json');
  const request_id = headers.get('x-request-id');
  expect(JSON.parse(body)).toMatchObject({ status, code, request_id, type: `/docs/errors#${code}` });
}

describe('a body is not read', () => {
  const bodies: [string, string, string | undefined][] = [
    ['broken JSON', '{', 'application/json'],
    ['2 MB of JSON', `"${'x'.repeat(2_000_000)}"`, 'application/json'],
    ['2 MB of anything', 'x'.repeat(2_000_000), 'application/octet-stream'],
    ['a type that is none', 'x', 'no type at all'],
    ['no type', 'x', undefined],
  ];
  test.each(bodies)('%s to an unknown path is 404, to a route 405', async (_what, body, type) => {
    for (const [path, status, code] of [
      ['/nowhere', 404, 'route_not_found'],
      ['/v1/brands/AAPL', 405, 'method_not_allowed'],
    ] as const) {
      for (const method of ['POST', 'PUT', 'DELETE', 'QUERY']) {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          method,
          body: Buffer.from(body),
          headers: type === undefined ? {} : { 'content-type': type },
        });
        expect(response.status).toBe(status);
        expectProblem(status, response.headers, await response.text(), code);
      }
    }
  });
});

/** Parses the answer that the server sends on a connection before it closes the connection. */
async function answerTo(bytes: string) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]));
  expect(headers.get('content-length')).toBe(String(Buffer.byteLength(body)));
  return { status: Number(statusLine.split(' ')[1]), headers, body };
}

describe('bytes that are not HTTP get an answer like all errors', () => {
  test.each([
    ['is not HTTP', 400, 'nonsense\r\n\r\n'],
    ['has a header without a name', 400, 'GET / HTTP/1.1\r\nhost: x\r\n: x\r\n\r\n'],
    ['has headers that are too long', 431, `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`],
    ['has a URL that is too long', 431, `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
  ])('when it %s: %i', async (_what, status, bytes) => {
    const answer = await answerTo(bytes);
    expect(answer.status).toBe(status);
    expectProblem(status, answer.headers, answer.body, 'request_invalid');
  });

  test('a request that does not arrive in time: 408', async () => {
    // Node checks its connections only every 30 seconds. Therefore the test emits Node's error itself.
    app.server.once('connection', (socket) => {
      app.server.emit('clientError', { code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket);
    });
    const answer = await answerTo('GET / HTTP/1.1\r\n');
    expect(answer.status).toBe(408);
    expectProblem(408, answer.headers, answer.body, 'request_invalid');
  });
});

describe('a connection gets the answers to its requests, in order, and no others', () => {
  test('thousands of requests at once', async () => {
    const requests = Array.from(
      { length: 3_000 },
      (_, number) => `GET /v1/brands/A${number} HTTP/1.1\r\nHost: x\r\n`,
    );
    const socket = connect(port, '127.0.0.1');
    socket.end(`${requests.join('\r\n')}Connection: close\r\n\r\n`);
    expect(statusesIn(await text(socket))).toEqual(requests.map(() => 401));
  });

  test.each([
    ['nonsense', 'nonsense\r\n\r\n'],
    ['a request after the last', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
  ])('after a request whose answer is not ready comes %s', async (_, more) => {
    const held = createPublicApi();
    const socket = connect(await held.listen(), '127.0.0.1');
    socket.write(`GET /v1/brands/Held?token=good HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n${more}`);
    await expect.poll(() => held.lookedUp).toContain('Held');
    held.release();
    expect(statusesIn(await text(socket))).toEqual([200]);
    await held.close();
  });

  test.concurrent.each(SLOW)('%s that come slowly are cut within 12 s', async (_, start, expected) => {
    const began = performance.now();
    expect(await sendSlowly(port, start)).toEqual(expected);
    expect(performance.now() - began).toBeGreaterThan(9_000);
  });
});

describe('a caller that closes its sending side after its requests', () => {
  test.each([1, 3])('gets the answers, however late they are: %i at once', async (count) => {
    const held = createPublicApi();
    const socket = connect({ port: await held.listen(), host: '127.0.0.1', allowHalfOpen: true });
    socket.end('GET /v1/brands/Held?token=good HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count));
    await expect.poll(() => held.lookedUp).toContain('Held');
    // The server has read the end of the requests once it answers another connection.
    await fetch(`http://127.0.0.1:${socket.remotePort}/docs`);
    held.release();
    expect(statusesIn(await text(socket))).toEqual(Array(count).fill(200));
    expect(held.permits).toEqual(Array(count).fill('used by key-1, brands, 200'));
    await held.close();
  });

  test('without any request, is closed at once', async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.end();
    expect(await text(socket)).toBe('');
  });
});

test('a call whose caller is gone before its usage is recorded is not billed, and the metrics count it and its time', async () => {
  const metric = async (name: string) => {
    const metrics = await api.metrics.getMetricsAsJSON();
    const values = metrics.flatMap((each) =>
      each.values.map((value) => ({ metricName: each.name, ...value })),
    );
    return values.find(
      ({ metricName, labels }) => metricName === name && labels.route === 'brands' && labels.status === 400,
    )?.value;
  };
  const counted = () => metric('gateway_http_requests_total');
  const closed = once(app.server, 'connection').then(
    ([server]) => new Promise((resolve) => server.once('close', resolve)),
  );
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /v1/brands/Held?token=good HTTP/1.1\r\nHost: x\r\n\r\n');
  await expect.poll(() => api.lookedUp).toContain('Held');
  const held = performance.now();
  socket.resetAndDestroy();
  await closed;
  expect(await counted()).toBeUndefined();
  const heldMs = performance.now() - held;
  api.release();
  await expect.poll(counted).toBe(1);
  expect(await metric('gateway_http_request_duration_seconds_sum')).toBeGreaterThan(heldMs / 1_000);
  expect(api.permits).toEqual(['released']);
  expect(api.chargedCalls).toEqual({ answered: 0, unsure: 0 });
});
