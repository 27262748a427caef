import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type GrantUsage, USAGE_CONSUMER, usageStream } from '@brand-data/contracts';
import { startTestMongod, startTestNats, type TestServer } from '@brand-data/testing/servers';
import { Wire } from '@brand-data/testing/wire';
import { type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { usageOf } from './ledger-actions.ts';
import { type MeteringClient, meteringClient, newAccount, signedEvent } from './metering-client.ts';
import { type RunningMetering, startMetering } from './running-metering.ts';

const { name: USAGE_STREAM, subjectOf: usageSubject } = usageStream(1);
const operatorToken = 'operator-token-of-this-test';
const patiently = { timeout: 40_000 };
let natsServer: TestServer;
let mongod: TestServer;
let nats: NatsConnection;
let manager: JetStreamManager;
let metering: RunningMetering;
let client: MeteringClient;

const database = `metering_${randomBytes(6).toString('hex')}`;
const startOn = (natsUrl: string, mongodbUrl: string) =>
  startMetering({ natsUrl, mongodbUrl, operatorToken, database });

beforeAll(async () => {
  [natsServer, mongod] = await Promise.all([startTestNats(), startTestMongod()]);
  nats = await connect({ servers: natsServer.url, maxReconnectAttempts: -1, reconnectTimeWait: 100 });
  manager = await jetstreamManager(nats);
  metering = await startOn(natsServer.url, mongod.url);
  client = meteringClient(metering, operatorToken);
});

afterAll(async () => {
  client?.close();
  await metering?.stop();
  await nats?.close();
  await Promise.all([natsServer?.stop(), mongod?.stop()]);
});

async function publish(...usage: GrantUsage[]): Promise<void> {
  const { payload, options } = signedEvent(usage);
  await jetstream(nats).publish(usageSubject('test'), payload, { ...options, timeout: 2_000 });
}

/** Publishes usage and checks that it is applied and acknowledged. */
async function expectUsageIsApplied(): Promise<void> {
  const accountId = newAccount();
  let id = '';
  const hasGrant = async () => {
    ({ id } = await client.grantFor(accountId));
    return id !== '';
  };
  // A busy machine may not answer in time.
  await expect.poll(hasGrant, patiently).toBe(true);
  await expect.poll(() => publish(usageOf(id, 7)).then(() => true), patiently).toBe(true);
  await expect.poll(async () => (await client.poolOf(accountId)).used, patiently).toBe(7);
  await expect
    .poll(async () => (await manager.consumers.info(USAGE_STREAM, USAGE_CONSUMER)).num_ack_pending, patiently)
    .toBe(0);
}

describe('usage from the stream is applied', { timeout: 120_000 }, () => {
  test('after NATS was restarted, in order or not', async () => {
    for (const how of ['stop', 'kill'] as const) {
      await natsServer.child[how]();
      await natsServer.child.start();
      await expectUsageIsApplied();
    }
  });

  test('after the consumer was deleted', async () => {
    await manager.consumers.delete(USAGE_STREAM, USAGE_CONSUMER);
    await expectUsageIsApplied();
  });

  test('after the stream was deleted', async () => {
    await manager.streams.delete(USAGE_STREAM);
    await expectUsageIsApplied();
  });

  test('once MongoDB is back, and counts once, however often it was delivered meanwhile', async () => {
    const accountId = newAccount();
    const { id } = await client.grantFor(accountId);
    const redeliveries = () => metering.metric('metering_usage_messages_total', { result: 'redelivered' });
    const before = await redeliveries();
    await mongod.child.kill();
    for (const used of [3, 9, 6]) await publish(usageOf(id, used));
    await expect.poll(redeliveries, patiently).toBeGreaterThanOrEqual(before + 3);
    await expect.poll(() => metering.metric('metering_usage_consumer_lag_messages'), patiently).toBe(3);
    await mongod.child.start();
    await expect
      .poll(() => client.poolOf(accountId).catch(() => undefined), patiently)
      .toMatchObject({ used: 9 });
    await expectUsageIsApplied();
  });

  test('in batches of bounded size, even if thousands of messages wait', async () => {
    const accountId = newAccount();
    const { id } = await client.grantFor(accountId, { limit: 1e9, want: 10_000 });
    await mongod.child.kill();
    for (let batch = 0; batch < 30; batch++)
      await Promise.all(
        Array.from({ length: 100 }, (_, index) => publish(usageOf(id, batch * 100 + index + 1))),
      );
    await mongod.child.start();
    await expect
      .poll(() => client.poolOf(accountId).catch(() => undefined), patiently)
      .toMatchObject({ used: 3_000 });
    const bucket = (le: string) => metering.metric('metering_usage_batch_messages_bucket', { le });
    // Messages may still come again, so that the later of two looks may count more batches.
    const small = await bucket('100');
    expect(await bucket('500')).toBeGreaterThan(small);
    await expect.poll(async () => (await bucket('500')) - (await bucket('+Inf')), patiently).toBe(0);
  });
});

test('without NATS the metrics of the stream are absent, and all others are present', async () => {
  await natsServer.child.stop();
  const shown = await metering.metrics();
  await natsServer.child.start();
  for (const name of ['metering_usage_consumer_lag', 'metering_dead_letter', 'metering_usage_stream_fill'])
    expect(shown).not.toMatch(new RegExp(`^${name}.*\\{`, 'm'));
  expect(shown).toMatch(/^metering_acquires_total\{/m);
  await expect
    .poll(() => metering.metrics(), patiently)
    .toMatch(/^metering_usage_consumer_lag_messages\{.*pending/m);
});

test('it stops cleanly while usage arrives, and loses none', async () => {
  const other = await startOn(natsServer.url, mongod.url);
  const accountId = newAccount();
  const { id } = await client.grantFor(accountId);
  const publishing = (async () => {
    for (let used = 1; used <= 20; used++) {
      await publish(usageOf(id, used));
      await delay(5);
    }
  })();
  expect(await other.stop()).toBe(0);
  await publishing;
  await expect.poll(async () => (await client.poolOf(accountId)).used, patiently).toBe(20);
});

// Each of these tests has its own servers, so they can run at the same time.
describe.concurrent('usage from a stream of its own', { timeout: 120_000 }, () => {
  test('is applied once if the replica that stored it was killed before it could acknowledge it', async ({
    expect,
  }) => {
    const own = await startTestNats();
    const wire = await Wire.start();
    const settings = { mongodbUrl: inject('mongodbUrl'), operatorToken, database };
    const connection = await connect({ servers: own.url });
    const ownManager = await jetstreamManager(connection);
    const first = await startMetering({ ...settings, natsUrl: wire.to(own.url) });
    const firstClient = meteringClient(first, operatorToken);
    const accountId = newAccount();
    const { id } = await firstClient.grantFor(accountId);
    wire.mute();
    const { payload, options } = signedEvent([usageOf(id, 5, { closed: true })]);
    await jetstream(connection).publish(usageSubject('h'), payload, options);
    await expect.poll(async () => (await firstClient.poolOf(accountId)).used, patiently).toBe(5);
    const info = () => ownManager.consumers.info(USAGE_STREAM, USAGE_CONSUMER);
    expect((await info()).num_ack_pending).toBe(1);
    firstClient.close();
    await first.kill();
    const second = await startMetering({ ...settings, natsUrl: own.url });
    const secondClient = meteringClient(second, operatorToken);
    await expect.poll(async () => (await info()).num_ack_pending, patiently).toBe(0);
    expect(await secondClient.poolOf(accountId)).toMatchObject({ used: 5, out: 0, remaining: 995 });
    secondClient.close();
    await second.stop();
    await connection.close();
    wire.close();
    await own.stop();
  });

  test('a small stream accepts more messages than it can hold, since applied ones are purged', async ({
    expect,
  }) => {
    const own = await startTestNats();
    const streamMaxBytes = 64 * 1024;
    const settings = { natsUrl: own.url, mongodbUrl: mongod.url, operatorToken, database };
    const small = await startMetering({ ...settings, streamMaxBytes });
    const smallClient = meteringClient(small, operatorToken);
    const connection = await connect({ servers: own.url });
    const js = jetstream(connection);
    const ownManager = await jetstreamManager(connection);
    const stateOf = async () => (await ownManager.streams.info(USAGE_STREAM)).state;
    const accountId = newAccount();
    const { id } = await smallClient.grantFor(accountId, { limit: 1e9, want: 10_000 });
    let used = 0;
    /** Publishes one more used call. Returns false if the stream takes no more. */
    const publishOne = () => {
      const { payload, options } = signedEvent([usageOf(id, used + 1)]);
      return js.publish(usageSubject('h'), payload, options).then(
        () => {
          used += 1;
          return true;
        },
        () => false,
      );
    };
    const fill = async () => {
      while (await publishOne());
    };
    await fill();
    await expect.poll(publishOne, patiently).toBe(true);
    await expect.poll(async () => (await smallClient.poolOf(accountId)).used, patiently).toBe(used);
    expect((await stateOf()).first_seq).toBeGreaterThan(1);

    smallClient.close();
    await small.stop();
    await connection.close();
    await own.stop();
  });

  test('it stops cleanly while MongoDB and NATS are unavailable', async ({ expect }) => {
    const ownMongod = await startTestMongod();
    const ownNats = await startTestNats();
    const own = await startOn(ownNats.url, ownMongod.url);
    await Promise.all([ownMongod.child.kill(), ownNats.child.kill()]);
    expect(await own.stop()).toBe(0);
    await Promise.all([ownMongod.stop(), ownNats.stop()]);
  });
});
