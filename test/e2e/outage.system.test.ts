import { once } from 'node:events';
import { connect } from 'node:net';
import { accountBeatsSubject, accountChangesSubject, createToken } from '@brand-data/contracts';
import { Wire } from '@brand-data/testing/wire';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

/** The beginnings of the subjects of changes and of beats. */
const CHANGES = accountChangesSubject(0).slice(0, -1);
const BEATS = accountBeatsSubject('');

let wire: Wire;
let stack: TestStack;
let operator: TestOperator;
let accountId: string;
let plan: string;

beforeAll(async () => {
  wire = await Wire.start();
  stack = await startTestStack({
    replicas: { images: 0 },
    gateways: 2,
    change: (service) =>
      service.name === 'gateway-1'
        ? {
            ...service,
            secretSettings: {
              ...service.secretSettings,
              NATS_URL: wire.to(service.secretSettings.NATS_URL),
            },
          }
        : service,
  });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
  ({ accountId, plan } = await operator.newAccount(1_000_000));
});

afterAll(async () => {
  operator?.close();
  await stack?.stop();
  wire?.close();
});

type Gateway = TestStack['gateways'][number];

function gatewayOf(name: string): Gateway {
  const gateway = stack.gateways.find((each) => each.name === name);
  if (!gateway) throw new Error(`no ${name}`);
  return gateway;
}

const statusOf = async (gateway: Gateway, token: string) =>
  (await callerOf(gateway).brand('ZPHX', token)).status;

/** Creates a key, and calls each gateway with it, so that the gateways have its token in their caches. */
async function warmKey(gateways: Gateway[]): Promise<{ token: string; keyId: string }> {
  const key = await operator.createKey(accountId);
  for (const gateway of gateways) expect(await statusOf(gateway, key.token)).toBe(200);
  return key;
}

/** Revokes the key during continuous calls. Returns the statuses of calls that began `sinceMs` or more after the confirmation. */
async function revokeUnderCalls(
  gateways: Gateway[],
  { token, keyId }: { token: string; keyId: string },
  sinceMs: number,
): Promise<number[]> {
  let confirmedAtMs = Number.POSITIVE_INFINITY;
  const late: number[] = [];
  const calls = gateways.map(async (gateway) => {
    for (let sinceRevocationMs = -1; sinceRevocationMs < sinceMs + 1_500; ) {
      sinceRevocationMs = performance.now() - confirmedAtMs;
      const status = await statusOf(gateway, token);
      if (sinceRevocationMs >= sinceMs) late.push(status);
    }
  });
  await operator.revokeKey(keyId);
  confirmedAtMs = performance.now();
  await Promise.all(calls);
  return late;
}

const refusedAll = (statuses: number[]) => {
  expect(statuses.length).toBeGreaterThan(0);
  expect(new Set(statuses)).toEqual(new Set([401]));
};

describe('every call that begins a second after a revocation was confirmed is refused', () => {
  test('on every gateway', async () => {
    refusedAll(await revokeUnderCalls(stack.gateways, await warmKey(stack.gateways), 1_000));
  });

  test('even if the message is lost on its way to the gateway', async () => {
    const gateways = [gatewayOf('gateway-1')];
    const key = await warmKey(gateways);
    wire.lose(CHANGES);
    try {
      refusedAll(await revokeUnderCalls(gateways, key, 1_000));
    } finally {
      wire.lose(undefined);
    }
  });

  test("even if the gateway's connection to NATS is dead, and after it is back", async () => {
    const gateways = [gatewayOf('gateway-1')];
    const key = await warmKey(gateways);
    wire.blackhole();
    try {
      // On a slow machine the first verification without NATS may take long.
      refusedAll(await revokeUnderCalls(gateways, key, 3_000));
    } finally {
      wire.heal();
    }
    await expect.poll(() => wire.arrived(BEATS)).toBeGreaterThan(0);
    expect(await statusOf(gatewayOf('gateway-1'), key.token)).toBe(401);
  });

  test('even if the message was sent into a dead connection, and no call came until a new connection was made', async () => {
    const gateway = gatewayOf('gateway-1');
    const { token, keyId } = await warmKey([gateway]);
    wire.blackhole();
    await operator.revokeKey(keyId);
    wire.heal();
    await expect.poll(() => wire.arrived(BEATS)).toBeGreaterThan(2);
    expect(await statusOf(gateway, token)).toBe(401);
  });
});

test('while accounts is down, a cached token is accepted, an expired one gets 401 and an unknown one 503', async () => {
  const [gateway] = stack.gateways;
  if (!gateway) throw new Error('a gateway is needed');
  const { token } = await warmKey([gateway]);
  const expiring = await operator.createKey(accountId, { expiresAtMs: Date.now() + 5_000 });
  // When the gateway has received this last change, it has also received the changes by which the keys were created.
  const last = await warmKey([gateway]);
  await operator.revokeKey(last.keyId);
  await expect.poll(() => statusOf(gateway, last.token)).toBe(401);
  for (const good of [token, expiring.token]) expect(await statusOf(gateway, good)).toBe(200);
  await stack.kill('accounts');
  try {
    await expect.poll(() => statusOf(gateway, expiring.token)).toBe(401);
    const unknown = await callerOf(gateway).brand('ZPHX', createToken());
    expect(unknown.status).toBe(503);
    expect(unknown.headers.get('retry-after')).toBe('1');
    expect(await statusOf(gateway, token)).toBe(200);
  } finally {
    await stack.restart('accounts');
  }
});

test("while NATS is down, an account's usage is marked as incomplete, and as complete again when NATS is back", async () => {
  const gateway = gatewayOf('gateway-2');
  const { token } = await operator.createKey(accountId);
  await expect.poll(() => statusOf(gateway, token)).toBe(200);
  const isComplete = async () => {
    const answer = await fetch(`${gateway.url}/v1/usage?token=${token}`);
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { complete: boolean }).complete;
  };
  expect(await isComplete()).toBe(true);
  await stack.kill('nats-server');
  try {
    await expect.poll(isComplete).toBe(false);
    expect(await stack.bds('usage', accountId)).toMatchObject({ complete: false });
    const smaller = stack.bds('plan', 'set', plan, '--pool', 'calls=999999:brands,logos');
    await expect(smaller).rejects.toThrow('Not all usage is known yet');
  } finally {
    await stack.restart('nats-server');
  }
  await expect.poll(isComplete, { timeout: 60_000 }).toBe(true);
  expect(await stack.bds('usage', accountId)).toMatchObject({ complete: true });
});

test('a gateway stops even if a connection is open on which no request was ever sent', async () => {
  const { name, url } = gatewayOf('gateway-2');
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  // The listener accepts connections in order. If it serves this later request, it has accepted the silent connection too.
  expect((await fetch(`${url}/docs/errors`)).status).toBe(200);
  process.kill(stack.pid(name) ?? 0, 'SIGTERM');
  await expect.poll(() => stack.pid(name), { timeout: 60_000 }).toBeUndefined();
  expect((await stack.logs(name)).trimEnd()).toMatch(/"msg":"stopped"}$/);
  socket.destroy();
});
