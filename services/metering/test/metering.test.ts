import { randomBytes } from 'node:crypto';
import {
  DEAD_LETTER_STREAM,
  type GrantUsage,
  RECALLS_SUBJECT,
  Recall,
  USAGE_CONSUMER,
  usageStream,
} from '@brand-data/contracts';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { usageOf } from './ledger-actions.ts';
import {
  allowanceOf,
  type MeteringClient,
  meteringClient,
  newAccount,
  newHolder,
  proofOf,
  signedEvent,
} from './metering-client.ts';
import { type RunningMetering, startMetering } from './running-metering.ts';

const { name: USAGE_STREAM, subjectOf: usageSubject } = usageStream(1);
const operatorToken = 'operator-token-of-this-test';
let natsServer: TestServer;
let nats: NatsConnection;
let metering: RunningMetering;
let client: MeteringClient;

const environment = () => ({
  mongodbUrl: inject('mongodbUrl'),
  natsUrl: natsServer.url,
  operatorToken,
});

beforeAll(async () => {
  natsServer = await startTestNats();
  nats = await connect({ servers: natsServer.url });
  metering = await startMetering({
    ...environment(),
    database: `metering_${randomBytes(4).toString('hex')}`,
  });
  client = meteringClient(metering, operatorToken);
});

afterAll(async () => {
  client?.close();
  await metering?.stop();
  await nats?.close();
  await natsServer?.stop();
});

const publish = ({ payload, options }: ReturnType<typeof signedEvent>) =>
  jetstream(nats).publish(usageSubject('test'), payload, options);

describe('metering', () => {
  test('bills usage that arrives in any order and any number of times exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 8 }),
        fc.array(fc.nat({ max: 7 }), { maxLength: 8 }),
        fc.boolean(),
        async (uses, repeats, close) => {
          const accountId = newAccount();
          const { id } = await client.grantFor(accountId);
          const sent = [...uses, ...repeats.map((index) => uses[index % uses.length] ?? 0)];
          await Promise.all(sent.map((used) => client.report(usageOf(id, used))));
          const most = Math.max(...sent);
          if (close) {
            await Promise.all([
              client.report(usageOf(id, most, { closed: true })),
              client.report(usageOf(id, most, { closed: true })),
            ]);
            await client.report(usageOf(id, most, { closed: true }));
          }
          const { used, cells, out } = await client.poolOf(accountId);
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
    const { id } = await client.grantFor(accountId);
    await publish(signedEvent([usageOf(id, 7)]));
    await expect.poll(async () => (await client.poolOf(accountId)).used).toBe(7);
    const manager = await jetstreamManager(nats);
    await expect
      .poll(async () => (await manager.consumers.info(USAGE_STREAM, USAGE_CONSUMER)).num_ack_pending)
      .toBe(0);
  });

  test('applies usage that was published while it was down, and counts it once when a restart delivers it again', async () => {
    const database = `metering_${randomBytes(4).toString('hex')}`;
    const own = await startTestNats();
    const connection = await connect({ servers: own.url });
    const settings = { ...environment(), natsUrl: own.url, database };
    const first = await startMetering(settings);
    const accountId = newAccount();
    const firstClient = meteringClient(first, operatorToken);
    const { id } = await firstClient.grantFor(accountId);
    firstClient.close();
    await first.kill();
    const { payload, options } = signedEvent([usageOf(id, 5, { closed: true })]);
    await jetstream(connection).publish(usageSubject('h'), payload, options);
    await jetstream(connection).publish(usageSubject('h'), payload, options);
    const second = await startMetering(settings);
    const secondClient = meteringClient(second, operatorToken);
    await expect.poll(() => secondClient.poolOf(accountId)).toMatchObject({ used: 5, out: 0 });
    secondClient.close();
    await second.stop();
    await connection.close();
    await own.stop();
  });

  test('bills the usage of every stream, including surplus streams that gateways may still use', async () => {
    const own = await startTestNats();
    const connection = await connect({ servers: own.url });
    const settings = {
      ...environment(),
      natsUrl: own.url,
      database: `metering_${randomBytes(4).toString('hex')}`,
    };
    const publishTo = (number: number, ...usage: GrantUsage[]) => {
      const { payload, options } = signedEvent(usage);
      return jetstream(connection).publish(usageStream(number).subjectOf('h'), payload, options);
    };
    for (const streams of [3, 1]) {
      const running = await startMetering({ ...settings, streams });
      const ownClient = meteringClient(running, operatorToken);
      const accountId = newAccount();
      for (const number of [1, 2, 3]) {
        const { id } = await ownClient.grantFor(accountId, { limit: 100_000 });
        await publishTo(number, usageOf(id, number, { closed: true }));
      }
      // Metering first applies all messages that are in the streams at the request.
      expect(await ownClient.poolOf(accountId)).toMatchObject({ used: 6, out: 0 });
      ownClient.close();
      await running.stop();
    }
    await connection.close();
    await own.stop();
  });

  test('drops usage of a closed grant, and answers a report of it as refused', async () => {
    const accountId = newAccount();
    const { id } = await client.grantFor(accountId);
    expect((await client.report(usageOf(id, 3, { closed: true }))).refusedGrantIds).toEqual([]);
    expect((await client.report(usageOf(id, 9))).refusedGrantIds).toEqual([id]);
    expect((await client.poolOf(accountId)).used).toBe(3);
  });

  test('never grants more than the limit, however many holders ask at once', async () => {
    const accountId = newAccount();
    const asked = await Promise.all(
      Array.from({ length: 40 }, () =>
        client.acquire(accountId, { holder: newHolder(), limit: 25, want: 5 }),
      ),
    );
    const sizes = asked.map(({ outcome }) => (outcome?.$case === 'grant' ? outcome.value.size : 0));
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(25);
    const { remaining, out } = await client.poolOf(accountId);
    expect(remaining + out).toBe(25);
  });

  test('gives the unused permits of a closed grant to the next holder that asks', async () => {
    const accountId = newAccount();
    const first = await client.grantFor(accountId, { limit: 1 });
    const other = newHolder();
    expect((await client.acquire(accountId, { holder: other, limit: 1 })).outcome?.$case).toBe('wait');
    await client.report(usageOf(first.id, 0, { closed: true }));
    const second = await client.grantFor(accountId, { holder: other, limit: 1 });
    await client.report(usageOf(second.id, 1, { closed: true }));
    expect((await client.acquire(accountId, { holder: other, seq: 2, limit: 1 })).outcome?.$case).toBe(
      'exhausted',
    );
  });

  test('applies the usage that comes with a request before it decides', async () => {
    const accountId = newAccount();
    const holder = newHolder();
    const first = await client.grantFor(accountId, { holder, limit: 1 });
    const next = await client.acquire(accountId, {
      holder,
      seq: 2,
      limit: 1,
      usage: [usageOf(first.id, 1, { closed: true })],
    });
    expect(next.outcome?.$case).toBe('exhausted');
  });

  test('sends an unreadable usage message to the dead letters and goes on with the next', async () => {
    const manager = await jetstreamManager(nats);
    const before = (await manager.streams.info(DEAD_LETTER_STREAM)).state.messages;
    await jetstream(nats).publish(usageSubject('test'), new TextEncoder().encode('not a usage event'));
    const accountId = newAccount();
    const { id } = await client.grantFor(accountId);
    await publish(signedEvent([usageOf(id, 2)]));
    await expect.poll(async () => (await client.poolOf(accountId)).used).toBe(2);
    await expect
      .poll(async () => (await manager.streams.info(DEAD_LETTER_STREAM)).state.messages)
      .toBe(before + 1);
  });

  test('sends a message of the largest size to the dead letters, and takes no larger one', async () => {
    const manager = await jetstreamManager(nats);
    const before = (await manager.streams.info(DEAD_LETTER_STREAM)).state.messages;
    const js = jetstream(nats);
    await js.publish(usageSubject('test'), new Uint8Array(512 * 1024));
    await expect(js.publish(usageSubject('test'), new Uint8Array(512 * 1024 + 1))).rejects.toThrow();
    await expect
      .poll(async () => (await manager.streams.info(DEAD_LETTER_STREAM)).state.messages)
      .toBe(before + 1);
  });

  test('applies the readable usage of a message and sends it to the dead letters for the rest', async () => {
    const manager = await jetstreamManager(nats);
    const before = (await manager.streams.info(DEAD_LETTER_STREAM)).state.messages;
    const accountId = newAccount();
    const grants = [await client.grantFor(accountId), await client.grantFor(accountId)];
    const [good, bad] = grants.map(({ id }) => id);
    if (!good || !bad) throw new Error('no grants');
    await publish(signedEvent([usageOf(good, 2), { ...usageOf(bad, 1), cells: [] }]));
    await publish(signedEvent([usageOf(bad, 1_000_000)]));
    await publish(signedEvent([usageOf(bad, 3)]));
    await expect.poll(async () => (await client.poolOf(accountId)).used).toBe(5);
    await expect
      .poll(async () => (await manager.streams.info(DEAD_LETTER_STREAM)).state.messages)
      .toBe(before + 2);
  });

  test('settles, and knows all usage of an account, while somebody goes on publishing usage of grants that do not exist', {
    timeout: 240_000,
  }, async () => {
    const accountId = newAccount();
    // So near the limit that the grants live for seconds.
    const { id } = await client.grantFor(accountId, { limit: 3, want: 1 });
    await client.grantFor(accountId, { limit: 3, want: 1 });
    const publishUnknown = (account: string) => {
      const grantId = id.replace(accountId, account).replace(/[^/]+$/, `1000000.${'A'.repeat(22)}`);
      return publish(signedEvent([usageOf(grantId, 1)]));
    };
    await publishUnknown('nobody');
    await publish(signedEvent([usageOf(id, 1)]));
    const poolLater = async () => {
      await publishUnknown('nobody');
      await publishUnknown(accountId);
      return client.poolOf(accountId);
    };
    const later = { timeout: 200_000, interval: 2_000 };
    await expect.poll(poolLater, later).toMatchObject({ used: 1, out: 0, remaining: 2 });
    const other = newAccount();
    await client.grantFor(other);
    await expect.poll(() => client.isComplete(other)).toBe(true);
    // Usage of the account itself that is not known yet may still turn out to be its.
    expect(await client.isComplete(accountId)).toBe(false);
  });

  test('refuses reported usage that contradicts itself, and applies the rest of the report', async () => {
    const accountId = newAccount();
    const grants = [await client.grantFor(accountId), await client.grantFor(accountId)];
    const [good, bad] = grants.map(({ id }) => id);
    if (!good || !bad) throw new Error('no grants');
    const wrong = [{ ...usageOf(bad, 1), cells: [] }, usageOf(bad, 1_000_000), usageOf('nonsense', 1)];
    for (const usage of wrong)
      expect((await client.report(usageOf(good, 2), usage)).refusedGrantIds).toEqual([usage.grantId]);
    expect((await client.poolOf(accountId)).used).toBe(2);
  });

  test('counts the calls that it will never bill by reason, from the stream and from reports', async () => {
    const counts = async () => {
      const lines = [
        ...(await metering.metrics()).matchAll(
          /^metering_usage_dropped_calls_total\{.*reason="(\w+)".*\} (\d+)$/gm,
        ),
      ];
      return Object.fromEntries(lines.map(([, reason = '', calls]) => [reason, Number(calls)]));
    };
    const before = await counts();
    const grown = async () =>
      Object.entries(await counts()).flatMap(([reason, calls]) =>
        calls > (before[reason] ?? 0) ? [[reason, calls - (before[reason] ?? 0)]] : [],
      );
    const accountId = newAccount();
    const { id } = await client.grantFor(accountId);
    await publish(signedEvent([usageOf(id, 1_000_000)]));
    await publish(signedEvent([{ ...usageOf(id, 500), cells: [] }]));
    const byStream = [
      ['impossible', 1_000_000],
      ['unreadable', 500],
    ];
    await expect.poll(grown).toEqual(byStream);
    await client.report(usageOf(id, 2, { closed: true }), usageOf('nonsense', 30));
    await client.report(usageOf(id, 9));
    expect(await grown()).toEqual([['closed_grant', 7], byStream[0], ['unreadable', 530]]);
  });

  test("recalls other holders' permits for a request that calls wait for", async () => {
    const recalls = nats.subscribe(RECALLS_SUBJECT);
    const accountId = newAccount();
    const first = await client.grantFor(accountId, { limit: 1 });
    const other = newHolder();
    const waiting = client.acquire(accountId, { holder: other, limit: 1, urgent: true });
    for await (const { data } of recalls) {
      const recall = Recall.decode(data);
      if (recall.accountId !== accountId) continue;
      expect(recall).toEqual({ accountId, pool: 'calls', holder: other });
      break;
    }
    await client.report({ ...usageOf(first.id, 0), returned: first.size });
    expect((await waiting).outcome?.$case).toBe('grant');
  });

  test('recalls permits when a limit is lowered below those that holders have', async () => {
    const recalls = nats.subscribe(RECALLS_SUBJECT);
    const accountId = newAccount();
    await client.grantFor(accountId, { limit: 1_000, limitRevision: 1 });
    await client.acquire(accountId, { limit: 1, limitRevision: 2 });
    for await (const { data } of recalls) {
      const recall = Recall.decode(data);
      if (recall.accountId !== accountId) continue;
      expect(recall.holder).toBe('');
      break;
    }
    expect((await client.poolOf(accountId)).limit).toBe(1);
  });

  test('gives the permits of a holder that has disappeared to others', async () => {
    const accountId = newAccount();
    await client.grantFor(accountId, { limit: 1 });
    const holder = newHolder();
    let seq = 0;
    await expect
      .poll(
        async () => {
          seq += 1;
          return (await client.acquire(accountId, { holder, seq, limit: 1 })).outcome?.$case;
        },
        { timeout: 50_000, interval: 500 },
      )
      .toBe('grant');
  });

  test('has metrics of its decisions and of its progress in the usage stream', async () => {
    const accountId = newAccount();
    const { id } = await client.grantFor(accountId);
    await client.report(usageOf(id, 1));
    await publish(signedEvent([usageOf(id, 2, { closed: true })]));
    await expect.poll(async () => (await client.poolOf(accountId)).used).toBe(2);
    const shown = await metering.metrics();
    for (const line of [
      /^metering_acquires_total\{.*decision="grant".*\} [1-9]/m,
      /^metering_recalls_total\{.*\} \d/m,
      /^metering_settled_grants_total\{.*\} \d/m,
      /^metering_reports_total\{.*result="applied".*\} [1-9]/m,
      /^metering_usage_messages_total\{.*result="applied".*\} [1-9]/m,
      /^metering_usage_batch_messages_count\{.*\} [1-9]/m,
      /^metering_usage_apply_duration_seconds_count\{.*\} [1-9]/m,
      /^metering_usage_consumer_lag_messages\{.*state="pending".*\} 0$/m,
      /^metering_usage_consumer_lag_messages\{.*state="unacknowledged".*\} \d/m,
      /^metering_dead_letter_messages\{.*\} \d/m,
      /^metering_usage_stream_fill_ratio\{.*\} \d/m,
    ])
      expect(shown).toMatch(line);
  });

  test('keeps grants in the calendar month for which they were given', async () => {
    const grant = await client.grantFor(newAccount());
    const month = new Date().toISOString().slice(0, 7);
    expect(new Date(grant.periodStartMs).toISOString()).toBe(`${month}-01T00:00:00.000Z`);
    expect(new Date(grant.periodEndMs - 1).toISOString().slice(0, 7)).toBe(month);
  });

  test('shows usage on the admin port only to operators', async () => {
    for (const token of [undefined, '', 'wrong', `${operatorToken}x`]) {
      const call = client.poolOf('acct', { operatorToken: token });
      await expect(call).rejects.toMatchObject({ kind: 'unauthenticated' });
    }
  });

  test('shows usage to a gateway only with what accounts has signed about this account', async () => {
    const accountId = newAccount();
    await client.grantFor(accountId, { limit: 7 });
    const allowanceFor = (account: string) =>
      allowanceOf({ accountId: account, pool: 'calls', limit: 7, limitRevision: 1 });
    for (const allowance of ['', 'e30.e30.', await allowanceFor(newAccount())])
      await expect(client.readUsage(accountId, allowance)).rejects.toMatchObject({ kind: 'unauthenticated' });
    const { usage } = await client.readUsage(accountId, await allowanceFor(accountId));
    expect(usage?.pools).toMatchObject([{ pool: 'calls', limit: 7 }]);
  });

  test('refuses invalid requests and says what is wrong', async () => {
    await expect(client.acquire('no/slash')).rejects.toMatchObject({ kind: 'invalid_argument' });
    await expect(client.acquire('acct', { seq: 0 })).rejects.toMatchObject({ kind: 'invalid_argument' });
  });

  const metricsBy = async (name: string) => {
    const lines = [
      ...(await metering.metrics()).matchAll(new RegExp(`^${name}\\{.*reason="(\\w+)".*\\} (\\d+)$`, 'gm')),
    ];
    return Object.fromEntries(lines.map(([, reason = '', count]) => [reason, Number(count)]));
  };

  test('gives grants ids with 128 random bits', async () => {
    const grants = await Promise.all(Array.from({ length: 5 }, () => client.grantFor(newAccount())));
    const secrets = grants.map(({ id }) => id.split('.')[1] ?? '');
    for (const secret of secrets) expect(Buffer.from(secret, 'base64url')).toHaveLength(16);
    expect(new Set(secrets).size).toBe(secrets.length);
  });

  test('gives nobody a grant in the name of a holder whose key the sender does not have, and closes none of its grants', async () => {
    const accountId = newAccount();
    const holder = newHolder();
    const { size } = await client.grantFor(accountId, { holder, limit: 100 });
    const before = await metricsBy('metering_rejected_total');
    const giveUp = { holder, seq: 1_000, ignoredFromSeq: 1, limit: 100 };
    for (const proof of [proofOf(newHolder()), {}])
      await expect(client.acquire(accountId, giveUp, proof)).rejects.toMatchObject({
        kind: 'unauthenticated',
      });
    const old = { ...giveUp, holder: 'a-name-without-a-key' };
    await expect(client.acquire(accountId, old, {})).rejects.toMatchObject({ kind: 'unauthenticated' });
    expect((await client.poolOf(accountId)).out).toBe(size);
    expect((await metricsBy('metering_rejected_total')).no_proof).toBe((before.no_proof ?? 0) + 3);
  });

  test('bills calls that were answered, though others close the grant, use it up or return its permits before', async () => {
    const ways = ['report', 'event', 'forged event', 'unsigned event', 'usage of an Acquire'] as const;
    const wrongs = (id: string, size: number) => [
      usageOf(id, 0, { closed: true }),
      usageOf(id, size),
      usageOf(id, 0, { returned: size }),
    ];
    for (const way of ways) {
      const accountId = newAccount();
      const holder = newHolder();
      const attacker = newHolder();
      const { id, size } = await client.grantFor(accountId, { holder, limit: 10_000, want: 200 });
      const guessed = id.replace(/\..*$/, `.${'A'.repeat(22)}`);
      const counted = await metricsBy('metering_rejected_total');
      const before = { foreign: counted.foreign_grant ?? 0, forged: counted.forged ?? 0 };
      const attacks = [...wrongs(id, size), ...wrongs(guessed, size)];
      for (const usage of attacks) {
        if (way === 'report')
          expect((await client.reportAs(attacker, usage)).refusedGrantIds).toEqual([usage.grantId]);
        else if (way === 'usage of an Acquire')
          await client.acquire(accountId, { holder: attacker, limit: 10_000, usage: [usage] });
        else {
          const { payload, options } = signedEvent([usage], attacker, way === 'event' ? attacker : holder);
          const signed = way === 'unsigned event' ? {} : options;
          await jetstream(nats).publish(usageSubject('attacker'), payload, signed);
        }
      }
      const reason = way === 'forged event' ? 'forged' : 'foreign';
      const now = async () => {
        const { foreign_grant: foreign = 0, forged = 0 } = await metricsBy('metering_rejected_total');
        return { foreign, forged };
      };
      const expected = { ...before, [reason]: before[reason] + attacks.length };
      await expect.poll(now, { message: way }).toEqual(expected);
      const numbered = id.replace(/\..*$/, '');
      for (const usage of wrongs(numbered, size))
        expect((await client.reportAs(attacker, usage)).refusedGrantIds).toEqual([numbered]);
      const used = size - 1;
      expect(await client.report(usageOf(id, used, { closed: true }))).toMatchObject({ refusedGrantIds: [] });
      expect((await client.poolOf(accountId)).used, way).toBe(used);
      expect((await client.reportAs(attacker, usageOf(id, size))).refusedGrantIds).toEqual([id]);
    }
  });

  test("does not let another holder's usage of a closed grant pass for usage of the holder", async () => {
    const { id } = await client.grantFor(newAccount());
    await client.report(usageOf(id, 3, { closed: true }));
    const before = await metricsBy('metering_usage_dropped_calls_total');
    for (const used of [2, 9])
      expect((await client.reportAs(newHolder(), usageOf(id, used))).refusedGrantIds).toEqual([id]);
    const after = await metricsBy('metering_usage_dropped_calls_total');
    expect(after).toEqual({ ...before, foreign_grant: (before.foreign_grant ?? 0) + 11 });
  });

  test('takes a limit only from accounts: neither 0 nor 60 named by another gateway changes a plan of 5', async () => {
    const accountId = newAccount();
    const limit = 5;
    await client.grantFor(accountId, { limit });
    const foreign = await allowanceOf({
      accountId: newAccount(),
      pool: 'calls',
      limit: 60,
      limitRevision: 9,
    });
    const before = await metricsBy('metering_rejected_total');
    const asked = [
      { limit: 0, limitRevision: Number.MAX_SAFE_INTEGER, allowance: 'e30.e30.' },
      { limit: 60, limitRevision: 9, allowance: foreign },
    ];
    for (const request of asked)
      await expect(client.acquire(accountId, request)).rejects.toMatchObject({ kind: 'unauthenticated' });
    const allowance = await allowanceOf({ accountId, pool: 'calls', limit, limitRevision: 1 });
    await client.acquire(accountId, { limit: 60, limitRevision: 9, allowance });
    expect((await client.poolOf(accountId)).limit).toBe(limit);
    expect((await metricsBy('metering_rejected_total')).foreign_allowance).toBe(
      (before.foreign_allowance ?? 0) + 2,
    );
  });
});
