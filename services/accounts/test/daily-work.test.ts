import { randomUUID } from 'node:crypto';
import {
  ACCOUNT_CHANGES_STREAM,
  type AccountChanged,
  AccountState,
  Route,
  TokenRefusal,
} from '@brand-data/contracts';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import fc from 'fast-check';
import { BSON, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type { AccountDoc } from '../src/model/account.ts';
import { present, type RunningAccounts, readNotices, startAccounts } from './running-accounts.ts';

const database = `accounts-${randomUUID()}`;
let nats: TestServer;
let accounts: RunningAccounts;

beforeAll(async () => {
  nats = await startTestNats();
  accounts = await startAccounts({ mongodbUrl: inject('mongodbUrl'), natsUrl: nats.url, database });
  const pools = [{ name: 'logos', allowance: 1, routes: [Route.LOGOS] }];
  for (const name of ['free', 'team']) await accounts.operate(accounts.admin.setPlan, { name, pools });
});

afterAll(async () => {
  await accounts?.stop();
  await nats?.stop();
});

const create = (id: string, more: { name?: string; plan?: string } = {}) =>
  accounts.operate(accounts.admin.createAccount, { id, name: 'Acme', plan: 'free', ...more });

async function newAccount(): Promise<string> {
  return present((await create('')).account).id;
}

async function newKey(accountId: string, expiresAtMs?: number) {
  const limits = { rate: { perSecond: 5, burst: 9 } };
  const request = { accountId, label: 'web', allowedOrigins: ['https://a.example'], expiresAtMs, limits };
  const { key, token } = await accounts.operate(accounts.admin.createKey, request);
  return { ...present(key), token };
}

const refusedAs = (refusal: TokenRefusal) => ({ $case: 'refusal', value: refusal });
const accepted = { $case: 'credential' };

describe('the list of accounts', () => {
  const everyone = ['list-a', 'list-a-b', 'list-ab', 'list-b', 'list-c'];

  beforeAll(async () => {
    for (const [place, id] of everyone.entries())
      await create(id, {
        name: `List ${id === 'list-c' ? 'C.*' : place}`,
        plan: place % 2 ? 'team' : 'free',
      });
    await accounts.operate(accounts.admin.closeAccount, { id: 'list-b' });
  });

  const list = async (filters: { plan?: string; state?: AccountState; text?: string; limit?: number }) => {
    const ids: string[] = [];
    let after = '';
    do {
      const request = {
        plan: '',
        state: AccountState.UNSPECIFIED,
        text: 'list',
        limit: 0,
        after,
        ...filters,
      };
      const page = await accounts.operate(accounts.admin.listAccounts, request);
      ids.push(...page.accounts.map(({ id }) => id));
      after = page.next;
    } while (after !== '');
    return ids;
  };

  test('has every account that the filters fit, once and in the order of ids, whatever the size of its pages', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom('', 'free', 'team', 'none'),
        fc.constantFrom(AccountState.UNSPECIFIED, AccountState.ACTIVE, AccountState.CLOSED),
        async (limit, plan, state) => {
          const fitting = everyone.filter((id, place) => {
            const isClosed = id === 'list-b';
            const fitsState =
              state === AccountState.UNSPECIFIED || isClosed === (state === AccountState.CLOSED);
            return fitsState && (plan === '' || plan === (place % 2 ? 'team' : 'free'));
          });
          expect(await list({ limit, plan, state })).toEqual(fitting);
        },
      ),
      { numRuns: 30 },
    );
  });

  test('is searched by a part of the id or the name in any case, which is no pattern', async () => {
    expect(await list({ text: 'LIST-A' })).toEqual(['list-a', 'list-a-b', 'list-ab']);
    expect(await list({ text: 'list 3' })).toEqual(['list-b']);
    expect(await list({ text: 'c.*' })).toEqual(['list-c']);
    expect(await list({ text: 'list.a' })).toEqual([]);
    expect(await list({ text: 'list\0a' })).toEqual([]);
  });

  test('reads so few accounts for a page that a search among very many is answered, in pages that may be empty', async () => {
    const client = await new MongoClient(inject('mongodbUrl')).connect();
    const stored = client.db(database).collection<AccountDoc>('accounts');
    const many = Array.from({ length: 20_000 }, (_, number) => ({
      _id: `many-${String(number).padStart(5, '0')}`,
      name: 'Many',
      plan: 'free',
      createdAt: new Date(),
      revision: 0,
    }));
    try {
      await stored.insertMany(many);
      await create('many-last');
      const request = { plan: 'free', state: AccountState.ACTIVE, text: 'many-last', limit: 0, after: 'm' };
      const first = await accounts.operate(accounts.admin.listAccounts, request);
      expect(first).toEqual({ accounts: [], next: 'many-19999' });
      const second = await accounts.operate(accounts.admin.listAccounts, { ...request, after: first.next });
      expect(second).toMatchObject({ accounts: [{ id: 'many-last' }], next: '' });
    } finally {
      await stored.deleteMany({ name: 'Many' });
      await client.close();
    }
  });

  test('has at most 500 accounts on a page', async () => {
    for (const limit of [-1, 501])
      await expect(list({ limit })).rejects.toMatchObject({ kind: 'invalid_argument' });
  });
});

describe('an account', () => {
  test('that is reopened has its tokens accepted again, except those that were revoked', async () => {
    const { admin, operate } = accounts;
    const id = await newAccount();
    const [kept, revoked] = [await newKey(id), await newKey(id)];
    await operate(admin.closeAccount, { id });
    await operate(admin.revokeKey, { keyId: revoked.id });
    expect(await accounts.verifyToken(kept.token)).toEqual(refusedAs(TokenRefusal.ACCOUNT_CLOSED));
    const { account } = await operate(admin.reopenAccount, { id });
    expect(account).toMatchObject({ state: AccountState.ACTIVE, closedAtMs: undefined });
    expect((await operate(admin.getAccount, { id })).account).toEqual(account);
    expect(await accounts.verifyToken(kept.token)).toMatchObject(accepted);
    expect(await accounts.verifyToken(revoked.token)).toEqual(refusedAs(TokenRefusal.REVOKED));
    expect((await operate(admin.reopenAccount, { id })).account).toMatchObject({
      state: AccountState.ACTIVE,
    });
    await expect(operate(admin.reopenAccount, { id: 'nobody' })).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('is renamed and keeps its id, its plan and its keys', async () => {
    const { admin, operate } = accounts;
    const id = await newAccount();
    const { token } = await newKey(id);
    const before = present((await operate(admin.getAccount, { id })).account);
    await operate(admin.renameAccount, { id, name: 'Acme Works' });
    expect((await operate(admin.getAccount, { id })).account).toEqual({ ...before, name: 'Acme Works' });
    expect(await accounts.verifyToken(token)).toMatchObject(accepted);
    for (const [wrong, kind] of [
      [{ id: 'nobody', name: 'x' }, 'not_found'],
      [{ id, name: 'x'.repeat(201) }, 'invalid_argument'],
    ] as const)
      await expect(operate(admin.renameAccount, wrong)).rejects.toMatchObject({ kind });
  });
});

describe('a deleted account', () => {
  /** Returns all documents of the database as one text. */
  async function everythingStored(): Promise<string> {
    const client = await new MongoClient(inject('mongodbUrl')).connect();
    const collections = await client.db(database).listCollections().toArray();
    const documents = collections.map(({ name }) => client.db(database).collection(name).find().toArray());
    const text = BSON.EJSON.stringify(await Promise.all(documents));
    await client.close();
    return text;
  }

  test('leaves its id, and its names, labels and origins nowhere in the database, also not in the trail', async () => {
    const { admin, operate } = accounts;
    const [id, other] = [await newAccount(), present((await create('', { name: 'Stays Ltd' })).account).id];
    await operate(admin.renameAccount, { id, name: 'Secret One' });
    await operate(admin.renameAccount, { id, name: 'Secret Two' });
    const origins = (name: string) => ({ origins: [`https://secret-${name}.example`] });
    const request = { accountId: id, label: 'secret label', allowedOrigins: origins('a').origins };
    const keyId = present((await operate(admin.createKey, request)).key).id;
    await operate(admin.updateKey, { keyId, label: 'secret shop', allowedOrigins: origins('b') });
    await operate(admin.updateKey, { keyId, label: 'secret end', allowedOrigins: origins('c') });
    await operate(admin.rotateKey, { keyId, overlapMs: 60_000 });
    await operate(admin.revokeKey, { keyId });
    await operate(admin.createKey, { ...request, accountId: other, label: 'stays too' });
    expect(await everythingStored()).toMatch(/secret/i);
    await operate(admin.renameAccount, { id, name: 'Secret One' });
    const { account } = await operate(admin.deleteAccount, { id });
    const stored = await everythingStored();
    // The other account has the first origin too.
    expect(stored.replaceAll('https://secret-a.example', '')).not.toMatch(/secret/i);
    for (const kept of [id, other, 'Stays Ltd', 'stays too', keyId]) expect(stored).toContain(kept);
    expect((await operate(admin.deleteAccount, { id })).account).toEqual({
      ...account,
      revision: expect.any(Number),
    });
    expect((await operate(admin.getAccount, { id })).keys).toEqual([]);
  });

  test('is listed only among the deleted ones', async () => {
    const id = await newAccount();
    await accounts.operate(accounts.admin.deleteAccount, { id });
    const listed = async (state: AccountState) => {
      const request = { plan: '', state, text: id, limit: 0, after: '' };
      return (await accounts.operate(accounts.admin.listAccounts, request)).accounts.map((each) => each.id);
    };
    for (const state of [AccountState.UNSPECIFIED, AccountState.ACTIVE, AccountState.CLOSED])
      expect(await listed(state)).toEqual([]);
    expect(await listed(AccountState.DELETED)).toEqual([id]);
  });

  test('is remembered by NATS when other notices have expired, so that a restore of an old copy deletes it again', async () => {
    const id = await newAccount();
    await accounts.operate(accounts.admin.deleteAccount, { id });
    const connection = await connect({ servers: nats.url });
    try {
      const { streams } = await jetstreamManager(connection);
      const { config } = await streams.info(ACCOUNT_CHANGES_STREAM);
      const second = 1_000_000_000;
      await streams.update(ACCOUNT_CHANGES_STREAM, { ...config, max_age: second, duplicate_window: second });
      const kept = async () => {
        const notices = await readNotices(nats.url);
        return { others: notices.filter(({ deleted }) => !deleted).length, about: notices.map(aboutOf) };
      };
      await expect
        .poll(kept, { timeout: 30_000 })
        .toEqual({ others: 0, about: expect.arrayContaining([id]) });
      await streams.update(ACCOUNT_CHANGES_STREAM, config);
    } finally {
      await connection.close();
    }
  });
});

const aboutOf = ({ subject }: AccountChanged) => subject?.value;

describe('a plan', () => {
  test('is deleted once no account is on it, also no closed one, and its name can be used again', async () => {
    const { admin, operate } = accounts;
    const pools = [{ name: 'logos', allowance: 7, routes: [Route.LOGOS] }];
    await operate(admin.setPlan, { name: 'trial', pools });
    const ids = ['on-trial-1', 'on-trial-2', 'on-trial-3', 'on-trial-4', 'on-trial-5', 'on-trial-6'];
    for (const id of ids) await create(id, { plan: 'trial' });
    const [closed = '', deleted = '', ...moved] = ids;
    const remove = () => operate(admin.deletePlan, { name: 'trial' });
    await expect(remove()).rejects.toMatchObject({
      kind: 'failed_precondition',
      message: expect.stringMatching(/6 accounts are on the plan \(on-trial-1, .*, on-trial-5 …\)/),
    });
    await operate(admin.closeAccount, { id: closed });
    await operate(admin.deleteAccount, { id: deleted });
    for (const id of moved) await operate(admin.setAccountPlan, { id, plan: 'free' });
    await expect(remove()).rejects.toThrow(/1 account is on the plan \(on-trial-1\)/);
    await operate(admin.deleteAccount, { id: closed });
    expect((await remove()).plan).toMatchObject({ name: 'trial', pools });
    await expect(remove()).rejects.toMatchObject({ kind: 'not_found' });
    await expect(create('', { plan: 'trial' })).rejects.toMatchObject({ kind: 'not_found' });
    await operate(admin.setPlan, { name: 'trial', pools: [], replaces: 0 });
  });

  test('of which an account is made at the same time is deleted or has the account, and never both', async () => {
    const { admin, operate } = accounts;
    for (let round = 0; round < 5; round++) {
      const name = `race-${round}`;
      await operate(admin.setPlan, { name, pools: [] });
      const [made, removed] = await Promise.allSettled([
        create('', { plan: name }),
        operate(admin.deletePlan, { name }),
      ]);
      expect([made.status, removed.status].toSorted()).toEqual(['fulfilled', 'rejected']);
    }
  });
});

describe('a key', () => {
  test('gets another label or other origins, and keeps its token and everything else', async () => {
    const { admin, operate } = accounts;
    const { token, ...key } = await newKey(await newAccount());
    const labelled = await operate(admin.updateKey, { keyId: key.id, label: 'shop' });
    expect(labelled.key).toEqual({ ...key, label: 'shop' });
    const origins = ['https://B.example', 'https://*.c.example'];
    await operate(admin.updateKey, { keyId: key.id, allowedOrigins: { origins } });
    expect(await accounts.verifyToken(token)).toMatchObject({
      value: { keyId: key.id, allowedOrigins: ['https://b.example', 'https://*.c.example'] },
    });
    const open = await operate(admin.updateKey, { keyId: key.id, allowedOrigins: { origins: [] } });
    expect(open.key).toEqual({ ...key, label: 'shop', allowedOrigins: [] });
  });

  test('is not changed by a refused edit', async () => {
    const { admin, operate } = accounts;
    const accountId = await newAccount();
    const { token: _, ...key } = await newKey(accountId);
    for (const [wrong, kind] of [
      [{ keyId: 'key-0', label: 'x' }, 'not_found'],
      [{ keyId: key.id }, 'invalid_argument'],
      [{ keyId: key.id, allowedOrigins: { origins: ['no origin'] } }, 'invalid_argument'],
    ] as const)
      await expect(operate(admin.updateKey, wrong as never)).rejects.toMatchObject({ kind });
    expect((await operate(admin.listKeys, { accountId })).keys).toEqual([key]);
    await operate(admin.revokeKey, { keyId: key.id });
    await expect(operate(admin.updateKey, { keyId: key.id, label: 'x' })).rejects.toMatchObject({
      kind: 'failed_precondition',
    });
  });

  test('is rotated to one like it, and expires after the overlap or at its own expiry if that is earlier', async () => {
    const { admin, operate } = accounts;
    const hour = 3_600_000;
    for (const expiresInMs of [undefined, hour / 2, 3 * hour]) {
      const expiresAtMs = expiresInMs && Date.now() + expiresInMs;
      const { token, ...old } = await newKey(await newAccount(), expiresAtMs);
      const beganMs = Date.now();
      const answer = await operate(admin.rotateKey, { keyId: old.id, overlapMs: hour });
      const [made, replaced] = [present(answer.key), present(answer.replaced)];
      expect(made).toEqual({ ...old, id: made.id, createdAtMs: made.createdAtMs });
      expect(made.id).not.toBe(old.id);
      expect(replaced).toEqual({ ...old, expiresAtMs: replaced.expiresAtMs, replacedBy: made.id });
      const most = Math.min(Date.now() + hour, expiresAtMs ?? Number.POSITIVE_INFINITY);
      const least = Math.min(beganMs + hour, expiresAtMs ?? Number.POSITIVE_INFINITY);
      expect(present(replaced.expiresAtMs)).toBeGreaterThanOrEqual(least);
      expect(present(replaced.expiresAtMs)).toBeLessThanOrEqual(most);
      const { accountId } = old;
      expect((await operate(admin.listKeys, { accountId })).keys).toEqual([replaced, made]);
      for (const each of [token, answer.token])
        expect(await accounts.verifyToken(each)).toMatchObject(accepted);
    }
  });

  test('is refused at once if it is rotated without an overlap', async () => {
    const { token, id } = await newKey(await newAccount());
    const made = await accounts.operate(accounts.admin.rotateKey, { keyId: id, overlapMs: 0 });
    expect(await accounts.verifyToken(token)).toEqual(refusedAs(TokenRefusal.EXPIRED));
    expect(await accounts.verifyToken(made.token)).toMatchObject(accepted);
  });

  test('can be rotated each day, because keys that have expired take no room', async () => {
    const { admin, operate } = accounts;
    const accountId = await newAccount();
    let { id } = await newKey(accountId);
    for (let day = 0; day < 101; day++) {
      const { key } = await operate(admin.rotateKey, { keyId: id, overlapMs: 0 });
      id = present(key).id;
    }
    for (let more = 1; more < 100; more++) await newKey(accountId);
    await expect(newKey(accountId)).rejects.toMatchObject({ kind: 'resource_exhausted' });
  });

  test('is rotated once, though it is tried many times at once, and not if it is revoked, expired or unknown', async () => {
    const { admin, operate } = accounts;
    const rotate = (keyId: string, overlapMs = 60_000) => operate(admin.rotateKey, { keyId, overlapMs });
    const accountId = await newAccount();
    const key = await newKey(accountId);
    const attempts = await Promise.allSettled(Array.from({ length: 4 }, () => rotate(key.id)));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await operate(admin.listKeys, { accountId })).keys).toHaveLength(2);
    const gone = await newKey(accountId);
    await operate(admin.revokeKey, { keyId: gone.id });
    const over = await newKey(accountId);
    await rotate(over.id, 0);
    for (const id of [key.id, gone.id, over.id])
      await expect(rotate(id)).rejects.toMatchObject({ kind: 'failed_precondition' });
    await expect(rotate('key-0')).rejects.toMatchObject({ kind: 'not_found' });
    for (const overlapMs of [-1, 91 * 86_400_000])
      await expect(rotate((await newKey(accountId)).id, overlapMs)).rejects.toMatchObject({
        kind: 'invalid_argument',
      });
  });
});
