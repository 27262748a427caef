import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CatalogAdminServiceClient } from '@brand-data/contracts';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { channelAs } from '@brand-data/runtime/test/channel-as.ts';
import { type LocalServer, startNatsServer } from '@brand-data/servers';
import { launchService } from '@brand-data/testing/running-service';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';

let dataDir: string;
let nats: LocalServer;
let configFile: string;
let open: string;

beforeEach(async () => {
  dataDir = await temporaryFolder();
  nats = await startNatsServer({ dataDir });
  configFile = join(dataDir, 'nats-server.conf');
  open = await readFile(configFile, 'utf8');
});

afterEach(async () => {
  await nats?.stop();
});

async function letIn(authorization: string): Promise<void> {
  await writeFile(configFile, open + authorization);
  await nats.child.stop();
  await nats.child.start();
}

const natsLog = () => readFile(nats.child.logFile, 'utf8');

test('a service that NATS refuses during a change of its credential reconnects as soon as NATS accepts it', async () => {
  const letInWith = (password: string) => letIn(`authorization { user: service, password: ${password} }\n`);
  await letInWith('old-password');
  const database = `credentials_${randomBytes(6).toString('hex')}`;
  const mongodbUrl = inject('mongodbUrl');
  const natsUrl = `nats://service:old-password@127.0.0.1:${nats.port}`;
  const service = await launchService('catalog', {
    mongodbUrl,
    natsUrl,
    database,
    operatorToken: 'the operator credential of tests',
  });
  const isConnected = async () => Number(/^nats_connected\b.* (\d)$/m.exec(await service.metrics())?.[1]);
  try {
    await service.untilReady();
    expect(await isConnected()).toBe(1);

    await letInWith('new-password');
    const refusals = async () => (await natsLog()).split('authentication error').length - 1;
    await expect.poll(refusals).toBeGreaterThan(4);
    expect(await isConnected()).toBe(0);

    await letInWith('old-password');
    await expect.poll(isConnected).toBe(1);
  } finally {
    await service.stop();
    const client = new MongoClient(mongodbUrl);
    await client.db(database).dropDatabase();
    await client.close();
  }
});

test('the operator token is replaced while operators work, and no call of theirs fails', async () => {
  const [old, next] = ['the old operator token', 'the new operator token'];
  const tokenFile = join(dataDir, 'operator-token');
  await writeFile(tokenFile, `${old}\n`);
  const database = `operators_${randomBytes(6).toString('hex')}`;
  const mongodbUrl = inject('mongodbUrl');
  const service = await launchService(
    'catalog',
    { mongodbUrl, natsUrl: `nats://127.0.0.1:${nats.port}`, database, operatorToken: '' },
    { LOG_LEVEL: 'info', OPERATOR_TOKEN_FILE: tokenFile },
  );
  const client = connectChannel(CatalogAdminServiceClient, service.adminTarget, channelAs('bds', 'catalog'));
  const call = (operatorToken: string) =>
    callUnary(client, client.getStatistics, {}, { deadlineMs: 10_000, operatorToken });
  const accepts = (token: string) =>
    call(token).then(
      () => true,
      () => false,
    );
  let sent = old;
  let failed = 0;
  let calls = 0;
  let isOver = false;
  const work = async () => {
    for (; !isOver; calls++) await call(sent).catch(() => failed++);
  };
  try {
    await service.untilReady();
    const working = work();
    // The steps of deploy/operations.md. Operators send the first line.
    await writeFile(tokenFile, `${old}\n${next}\n`);
    await expect.poll(() => accepts(next)).toBe(true);
    await writeFile(tokenFile, `${next}\n${old}\n`);
    sent = next;
    await writeFile(tokenFile, `${next}\n`);
    await expect.poll(() => accepts(old)).toBe(false);
    isOver = true;
    await working;
    expect(calls).toBeGreaterThan(10);
    expect(failed).toBe(0);
    // A value that no service would start with is not taken over.
    await writeFile(tokenFile, 'too short\n');
    await expect.poll(() => service.log()).toContain('the new value is refused');
    expect(await accepts(next)).toBe(true);
    expect(service.log()).not.toContain('too short');
  } finally {
    client.close();
    await service.stop();
    const mongo = new MongoClient(mongodbUrl);
    await mongo.db(database).dropDatabase();
    await mongo.close();
  }
});
