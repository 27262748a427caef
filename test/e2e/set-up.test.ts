import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ACCOUNT_CHANGES_STREAM, DEAD_LETTER_STREAM, usageStream } from '@brand-data/contracts';
import { COMPILED_CODE } from '@brand-data/servers/compiled-code';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';

const SERVICES = ['accounts', 'catalog', 'metering', 'images'] as const;
const database = (service: string) => `set_up_${process.pid}_${service}`;

let nats: TestServer;
let mongo: MongoClient;

beforeAll(async () => {
  nats = await startTestNats();
  mongo = new MongoClient(inject('mongodbUrl'));
});

afterAll(async () => {
  for (const service of SERVICES) await mongo?.db(database(service)).dropDatabase();
  await mongo?.close();
  await nats?.stop();
});

/** Runs a service's main with only the given environment. */
async function setUp(service: string, settings: Record<string, string | number> = {}) {
  const main = fileURLToPath(new URL(`../../services/${service}/src/main.ts`, import.meta.url));
  const child = spawn(process.execPath, [main, 'set-up'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: Object.fromEntries(
      Object.entries({
        NODE_COMPILE_CACHE: COMPILED_CODE,
        LOG_LEVEL: 'error',
        MONGODB_URL: inject('mongodbUrl'),
        MONGODB_DATABASE: database(service),
        NATS_URL: nats.url,
        ...settings,
      }).map(([name, value]) => [name, String(value)]),
    ),
  });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { code, stderr };
}

async function streams(): Promise<Record<string, number>> {
  const connection = await connect({ servers: nats.url });
  try {
    const manager = await jetstreamManager(connection);
    const sizes: Record<string, number> = {};
    for await (const { config } of manager.streams.list()) sizes[config.name] = config.max_bytes;
    return sizes;
  } finally {
    await connection.close();
  }
}

test.each(SERVICES)('setting up %s creates its indexes, and can be repeated', async (service) => {
  for (let time = 1; time <= 2; time++) expect(await setUp(service)).toEqual({ code: 0, stderr: '' });
  const collections = await mongo.db(database(service)).listCollections().toArray();
  const indexes = await Promise.all(
    collections.map(({ name }) => mongo.db(database(service)).collection(name).indexes()),
  );
  expect(indexes.flat().length).toBeGreaterThan(collections.length);
});

test('setting up creates the streams, and updates the settings of existing ones', async () => {
  await setUp('accounts');
  const settings = { USAGE_STREAMS: 2, USAGE_STREAM_MAX_BYTES: 1_000_000, STREAM_REPLICAS: 1 };
  expect(await setUp('metering', settings)).toEqual({ code: 0, stderr: '' });
  expect(await setUp('metering', { ...settings, USAGE_STREAM_MAX_BYTES: 2_000_000 })).toMatchObject({
    code: 0,
  });
  expect(await streams()).toMatchObject({
    [ACCOUNT_CHANGES_STREAM]: -1,
    [DEAD_LETTER_STREAM]: expect.any(Number),
    [usageStream(1).name]: 2_000_000,
    [usageStream(2).name]: 2_000_000,
  });
});

test('setting up with wrong settings names them, and ends with status 1', async () => {
  const { code, stderr } = await setUp('metering', { STREAM_REPLICAS: 2, MONGODB_URL: 'http://x' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/STREAM_REPLICAS.*/);
  expect(stderr).toMatch(/MONGODB_URL: must look like/);
});
