import { PARKED_USAGE, USAGE_CONSUMER, UsageEvent, usageStream } from '@brand-data/contracts';
import { systemClock } from '@brand-data/runtime';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { createVirtualClock } from '@brand-data/testing/virtual-clock';
import { AckPolicy, type JetStreamManager, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Barrier, usageBarrier } from '../src/settling/settler.ts';
import { usageOf } from './ledger-actions.ts';
import { streamsOn } from './streams-on-nats.ts';

const STREAMS = [1, 2, 3].map(usageStream);
const WITHIN_MS = 200;
let server: TestServer;
let connection: NatsConnection;
let manager: JetStreamManager;

beforeAll(async () => {
  server = await startTestNats();
  connection = await connect({ servers: server.url });
  manager = await jetstreamManager(connection);
  for (const { name, subjects } of [PARKED_USAGE, ...STREAMS]) {
    await manager.streams.add({ name, subjects: [subjects], allow_direct: true });
    await manager.consumers.add(name, { durable_name: USAGE_CONSUMER, ack_policy: AckPolicy.Explicit });
  }
});

afterAll(async () => {
  await connection?.close();
  await server?.stop();
});

async function barrierOf(number: number, withinMs?: number): Promise<Barrier> {
  const { streams } = await streamsOn(connection, { streams: number });
  return usageBarrier({ streams, clock: systemClock, holder: 'settler', ...(withinMs && { withinMs }) });
}

/** Acknowledges all messages, as metering's consumer does after applying them. */
async function applyAll(stream: string): Promise<void> {
  const consumer = await jetstream(connection).consumers.get(stream, USAGE_CONSUMER);
  const { num_pending } = await consumer.info();
  if (num_pending === 0) return;
  // It ends with the last message. NATS' client expects a sign of life twice in this time, also on a busy machine.
  for await (const message of await consumer.fetch({ max_messages: num_pending, expires: 60_000 }))
    await message.ackAck();
}

/** What the barrier says while all usage is being applied, except parked usage. */
async function passedBy(barrier: Barrier): ReturnType<Barrier['pass']> {
  let isOver = false;
  const passed = barrier.pass().finally(() => {
    isOver = true;
  });
  while (!isOver) for (const { name } of STREAMS) await applyAll(name);
  return passed;
}

test('nothing is settled while any usage stream has a message that is not applied, also a surplus stream', async () => {
  const js = jetstream(connection);
  for (const streams of [1, 3]) {
    const barrier = await barrierOf(streams, WITHIN_MS);
    for (const { subjectOf } of STREAMS)
      await js.publish(subjectOf('h'), UsageEvent.encode({ holder: 'h', usage: [] }).finish());
    for (const { name } of STREAMS) {
      expect(await barrier.pass()).toBe(undefined);
      await applyAll(name);
    }
    // The markers of the last attempt are in the streams and not applied yet.
    expect(await passedBy(await barrierOf(streams))).toEqual(new Set());
  }
});

test('every message is applied or its grants are named as parked, in whichever order they were parked', async () => {
  const js = jetstream(connection);
  const barrier = await barrierOf(1);
  const park = (grantId: string) =>
    js.publish(
      PARKED_USAGE.subjects,
      UsageEvent.encode({ holder: 'h', usage: [usageOf(grantId, 1)] }).finish(),
    );
  const grants = Array.from({ length: 1_200 }, (_, index) => `account/calls/2026-11/${index + 1}.secret`);
  await Promise.all(grants.map(park));
  expect(await passedBy(barrier)).toEqual(new Set(grants));
  await applyAll(PARKED_USAGE.name);
  expect(await passedBy(barrier)).toEqual(new Set());
});

test('settling goes on however many messages are parked, at one time or while it looks', async () => {
  const clock = createVirtualClock(0);
  let stored = 30_000;
  const barrier = usageBarrier({
    clock,
    holder: 'settler',
    streams: {
      list: async () => [PARKED_USAGE],
      mark: async () => stored,
      acknowledgedUpTo: async () => 0,
      readParked: async (from, most) => {
        await clock.sleep(10);
        stored += most;
        return Array.from({ length: most }, (_, index) => ({
          sequence: from + index,
          grantIds: [`${from + index}`],
        }));
      },
    },
  });
  const passed = barrier.pass();
  await clock.advance(10_000);
  expect((await passed)?.size).toBe(30_000);
});

test('nothing is settled while a configured stream does not exist', async () => {
  const barrier = await barrierOf(4, WITHIN_MS);
  await expect(barrier.pass()).rejects.toThrow();
});
