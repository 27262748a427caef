import {
  CatalogAdminServiceClient,
  CatalogAdminServiceService,
  ImagesAdminServiceClient,
  type ImagesAdminServiceServer,
  ImagesAdminServiceService,
  type ListImagePathsResponse,
  type SweepImagesRequest,
} from '@brand-data/contracts';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { Fault } from '../src/base/fault.ts';
import { callClientStream, callServerStream, connectChannel } from '../src/grpc/client.ts';
import { serverStream } from '../src/grpc/server.ts';
import { INSECURE_PLAINTEXT } from '../src/grpc/transport.ts';
import type { Service } from '../src/service/service.ts';

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

const service = { log: { error: () => undefined } } as unknown as Service;
const CALL = { deadlineMs: 10_000 };

async function listen(add: (server: Server) => void): Promise<string> {
  const server = new Server();
  add(server);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  stops.push(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}

/** Returns a client of a server whose ListImagePaths sends the messages. */
async function listing(messages: (signal: AbortSignal) => AsyncGenerator<ListImagePathsResponse>) {
  const handlers = { listImagePaths: serverStream(service, (_request, signal) => messages(signal)) };
  const target = await listen((server) => server.addService(CatalogAdminServiceService, handlers));
  const client = connectChannel(CatalogAdminServiceClient, target, {
    transport: INSECURE_PLAINTEXT,
    peer: 'any',
  });
  stops.push(() => client.close());
  return callServerStream(client, client.listImagePaths, { after: '' }, CALL);
}

/** The messages that a server has received in a stream of SweepImages, and how the stream ended. */
interface Received {
  paths: string[];
  isComplete: boolean;
  cancelled: Promise<void>;
}

async function sweeping({ refuseAfter = Number.POSITIVE_INFINITY } = {}) {
  const { promise: cancelled, resolve } = Promise.withResolvers<void>();
  const received: Received = { paths: [], isComplete: false, cancelled };
  const target = await listen((server) =>
    server.addService(ImagesAdminServiceService, {
      sweepImages: ((call, answer) => {
        call.on('data', ({ paths, complete }: SweepImagesRequest) => {
          received.paths.push(...paths);
          received.isComplete ||= complete;
          if (received.paths.length === refuseAfter) answer({ code: 8, details: 'too many paths' });
        });
        call.on('cancelled', () => resolve());
        call.on('end', () => {
          answer(null, { named: received.paths.length, unnamed: 0, removed: 0, missing: [] });
        });
      }) satisfies ImagesAdminServiceServer['sweepImages'],
    }),
  );
  const client = connectChannel(ImagesAdminServiceClient, target, {
    transport: INSECURE_PLAINTEXT,
    peer: 'any',
  });
  stops.push(() => client.close());
  const sweep = (messages: AsyncIterable<SweepImagesRequest>) =>
    callClientStream(client, client.sweepImages, messages, CALL);
  return { received, sweep };
}

async function* messagesOf(count: number) {
  for (let index = 0; index < count; index++)
    yield { paths: [`logos/${index}.svg`], after: `${index}`, complete: index === count - 1 };
}

test('all messages of a stream arrive, in order', async () => {
  const paths: string[] = [];
  for await (const message of await listing(() => messagesOf(5_000))) paths.push(...message.paths);
  expect(paths).toEqual(Array.from({ length: 5_000 }, (_, index) => `logos/${index}.svg`));
});

test('a server asks for no more messages than a slow caller has room for', async () => {
  let yielded = 0;
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  const stream = await listing(async function* (signal) {
    signal.addEventListener('abort', () => resolve());
    const paths = Array.from({ length: 100 }, () => 'x'.repeat(1_000));
    for (; yielded < 10_000; yielded++) yield { paths, after: '' };
  });
  await stream.next();
  await stream.return(undefined);
  await gone;
  expect(yielded).toBeLessThan(200);
});

test('a stream that a fault ends part of the way throws that fault after its messages', async () => {
  const stream = await listing(async function* () {
    yield* messagesOf(3);
    throw new Fault('unavailable', 'the database is gone');
  });
  const seen: string[] = [];
  const reading = async () => {
    for await (const { after } of stream) seen.push(after);
  };
  await expect(reading()).rejects.toMatchObject({ kind: 'unavailable', message: 'the database is gone' });
  expect(seen).toEqual(['0', '1', '2']);
});

test('a stream that is sent whole is answered', async () => {
  const { sweep, received } = await sweeping();
  expect(await sweep(messagesOf(5_000))).toMatchObject({ named: 5_000 });
  expect(received.isComplete).toBe(true);
});

test('a stream whose messages cannot all be read is cancelled, and its last message is never sent', async () => {
  const { sweep, received } = await sweeping();
  const messages = async function* () {
    for await (const message of messagesOf(10)) {
      if (message.complete) throw new Fault('unavailable', 'the catalogue is gone');
      yield message;
      await expect.poll(() => received.paths.length).toBeGreaterThan(0);
    }
  };
  await expect(sweep(messages())).rejects.toThrow('the catalogue is gone');
  await received.cancelled;
  expect(received.isComplete).toBe(false);
});

test('a server that refuses a stream ends it, and its reason is thrown', async () => {
  const { sweep } = await sweeping({ refuseAfter: 10 });
  let isReturned = false;
  const messages = async function* () {
    try {
      for (;;) yield { paths: ['logos/1.svg'], complete: false };
    } finally {
      isReturned = true;
    }
  };
  await expect(sweep(messages())).rejects.toMatchObject({
    kind: 'resource_exhausted',
    message: 'too many paths',
  });
  expect(isReturned).toBe(true);
});
