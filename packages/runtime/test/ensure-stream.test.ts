import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { jetstream, jetstreamManager, type StreamConfig } from '@nats-io/jetstream';
import { connect, headers, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ensureStream, type Nats } from '../src/nats/nats.ts';
import type { Service } from '../src/service/service.ts';

const OLDER = { name: 'changes', subjects: ['changes.*'], num_replicas: 1, max_msgs_per_subject: 1 };
const NEWER = { ...OLDER, allow_msg_ttl: true };

let server: TestServer;
let connection: NatsConnection;

beforeAll(async () => {
  server = await startTestNats();
  connection = await connect({ servers: server.url });
});

afterAll(async () => {
  await connection?.close();
  await server?.stop();
});

test('a setting that NATS never takes back stops no older version that does not know it, and messages of both are taken', async () => {
  const manager = await jetstreamManager(connection);
  const publish = async (subject: string, kept: boolean) => {
    const ttl = headers();
    ttl.set('Nats-TTL', 'never');
    return (await jetstream(connection).publish(subject, '', kept ? { headers: ttl } : {})).seq;
  };
  const ensure = (config: Partial<StreamConfig> & typeof OLDER) => {
    const warned: string[] = [];
    const log = { warn: (_: object, message: string) => warned.push(message) };
    const service = { log, signal: AbortSignal.timeout(60_000) } as unknown as Service;
    return ensureStream(service, { manager } as Nats, config).then(() => warned);
  };
  expect(await ensure(OLDER)).toEqual([]);
  await expect(publish('changes.1', true)).rejects.toThrow(/TTL/);
  for (const config of [NEWER, OLDER, NEWER]) {
    expect(await ensure(config)).toEqual([]);
    expect((await manager.streams.info('changes')).config.allow_msg_ttl).toBe(true);
    await publish('changes.1', true);
    await publish('changes.2', false);
  }
});
