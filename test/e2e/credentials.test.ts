import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startNatsServer } from '@brand-data/local';
import { MongoClient } from 'mongodb';
import { expect, inject, test } from 'vitest';
import { launchService } from '../stack/running-service.ts';

const CATALOG = fileURLToPath(new URL('../../services/catalog/src/main.ts', import.meta.url));

test('a process that NATS refuses, while its credential is changed, is back as soon as it is let in', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'credentials-test-'));
  const nats = await startNatsServer({ dataDir });
  const configFile = join(dataDir, 'nats-server.conf');
  const open = await readFile(configFile, 'utf8');
  const letIn = async (password: string) => {
    await writeFile(configFile, open);
    await appendFile(configFile, `authorization { user: service, password: ${password} }\n`);
    await nats.child.stop();
    await nats.child.start();
  };
  await letIn('old-password');
  const database = `credentials_${randomBytes(6).toString('hex')}`;
  const mongodbUrl = inject('mongodbUrl');
  const natsUrl = `nats://service:old-password@127.0.0.1:${nats.port}`;
  const service = await launchService(CATALOG, {
    ...{ mongodbUrl, natsUrl, database },
    operatorToken: 'the operator credential of tests',
  });
  const isConnected = async () =>
    Number(/^nats_connected\b.* (\d)$/m.exec(await (await fetch(`${service.opsUrl}/metrics`)).text())?.[1]);
  try {
    await service.untilReady();
    expect(await isConnected()).toBe(1);

    await letIn('new-password');
    const refusals = async () =>
      (await readFile(nats.child.logFile, 'utf8')).split('authentication error').length - 1;
    await expect.poll(refusals).toBeGreaterThan(4);
    expect(await isConnected()).toBe(0);

    await letIn('old-password');
    await expect.poll(isConnected).toBe(1);
  } finally {
    await service.end('SIGTERM');
    await nats.stop();
    const client = new MongoClient(mongodbUrl);
    await client.db(database).dropDatabase();
    await client.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});
