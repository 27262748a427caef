import {
  Client,
  connectivityState,
  credentials,
  type Metadata,
  Server,
  ServerCredentials,
  type ServiceError,
} from '@grpc/grpc-js';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { REPLICA_ORDER } from '../src/grpc/replica-order.ts';
import { callUnary, connectChannel, INSECURE_PLAINTEXT, type ReplicaChoice } from '../src/index.ts';

const PATH = '/test.Names/Tell';
const WAITED_FOR = { timeout: 60_000, interval: 50 };
const bytes = (text: Buffer) => text;

interface Running {
  name: string;
  port: number;
  stop(): void;
}

const running: Running[] = [];
const clients: Client[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  for (const server of running.splice(0)) server.stop();
});

/** Starts a server that answers with its name. */
async function startServer(name: string, port = 0): Promise<Running> {
  const server = new Server();
  const method = { path: PATH, requestStream: false, responseStream: false };
  const definition = { ...method, requestSerialize: bytes, requestDeserialize: bytes };
  server.addService(
    { tell: { ...definition, responseSerialize: bytes, responseDeserialize: bytes } },
    {
      tell: (_call: unknown, answer: (error: null, name: Buffer) => void) => answer(null, Buffer.from(name)),
    },
  );
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, at) =>
      error ? reject(error) : resolve(at),
    ),
  );
  const started = { name, port: bound, stop: () => server.forceShutdown() };
  running.push(started);
  return started;
}

function connect(servers: readonly Running[]) {
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  return askerOf(
    connectChannel(Client, `ipv4:${addresses.join()}`, { transport: INSECURE_PLAINTEXT, peer: 'any' }),
  );
}

function askerOf(client: Client) {
  clients.push(client);
  const tell = (
    request: Buffer,
    metadata: Metadata,
    options: object,
    answered: (error: ServiceError | null, name?: Buffer) => void,
  ) => client.makeUnaryRequest(PATH, bytes, bytes, request, metadata, options, answered);
  return async (replica?: ReplicaChoice, waitForReady = true): Promise<string> => {
    const options = { deadlineMs: 5_000, waitForReady, ...(replica && { replica }) };
    return String(await callUnary(client, tell as never, Buffer.from(''), options));
  };
}

/** Waits until all servers are connected. */
async function connectToAll(servers: readonly Running[]) {
  const ask = connect(servers);
  await vi.waitFor(async () => {
    const names = new Set<string>();
    for (let each = 0; each < servers.length; each++) names.add(await ask());
    expect(names.size).toBe(servers.length);
  }, WAITED_FOR);
  return ask;
}

const startAll = () => Promise.all(['one', 'two', 'three'].map((name) => startServer(name)));

describe('calls to the replicas of a service', () => {
  test('go to all in turn when they name none', async () => {
    const ask = await connectToAll(await startAll());
    const names = [await ask(), await ask(), await ask(), await ask(), await ask(), await ask()];
    expect(names.slice(3)).toEqual(names.slice(0, 3));
    expect(new Set(names).size).toBe(3);
  });

  test('of one key go to the same replica from every client, the next attempt to another, until each had one', async () => {
    const servers = await startAll();
    const [ask, other] = [await connectToAll(servers), await connectToAll(servers.toReversed())];
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (key) => {
        const names = [];
        for (let attempt = 0; attempt < 4; attempt++) names.push(await ask({ key, attempt }));
        expect(new Set(names.slice(0, 3)).size).toBe(3);
        expect(names[3]).toBe(names[0]);
        expect(await other({ key, attempt: 1 })).toBe(names[1]);
      }),
      { numRuns: 30 },
    );
  });

  test('fail at once if every replica has the request already, and go to one that does not have it', async () => {
    const [one, ...others] = await startAll();
    const [ask, alone] = [
      await connectToAll([...others, one as Running]),
      await connectToAll(others.slice(1)),
    ];
    const key = 'account';
    const sent: ReplicaChoice[] = [];
    const names = new Set<string>();
    for (let attempt = 0; attempt < 3; attempt++) {
      const choice = { key, attempt: 0, others: [...sent] };
      names.add(await ask(choice));
      sent.push(choice);
    }
    expect(names.size).toBe(3);
    for (const again of [ask, alone])
      await expect(again({ key, attempt: 3, others: sent })).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await alone({ key, attempt: 1 })).toBe('three');
  });

  test('go to the replica that does not have the request, also if it was not connected when the request was first sent', async () => {
    const servers = [await startServer('one'), await startServer('two')] as const;
    const ask = await connectToAll(servers);
    const sent: ReplicaChoice[] = Array.from({ length: 10 }, (_, number) => ({
      key: `${number}`,
      attempt: 0,
    }));
    servers[0].stop();
    await vi.waitFor(async () => {
      for (const choice of sent) expect(await ask(choice)).toBe('two');
    }, WAITED_FOR);
    await startServer('one', servers[0].port);
    await vi.waitFor(async () => expect(new Set([await ask(), await ask()]).size).toBe(2), WAITED_FOR);
    for (const first of sent)
      for (let attempt = 0; attempt < 3; attempt++)
        expect(await ask({ key: first.key, attempt, others: [first] })).toBe('one');
  });

  test('of many keys are spread over all replicas', async () => {
    const ask = await connectToAll(await startAll());
    const counts = new Map<string, number>();
    for (let number = 0; number < 300; number++) {
      const name = await ask({ key: `account-${number}`, attempt: 0 });
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    expect([...counts.values()].filter((count) => count > 50)).toHaveLength(3);
  });

  test('go to those that are left when one is gone, each key to the next of its order, and back when it is there again', async () => {
    const servers = await startAll();
    const ask = await connectToAll(servers);
    const keys = Array.from({ length: 20 }, (_, number) => `account-${number}`);
    const order = new Map<string, string[]>();
    for (const key of keys) order.set(key, [await ask({ key, attempt: 0 }), await ask({ key, attempt: 1 })]);
    const [gone] = servers;
    if (!gone) throw new Error('there are servers');
    gone.stop();
    await vi.waitFor(async () => {
      for (const key of keys) {
        const [first, second] = order.get(key) ?? [];
        expect(await ask({ key, attempt: 0 })).toBe(first === gone.name ? second : first);
      }
    }, WAITED_FOR);
    await startServer(gone.name, gone.port);
    await vi.waitFor(async () => {
      for (const key of keys) expect(await ask({ key, attempt: 0 })).toBe(order.get(key)?.[0]);
    }, WAITED_FOR);
  });

  test('fail as unavailable when none can be reached, and are answered once one is', async () => {
    const server = await startServer('one');
    server.stop();
    const ask = connect([server]);
    const asked = ask({ key: 'account', attempt: 0 }, false);
    await expect(asked).rejects.toMatchObject({ kind: 'unavailable' });
    await startServer('one', server.port);
    expect(await ask({ key: 'account', attempt: 2 })).toBe('one');
  });

  test('are answered when nothing was asked for so long that the channel has gone idle', async () => {
    const server = await startServer('one');
    const client = new Client(`dns:localhost:${server.port}`, credentials.createInsecure(), {
      'grpc.service_config': JSON.stringify(REPLICA_ORDER),
      'grpc.client_idle_timeout_ms': 1_000,
    });
    const ask = askerOf(client);
    expect(await ask()).toBe('one');
    await vi.waitFor(
      () => expect(client.getChannel().getConnectivityState(false)).toBe(connectivityState.IDLE),
      WAITED_FOR,
    );
    expect(await ask(undefined, false)).toBe('one');
  });
});
