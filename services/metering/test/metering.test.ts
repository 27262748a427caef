import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AcquireRequest,
  DEAD_LETTER_STREAM,
  type Grant,
  type GrantUsage,
  MeteringAdminServiceClient,
  MeteringServiceClient,
  Route,
  USAGE_CONSUMER,
  USAGE_STREAM,
  UsageEvent,
  usageSubject,
} from '@brand-data/contracts';
import { type LocalServer, startNatsServer } from '@brand-data/local';
import { callUnary, connectChannel } from '@brand-data/runtime';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type RunningMetering, startMetering } from './running-metering.ts';

const operatorToken = 'operator-token-of-this-test';
const deadlineMs = 5_000;
let folder: string;
let natsServer: LocalServer;
let nats: NatsConnection;
let metering: RunningMetering;
let client: MeteringServiceClient;
let admin: MeteringAdminServiceClient;
let holders = 0;

const environment = () => ({
  mongodbUrl: inject('mongodbUrl'),
  natsUrl: natsServer.url,
  operatorToken,
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'metering-test-'));
  natsServer = await startNatsServer({ dataDir: folder });
  nats = await connect({ servers: natsServer.url });
  metering = await startMetering({
    ...environment(),
    database: `metering_${randomBytes(4).toString('hex')}`,
  });
  client = connectChannel(MeteringServiceClient, metering.target);
  admin = connectChannel(MeteringAdminServiceClient, metering.adminTarget);
});

afterAll(async () => {
  client?.close();
  admin?.close();
  await metering?.stop();
  await nats?.close();
  await natsServer?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const newAccount = () => `acct-${randomBytes(6).toString('hex')}`;
const newHolder = () => `gateway-${++holders}`;

const acquire = (accountId: string, more: Partial<AcquireRequest> = {}) =>
  callUnary(
    client,
    client.acquire,
    {
      ...{ holder: newHolder(), seq: 1, accountId, pool: 'calls', limit: 1_000, limitRevision: 1, want: 20 },
      ...{ ignoredFromSeq: 0, fromMs: 0, urgent: false, usage: [] },
      ...more,
    },
    { deadlineMs },
  );

async function grantFor(accountId: string, more: Partial<AcquireRequest> = {}): Promise<Grant> {
  const { outcome } = await acquire(accountId, more);
  if (outcome?.$case !== 'grant') throw new Error(`expected a grant, got ${outcome?.$case}`);
  return outcome.value;
}

const usageOf = (grantId: string, used: number, closed = false): GrantUsage => ({
  ...{ grantId, used, returned: 0, closed },
  cells:
    used === 0 ? [] : [{ keyId: 'key-1', route: Route.BRANDS, status: 200, day: '2026-11-20', count: used }],
});

const report = (...usage: GrantUsage[]) =>
  callUnary(client, client.report, { holder: 'any', usage }, { deadlineMs });

async function poolOf(accountId: string) {
  const { usage } = await callUnary(
    admin,
    admin.getUsage,
    { accountId, month: '' },
    { deadlineMs, operatorToken },
  );
  const [pool] = usage?.pools ?? [];
  if (!pool) throw new Error('the account has no pool yet');
  return pool;
}

const publish = (event: Partial<UsageEvent>) =>
  jetstream(nats).publish(usageSubject('test'), UsageEvent.encode(UsageEvent.fromPartial(event)).finish());

describe('metering', () => {
  test('bills usage that arrives in any order and any number of times exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat({ max: 7 }), { maxLength: 8 }),
        fc.boolean(),
        async (uses, repeats, close) => {
          const accountId = newAccount();
          const { id } = await grantFor(accountId);
          const sent = [...uses, ...repeats.map((index) => uses[index % uses.length] ?? 0)];
          await Promise.all(sent.map((used) => report(usageOf(id, used))));
          const most = Math.max(...sent);
          if (close) {
            await Promise.all([report(usageOf(id, most, true)), report(usageOf(id, most, true))]);
            await report(usageOf(id, most, true));
          }
          const { used, cells, out } = await poolOf(accountId);
          expect(used).toBe(most);
          expect(cells.reduce((sum, { count }) => sum + count, 0)).toBe(most);
          if (close) expect(out).toBe(0);
        },
      ),
      { numRuns: 25 },
    );
  });

  test('applies usage from the stream and acknowledges it after it is stored', async () => {
    const accountId = newAccount();
    const { id } = await grantFor(accountId);
    await publish({ holder: 'test', usage: [usageOf(id, 7)] });
    await expect.poll(async () => (await poolOf(accountId)).used).toBe(7);
    const manager = await jetstreamManager(nats);
    await expect
      .poll(async () => (await manager.consumers.info(USAGE_STREAM, USAGE_CONSUMER)).num_ack_pending)
      .toBe(0);
  });

  test('applies usage that was published while it was down, and each once when a restart brings it again', async () => {
    const database = `metering_${randomBytes(4).toString('hex')}`;
    const own = await startNatsServer({ dataDir: join(folder, 'restart') });
    const connection = await connect({ servers: own.url });
    const settings = { ...environment(), natsUrl: own.url, database };
    const first = await startMetering(settings);
    const stub = connectChannel(MeteringServiceClient, first.target);
    const accountId = newAccount();
    const { outcome } = await callUnary(
      stub,
      stub.acquire,
      {
        ...{ holder: 'h', seq: 1, accountId, pool: 'calls', limit: 1_000, limitRevision: 1, want: 20 },
        ...{ ignoredFromSeq: 0, fromMs: 0, urgent: false, usage: [] },
      },
      { deadlineMs },
    );
    stub.close();
    await first.kill();
    const id = outcome?.$case === 'grant' ? outcome.value.id : '';
    const payload = UsageEvent.encode({ holder: 'h', usage: [usageOf(id, 5, true)] }).finish();
    await jetstream(connection).publish(usageSubject('h'), payload);
    await jetstream(connection).publish(usageSubject('h'), payload);
    const second = await startMetering(settings);
    const secondAdmin = connectChannel(MeteringAdminServiceClient, second.adminTarget);
    await expect
      .poll(async () => {
        const usage = await callUnary(
          secondAdmin,
          secondAdmin.getUsage,
          { accountId, month: '' },
          { deadlineMs, operatorToken },
        );
        return usage.usage?.pools.map(({ used, out }) => ({ used, out }));
      })
      .toEqual([{ used: 5, out: 0 }]);
    secondAdmin.close();
    await second.stop();
    await connection.close();
    await own.stop();
  });

  test('drops usage of a grant that is closed, and says so to the one who reports it', async () => {
    const accountId = newAccount();
    const { id } = await grantFor(accountId);
    expect((await report(usageOf(id, 3, true))).refusedGrantIds).toEqual([]);
    expect((await report(usageOf(id, 9))).refusedGrantIds).toEqual([id]);
    expect((await poolOf(accountId)).used).toBe(3);
  });

  test('never grants more than the limit to any number of holders that ask at once', async () => {
    const accountId = newAccount();
    const asked = await Promise.all(
      Array.from({ length: 40 }, () => acquire(accountId, { limit: 25, want: 5 })),
    );
    const sizes = asked.map(({ outcome }) => (outcome?.$case === 'grant' ? outcome.value.size : 0));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(25);
    const { remaining, out } = await poolOf(accountId);
    expect(remaining + out).toBe(25);
  });

  test('gives what a closed grant did not use to the next one who asks', async () => {
    const accountId = newAccount();
    const first = await grantFor(accountId, { limit: 1 });
    const other = newHolder();
    expect((await acquire(accountId, { holder: other, limit: 1 })).outcome?.$case).toBe('wait');
    await report(usageOf(first.id, 0, true));
    const second = await grantFor(accountId, { holder: other, limit: 1 });
    await report(usageOf(second.id, 1, true));
    expect((await acquire(accountId, { holder: other, seq: 2, limit: 1 })).outcome?.$case).toBe('exhausted');
  });

  test('applies the usage that comes with a wish before it decides', async () => {
    const accountId = newAccount();
    const holder = newHolder();
    const first = await grantFor(accountId, { holder, limit: 1 });
    const next = await acquire(accountId, { holder, seq: 2, limit: 1, usage: [usageOf(first.id, 1, true)] });
    expect(next.outcome?.$case).toBe('exhausted');
  });

  test('sets an unreadable usage message aside and goes on with the next', async () => {
    const manager = await jetstreamManager(nats);
    const before = (await manager.streams.info(DEAD_LETTER_STREAM)).state.messages;
    await jetstream(nats).publish(usageSubject('test'), new TextEncoder().encode('not a usage event'));
    const accountId = newAccount();
    const { id } = await grantFor(accountId);
    await publish({ holder: 'test', usage: [usageOf(id, 2)] });
    await expect.poll(async () => (await poolOf(accountId)).used).toBe(2);
    await expect
      .poll(async () => (await manager.streams.info(DEAD_LETTER_STREAM)).state.messages)
      .toBe(before + 1);
  });

  test('keeps grants in the calendar month of their making', async () => {
    const grant = await grantFor(newAccount());
    const month = new Date().toISOString().slice(0, 7);
    expect(new Date(grant.periodStartMs).toISOString()).toBe(`${month}-01T00:00:00.000Z`);
    expect(new Date(grant.periodEndMs - 1).toISOString().slice(0, 7)).toBe(month);
  });

  test('tells usage to operators alone', async () => {
    for (const token of [undefined, '', 'wrong', `${operatorToken}x`]) {
      const call = callUnary(
        admin,
        admin.getUsage,
        { accountId: 'acct', month: '' },
        { deadlineMs, operatorToken: token },
      );
      await expect(call).rejects.toMatchObject({ kind: 'unauthenticated' });
    }
  });

  test('refuses wishes that make no sense with a word on what is wrong', async () => {
    await expect(acquire('no/slash')).rejects.toMatchObject({ kind: 'invalid_argument' });
    await expect(acquire('acct', { seq: 0 })).rejects.toMatchObject({ kind: 'invalid_argument' });
    await expect(report(usageOf('nonsense', 1))).rejects.toMatchObject({ kind: 'invalid_argument' });
  });
});
