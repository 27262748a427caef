import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Client, type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { STATUSES_OF_KIND } from '../src/grpc/status.ts';
import {
  callUnary,
  connectChannel,
  Fault,
  type FaultKind,
  INSECURE_PLAINTEXT,
  type Service,
  unary,
} from '../src/index.ts';

const PATH = '/test.Errors/Fail';
const bytes = (text: Buffer) => text;
const kinds = Object.keys(STATUSES_OF_KIND) as FaultKind[];
const received = new Map(
  kinds.flatMap((kind) => STATUSES_OF_KIND[kind].map((code): [status, FaultKind] => [code, kind])),
);
const codes = Object.values(status).filter((code): code is status => typeof code === 'number');

const ends: (() => unknown)[] = [];
afterEach(() => {
  for (const end of ends.splice(0).toReversed()) end();
});

async function startServer(fail: handleUnaryCall<Buffer, Buffer>): Promise<number> {
  const server = new Server();
  const method = { path: PATH, requestStream: false, responseStream: false } as const;
  const forms = { requestSerialize: bytes, requestDeserialize: bytes };
  server.addService(
    { fail: { ...method, ...forms, responseSerialize: bytes, responseDeserialize: bytes } },
    { fail },
  );
  ends.push(() => server.forceShutdown());
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
}

function caller(port: number, options?: { isIdempotent: boolean }) {
  const client = connectChannel(Client, `ipv4:127.0.0.1:${port}`, {
    transport: INSECURE_PLAINTEXT,
    peer: 'any',
    ...options,
  });
  ends.push(() => client.close());
  const fail: Parameters<typeof callUnary<Buffer, Buffer>>[1] = (request, metadata, about, answered) =>
    client.makeUnaryRequest(PATH, bytes, bytes, request, metadata, about, (error, answer) =>
      answered(error, answer as Buffer),
    );
  return () =>
    callUnary(client, fail, Buffer.from(''), { deadlineMs: 20_000, waitForReady: true }).catch(
      (error: unknown) => error,
    );
}

const log = { error: vi.fn() } as unknown as Service['log'];
const answering = (handle: () => Promise<Buffer>) => unary<Buffer, Buffer>({ log } as Service, handle);

test('a fault of every kind, with any message, arrives as it was thrown', async () => {
  let thrown = new Fault('not_found', '');
  const call = caller(await startServer(answering(() => Promise.reject(thrown))));
  for (const kind of kinds) {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 300 }), async (message) => {
        thrown = new Fault(kind, message.toWellFormed());
        expect(await call()).toMatchObject({ name: 'Fault', kind, message: thrown.message });
      }),
      { numRuns: 10 },
    );
  }
});

test('a defect arrives as INTERNAL, without its text, and is no fault', async () => {
  const call = caller(await startServer(answering(() => Promise.reject(new Error('a secret')))));
  const error = await call();
  expect(error).toMatchObject({ code: status.INTERNAL, details: 'internal error' });
  expect(error).not.toBeInstanceOf(Fault);
});

test('no status stands for two kinds', () => {
  expect(received.size).toBe(Object.values(STATUSES_OF_KIND).flat().length);
});

test.each(codes.filter((code) => code !== status.OK))(
  'status %i is received as the fault that the table has, or else as a defect of the server',
  async (code) => {
    const call = caller(await startServer((_call, answer) => answer({ code, details: 'the details' })));
    const kind = received.get(code);
    const error = await call();
    if (kind === undefined) expect(error).toMatchObject({ code, details: 'the details' });
    else expect(error).toMatchObject({ name: 'Fault', kind, message: 'the details' });
    expect(error instanceof Fault).toBe(kind !== undefined);
  },
);

/** Starts a server behind a proxy that cuts the connection after the first request and before its answer. */
async function startBehindCut(answerAgain: handleUnaryCall<Buffer, Buffer>) {
  let requests = 0;
  const sockets: Socket[] = [];
  const port = await startServer((call, answer) => {
    requests += 1;
    if (requests > 1) return answerAgain(call, answer);
    for (const socket of sockets) socket.destroy();
  });
  const proxy = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    sockets.push(
      socket.on('error', () => {}),
      onward.on('error', () => {}),
    );
    socket.pipe(onward).pipe(socket);
  }).listen(0, '127.0.0.1');
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  await once(proxy, 'listening');
  return { port: (proxy.address() as AddressInfo).port, requests: () => requests };
}

test('an idempotent request that is lost with its connection is sent once more', async () => {
  const server = await startBehindCut((_call, answer) => answer(null, Buffer.from('answered')));
  expect(String(await caller(server.port, { isIdempotent: true })())).toBe('answered');
  expect(server.requests()).toBe(2);
});

test('another request that is lost with its connection is not sent again', async () => {
  const server = await startBehindCut((_call, answer) => answer(null, Buffer.from('answered')));
  expect(await caller(server.port)()).toMatchObject({ kind: 'unavailable' });
  expect(server.requests()).toBe(1);
});

test('a service that answers that it is unavailable is not asked again', async () => {
  let requests = 0;
  const handle = () => {
    requests += 1;
    return Promise.reject(new Fault('unavailable', 'not now'));
  };
  const call = caller(await startServer(answering(handle)), { isIdempotent: true });
  expect(await call()).toMatchObject({ kind: 'unavailable', message: 'not now' });
  expect(requests).toBe(1);
});
