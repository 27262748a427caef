import { setTimeout as delay } from 'node:timers/promises';
import { ACCOUNT_CHANGES_CONSUMER, ACCOUNT_CHANGES_STREAM } from '@brand-data/contracts';
import { type NatsCluster, startSeverableNatsCluster } from '@brand-data/testing/clusters';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

const CUT_OFF = 'nats-server-3';

let nats: NatsCluster;
let stack: TestStack;
let operator: TestOperator;
let connection: NatsConnection;
let manager: JetStreamManager;

beforeAll(async () => {
  nats = await startSeverableNatsCluster(await temporaryFolder());
  const others = [...nats.members.keys()].filter((name) => name !== CUT_OFF).map((name) => nats.urlOf(name));
  stack = await startTestStack({
    replicas: { images: 0 },
    gateways: 1,
    natsUrl: nats.url,
    change: (service) => {
      const NATS_URL = service.name === 'gateway-1' ? nats.urlOf(CUT_OFF) : others.join();
      return { ...service, secretSettings: { ...service.secretSettings, NATS_URL } };
    },
    environment: { STREAM_REPLICAS: '3' },
  });
  operator = new TestOperator(stack);
  await operator.putBrands([fullStock]);
  connection = await connect({ servers: others });
  manager = await jetstreamManager(connection);
});

afterAll(async () => {
  operator?.close();
  await connection?.close();
  await stack?.stop();
  await nats?.stop();
});

/** Makes the server that will be cut off lead the gateways' consumer, and another one lead the stream. */
async function prepareCut(): Promise<void> {
  const isLedByOthers = async () => {
    const { cluster } = await manager.streams.info(ACCOUNT_CHANGES_STREAM);
    if (cluster?.leader && cluster.leader !== CUT_OFF) return true;
    await connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${ACCOUNT_CHANGES_STREAM}`);
    return false;
  };
  await expect.poll(isLedByOthers).toBe(true);
  const consumer = [ACCOUNT_CHANGES_STREAM, ACCOUNT_CHANGES_CONSUMER] as const;
  const isServedThere = async () => {
    const { cluster } = await manager.consumers.info(...consumer);
    if (cluster?.leader === CUT_OFF) return true;
    // NATS chooses the next leader, so the test repeats this.
    await connection.request(`$JS.API.CONSUMER.LEADER.STEPDOWN.${consumer.join('.')}`);
    return false;
  };
  await expect.poll(isServedThere, { timeout: 60_000, interval: 1_000 }).toBe(true);
}

test('a gateway whose NATS server is cut off from the others still refuses a revoked key', {
  timeout: 180_000,
}, async () => {
  const [gateway] = stack.gateways;
  if (!gateway) throw new Error('a gateway is needed');
  const statusOf = async (token: string) => (await callerOf(gateway).brand('ZPHX', token)).status;
  const verifications = () =>
    stack.metric(gateway.name, 'gateway_cache_requests_total', { cache: 'tokens', result: 'miss' });
  /** Whether the gateway answers the calls of three seconds without asking accounts. */
  const isVouchedFor = async (token: string) => {
    await statusOf(token);
    const before = await verifications();
    for (let calls = 0; calls < 15; calls++) {
      await statusOf(token);
      await delay(200);
    }
    return (await verifications()) === before;
  };
  await prepareCut();
  const { accountId } = await operator.newAccount(1_000_000);
  const [revoked, kept] = [await operator.createKey(accountId), await operator.createKey(accountId)];
  for (const { token } of [revoked, kept])
    await expect.poll(() => isVouchedFor(token), { timeout: 30_000 }).toBe(true);

  await nats.isolate(CUT_OFF);
  await operator.revokeKey(revoked.keyId);
  const confirmedMs = performance.now();
  const late: number[] = [];
  // On a slow machine the first verification may take long. Therefore the test checks only calls after three seconds.
  for (let sinceMs = 0; sinceMs < 10_000; sinceMs = performance.now() - confirmedMs) {
    const status = await statusOf(revoked.token);
    if (sinceMs >= 3_000) late.push(status);
    await delay(50);
  }
  expect(late.length).toBeGreaterThan(0);
  expect(new Set(late)).toEqual(new Set([401]));
  expect(await statusOf(kept.token)).toBe(200);

  nats.heal();
  await expect.poll(() => isVouchedFor(kept.token), { timeout: 60_000 }).toBe(true);
});
