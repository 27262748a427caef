import { randomUUID } from 'node:crypto';
import {
  ACCOUNT_CHANGES_CONSUMER,
  ACCOUNT_CHANGES_STREAM,
  type AccountChanged,
  Route,
  TokenRefusal,
} from '@brand-data/contracts';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { MongoClient } from 'mongodb';
import { describe, expect, inject, type TestContext, test, vi } from 'vitest';
import { present, type RunningAccounts, readNotices, startAccounts } from './running-accounts.ts';

/**
 * Gives each test its own NATS server and database, so that tests can wait at the same time. Ends the replicas after the test.
 */
async function newSite({ onTestFinished }: Pick<TestContext, 'onTestFinished'>) {
  const nats = await startTestNats();
  onTestFinished(() => nats.stop());
  const database = `accounts-${randomUUID()}`;
  const startReplica = async (): Promise<RunningAccounts> => {
    const replica = await startAccounts({ mongodbUrl: inject('mongodbUrl'), natsUrl: nats.url, database });
    onTestFinished(() => replica.kill());
    return replica;
  };
  return { nats, database, startReplica };
}

async function createKey({ admin, operate }: RunningAccounts): Promise<{ keyId: string; token: string }> {
  const pools = [{ name: 'logos', allowance: 10, routes: [Route.LOGOS] }];
  await operate(admin.setPlan, { name: 'free', pools });
  await operate(admin.createAccount, { id: 'acme', name: 'Acme', plan: 'free' });
  const { key, token } = await operate(admin.createKey, { accountId: 'acme', label: '', allowedOrigins: [] });
  return { keyId: present(key).id, token };
}

/** Waits until JetStream holds this many notices. */
const noticesOnceThereAre = (nats: TestServer, count: number): Promise<AccountChanged[]> =>
  vi.waitFor(
    async () => {
      const notices = await readNotices(nats.url);
      expect(notices).toHaveLength(count);
      return notices;
    },
    { timeout: 60_000, interval: 100 },
  );

const revoked = { $case: 'refusal', value: TokenRefusal.REVOKED };

describe.concurrent('while NATS is away', () => {
  test('a revocation is not confirmed but holds, and the gateways are told when NATS is back', async (context) => {
    const { nats, startReplica } = await newSite(context);
    const accounts = await startReplica();
    const { admin, operate } = accounts;
    const { keyId, token } = await createKey(accounts);
    const before = await readNotices(nats.url);
    await nats.child.stop();
    await expect(operate(admin.revokeKey, { keyId })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('is stored, but'),
    });
    expect(await accounts.verifyToken(token)).toEqual(revoked);
    await nats.child.start();
    const notices = await noticesOnceThereAre(nats, before.length + 1);
    expect(notices.at(-1)?.subject).toEqual({ $case: 'keyId', value: keyId });
    const { key } = await operate(admin.revokeKey, { keyId });
    expect(present(key).revokedAtMs).toBeDefined();
  });

  test('a key that could not be confirmed is named, so that it can be revoked, and its token is not shown', async (context) => {
    const { nats, startReplica } = await newSite(context);
    const accounts = await startReplica();
    const { admin, operate } = accounts;
    await createKey(accounts);
    await nats.child.stop();
    const creation = operate(admin.createKey, { accountId: 'acme', label: 'lost', allowedOrigins: [] });
    const { message } = (await creation.catch((error: unknown) => error)) as Error;
    const { keys } = await operate(admin.listKeys, { accountId: 'acme' });
    expect(message).toContain(present(keys.find(({ label }) => label === 'lost')).id);
    expect(message).not.toContain('pk_');
    await nats.child.start();
  });

  test('changes are told in the order of their revisions when NATS is back', async (context) => {
    const { nats, startReplica } = await newSite(context);
    const accounts = await startReplica();
    const { admin, operate } = accounts;
    await nats.child.stop();
    const names = ['first', 'second', 'third', 'fourth'];
    await Promise.allSettled(names.map((name) => operate(admin.setPlan, { name, pools: [] })));
    await nats.child.start();
    const notices = await noticesOnceThereAre(nats, names.length);
    const revisions = notices.map(({ revision }) => revision);
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  });
});

test.concurrent('the consumer of the gateways is made again if somebody removes it', async (context) => {
  const { nats, startReplica } = await newSite(context);
  await startReplica();
  const connection = await connect({ servers: nats.url });
  context.onTestFinished(() => connection.close());
  const { consumers } = await jetstreamManager(connection);
  const removed = [ACCOUNT_CHANGES_STREAM, ACCOUNT_CHANGES_CONSUMER] as const;
  expect(await consumers.delete(...removed)).toBe(true);
  await vi.waitFor(() => consumers.info(...removed), { timeout: 120_000, interval: 500 });
});

describe.concurrent('a crash between a change and its notice', () => {
  /** A replica that commits a change, cannot send its notice, and is killed. */
  async function crash({ nats, startReplica }: Awaited<ReturnType<typeof newSite>>): Promise<string> {
    const accounts = await startReplica();
    const { keyId } = await createKey(accounts);
    await nats.child.stop();
    await accounts.operate(accounts.admin.revokeKey, { keyId }).catch(() => {});
    await accounts.kill();
    await nats.child.start();
    return keyId;
  }

  test('leaves the notice to the next start', async (context) => {
    const site = await newSite(context);
    const { nats, startReplica } = site;
    const keyId = await crash(site);
    expect((await readNotices(nats.url)).map(({ subject }) => subject?.$case)).toEqual([
      'plan',
      'accountId',
      'keyId',
    ]);
    await startReplica();
    const notices = await noticesOnceThereAre(nats, 4);
    expect(notices.at(-1)?.subject).toEqual({ $case: 'keyId', value: keyId });
  });

  test('leaves the notice to the replicas that run', async (context) => {
    const site = await newSite(context);
    const { nats, startReplica } = site;
    await startReplica();
    const keyId = await crash(site);
    const notices = await noticesOnceThereAre(nats, 4);
    expect(notices.at(-1)?.subject).toEqual({ $case: 'keyId', value: keyId });
  });
});

test.concurrent('a replica that is killed in the middle of a change keeps others from theirs for no longer than a transaction may last', async (context) => {
  const { database, startReplica } = await newSite(context);
  const { admin, operate } = await startReplica();
  const client = new MongoClient(inject('mongodbUrl'));
  // The killed replica has locked the counter of revisions, which every change takes first.
  const session = client.startSession();
  session.startTransaction();
  const counters = client.db(database).collection<{ _id: string }>('counters');
  await counters.updateOne({ _id: 'revision' }, { $inc: { value: 1 } }, { session });
  const change = () => operate(admin.setPlan, { name: 'free', pools: [] });
  await vi.waitFor(change, { timeout: 40_000, interval: 100 });
  await client.close();
});

test.concurrent('a stop ends the process with status 0, with NATS away too', async (context) => {
  const { nats, startReplica } = await newSite(context);
  const [first, second] = [await startReplica(), await startReplica()];
  expect(await first.stop()).toBe(0);
  await nats.child.stop();
  expect(await second.stop()).toBe(0);
});
