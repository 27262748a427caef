import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { promisify } from 'node:util';
import type { GrantUsage } from '@brand-data/contracts';
import type { Instant } from '@brand-data/runtime';
import { startWebhookReceiver, type WebhookReceiver } from '@brand-data/testing/webhook-receiver';
import fc from 'fast-check';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterAll, describe, expect, test } from 'vitest';
import {
  acquire,
  grantIdOf,
  type Ledger,
  type LedgerKey,
  newGrantSecret,
  newLedger,
} from '../src/ledger/ledger.ts';
import { LedgerStore } from '../src/ledger/ledger-store.ts';
import { openMongoLedgerDatabase } from '../src/ledger/mongo-ledger-database.ts';
import { createNoticeFinder } from '../src/notices/finder.ts';
import { type MongoNotices, openMongoNotices } from '../src/notices/mongo-notices.ts';
import { type Notice, noticeIdOf, passedThresholds, passedWith } from '../src/notices/notice.ts';
import type { NoticeEvents } from '../src/notices/notice-events.ts';
import { createNoticeSender } from '../src/notices/sender.ts';
import { createWebhook } from '../src/notices/webhook.ts';
import { NOW_MS, usageOf } from './ledger-actions.ts';
import { mongoLedgers } from './ledger-stores.ts';

const mongo = mongoLedgers();
const MONTH = '2099-11';
/** When the notices are made that a webhook gets. Its library compares their times with the real one. */
const PASSED_AT_MS = Date.UTC(2026, 10, 20);
const SILENT: NoticeEvents = {
  found: () => {},
  searchFailed: () => {},
  attempted: () => {},
  publishFailed: () => {},
  sendFailed: () => {},
};
const NOT_STOPPED = new AbortController().signal;

/** Returns a clock that stands still until the test moves it. */
function testClock(wallMs = NOW_MS) {
  const now: Instant = { monotonicMs: 0, wallMs };
  return {
    now: () => ({ ...now }),
    sleep: async () => {},
    pass: (ms: number) => {
      now.monotonicMs += ms;
      now.wallMs += ms;
    },
  };
}

/** Returns a grant of at most `want` permits, as an Acquire of a new holder gets it. undefined: there is none. */
async function grantOf(
  store: LedgerStore,
  {
    limit,
    limitRevision,
    want = 100,
    ...key
  }: LedgerKey & { limit: number; limitRevision: number; want?: number },
): Promise<{ id: string; size: number } | undefined> {
  const holder = randomBytes(6).toString('hex');
  const request = { holder, seq: 1, limit, limitRevision, want, ignoredFromSeq: 0, secret: newGrantSecret() };
  return store.update(key, (before) => {
    const { ledger, decision } = acquire(before, request, NOW_MS);
    if (decision.kind !== 'grant') return { ledger, result: undefined };
    return { ledger, result: { id: grantIdOf(key, decision.grant), size: decision.grant.size } };
  });
}

async function allOf(store: MongoNotices): Promise<Notice[]> {
  const notices: Notice[] = [];
  let after = '';
  do {
    const page = await store.list({ state: undefined, accountId: '', month: '', limit: 3, after });
    notices.push(...page.notices);
    after = page.next;
  } while (after !== '');
  return notices;
}

/** Two replicas of metering on one database. A crash between a change of a ledger and its notice is played by a lost call. */
async function openReplicas() {
  const connection = mongo.openDatabase();
  const database = await openMongoLedgerDatabase(connection);
  const notices = await openMongoNotices(connection);
  const clock = testClock();
  let isCrashing = false;
  const changes: Promise<void>[] = [];
  const replica = () => {
    const parts = { store: notices, clock, hasWebhook: true };
    const finder = createNoticeFinder(parts, SILENT);
    const changed = (before: Ledger, after: Ledger) => {
      if (!isCrashing) changes.push(Promise.resolve(finder.changed(before, after)));
    };
    const events = { changed, dropped: () => {}, failed: () => {} };
    const store = new LedgerStore({ database, clock, events, beforeNewLimit: finder.storeAllOf });
    return { store, finder };
  };
  return {
    notices,
    replicas: [replica(), replica()] as const,
    setCrashing: (crashing: boolean) => {
      isCrashing = crashing;
    },
  };
}

test.each([
  { allowance: 10, used: 7, thresholds: [] },
  { allowance: 10, used: 8, thresholds: [80] },
  { allowance: 10, used: 9, thresholds: [80] },
  { allowance: 10, used: 10, thresholds: [80, 100] },
  { allowance: 9, used: 7, thresholds: [] },
  { allowance: 9, used: 8, thresholds: [80] },
  { allowance: 1, used: 1, thresholds: [80, 100] },
  { allowance: 0, used: 0, thresholds: [] },
  { allowance: 0, used: 3, thresholds: [] },
])('$used of $allowance calls have passed the thresholds $thresholds', ({ thresholds, ...use }) => {
  const passed = passedWith({ accountId: 'a', pool: 'calls', month: MONTH, ...use });
  expect(passed.map(({ threshold }) => threshold)).toEqual(thresholds);
});

const actions = fc.array(
  fc.record({
    replica: fc.constantFrom(0 as const, 1 as const),
    accountId: fc.constantFrom('a', 'b'),
    pool: fc.constantFrom('calls', 'logos'),
    limit: fc.constantFrom(0, 1, 10, 25),
    used: fc.nat(12),
    closed: fc.boolean(),
    crashes: fc.boolean(),
  }),
  { maxLength: 14 },
);

describe('notices', () => {
  test('are of exactly the thresholds that stored ledgers have passed, each once, through crashes and new allowances', async () => {
    await fc.assert(
      fc.asyncProperty(actions, async (made) => {
        const { notices, replicas, setCrashing } = await openReplicas();
        const passed = new Set<string>();
        let limitRevision = 0;
        for (const { replica, used, closed, crashes, limit, ...key } of made) {
          const { store } = replicas[replica];
          setCrashing(crashes);
          limitRevision += 1;
          const note = async () => {
            for (const { ledger } of await store.readUsage(key.accountId, MONTH))
              for (const each of passedThresholds(ledger)) passed.add(noticeIdOf(each));
          };
          const grant = await grantOf(store, { ...key, month: MONTH, limit, limitRevision });
          await note();
          if (!grant) continue;
          await store.applyUsage([usageOf(grant.id, Math.min(used, grant.size), { closed })]);
          await note();
        }
        for (const { finder } of replicas) await finder.search(NOT_STOPPED);
        const found = await allOf(notices);
        expect(found.map(({ id }) => id).sort()).toEqual([...passed].sort());
      }),
      { numRuns: 30 },
    );
  });

  test('are not missed if replicas store usage of the same account at the same moment', async () => {
    const { notices, replicas } = await openReplicas();
    const key = { accountId: 'a', pool: 'calls', month: MONTH };
    const grants: { id: string; size: number }[] = [];
    for (;;) {
      const grant = await grantOf(replicas[0].store, { ...key, limit: 8, limitRevision: 1, want: 1 });
      if (!grant) break;
      grants.push(grant);
    }
    expect(grants.length).toBeGreaterThan(3);
    await Promise.all(
      grants.map(({ id, size }, index) =>
        replicas[index % 2 === 0 ? 0 : 1].store.applyUsage([usageOf(id, size)]),
      ),
    );
    for (const { finder } of replicas) await finder.search(NOT_STOPPED);
    const [ledger] = await replicas[0].store.readUsage('a', MONTH);
    const wanted = passedThresholds(ledger?.ledger ?? newLedger(key)).map(noticeIdOf);
    expect(wanted).not.toEqual([]);
    expect((await allOf(notices)).map(({ id }) => id).sort()).toEqual(wanted.sort());
  });

  test('of the old allowance are not missed if usage and a new allowance are stored by one write, and the replica crashes', async () => {
    const { notices, replicas, setCrashing } = await openReplicas();
    const [{ store, finder }] = replicas;
    const key = { accountId: 'a', pool: 'calls', month: MONTH };
    const usage: GrantUsage[] = [];
    for (let used = 0; used < 8; used += usage.at(-1)?.used ?? 0) {
      const grant = await grantOf(store, { ...key, limit: 10, limitRevision: 1 });
      if (!grant) throw new Error('there are permits left');
      usage.push(usageOf(grant.id, grant.size));
    }
    setCrashing(true);
    const raise = (before: Ledger) => ({ ledger: { ...before, limit: 100, limitRevision: 2 }, result: {} });
    await store.update(key, raise, usage);
    await finder.search(NOT_STOPPED);
    expect((await allOf(notices)).map(({ id }) => id)).toContain(`a/calls/${MONTH}/10/80`);
  });

  test('of an allowance that changes are stored before the change, and the change fails if they cannot be', async () => {
    const connection = mongo.openDatabase();
    const store = new LedgerStore({
      database: await openMongoLedgerDatabase(connection),
      clock: testClock(),
      beforeNewLimit: async () => {
        throw new Error('the database is away');
      },
    });
    const key = { accountId: 'a', pool: 'calls', month: MONTH };
    await grantOf(store, { ...key, limit: 10, limitRevision: 1 });
    await expect(grantOf(store, { ...key, limit: 20, limitRevision: 2 })).rejects.toThrow('is away');
    expect((await store.readUsage('a', MONTH))[0]?.ledger.limit).toBe(10);
  });
});

const secret = () => randomBytes(32);
const receivers: WebhookReceiver[] = [];
afterAll(() => Promise.all(receivers.map((receiver) => receiver.stop())));

/** What a webhook may send: `start`, and then either `repeat` without an end, or nothing. */
const HOSTILE: Record<string, { start: string; repeat?: string; kind: string }> = {
  'a close after 200': { start: 'HTTP/1.1 200 OK\r\n\r\n', kind: 'accepted' },
  'less than it has promised': {
    start: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n.',
    kind: 'accepted',
  },
  'a body without an end': {
    start: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    repeat: `ffff\r\n${'.'.repeat(0xffff)}\r\n`,
    kind: 'accepted',
  },
  'a header without an end': { start: 'HTTP/1.1 200 OK\r\nX: ', repeat: 'x'.repeat(9_999), kind: 'refused' },
  'an error with a body without an end': {
    start: 'HTTP/1.1 500 No\r\n\r\n',
    repeat: 'x'.repeat(9_999),
    kind: 'refused',
  },
  'half a line': { start: 'HTTP/1.', kind: 'refused' },
  'bytes that are not HTTP': { start: 'hello\r\n\r\n', kind: 'refused' },
  'another protocol': {
    start: 'HTTP/1.1 101 x\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    kind: 'refused',
  },
};

/** Returns a store with one notice, and a sender with a webhook that answers as the test says. */
async function openSender(answer: () => { status: number; headers?: Record<string, string> }) {
  const receiver = await startWebhookReceiver(answer);
  receivers.push(receiver);
  const store = await openMongoNotices(mongo.openDatabase());
  const clock = testClock(PASSED_AT_MS);
  const keys = [secret(), secret()];
  const published: string[] = [];
  let isNatsAway = false;
  const sender = () =>
    createNoticeSender(
      {
        store,
        clock,
        webhook: createWebhook(receiver.url, () => keys),
        publish: async ({ id }) => {
          if (isNatsAway) throw new Error('NATS is away');
          published.push(id);
        },
      },
      SILENT,
    );
  const passed = { accountId: 'acme', pool: 'calls', month: MONTH, allowance: 50, threshold: 80, used: 41 };
  await store.add([passed], new Date(PASSED_AT_MS), 'pending');
  return {
    receiver,
    store,
    clock,
    keys,
    published,
    send: () => sender().sendDue(NOT_STOPPED),
    notice: async () => (await allOf(store))[0],
    setNats: (away: boolean) => {
      isNatsAway = away;
    },
  };
}

describe('the webhook', () => {
  test('gets a CloudEvent that each of two secrets verifies as Standard Webhooks prescribe, with the same id in each attempt', async () => {
    let status = 500;
    const { receiver, send, clock, keys, notice } = await openSender(() => ({ status }));
    clock.pass(Date.now() - PASSED_AT_MS);
    await send();
    status = 200;
    clock.pass(10_000);
    await send();
    expect(receiver.received).toHaveLength(2);
    const id = `acme/calls/${MONTH}/50/80`;
    for (const { headers, body } of receiver.received) {
      expect(headers).toMatchObject({ 'webhook-id': id, 'content-type': 'application/cloudevents+json' });
      for (const key of keys) {
        const standard = new StandardWebhook(`whsec_${key.toString('base64')}`);
        expect(standard.verify(body, headers as Record<string, string>)).toEqual({
          specversion: '1.0',
          id,
          source: '/brand-data/metering',
          subject: 'acme',
          type: 'brand-data.allowance.threshold-passed',
          time: new Date(PASSED_AT_MS).toISOString(),
          datacontenttype: 'application/json',
          data: { account: 'acme', pool: 'calls', month: MONTH, threshold: 80, allowance: 50, used: 41 },
        });
        expect(() => standard.verify(`${body} `, headers as Record<string, string>)).toThrow();
      }
    }
    expect(await notice()).toMatchObject({ isPublished: true, webhook: { state: 'delivered', attempts: 2 } });
  });

  test('is tried eight times within 28 to 31 hours, then the notice is a dead letter until an operator redelivers it', async () => {
    const { receiver, send, clock, store, notice } = await openSender(() => ({ status: 503 }));
    const began = clock.now().wallMs;
    const times: number[] = [];
    while ((await notice())?.webhook.state === 'pending') {
      await send();
      if (receiver.received.length > times.length) times.push(clock.now().wallMs - began);
      clock.pass(1_000 * (times.length < 3 ? 1 : 300));
    }
    expect(times).toHaveLength(8);
    expect(times[0]).toBe(0);
    expect(times[1]).toBeLessThanOrEqual(7_000);
    expect((times[7] ?? 0) / 3_600_000).toBeGreaterThan(27);
    expect((times[7] ?? 0) / 3_600_000).toBeLessThan(31);
    expect(await notice()).toMatchObject({
      webhook: { state: 'failed', attempts: 8, failure: 'status 503' },
    });
    clock.pass(10 * 86_400_000);
    await send();
    expect(receiver.received).toHaveLength(8);

    expect(await store.count()).toEqual({ pending: 0, failed: 1 });
    expect(await store.redeliver('all failed', new Date(clock.now().wallMs))).toHaveLength(1);
    await send();
    expect(receiver.received).toHaveLength(9);
    expect(await notice()).toMatchObject({ webhook: { state: 'pending', attempts: 1 } });
  });

  test('is tried again at once if an operator redelivers a notice whose next attempt is later, also while NATS is away', async () => {
    let status = 503;
    const { receiver, send, clock, store, notice, setNats } = await openSender(() => ({ status }));
    const redeliver = () => store.redeliver([`acme/calls/${MONTH}/50/80`], new Date(clock.now().wallMs));
    setNats(true);
    expect(await redeliver()).toEqual([]);
    await send();
    const later = new Date(clock.now().wallMs + 60_000);
    clock.pass(5_000);
    const publishing = await store.claim(new Date(clock.now().wallMs), later);
    expect(await redeliver()).toHaveLength(1);
    // The replica that held the claim had nothing to deliver yet.
    if (publishing) await store.update(publishing, publishing, later);
    status = 200;
    await send();
    expect(receiver.received).toHaveLength(2);
    expect(await notice()).toMatchObject({ webhook: { state: 'delivered', attempts: 1 } });
  });

  test('gets no further attempt after 410, and none before the time that Retry-After names', async () => {
    const gone = await openSender(() => ({ status: 410 }));
    await gone.send();
    expect(await gone.notice()).toMatchObject({ webhook: { state: 'failed', attempts: 1 } });
    const busy = await openSender(() => ({ status: 429, headers: { 'retry-after': '3600' } }));
    await busy.send();
    busy.clock.pass(3_599_000);
    await busy.send();
    expect(busy.receiver.received).toHaveLength(1);
    busy.clock.pass(2_000);
    await busy.send();
    expect(busy.receiver.received).toHaveLength(2);
  });

  test('is not led elsewhere by a redirect', async () => {
    const other = await startWebhookReceiver();
    receivers.push(other);
    const { send, notice } = await openSender(() => ({ status: 307, headers: { location: other.url } }));
    await send();
    expect(await notice()).toMatchObject({ webhook: { state: 'pending', failure: 'status 307' } });
    expect(other.received).toEqual([]);
  });

  test.for(Object.entries(HOSTILE))('may answer with %s', async ([, { start, repeat = '', kind }]) => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => {
        socket.write(start);
        const more = () => {
          while (repeat !== '' && socket.writable && socket.write(repeat));
        };
        socket.on('drain', more);
        more();
        if (repeat === '') socket.end();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      const answer = await createWebhook(`http://127.0.0.1:${port}/`, () => [secret()]).send('id', '{}', 0);
      expect(answer.kind).toBe(kind);
      // Nothing is read behind the head: the connection is closed.
      await expect.poll(() => promisify(server.getConnections.bind(server))()).toBe(0);
    } finally {
      server.close();
    }
  });

  test('gets a notice while NATS is away, and NATS gets it later', async () => {
    const { receiver, send, clock, notice, setNats, published } = await openSender(() => ({ status: 200 }));
    setNats(true);
    await send();
    expect(await notice()).toMatchObject({ isPublished: false, webhook: { state: 'delivered' } });
    setNats(false);
    clock.pass(6_000);
    await send();
    expect(await notice()).toMatchObject({ isPublished: true });
    expect(published).toHaveLength(1);
    expect(receiver.received).toHaveLength(1);
  });

  test('does not keep NATS waiting for other notices if it is slow', async () => {
    const slow = await openSender(() => {
      if (slow.receiver.received.length === 1) slow.clock.pass(9_000);
      return { status: 200 };
    });
    const { receiver, store, published, send, clock } = slow;
    const passed = { pool: 'calls', month: MONTH, allowance: 50, threshold: 80, used: 41 };
    const accounts = Array.from({ length: 99 }, (_, index) => ({ ...passed, accountId: `other-${index}` }));
    await store.add(accounts, new Date(PASSED_AT_MS), 'pending');
    await send();
    expect(published).toHaveLength(100);
    expect(receiver.received.length).toBeLessThan(50);
    // The notices that waited have lost no attempt.
    for (; receiver.received.length < 100; clock.pass(2_000)) await send();
    expect((await allOf(store)).map(({ webhook }) => [webhook.state, webhook.attempts])).toEqual(
      Array.from({ length: 100 }, () => ['delivered', 1]),
    );
    expect(published).toHaveLength(100);
  });

  test('is not tried early because NATS is away', async () => {
    const { receiver, send, clock, setNats } = await openSender(() => ({ status: 500 }));
    setNats(true);
    await send();
    clock.pass(6_000);
    await send();
    clock.pass(6_000);
    await send();
    expect(receiver.received).toHaveLength(2);
  });

  test('gets the notice again, with the same id, if the replica that sent it crashed before it stored the answer', async () => {
    const { receiver, store, clock, send, notice } = await openSender(() => ({ status: 200 }));
    const until = new Date(clock.now().wallMs + 60_000);
    const claimed = await store.claim(new Date(clock.now().wallMs), until);
    if (!claimed) throw new Error('the notice is due');
    await send();
    expect(receiver.received).toEqual([]);
    clock.pass(60_000);
    await send();
    expect(receiver.received).toHaveLength(1);

    // The replica was only frozen. What it stores now is older than what the other has stored.
    await store.update(claimed, { isPublished: false, webhook: claimed.webhook }, until);
    expect(await notice()).toMatchObject({ isPublished: true, webhook: { state: 'delivered' } });
  });
});
