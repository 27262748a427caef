import { randomBytes } from 'node:crypto';
import { launchService } from '@brand-data/testing/running-service';
import { startTestNats } from '@brand-data/testing/servers';
import { MongoClient } from 'mongodb';
import { expect, inject, test } from 'vitest';

/** Lets Node's name look-up fail for five seconds, as in a cluster whose DNS does not answer yet. */
const NO_NAMES_AT_FIRST = `
  import dns from 'node:dns';
  import { syncBuiltinESMExports } from 'node:module';
  const { lookup } = dns;
  const known = performance.now() + 5_000;
  dns.lookup = (name, ...more) => {
    if (name !== 'localhost' || performance.now() > known) return lookup(name, ...more);
    more.at(-1)(Object.assign(new Error('getaddrinfo ENOTFOUND ' + name), { code: 'ENOTFOUND', hostname: name }));
  };
  syncBuiltinESMExports();`;

test('a service that starts before DNS knows the names of MongoDB and NATS becomes ready once it does', async () => {
  const database = `late_names_${randomBytes(6).toString('hex')}`;
  const mongodbUrl = inject('mongodbUrl');
  const nats = await startTestNats();
  const byName = (url: string) => url.replace('127.0.0.1', 'localhost');
  const service = await launchService(
    'catalog',
    {
      mongodbUrl: byName(mongodbUrl),
      natsUrl: byName(nats.url),
      database,
      operatorToken: 'the operator credential of tests',
    },
    { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(NO_NAMES_AT_FIRST)}` },
  );
  try {
    await expect.poll(service.readiness).toBe(503);
    await service.untilReady();
  } finally {
    await service.stop();
    await nats.stop();
    const client = new MongoClient(mongodbUrl);
    await client.db(database).dropDatabase();
    await client.close();
  }
});
