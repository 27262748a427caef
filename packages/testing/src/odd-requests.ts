/** Requests as old, odd and hostile clients write them, and how a public HTTP server answers them. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';

/** Bytes, and the status of their answer. `usual`: that of a GET of the target. `closed`: the connection is closed instead. */
type OddRequest = [bytes: string, status: number | 'usual' | 'closed'];

const HOST = 'Host: x';
const request = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;

/** Requests that are valid HTTP, but that few clients send. */
export function oddRequests(target: string): OddRequest[] {
  const [path = ''] = target.split('?');
  return [
    [request(`GET ${target} HTTP/1.0`, HOST), 'usual'],
    [request(`GET ${target} HTTP/1.0`, HOST, 'Connection: keep-alive'), 'usual'],
    [request(`GET ${target} HTTP/1.1`, HOST, 'Connection: close'), 'usual'],
    [request(`GET ${target} HTTP/1.1`, HOST, 'Connection: close, Upgrade', 'Upgrade: websocket'), 'usual'],
    [request(`GET ${target} HTTP/1.1`, HOST, 'Expect: 100-continue'), 'usual'],
    [request(`GET ${target} HTTP/1.1`, HOST, 'Expect: nonsense'), 'usual'],
    [request(`GET ${target} HTTP/1.1`, HOST, 'X-Request-Id: mine', 'Request-Id: mine'), 'usual'],
    [request(`GET ${target} HTTP/1.1`), 400],
    [request(`GET ${target} HTTP/1.1`, HOST, 'host: y'), 400],
    [request(`GET ${target} HTTP/1.1`, 'Host:'), 'usual'],
    [request(`OPTIONS ${path} HTTP/1.1`), 400],
    [request('POST /nowhere HTTP/1.1'), 400],
  ];
}

/** The whole URL in the request line, a request for a tunnel, and methods of RTSP, which Node reads too. */
function oddTargets(target: string): OddRequest[] {
  return [
    [request(`GET http://x${target} HTTP/1.1`, HOST), 'usual'],
    [request('GET http://x/nowhere HTTP/1.1', HOST), 404],
    [request(`GET ftp://x${target} HTTP/1.1`, HOST), 404],
    [request('CONNECT x:443 HTTP/1.1', HOST), 'closed'],
    [request(`DESCRIBE ${target} RTSP/1.0`, HOST), 405],
    [request(`PLAY ${target}`), 405],
  ];
}

/** Bytes that cannot be read as HTTP. */
export function unreadableRequests(target: string): OddRequest[] {
  const [path = ''] = target.split('?');
  return [
    ['nonsense\r\n\r\n', 400],
    ['GET\r\n\r\n', 400],
    [request('GET /v1/brands/a b?token=good HTTP/1.1', HOST), 400],
    [request(`BREW ${path} HTTP/1.1`, HOST), 400],
    [request('GET / HTTP/1.1', 'host: x', ': x'), 400],
    [request('GET / HTTP/1.1', 'host: x', `x: ${'x'.repeat(20_000)}`), 431],
    [request(`GET /${'x'.repeat(20_000)} HTTP/1.1`, 'host: x'), 431],
    [request('POST / HTTP/1.1', HOST, 'Content-Length: 1', 'Content-Length: 2'), 400],
    [`${request('POST / HTTP/1.1', HOST, 'Content-Length: 1', 'Transfer-Encoding: chunked')}0\r\n\r\n`, 400],
    ...['xchunked', 'chunked;x', '"chunked"', 'identity', 'chunked, gzip', ''].map(
      (encoding): OddRequest => [
        request(`GET ${target} HTTP/1.1`, HOST, `Transfer-Encoding: ${encoding}`),
        400,
      ],
    ),
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ];
}

/** Requests that come so slowly that the server cuts them off, and the statuses that it answers before that. */
export const SLOW: [what: string, start: string, statuses: number[]][] = [
  ['headers', 'GET /nowhere HTTP/1.1\r\nHost: x\r\n', [408]],
  [
    'a body, which no answer waits for',
    'POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\nx',
    [404],
  ],
  [
    'a chunked body',
    'POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5000\r\nab',
    [404],
  ],
];
const SLOWLY_MS = 1_500;

/** Sends bytes to a server on this machine and returns all that it sends until it closes the connection. */
export async function exchange(port: number, bytes: string): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes, 'latin1');
  return buffer(socket);
}

/** Returns the statuses of the answers in these bytes, without 100 (Continue). */
export function statusesIn(answers: string): number[] {
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)]
    .map(([, status]) => Number(status))
    .filter((each) => each !== 100);
}

/** Sends the beginning of a request and then a byte now and then. Returns the statuses that it got until it was cut. */
export async function sendSlowly(port: number, start: string): Promise<number[]> {
  const socket = connect(port, '127.0.0.1');
  socket.write(start);
  const drip = setInterval(() => socket.writable && socket.write('x'), SLOWLY_MS);
  socket.on('error', () => {});
  const answers = await buffer(socket).catch(() => Buffer.of());
  clearInterval(drip);
  return statusesIn(answers.toString('latin1'));
}

/**
 * Expects that the server at this port answers each odd request with its status, that pages may read the answer, and that errors
 * are problems with a request id.
 *
 * @param target a path whose GET is answered with `usual`
 */
export async function expectOddRequestsAnswered(port: number, target: string, usual: number): Promise<void> {
  const all = [...oddRequests(target), ...oddTargets(target), ...unreadableRequests(target)];
  for (const [bytes, status] of all) {
    const last = request('GET /last HTTP/1.1', HOST, 'Connection: close');
    const text = (await exchange(port, `${bytes}${last}`))
      .toString('latin1')
      .replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '');
    const what = JSON.stringify(bytes.slice(0, 100));
    if (status === 'closed') {
      expect(text, what).toBe('');
      continue;
    }
    expect(statusesIn(text)[0], what).toBe(status === 'usual' ? usual : status);
    const [head = '', body = ''] = text.split('\r\n\r\n');
    expect(head.toLowerCase(), what).toContain('\r\naccess-control-allow-origin: *');
    expect(head.toLowerCase(), what).not.toContain('\r\nx-request-id: mine');
    if (status === 'usual') continue;
    const [, id] = /\r\nx-request-id: (\S+)/i.exec(head) ?? [];
    expect(id, what).toEqual(expect.any(String));
    expect(head.toLowerCase(), what).toContain('\r\ncontent-type: application/problem+json');
    expect(body, what).toContain(`"request_id":"${id}"`);
  }
}
