import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { closeHttpServer } from '@brand-data/runtime';
import { answerUnreadable, PUBLIC_SERVER } from '@brand-data/runtime/http';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { headersIn, headText } from '../src/answers/answer.ts';
import { sendWhole } from '../src/http/send.ts';

interface Content {
  status: number;
  head: string;
  body: Buffer | undefined;
}

/** The two ways to send. `whole` falls back to Node where it must, as the gateway does. */
const byNode = (response: ServerResponse, { status, head, body }: Content) => {
  response.writeHead(status, headersIn(head).flat());
  response.end(body);
  return false;
};
const whole = (response: ServerResponse, content: Content) => {
  const isWhole = sendWhole(response, content);
  if (!isWhole) byNode(response, content);
  return isWhole;
};

const BODIES = [
  '',
  'a',
  'é漢🙂',
  'x'.repeat(3_000),
  'y'.repeat(100_000),
  'v'.repeat(12_000),
  'w'.repeat(12_000),
];
/** How many turns of the event loop an answer takes: answers that are ready early wait for the earlier requests. */
const target = fc.record({
  body: fc.nat(BODIES.length - 1),
  status: fc.constantFrom(200, 302, 304, 404),
  turns: fc.nat(4),
});
type Sent = typeof sent extends fc.Arbitrary<infer T> ? T : never;
const sent = fc.record({
  target,
  method: fc.constantFrom('GET', 'GET', 'HEAD'),
  // A connection ends after a request of HTTP/1.0 that does not ask for more, and after one that says close.
  end: fc.constantFrom(
    ...Array(9).fill(' HTTP/1.1\r\n'),
    ' HTTP/1.1\r\nConnection: keep-alive\r\n',
    ' HTTP/1.1\r\nConnection: close\r\n',
    ' HTTP/1.0\r\n',
  ) as fc.Arbitrary<string>,
  /** Whether the request comes together with the next one, and not a moment before it. */
  isPipelined: fc.boolean(),
});

const CLOSING: Sent = {
  target: { body: 1, status: 200, turns: 0 },
  method: 'GET',
  isPipelined: false,
  end: ' HTTP/1.1\r\nConnection: close\r\n',
};

const contentOf = ({ body, status }: { body: number; status: number }): Content => {
  const bytes = Buffer.from(BODIES[body] ?? '');
  const headers = { ETag: `"${body}"`, 'X-Latin': 'caf\u00e9' };
  return status === 304
    ? { status, head: headText(headers), body: undefined }
    : { status, head: headText({ ...headers, 'Content-Length': String(bytes.length) }), body: bytes };
};

/** How many answers were sent whole. */
let sentWhole = 0;

function serve(way: 'whole' | 'byNode'): Server {
  const send = { whole, byNode }[way];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { turns, ...content } = JSON.parse(decodeURIComponent(request.url?.slice(1) ?? ''));
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    if (send(response, contentOf(content))) sentWhole += 1;
  };
  const { keepAliveTimeout, http } = PUBLIC_SERVER;
  const server = createServer(
    { ...http, keepAliveTimeout },
    (request, response) => void answer(request, response),
  );
  server.on('clientError', ({ code }: NodeJS.ErrnoException, socket: Socket) =>
    answerUnreadable(code ?? '', socket, () => ({ headers: {}, body: Buffer.alloc(0) })),
  );
  return server;
}

const servers = { whole: serve('whole'), byNode: serve('byNode') };

beforeAll(async () => {
  for (const server of Object.values(servers)) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
});
afterAll(() => {
  for (const server of Object.values(servers)) server.close();
});

const portOf = (server: Server) => (server.address() as AddressInfo).port;

async function answersOf(server: Server, requests: readonly Sent[]): Promise<string> {
  const socket = connect(portOf(server), '127.0.0.1');
  const answers = buffer(socket);
  // A connection that the server closes while more requests come is reset, which may lose answers. Therefore the last request
  // closes it.
  const last = requests.findIndex(({ end }) => /1\.0|close/.test(end));
  const closing = last < 0 ? [...requests, CLOSING] : requests.slice(0, last + 1);
  for (const { target, method, end, isPipelined } of closing) {
    const path = encodeURIComponent(JSON.stringify(target));
    socket.write(`${method} /${path}${end}Host: x\r\n\r\n`);
    for (let turn = isPipelined ? 10 : 0; turn < 10; turn++) await new Promise(setImmediate);
  }
  return (await answers).toString('latin1').replaceAll(/(?<=\r\nDate: ).*/g, '<date>');
}

test('a caller gets the bytes that Node would send, for any requests on one connection, in their order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 12 }), async (requests) => {
      expect(await answersOf(servers.whole, requests)).toBe(await answersOf(servers.byNode, requests));
    }),
    { numRuns: 300 },
  );
  expect(sentWhole, 'the way under test was taken').toBeGreaterThan(200);
});

test('a caller that reads slowly gets the answers to all requests that have arrived in full, also if the server closes meanwhile', async () => {
  const server = serve('whole');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const asked = 2_000;
  const path = encodeURIComponent(JSON.stringify({ body: 3, status: 200, turns: 0 }));
  const socket = connect({ port: portOf(server), host: '127.0.0.1' });
  let arrived = 0;
  server.on('request', () => {
    arrived += 1;
  });
  socket.write(`GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(asked));
  // The client does not read, so the server's answers fill the buffers of the connection. The server then reads no further
  // requests.
  await expect
    .poll(async () => {
      const before = arrived;
      await new Promise(setImmediate);
      return before > 0 && before === arrived;
    })
    .toBe(true);
  const read = buffer(socket);
  const closed = closeHttpServer({ server, close: () => new Promise((resolve) => server.close(resolve)) });
  const answers = (await read).toString('latin1').split('HTTP/1.1 200 OK\r\n').slice(1);
  await closed;
  expect(answers).toHaveLength(arrived);
  for (const answer of answers) expect(answer.split('\r\n\r\n')[1]).toHaveLength(3_000);
});

test('an answer that a slow caller has not taken yet stays as it is while others get theirs', async () => {
  const server = serve('whole');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const path = (body: number) => encodeURIComponent(JSON.stringify({ body, status: 200, turns: 0 }));
  const slow = connect({ port: portOf(server), host: '127.0.0.1' });
  let asked = 0;
  let last: ServerResponse | undefined;
  // Node detaches a response from its connection when the kernel has taken the whole of it.
  while (!last?.socket) {
    slow.write(`GET /${path(5)} HTTP/1.1\r\nHost: x\r\n\r\n`);
    [, last] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    asked += 1;
    await new Promise(setImmediate);
  }
  for (let other = 0; other < 3; other++) {
    const response = await fetch(`http://127.0.0.1:${portOf(server)}/${path(6)}`);
    expect(await response.text()).toBe(BODIES[6]);
  }
  const read = buffer(slow);
  await closeHttpServer({ server, close: () => new Promise((resolve) => server.close(resolve)) });
  const answers = (await read).toString('latin1').split('HTTP/1.1 200 OK\r\n').slice(1);
  expect(answers).toHaveLength(asked);
  for (const answer of answers) expect(answer.split('\r\n\r\n')[1]).toBe(BODIES[5]);
});

test('a caller that hangs up leaves nothing behind, and others get their answers', async () => {
  const server = serve('whole');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const path = (turns: number) => encodeURIComponent(JSON.stringify({ body: 3, status: 200, turns }));
  for (let caller = 0; caller < 50; caller++) {
    const socket = connect(portOf(server), '127.0.0.1');
    const arrived = once(server, 'request');
    socket.write(`GET /${path(caller % 5)} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(3));
    await arrived;
    socket.resetAndDestroy();
  }
  const response = await fetch(`http://127.0.0.1:${portOf(server)}/${path(2)}`);
  expect(await response.text()).toHaveLength(3_000);
  await expect
    .poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count))))
    .toBeLessThan(2);
  await closeHttpServer({ server, close: () => new Promise((resolve) => server.close(resolve)) });
});
