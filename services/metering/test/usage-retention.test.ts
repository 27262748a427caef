import { USAGE_CONSUMER, usageStream } from '@brand-data/contracts';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import {
  AckPolicy,
  DiscardPolicy,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  jetstream,
} from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeRoom } from '../src/usage/usage-retention.ts';
import type { UsageStreams } from '../src/usage/usage-streams.ts';
import { streamsOn } from './streams-on-nats.ts';

const { name: STREAM, subjects, subjectOf } = usageStream(1);
const MESSAGE = new Uint8Array(200);
const MESSAGES = 40;
let server: TestServer;
let connection: NatsConnection;
let js: JetStreamClient;
let manager: JetStreamManager;
let streams: UsageStreams;

beforeAll(async () => {
  server = await startTestNats();
  connection = await connect({ servers: server.url });
  js = jetstream(connection);
  ({ streams, manager } = await streamsOn(connection));
});

afterAll(async () => {
  await connection?.close();
  await server?.stop();
});

/** Fills a stream with messages that are all delivered. `acknowledged` says which of them are acknowledged. */
async function streamOf(acknowledged: readonly boolean[], maxBytes: number): Promise<void> {
  await manager.streams.add({
    name: STREAM,
    subjects: [subjects],
    discard: DiscardPolicy.New,
    max_bytes: maxBytes,
  });
  await manager.consumers.add(STREAM, { durable_name: USAGE_CONSUMER, ack_policy: AckPolicy.Explicit });
  for (const _ of acknowledged) await js.publish(subjectOf('h'), MESSAGE);
  const consumer = await js.consumers.get(STREAM, USAGE_CONSUMER);
  const taken: JsMsg[] = [];
  for await (const message of await consumer.fetch({ max_messages: acknowledged.length, expires: 2_000 }))
    taken.push(message);
  for (const message of taken) if (acknowledged[message.seq - 1]) await message.ackAck();
}

async function isThere(seq: number): Promise<boolean> {
  return (await manager.streams.getMessage(STREAM, { seq }).catch(() => null)) !== null;
}

test('only messages are purged that are acknowledged together with all before them', async () => {
  const upTo = fc.integer({ min: 0, max: MESSAGES });
  const some = fc.array(fc.boolean(), { minLength: MESSAGES, maxLength: MESSAGES });
  await fc.assert(
    fc.asyncProperty(upTo, some, async (allUpTo, others) => {
      const acknowledged = others.map((isOther, index) => index < allUpTo || isOther);
      const floor = acknowledged.includes(false) ? acknowledged.indexOf(false) : MESSAGES;
      await streamOf(acknowledged, MESSAGES * 300);
      try {
        const purged = await makeRoom(streams, usageStream(1));
        expect(purged).toBe(Math.min(floor, MESSAGES / 2));
        for (let seq = floor + 1; seq <= MESSAGES; seq++) expect(await isThere(seq)).toBe(true);
      } finally {
        await manager.streams.delete(STREAM);
      }
    }),
    { numRuns: 15, examples: [[MESSAGES, Array(MESSAGES).fill(true)]] },
  );
});

test('applied messages are not purged while the stream has room', async () => {
  await streamOf(Array(MESSAGES).fill(true), MESSAGES * 1_000);
  expect(await makeRoom(streams, usageStream(1))).toBe(0);
  await manager.streams.delete(STREAM);
});
