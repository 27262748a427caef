/** Hostile HTTP: valid requests of the public servers, changed in ways of clients that are old, broken or malicious. */
import { connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { Random } from '@brand-data/testing/random';

/** Longer than any server may keep a connection that sends nothing more. */
const ENDS_WITHIN_MS = 25_000;
/** A caller that leaves its connection open closes it after so long. */
const PATIENT_MS = 12_000;

/** What the requests are made of. */
export interface HttpParts {
  /** The servers' ports, and the paths that each of them serves, `{identifier}` for any. */
  servers: readonly HttpServer[];
  /** Tokens that are valid, revoked, or bound to an origin. */
  tokens: readonly string[];
  /** In each token and query that is made up, so that it is found wherever a service writes it. */
  mark: string;
}
interface HttpServer {
  port: number;
  paths: readonly string[];
}

/** One connection: what is sent, in these chunks, and how the caller ends it. */
export interface HttpInput {
  port: number;
  /** A loopback address, so that callers seem to be many. */
  from: string;
  chunks: readonly Buffer[];
  end: 'half-closed' | 'left open' | 'reset' | 'reset on an answer' | 'closed';
}

const IDENTIFIERS = [
  ...['ZPHX', 'zphx', '$ZPHX', "O'Brien's Corner-Shop", 'zephyr.example.com', 'XETR:ZPHX', 'nobody'],
  ...[
    '',
    '.',
    '..',
    '%2e%2e',
    '%2F',
    '%00',
    '%',
    '%zz',
    '%C3%28',
    '%F0%9F%98%80',
    '%E2%80%AE',
    '%ED%A0%80',
    '%0d%0aX:1',
  ],
  ...[
    'caf\xe9',
    '\u0080\xff',
    'a'.repeat(256),
    'a'.repeat(257),
    '%41'.repeat(300),
    'x'.repeat(9_000),
    '__proto__',
  ],
];
const METHODS = [
  'HEAD',
  'OPTIONS',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'TRACE',
  'CONNECT',
  'QUERY',
  'BREW',
  'PRI',
  'get',
  '',
];
const VERSIONS = ['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/1.1 ', 'http/1.1', 'HTTP/1.10', ''];
const HOSTS = [
  'Host:',
  'Host: x:99999',
  'Host: [::1]',
  'Host: a b',
  'Host: x\r\nhost: y',
  'HOST : x',
  'X: y',
  'Host: \xff',
];
const IMAGE_QUERIES = [
  'size=32',
  'size=512',
  'size=33',
  'format=png',
  'format=webp',
  'format=avif',
  'format=svg',
  'theme=dark',
  'theme=%64ark',
  'size=32&size=64',
  '&',
];

/** Headers as they are written. `~`: the mark. */
const HEADERS = [
  'X-Many: x\r\n'.repeat(150).trimEnd(),
  ...['*', '"x"', 'W/"x"', '"x-br", "y"', ',,,', `"${'x'.repeat(3_000)}"`].map(
    (tags) => `If-None-Match: ${tags}`,
  ),
  ...['bytes=0-0', 'bytes=-1', 'bytes=9-1', 'bytes=0-,0-,0-,0-', 'x'].map((range) => `Range: ${range}`),
  ...['gzip', 'br;q=0.5, gzip;q=1', 'identity;q=0', '*;q=0', 'gzip;q=x', 'a'.repeat(500), ',;='].map(
    (each) => `Accept-Encoding: ${each}`,
  ),
  ...['image/avif', 'image/*;q=0', '*/*;q=9', 'image/webp;q=0.1,image/png', ';;', 'x/'.repeat(200)].map(
    (each) => `Accept: ${each}`,
  ),
  ...['https://page.example', 'null', 'https://page.example.evil.example', '\xff', ''].map(
    (each) => `Origin: ${each}`,
  ),
  ...['https://page.example/a?token=~', 'about:blank', '//'].map((each) => `Referer: ${each}`),
  ...['close', 'keep-alive', 'upgrade', 'close, keep-alive', 'x, , close', 'Content-Length'].map(
    (each) => `Connection: ${each}`,
  ),
  ...[
    'chunked',
    'gzip, chunked',
    'chunked, chunked',
    'xchunked',
    'identity',
    'chunked;x',
    '\x0bchunked',
    '',
  ].map((each) => `Transfer-Encoding: ${each}`),
  ...['0', '1', '5', '-1', '+1', '1,1', '0x1', '99999999999999999999', ' ', '1\r\nContent-Length: 2'].map(
    (each) => `Content-Length: ${each}`,
  ),
  ...['127.0.0.1', '::1, ::ffff:1.2.3.4', '~', ','.repeat(500), '1.2.3.4:99, [::1]:1'].map(
    (each) => `X-Forwarded-For: ${each}`,
  ),
  ...['100-continue', '200-ok', ''].map((each) => `Expect: ${each}`),
  ...['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'ff-~', ''].map(
    (each) => `traceparent: ${each}`,
  ),
  'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  'Access-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: authorization, x-~',
  'Access-Control-Request-Headers: \xff,\x01',
  ...[
    'Authorization: Bearer ~',
    'Cookie: token=~',
    'X-Request-Id: ~',
    'Content-Type: application/json',
    'If-Modified-Since: yesterday',
  ],
  ...[
    'X-HTTP-Method-Override: DELETE',
    '__proto__: x',
    'constructor: x',
    ': x',
    'no colon',
    ' folded',
    'a\x00b: c',
    'X: a\x00b',
    'X: a\nb',
  ],
  ...['x'.repeat(8_000), 'x'.repeat(17_000)].map((each) => `X-Long: ${each}`),
  'X: y\r\n'.repeat(2_100).trimEnd(),
];
const BODIES = [
  'x',
  'hello',
  '5\r\nhello\r\n0\r\n\r\n',
  '5;a=b\r\nhello\r\n0\r\nTrailer: x\r\n\r\n',
  'ffffffffff\r\nx',
  '-1\r\n\r\n',
  '0\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n',
  '{"token":"~"}',
];

/** Makes an input. The same random numbers give the same input. */
export function httpInput(random: Random, parts: HttpParts): HttpInput {
  const server = random.pick(parts.servers);
  const requests = random.chance(0.75) ? 1 : random.whole(2, random.chance(0.1) ? 40 : 5);
  const text = Array.from({ length: requests }, () => requestText(random, server, parts)).join('');
  let bytes: Buffer = Buffer.from(text.replaceAll('~', parts.mark), 'latin1');
  while (random.chance(0.15)) bytes = damaged(bytes, random);
  const chunks: Buffer[] = [];
  const pieces = random.chance(0.8) ? 1 : random.whole(2, 6);
  for (let piece = 0, from = 0; piece < pieces; piece++) {
    const to = piece === pieces - 1 ? bytes.length : random.whole(from, bytes.length);
    chunks.push(bytes.subarray(from, to));
    from = to;
  }
  const from = `127.${random.whole(1, 99)}.${random.whole(0, 99)}.${random.whole(1, 99)}`;
  return { port: server.port, from, chunks, end: endOf(random) };
}

function endOf(random: Random): HttpInput['end'] {
  // An open connection may take ten seconds.
  if (random.chance(0.001)) return 'left open';
  return random.chance(0.7) ? 'half-closed' : random.pick(['reset', 'reset on an answer', 'closed']);
}

function requestText(random: Random, { paths }: HttpServer, parts: HttpParts): string {
  const often = (usual: string, others: readonly string[]) =>
    random.chance(0.92) ? usual : random.pick(others);
  const path = random.pick(paths).replace('{identifier}', () => identifierOf(random));
  const target = `${path}${queryOf(random, path, parts)}`;
  const odd = [
    '*',
    '',
    `http://x${target}`,
    `//x${target}`,
    `ftp://x${target}`,
    `${target}#x`,
    `/.${target}`,
    `${path}/`,
    path.toUpperCase(),
    'x:443',
  ];
  const lines = [
    `${often('GET', METHODS)} ${often(target, odd)} ${often('HTTP/1.1', VERSIONS)}`,
    often('Host: x', HOSTS),
  ];
  while (random.chance(0.5)) lines.push(random.pick(HEADERS));
  const body = random.chance(0.9) ? '' : random.pick(BODIES);
  if (body !== '' && random.chance(0.6))
    lines.push(random.chance(0.5) ? `Content-Length: ${body.length}` : 'Transfer-Encoding: chunked');
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

function identifierOf(random: Random): string {
  if (random.chance(0.9)) return random.pick(IDENTIFIERS);
  return Array.from({ length: random.whole(1, 12) }, () => String.fromCharCode(random.whole(33, 255))).join(
    '',
  );
}

function queryOf(random: Random, path: string, { tokens }: HttpParts): string {
  if (path.startsWith('/images/')) return random.chance(0.4) ? '' : `?${random.pick(IMAGE_QUERIES)}`;
  const good = random.pick(tokens);
  const token = random.chance(0.6)
    ? good
    : random.pick([
        `${good.slice(0, -1)}~`,
        'pk_~',
        '',
        '~',
        `${good}&token=${good}`,
        `${good}%00`,
        encodeURIComponent(`${good} `),
        'x'.repeat(5_000),
      ]);
  const more = random.chance(0.8)
    ? ''
    : random.pick([
        '&month=2026-11',
        '&month=0000-99',
        '&month=~',
        '&x=~',
        '&token[]=~',
        '&__proto__=x',
        '&%ff=%',
        `&${'a=b&'.repeat(400)}`,
      ]);
  return random.chance(0.1) ? `?q=~${more}` : `?token=${token}${more}`;
}

function damaged(bytes: Buffer, random: Random): Buffer {
  const from = random.whole(0, bytes.length);
  const to = random.whole(from, Math.min(bytes.length, from + (random.chance(0.5) ? 1 : 40)));
  const noise = Buffer.from(Array.from({ length: random.whole(1, 4) }, () => random.whole(0, 255)));
  const before = bytes.subarray(0, from);
  const [part, after] = [bytes.subarray(from, to), bytes.subarray(to)];
  return random.pick([
    () => Buffer.concat([before, after]),
    () => Buffer.concat([before, noise, after]),
    () => Buffer.concat([before, noise, part, after]),
    () => Buffer.concat([before, part, part, after]),
    () => before,
  ])();
}

/** Sends an input. Resolves when the connection is closed, to all that came, or to undefined if it is not closed in time. */
export async function sendHttp({ port, from, chunks, end }: HttpInput): Promise<string | undefined> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true });
  const parts: Buffer[] = [];
  const closed = new Promise<boolean>((resolve) => {
    const late = setTimeout(() => {
      resolve(false);
      socket.destroy();
    }, ENDS_WITHIN_MS);
    socket.once('close', () => {
      clearTimeout(late);
      resolve(true);
    });
  });
  socket.on('error', () => {});
  socket.on('end', () => socket.end());
  socket.on('data', (part: Buffer) => {
    parts.push(part);
    if (end === 'reset on an answer') socket.resetAndDestroy();
  });
  for (const [index, chunk] of chunks.entries()) {
    if (index > 0) await setImmediate();
    if (socket.writable) socket.write(chunk);
  }
  finish(socket, end);
  return (await closed) ? Buffer.concat(parts).toString('latin1') : undefined;
}

function finish(socket: Socket, end: HttpInput['end']): void {
  if (end === 'half-closed') socket.end();
  // The request may still be answered, and the caller does not see it.
  else if (end === 'closed') socket.end(() => socket.destroy());
  else if (end === 'reset') socket.write('', () => socket.resetAndDestroy());
  else setTimeout(() => socket.end(), end === 'left open' ? PATIENT_MS : 3_000).unref();
}

/** Statuses that the pages of the gateway and of images describe. */
const DOCUMENTED = new Set([100, 200, 204, 302, 304, 307, 308, 400, 401, 403, 404, 405, 408, 429, 431, 503]);
const ANSWER = /HTTP\/1\.1 (\d{3}) [\w' -]*\r\n((?:[^\r\n]+\r\n)*)\r\n/g;

/** Reads the answers on a connection. Returns their statuses, how many are counted, and what is wrong with them. */
export function readAnswers(text: string, tokens: readonly string[]) {
  const statuses: number[] = [];
  const wrong: string[] = [];
  let charged = 0;
  for (const { 0: head, 1: told, 2: headers = '', index } of text.matchAll(ANSWER)) {
    const status = Number(told);
    statuses.push(status);
    if (status === 100) continue;
    const body = text.slice(index + head.length, index + head.length + 2_000);
    if (!DOCUMENTED.has(status)) wrong.push(`an undocumented ${status}: ${body}`);
    if (status === 503 && !/\r\nretry-after: \d+\r\n/i.test(`\r\n${headers}`))
      wrong.push('503 without Retry-After');
    if (!/access-control-allow-origin: \*\r\n/i.test(headers))
      wrong.push(`${status} without CORS headers: ${headers}`);
    if (status < 429 && /\r\nx-quota-charged: 1\r\n/i.test(headers)) charged += 1;
  }
  if (text !== '' && statuses.length === 0) wrong.push(`no HTTP: ${text.slice(0, 200)}`);
  if (tokens.some((token) => text.includes(token))) wrong.push('an answer with a token');
  return { statuses, charged, wrong };
}
