import { randomUUID } from 'node:crypto';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { present, type RunningAccounts, readNotices, startAccounts } from './running-accounts.ts';

const HOUR_MS = 3_600_000;
const database = `blocks-${randomUUID()}`;
const start = () =>
  startAccounts(
    { mongodbUrl: inject('mongodbUrl'), natsUrl: nats.url, database },
    { TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8:a::1' },
  );
let nats: TestServer;
let accounts: RunningAccounts;
let client: MongoClient;

beforeAll(async () => {
  nats = await startTestNats();
  client = await new MongoClient(inject('mongodbUrl')).connect();
  accounts = await start();
});
afterAll(async () => {
  await accounts?.stop();
  await client?.close();
  await nats?.stop();
});
const blocks = () =>
  client.db(database).collection<{ _id: string; expiresAt: Date; createdAt: Date }>('blocks');
beforeEach(() => blocks().deleteMany({}));

const block = (network: string, { forMs = HOUR_MS, reason = 'tries tokens' } = {}) =>
  accounts.operate(accounts.admin.blockNetwork, { network, forMs, reason });
const unblock = (network: string) => accounts.operate(accounts.admin.unblockNetwork, { network });
const listed = async () => (await accounts.operate(accounts.admin.listBlocks, {})).blocks;

test('a block is listed for operators and gateways, announced, kept by a restart, in the trail, and lifted', async () => {
  const before = Date.now();
  const made = present((await block('192.0.2.7')).block);
  expect(made).toMatchObject({ reason: 'tries tokens', createdBy: 'installation' });
  expect(made.blocked?.network).toBe('192.0.2.7');
  expect(made.blocked?.expiresAtMs).toBeGreaterThanOrEqual(before + HOUR_MS);
  expect((await readNotices(nats.url)).at(-1)?.subject).toEqual({ $case: 'network', value: '192.0.2.7' });
  await accounts.stop();
  accounts = await start();
  expect(await listed()).toEqual([made]);
  expect(await accounts.blockedNetworks()).toEqual([made.blocked]);

  const again = present((await block('192.0.2.7', { forMs: 2 * HOUR_MS, reason: 'goes on' })).block);
  expect(await listed()).toEqual([again]);
  expect((await unblock('192.0.2.7')).block).toEqual(again);
  expect(await listed()).toEqual([]);
  expect(await accounts.blockedNetworks()).toEqual([]);
  expect(await readNotices(nats.url)).toHaveLength(3);
  const { entries } = await accounts.operate(accounts.admin.listAudit, {
    operator: '',
    service: '',
    method: '',
    about: '192.0.2.7',
    limit: 0,
    after: '',
  });
  const until = (at: typeof made) => new Date(at.blocked?.expiresAtMs ?? 0).toISOString();
  expect(entries.map(({ method, details }) => ({ method, ...details }))).toEqual([
    { method: 'UnblockNetwork', network: '192.0.2.7', before: `until ${until(again)}: goes on` },
    {
      method: 'BlockNetwork',
      network: '192.0.2.7',
      until: until(again),
      reason: 'goes on',
      before: `until ${until(made)}: tries tokens`,
    },
    { method: 'BlockNetwork', network: '192.0.2.7', until: until(made), reason: 'tries tokens' },
  ]);
});

test('a block that has expired is listed nowhere, and MongoDB removes it', async () => {
  const past = new Date(Date.now() - 1_000);
  await blocks().insertOne({ _id: '192.0.2.9', expiresAt: past, createdAt: past });
  expect(await listed()).toEqual([]);
  expect(await accounts.blockedNetworks()).toEqual([]);
  const indexes = await blocks().indexes();
  expect(indexes).toContainEqual(expect.objectContaining({ key: { expiresAt: 1 }, expireAfterSeconds: 0 }));
});

test.each([
  ['192.0.2.7/32', '192.0.2.7'],
  ['192.0.2.0/24', '192.0.2.0/24'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:C000:0207', '192.0.2.7'],
  ['::ffff:192.0.2.0/120', '192.0.2.0/24'],
  ['2001:0DB8:0:0::0007', '2001:db8::7'],
  ['2001:db8:1::/48', '2001:db8:1::/48'],
  ['2001:db8:1::7/128', '2001:db8:1::7'],
  ['192.0.2.7/24', '192.0.2.0/24'],
  ['198.51.215.7/19', '198.51.192.0/19'],
  ['::ffff:192.0.2.7/120', '192.0.2.0/24'],
  ['2001:db8:1:ffff::7/63', '2001:db8:1:fffe::/63'],
  ['64:ff9b::192.0.2.7/120', '64:ff9b::c000:200/120'],
  ['fe80::1%eth0/64', 'fe80::/64'],
  ['fe80::1%eth0', 'fe80::1'],
])('%s is blocked as %s, and can be lifted in both forms', async (given, stored) => {
  for (const lifted of [given, stored]) {
    expect((await block(given)).block?.blocked?.network).toBe(stored);
    expect((await unblock(lifted)).block?.blocked?.network).toBe(stored);
  }
});

test.each([
  ['0.0.0.0/0', 'invalid_argument', /covers too many callers/],
  ['128.0.0.0/1', 'invalid_argument', /covers too many callers/],
  ['::/0', 'invalid_argument', /covers too many callers/],
  ['2000::/3', 'invalid_argument', /covers too many callers/],
  ['::/64', 'invalid_argument', /covers too many callers/],
  ['::ffff:0.0.0.0/96', 'invalid_argument', /covers too many callers/],
  ['::ffff:192.0.2.7/90', 'invalid_argument', /covers too many callers/],
  ['10.1.2.3', 'failed_precondition', /overlaps the trusted proxies 10\.0\.0\.0\/8/],
  ['::ffff:10.1.2.3', 'failed_precondition', /overlaps the trusted proxies/],
  ['2001:db8:a::/48', 'failed_precondition', /overlaps the trusted proxies 2001:db8:a::1/],
  ['example.com', 'invalid_argument', /an address looks like 192\.0\.2\.7/],
  ['192.0.2.7/33', 'invalid_argument', /an address looks like/],
  ['', 'invalid_argument', /an address looks like/],
])('%s cannot be blocked: %s', async (network, kind, message) => {
  await expect(block(network)).rejects.toMatchObject({ kind, message: expect.stringMatching(message) });
  expect(await listed()).toEqual([]);
});

test('a block needs a reason and a time from a minute to 366 days, and what is not blocked cannot be lifted', async () => {
  const wrong = { kind: 'invalid_argument' };
  for (const reason of ['', '  ', 'x'.repeat(201)])
    await expect(block('192.0.2.7', { reason })).rejects.toMatchObject(wrong);
  for (const forMs of [0, -1, 59_999, 367 * 24 * HOUR_MS])
    await expect(block('192.0.2.7', { forMs })).rejects.toMatchObject(wrong);
  await expect(unblock('192.0.2.7')).rejects.toMatchObject({ kind: 'not_found' });
});

test('there are at most 1,000 blocks, and those that have expired do not count', async () => {
  const at = (ms: number) => ({ expiresAt: new Date(Date.now() + ms), createdAt: new Date() });
  const many = Array.from({ length: 999 }, (_, index) => `198.51.${index >> 8}.${index & 255}`);
  await blocks().insertMany(many.map((_id) => ({ _id, ...at(HOUR_MS) })));
  await blocks().insertOne({ _id: '203.0.113.1', ...at(-1_000) });
  await block('192.0.2.1');
  await expect(block('192.0.2.2')).rejects.toMatchObject({ kind: 'resource_exhausted' });
  await block('192.0.2.1');
  await unblock('198.51.0.0');
  await block('192.0.2.2');
});
