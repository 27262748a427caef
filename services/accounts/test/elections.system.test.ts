import { Route, TokenRefusal } from '@brand-data/contracts';
import { createLogger, INSTALLATION } from '@brand-data/runtime';
import { type MongodCluster, startMongodCluster } from '@brand-data/testing/clusters';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { inStaleView } from '@brand-data/testing/stale-view';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../src/storage/store.ts';
import { present, type RunningAccounts, startAccounts } from './running-accounts.ts';

const patiently = { timeout: 40_000 };
let mongodb: MongodCluster;
let nats: TestServer;
let accounts: RunningAccounts;

beforeAll(async () => {
  [mongodb, nats] = await Promise.all([startMongodCluster(await temporaryFolder()), startTestNats()]);
  accounts = await startAccounts({ mongodbUrl: mongodb.url, natsUrl: nats.url, database: 'accounts' });
  const { admin, operate } = accounts;
  const pools = [{ name: 'logos', allowance: 10, routes: [Route.LOGOS] }];
  await operate(admin.setPlan, { name: 'free', pools });
  await operate(admin.createAccount, { id: 'acme', name: 'Acme', plan: 'free' });
});

afterAll(async () => {
  await accounts?.kill();
  await Promise.all([nats?.stop(), mongodb?.stop()]);
});

async function createKey(): Promise<{ keyId: string; token: string }> {
  const { admin, operate } = accounts;
  const { key, token } = await operate(admin.createKey, { accountId: 'acme', label: '', allowedOrigins: [] });
  return { keyId: present(key).id, token };
}

/** Returns "good", the reason why the token is refused, or the kind of Fault if accounts cannot answer now. */
async function verdictOn(token: string): Promise<string> {
  try {
    const outcome = present(await accounts.verifyToken(token));
    if (outcome.$case === 'credential') return 'good';
    return outcome.value === TokenRefusal.REVOKED ? 'revoked' : 'not known';
  } catch (error) {
    return (error as { kind?: string }).kind ?? 'defect';
  }
}

const isThereAccount = (id: string) =>
  accounts.operate(accounts.admin.getAccount, { id }).then(
    () => 'yes',
    ({ kind }: { kind: string }) => kind,
  );

test('a token that was created just before an election is not refused after it', async () => {
  const { token } = await inStaleView(mongodb, createKey, async ({ token }) => {
    expect(await verdictOn(token)).toBe('unavailable');
  });
  await expect.poll(() => verdictOn(token), patiently).toBe('good');
});

test('a token that was revoked just before an election is not good after it', async () => {
  const { keyId, token } = await createKey();
  expect(await verdictOn(token)).toBe('good');
  const revoke = () => accounts.operate(accounts.admin.revokeKey, { keyId });
  await inStaleView(mongodb, revoke, async () => {
    expect(await verdictOn(token)).toBe('unavailable');
  });
  await expect.poll(() => verdictOn(token), patiently).toBe('revoked');
});

test('an account that was created just before an election is there after it', async () => {
  const create = () =>
    accounts.operate(accounts.admin.createAccount, { id: 'new', name: 'New', plan: 'free' });
  await inStaleView(mongodb, create, async () => {
    expect(await isThereAccount('new')).toBe('unavailable');
  });
  await expect.poll(() => isThereAccount('new'), patiently).toBe('yes');
});

/** If the outbox seemed empty, accounts would confirm a change to the operator before the gateways know of it. */
test('a notice that was stored just before an election is not overlooked after it', async () => {
  const client = new MongoClient(mongodb.url, {
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true },
  });
  try {
    // No replica of accounts uses this database, so none sends the notice.
    const { database, plans } = await openStore(
      { log: createLogger('test', 'silent') },
      { client, db: client.db('accounts_without_replicas') },
      { auditDays: 1 },
    );
    const by = { operator: INSTALLATION, from: '127.0.0.1:9', requestId: 'test' };
    const outbox = () =>
      database.listOutbox(10).then(
        (notices) => notices.length,
        ({ kind }: { kind?: string }) => kind ?? 'defect',
      );
    await inStaleView(
      mongodb,
      () => plans.set('free', { pools: [] }, by),
      async () => expect(await outbox()).toBe('unavailable'),
    );
    await expect.poll(outbox, patiently).toBe(1);
  } finally {
    await client.close();
  }
});
