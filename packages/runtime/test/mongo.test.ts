import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { mongodProcess } from '@brand-data/servers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { MongoClient } from 'mongodb';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { checkTransactionLifetime, connectMongo } from '../src/mongo/connect.ts';
import { Readiness } from '../src/observe/readiness.ts';
import type { Service } from '../src/service/service.ts';

let folder: string;
let standalone: { url: string; child: ChildProcess };
const ends: (() => unknown)[] = [];

/** A standalone server with its own settings. */
beforeAll(async () => {
  folder = await temporaryFolder();
  const { found, port } = await mongodProcess({ dataDir: folder, ready: async () => true });
  const args = ['--dbpath', join(folder, 'db'), '--port', String(port), '--bind_ip', '127.0.0.1'];
  const child = spawn(found.path, [...args, '--nounixsocket'], { stdio: 'ignore' });
  standalone = { url: `mongodb://127.0.0.1:${port}/`, child };
});

afterAll(async () => {
  for (const end of ends) await end();
  standalone?.child.kill('SIGKILL');
});

function testService() {
  const warn = vi.fn();
  const service = {
    name: 'test',
    metrics: new Registry(),
    readiness: new Readiness(),
    tracer: undefined,
    log: { warn } as unknown as Service['log'],
    signal: new AbortController().signal,
    onStop: (_what: string, stop: () => unknown) => ends.push(stop),
    onSettingChange: () => {},
  };
  return { service, warnings: () => warn.mock.calls.map(([, line]) => line as string) };
}

test('a server of no replica set is refused, as it has no transactions and no majority', async () => {
  const { service } = testService();
  await expect(connectMongo(service, { MONGODB_URL: standalone.url }, 'test')).rejects.toThrow(
    /^wrong settings:\n {2}MONGODB_URL: the server is not a member of a replica set: use a replica set$/,
  );
});

test("what keeps a dead process's locks for long is warned of, with what to set", async () => {
  const { service, warnings } = testService();
  const client = new MongoClient(standalone.url);
  ends.push(() => client.close());
  await checkTransactionLifetime(service, { client, db: client.db() });
  expect(warnings()).toEqual([expect.stringContaining('set transactionLifetimeLimitSeconds to 5')]);
});

test('the quickstart keeps them for a few seconds, and warns of nothing', async () => {
  const { service, warnings } = testService();
  await checkTransactionLifetime(
    service,
    await connectMongo(service, { MONGODB_URL: inject('mongodbUrl') }, 'test'),
  );
  expect(warnings()).toEqual([]);
});

test('a user that may not know how long is warned too, and goes on', async () => {
  const { service, warnings } = testService();
  const mongo = await connectMongo(service, { MONGODB_URL: inject('mongodbUrl') }, 'test');
  const db = () => ({
    command: () => Promise.reject(new Error('not authorized on admin to execute command')),
  });
  const client = { db } as unknown as MongoClient;
  await checkTransactionLifetime(service, { ...mongo, client });
  expect(warnings()).toEqual([expect.stringContaining('does not tell this user')]);
});
