import { CATALOG_CHANGES_SUBJECT, CatalogChanged } from '@brand-data/contracts';
import { Fault, type Service } from '@brand-data/runtime';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { Announcer } from '../src/storage/announcer.ts';

let server: TestServer;
let listener: NatsConnection;
let connection: NatsConnection;
let announcer: Announcer;
let heard: CatalogChanged[];
let largest: number;
/** Whether all messages are lost with the connection. */
let isLost: boolean;
let stops: (() => unknown)[];

beforeAll(async () => {
  server = await startTestNats();
});

afterAll(() => server?.stop());

beforeEach(async () => {
  listener = await connect({ servers: server.url });
  connection = await connect({ servers: server.url, reconnectTimeWait: 50 });
  heard = [];
  largest = 0;
  listener.subscribe(CATALOG_CHANGES_SUBJECT, {
    callback: (_, { data }) => {
      largest = Math.max(largest, data.length);
      heard.push(CatalogChanged.decode(data));
    },
  });
  await listener.flush();
  stops = [];
  const service = { onStop: (_: string, stop: () => unknown) => stops.push(stop), log: { warn: () => {} } };
  isLost = false;
  const losing = {
    publish: (subject: string, data: Uint8Array) => isLost || connection.publish(subject, data),
    flush: async () => {
      if (isLost) throw new Error('connection disconnected');
      await connection.flush();
    },
  };
  announcer = new Announcer(service as unknown as Service, { connection: losing as never });
});

afterEach(async () => {
  for (const stop of stops) await stop();
  await Promise.all([listener.close(), connection.close()]);
});

const keysHeard = () => new Set(heard.flatMap(({ keys }) => keys));
const done = async () => {};

test('a change is announced at once, in a series that begins before the write and ends after it', async () => {
  await announcer.announce([1, 2], async () => {
    await expect.poll(() => heard.length).toBe(1);
  });
  await expect.poll(() => heard.length).toBe(2);
  const series = heard[0]?.series;
  expect(series).not.toBe('');
  expect(heard).toEqual([
    { keys: [], everyRecord: false, series, number: 0, last: false },
    { keys: [1, 2], everyRecord: false, series, number: 1, last: true },
  ]);
});

test('changes that follow one another are announced with at most three messages a second, and none is left out', async () => {
  const began = performance.now();
  const made = new Set<number>();
  for (let change = 0; performance.now() - began < 2_500; change++) {
    await announcer.announce([change % 1_000], () => connection.flush());
    made.add(change % 1_000);
  }
  await expect.poll(keysHeard).toEqual(made);
  await expect.poll(() => heard.at(-1)?.last).toBe(true);
  expect(heard.length).toBeLessThanOrEqual(3 * Math.ceil((performance.now() - began) / 1_000));
});

test('a long write is followed by messages, so that its series does not fall silent', async () => {
  await announcer.announce([1], async () => {
    await expect.poll(() => heard.length).toBeGreaterThanOrEqual(3);
    expect(heard.map(({ keys, last }) => ({ keys, last }))).toEqual(
      heard.map(() => ({ keys: [], last: false })),
    );
  });
  await expect.poll(() => heard.at(-1)).toMatchObject({ keys: [1], last: true });
});

test('the numbers of a series have no gap', async () => {
  for (let key = 0; key < 5; key++) {
    await announcer.announce([key], done);
    await announcer.confirm();
  }
  await expect.poll(() => keysHeard().size).toBe(5);
  for (const messages of Map.groupBy(heard, ({ series }) => series).values()) {
    expect(messages.map(({ number }) => number)).toEqual(messages.map((_, index) => index));
    expect(messages.map(({ last }) => last)).toEqual(
      messages.map((_, index) => index === messages.length - 1),
    );
  }
});

test('no message has more than 129 KiB, and too many changes are announced as a change of every record', async () => {
  const keys = (count: number) => Array.from({ length: count }, (_, index) => index);
  await announcer.announce(keys(200_000), done);
  await expect.poll(() => keysHeard().size).toBe(200_000);
  expect(heard.some(({ everyRecord }) => everyRecord)).toBe(false);
  // One write: of two, the first may be announced before the second on a busy machine.
  await announcer.announce(keys(300_000), done);
  await expect.poll(() => heard.filter(({ everyRecord }) => everyRecord)).toMatchObject([{ keys: [] }]);
  expect(largest).toBeLessThanOrEqual(129 * 1024);
});

test('a write that fails is announced too', async () => {
  const failing = announcer.announce([1], () =>
    Promise.reject(new Fault('unavailable', 'the database is away')),
  );
  await expect(failing).rejects.toThrow('the database is away');
  await expect.poll(() => keysHeard()).toEqual(new Set([1]));
});

test('an announcement that is lost with its connection is made again on the next one', async () => {
  for (let round = 0; round < 5; round++) {
    const reconnected = connection.reconnect();
    await announcer.announce([round], done);
    await announcer.confirm();
    await reconnected;
    await expect.poll(() => keysHeard().has(round)).toBe(true);
  }
  isLost = true;
  await announcer.announce([5], done);
  expect(keysHeard()).toEqual(new Set([0, 1, 2, 3, 4]));
  isLost = false;
  await announcer.confirm();
  await expect.poll(() => heard.at(-1)).toMatchObject({ keys: [5], last: true });
});

test('an end of an import is not confirmed while NATS is out of reach', async () => {
  isLost = true;
  await announcer.announce([1], done);
  await expect(announcer.confirm()).rejects.toMatchObject({ kind: 'unavailable' });
});

test('a stop announces what has changed', async () => {
  await announcer.announce([1], done);
  await announcer.announce([2], done);
  for (const stop of stops) await stop();
  await expect.poll(() => keysHeard()).toEqual(new Set([1, 2]));
  expect(heard.at(-1)?.last).toBe(true);
});
