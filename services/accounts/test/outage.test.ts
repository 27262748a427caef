import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AccountChanged, Route, TokenRefusal } from '@brand-data/contracts';
import { type LocalServer, startNatsServer } from '@brand-data/local';
import { MongoClient } from 'mongodb';
import { afterEach, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { present, type RunningAccounts, readNotices, startAccounts } from './running-accounts.ts';

let folder: string;
let nats: LocalServer;
let replicas: RunningAccounts[];
let database: string;

async function startReplica(): Promise<RunningAccounts> {
  const replica = await startAccounts({ mongodbUrl: inject('mongodbUrl'), natsUrl: nats.url, database });
  replicas.push(replica);
  return replica;
}

const restartNats = async () => {
  nats = await startNatsServer({ dataDir: folder, port: nats.port });
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'accounts-outage-'));
  nats = await startNatsServer({ dataDir: folder });
  database = `accounts-${randomUUID()}`;
  replicas = [];
});

afterEach(async () => {
  for (const replica of replicas) await replica.kill();
  await nats.stop();
  await rm(folder, { recursive: true, force: true });
});

async function createKey({ admin, operate }: RunningAccounts): Promise<{ keyId: string; token: string }> {
  const pools = [{ name: 'logos', allowance: 10, routes: [Route.LOGOS] }];
  await operate(admin.setPlan, { name: 'free', pools });
  await operate(admin.createAccount, { id: 'acme', name: 'Acme', plan: 'free' });
  const { key, token } = await operate(admin.createKey, { accountId: 'acme', label: '', allowedOrigins: [] });
  return { keyId: present(key).id, token };
}

/** Waits until JetStream holds so many notices. */
const noticesOnceThereAre = (count: number): Promise<AccountChanged[]> =>
  vi.waitFor(
    async () => {
      const notices = await readNotices(nats.url);
      expect(notices).toHaveLength(count);
      return notices;
    },
    { timeout: 30_000, interval: 100 },
  );

const revoked = { $case: 'refusal', value: TokenRefusal.REVOKED };

describe('while NATS is away', () => {
  test('a revocation is not confirmed but holds, and the gateways are told when NATS is back', async () => {
    const accounts = await startReplica();
    const { admin, operate } = accounts;
    const { keyId, token } = await createKey(accounts);
    const before = await readNotices(nats.url);
    await nats.stop();
    await expect(operate(admin.revokeKey, { keyId })).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('not confirmed'),
    });
    expect(await accounts.verifyToken(token)).toEqual(revoked);
    await restartNats();
    const notices = await noticesOnceThereAre(before.length + 1);
    expect(notices.at(-1)?.subject).toEqual({ $case: 'keyId', value: keyId });
    const { key } = await operate(admin.revokeKey, { keyId });
    expect(present(key).revokedAtMs).toBeDefined();
  });

  test('a key that could not be confirmed is named, so that it can be revoked, and its token is not shown', async () => {
    const accounts = await startReplica();
    const { admin, operate } = accounts;
    await createKey(accounts);
    await nats.stop();
    const creation = operate(admin.createKey, { accountId: 'acme', label: 'lost', allowedOrigins: [] });
    const { message } = (await creation.catch((error: unknown) => error)) as Error;
    const { keys } = await operate(admin.listKeys, { accountId: 'acme' });
    expect(message).toContain(present(keys.find(({ label }) => label === 'lost')).id);
    expect(message).not.toContain('pk_');
    await restartNats();
  });

  test('changes are told in the order of their revisions when NATS is back', async () => {
    const accounts = await startReplica();
    const { admin, operate } = accounts;
    await nats.stop();
    const names = ['first', 'second', 'third', 'fourth'];
    await Promise.allSettled(names.map((name) => operate(admin.setPlan, { name, pools: [] })));
    await restartNats();
    const notices = await noticesOnceThereAre(names.length);
    const revisions = notices.map(({ revision }) => revision);
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  });
});

describe('a crash between a change and its notice', () => {
  /** A replica that made a change, could not tell anyone and is gone. */
  async function crash(): Promise<string> {
    const accounts = await startReplica();
    const { keyId } = await createKey(accounts);
    await nats.stop();
    await accounts.operate(accounts.admin.revokeKey, { keyId }).catch(() => {});
    await accounts.kill();
    await restartNats();
    return keyId;
  }

  test('leaves the notice to the next start', async () => {
    const keyId = await crash();
    expect((await readNotices(nats.url)).map(({ subject }) => subject?.$case)).toEqual([
      'plan',
      'accountId',
      'keyId',
    ]);
    await startReplica();
    const notices = await noticesOnceThereAre(4);
    expect(notices.at(-1)?.subject).toEqual({ $case: 'keyId', value: keyId });
  });

  test('leaves the notice to the replicas that run', async () => {
    await startReplica();
    const keyId = await crash();
    const notices = await noticesOnceThereAre(4);
    expect(notices.at(-1)?.subject).toEqual({ $case: 'keyId', value: keyId });
  });
});

test('a replica that is killed in the middle of a change keeps others from theirs for no longer than a transaction may last', async () => {
  const { admin, operate } = await startReplica();
  const client = new MongoClient(inject('mongodbUrl'));
  // What it has locked: the sequence of revisions, which comes first in every change.
  const session = client.startSession();
  session.startTransaction();
  const counters = client.db(database).collection<{ _id: string }>('counters');
  await counters.updateOne({ _id: 'revision' }, { $inc: { value: 1 } }, { session });
  const change = () => operate(admin.setPlan, { name: 'free', pools: [] });
  await vi.waitFor(change, { timeout: 20_000, interval: 100 });
  await client.close();
});

test('a stop ends the process with status 0, with NATS away too', async () => {
  const [first, second] = [await startReplica(), await startReplica()];
  expect(await first.stop()).toBe(0);
  await nats.stop();
  expect(await second.stop()).toBe(0);
});
