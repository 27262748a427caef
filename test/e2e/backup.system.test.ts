import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import type { Manifest, RestoreResult } from '@brand-data/backup';
import {
  ACCOUNT_CHANGES_STREAM,
  AUDIT_STREAM,
  DEAD_LETTER_STREAM,
  PARKED_USAGE,
  usageStream,
} from '@brand-data/contracts';
import { main as bds, openConnection } from '@brand-data/operator';
import { scrape } from '@brand-data/testing/exposition';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf, untilAnswered } from './caller.ts';
import { fullStock } from './fixtures.ts';
import { TestOperator } from './operator.ts';

const SERVICES = ['accounts', 'catalog', 'metering', 'images'] as const;
const GATEWAYS = ['gateway-1', 'gateway-2'] as const;
const LOGO = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64"/></svg>',
);

/** Each drill starts all services again. */
const DRILL_MS = 300_000;

let stack: TestStack;
let operator: TestOperator;
let mongo: MongoClient;
let folder: string;

beforeAll(async () => {
  folder = await temporaryFolder();
  stack = await startTestStack({ gateways: 2 });
  operator = new TestOperator(stack);
  mongo = new MongoClient(stack.mongodbUrl);
  await operator.putBrands([fullStock]);
});

afterAll(async () => {
  operator?.close();
  await mongo?.close();
  await stack?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Calls whose answers the callers saw. */
interface Seen {
  /** Billed for sure. */
  answered: number;
  /** 503 with X-Quota-Charged: 1, or no answer: billed or not. */
  unsure: number;
}

/** Calls both gateways, a few calls at once, until `stop`. */
function startTraffic(token: string): { seen: Seen; stop(): Promise<Seen> } {
  const seen: Seen = { answered: 0, unsure: 0 };
  let stopping = false;
  const call = async (gateway: { url: string }) => {
    while (!stopping) {
      try {
        const response = await callerOf(gateway).brand('ZPHX', token);
        await response.body?.cancel();
        if (response.status === 200) seen.answered += 1;
        else if (response.headers.get('X-Quota-Charged') === '1') seen.unsure += 1;
      } catch {
        seen.unsure += 1;
      }
    }
  };
  const callers = stack.gateways.flatMap((gateway) => [call(gateway), call(gateway)]);
  return {
    seen,
    stop: async () => {
      stopping = true;
      await Promise.all(callers);
      return seen;
    },
  };
}

/** Makes calls one after the other until this many are answered. */
async function answeredCalls(token: string, count: number): Promise<void> {
  for (let made = 0; made < count; made++) {
    const gateway = stack.gateways[made % 2];
    if (!gateway) throw new Error('two gateways are needed');
    const { status } = await untilAnswered(() => callerOf(gateway).brand('ZPHX', token));
    expect(status).toBe(200);
  }
}

async function statusAt(token: string, gateway = 0): Promise<number> {
  const at = stack.gateways[gateway];
  if (!at) throw new Error('no such gateway');
  return (await untilAnswered(() => callerOf(at).brand('ZPHX', token))).status;
}

const databases = () =>
  SERVICES.flatMap((service) => ['--database', `${service}=${stack.databasePrefix}_${service}`]);

async function backUp(name: string): Promise<string> {
  const out = join(folder, name);
  await stack.bds('backup', '--out', out, ...databases());
  return out;
}

/** Runs a restore. `told` gets everything that it has written for the operator, each time that it writes. */
async function runRestore(
  from: string,
  options: readonly string[],
  told: (text: string) => void,
  signal = new AbortController().signal,
): Promise<{ status: number; out: string; errors: string }> {
  const connectionFile = join(folder, 'operator.json');
  await writeFile(connectionFile, JSON.stringify(stack.operator));
  let [out, errors] = ['', ''];
  const status = await bds(['restore', '--json', '--from', from, ...databases(), ...options], {
    env: { MONGODB_URL: stack.mongodbUrl, NATS_URL: stack.natsUrl, BDS_STACK: connectionFile },
    cwd: folder,
    interruption: () => signal,
    stdout: {
      write: (text) => {
        out += text;
      },
    },
    stderr: {
      isTTY: true,
      columns: 200,
      write: (text) => {
        errors += text;
        told(errors);
      },
    },
  });
  return { status, out, errors };
}

/** Restores the copy, and starts the services that end the restore when it says so. */
async function restoreFrom(from: string, ...options: string[]): Promise<RestoreResult> {
  let started: Promise<void> | undefined;
  const { status, out, errors } = await runRestore(from, options, (told) => {
    if (/start the services now/.test(told)) started ??= start(['accounts', 'metering']);
  });
  await started;
  if (status !== 0) throw new Error(errors);
  return JSON.parse(out);
}

/** Runs a restore that is stopped when it says that. */
async function stoppedRestore(from: string, when: RegExp, ...options: string[]) {
  const stop = new AbortController();
  const stopWhenTold = (told: string) => {
    if (when.test(told)) stop.abort();
  };
  return runRestore(from, ['--replace', '--yes', ...options], stopWhenTold, stop.signal);
}

const markOf = (service: string) =>
  mongo.db(`${stack.databasePrefix}_${service}`).collection<{ restoreId: string }>('restoring');

async function kill(names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => stack.kill(name)));
}

async function start(names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => stack.restart(name)));
}

/** Removes all that the product has stored in NATS. */
async function emptyNats(): Promise<void> {
  const connection = await connect({ servers: stack.natsUrl });
  const { streams } = await jetstreamManager(connection);
  const usage = [PARKED_USAGE.name, usageStream(1).name];
  for (const name of [...usage, ACCOUNT_CHANGES_STREAM, AUDIT_STREAM, DEAD_LETTER_STREAM])
    await streams.delete(name);
  await connection.close();
}

async function emptyMongo(): Promise<void> {
  for (const service of SERVICES) await mongo.db(`${stack.databasePrefix}_${service}`).dropDatabase();
}

/** Returns the documents and indexes of each collection that no running service changes. */
async function storedIn(services: readonly string[]): Promise<unknown> {
  const stored: unknown[] = [];
  for (const service of services) {
    const db = mongo.db(`${stack.databasePrefix}_${service}`);
    const collections = (await db.listCollections().toArray()).map(({ name }) => name).toSorted();
    for (const name of collections) {
      const indexes = (await db.collection(name).listIndexes().toArray()).toSorted((a, b) =>
        a.name < b.name ? -1 : 1,
      );
      const documents = await db.collection(name).find({}, { raw: true }).sort({ _id: 1 }).toArray();
      stored.push({
        service,
        name,
        indexes,
        documents: documents.map((document) => Buffer.from(document as never).toString('base64')),
      });
    }
  }
  return stored;
}

const usedBy = async (accountId: string) =>
  (await operator.usage(accountId)).reduce((sum, { used }) => sum + used, 0);

describe('a copy', () => {
  test(
    'made under load brings back, on empty servers, every call that was answered before it and none that was not made',
    async () => {
      const logo = await operator.putLogo(LOGO);
      const account = await operator.newAccount(1_000_000);
      const revoked = await operator.createKey(account.accountId);
      await operator.revokeKey(revoked.keyId);
      const traffic = startTraffic(account.token);
      await expect.poll(() => traffic.seen.answered).toBeGreaterThan(200);
      // From here on, usage is only in NATS: gateways go on with the permits that they hold.
      await stack.kill('metering');
      await expect.poll(() => traffic.seen.answered).toBeGreaterThan(400);
      const before = { ...traffic.seen };
      const copy = await backUp('under-load');
      const after = { ...traffic.seen };
      await kill([...GATEWAYS, ...SERVICES]);
      await traffic.stop();
      const whole = await storedIn(['catalog', 'images']);
      await emptyMongo();
      await emptyNats();

      const restored = await restoreFrom(copy, '--gateways-stopped');
      expect(await storedIn(['catalog', 'images'])).toEqual(whole);
      await start([...SERVICES, ...GATEWAYS]);

      expect(restored.changes?.complete).toBe(false);
      const used = await usedBy(account.accountId);
      expect(used).toBeGreaterThanOrEqual(before.answered);
      // At the end of the copy each of four callers had at most one call under way.
      expect(used).toBeLessThanOrEqual(after.answered + after.unsure + 4);
      expect(await statusAt(account.token)).toBe(200);
      expect(await statusAt(revoked.token)).toBe(401);
      expect((await fetch(`${stack.images[0]?.url}/${logo}`)).status).toBe(200);
      await expect.poll(() => usedBy(account.accountId)).toBe(used + 1);
    },
    DRILL_MS,
  );

  test(
    'of an earlier moment, with the streams of NATS, brings back every bill: no call is lost or billed twice',
    async () => {
      const account = await operator.newAccount(1_000_000);
      const other = await operator.newAccount(1_000_000);
      const early = await operator.createKey(account.accountId);
      const gone = await operator.newAccount(1_000);
      await answeredCalls(account.token, 20);
      await answeredCalls(gone.token, 3);
      const copy = await backUp('earlier');

      await operator.revokeKey(early.keyId);
      await stack.bds('account', 'delete', gone.accountId, '--yes');
      const late = await operator.createKey(account.accountId);
      const newcomer = await operator.newAccount(1_000);
      await operator.setPlan(other.plan, [{ name: 'calls', allowance: 7, routes: [] }]);
      await answeredCalls(late.token, 15);
      await answeredCalls(newcomer.token, 5);
      const traffic = startTraffic(account.token);
      await expect.poll(() => traffic.seen.answered).toBeGreaterThan(200);
      await kill(SERVICES);
      await expect.poll(() => traffic.seen.answered).toBeGreaterThan(300);
      const { answered, unsure } = await traffic.stop();
      await kill(GATEWAYS);
      await emptyMongo();

      const { usage, changes } = await restoreFrom(copy, '--gateways-stopped', '--revoke-changed-keys');
      await start([...SERVICES, ...GATEWAYS]);

      expect(usage).toMatchObject({ disputed: 0, unreadable: 0, gone: [], lost: [] });
      const used = await usedBy(account.accountId);
      expect(used).toBeGreaterThanOrEqual(20 + 15 + answered);
      expect(used).toBeLessThanOrEqual(20 + 15 + answered + unsure);
      expect(await usedBy(newcomer.accountId)).toBe(5);
      const [pool] = await operator.usage(account.accountId);
      expect(pool?.cells.reduce((sum, { count }) => sum + count, 0)).toBe(used);

      // Accounts is as it was at the copy, and the restore names what operators have changed since.
      expect(changes).toMatchObject({
        complete: true,
        keys: expect.arrayContaining([early.keyId, late.keyId, newcomer.keyId]),
        accounts: expect.arrayContaining([newcomer.accountId]),
        plans: expect.arrayContaining([other.plan, newcomer.plan]),
        validKeys: expect.arrayContaining([{ id: early.keyId, accountId: account.accountId }]),
        deletedAccounts: [gone.accountId],
        revoked: true,
      });
      expect(await statusAt(gone.token)).toBe(401);
      expect(await operator.account(gone.accountId)).toEqual({ name: '', plan: '', isClosed: true });
      expect(await usedBy(gone.accountId)).toBe(3);
      expect(await statusAt(early.token)).toBe(401);
      expect(await statusAt(late.token)).toBe(401);
      expect(await statusAt(newcomer.token)).toBe(401);
      expect(await statusAt(other.token)).toBe(200);
      await answeredCalls(other.token, 10);
      expect(await usedBy(other.accountId)).toBe(11);

      const { entries } = (await stack.bds('audit', '--about', early.keyId, '--method', 'Restore')) as {
        entries: object[];
      };
      expect(entries).toEqual([
        expect.objectContaining({
          service: 'accounts',
          operator: 'restore',
          role: 'databases',
          credential: null,
          outcome: 'done',
          details: expect.objectContaining({ services: SERVICES.join(' ') }),
        }),
      ]);
    },
    DRILL_MS,
  );

  test(
    'leaves an account at its limit that reached it after the copy, though the gateways have run on',
    async () => {
      const ALLOWANCE = 60;
      const account = await operator.newAccount(ALLOWANCE);
      await answeredCalls(account.token, 10);
      const copy = await backUp('before-the-limit');
      await answeredCalls(account.token, ALLOWANCE - 10);
      expect([await statusAt(account.token, 0), await statusAt(account.token, 1)]).toEqual([429, 429]);
      await kill(SERVICES);

      // At the limit no gateway holds a permit, so waiting for the grants of gateways to end would add nothing.
      const long = new Date(Date.now() - 700_000).toISOString();
      await restoreFrom(copy, '--metering-stopped-at', long, '--replace', '--yes');
      await start(SERVICES);

      expect(await usedBy(account.accountId)).toBe(ALLOWANCE);
      // Until a gateway has connected to the new processes, it answers 503.
      const statuses = new Set<number>();
      const sees = async (gateway: number) => {
        const status = await statusAt(account.token, gateway);
        statuses.add(status);
        return status;
      };
      for (const gateway of [0, 1]) await expect.poll(() => sees(gateway)).toBe(429);
      expect([...statuses]).not.toContain(200);
      expect(await usedBy(account.accountId)).toBe(ALLOWANCE);
    },
    DRILL_MS,
  );

  test('is verified as a whole before a restore changes anything', async () => {
    const copy = await backUp('damaged');
    const manifest: Manifest = JSON.parse(await readFile(join(copy, 'manifest.json'), 'utf8'));
    const last = manifest.databases.at(-1)?.collections.at(-1);
    const file = join(copy, last?.file ?? '');
    const content = await readFile(file);
    content[content.length >> 1] = (content[content.length >> 1] ?? 0) ^ 1;
    await writeFile(file, content);
    const whole = await storedIn(['catalog', 'images']);
    await expect(restoreFrom(copy, '--replace', '--yes')).rejects.toThrow(/is damaged/);
    await rm(file);
    await expect(restoreFrom(copy, '--replace', '--yes')).rejects.toThrow(/is missing in the copy/);
    await rm(join(copy, 'manifest.json'));
    await expect(restoreFrom(copy, '--replace', '--yes')).rejects.toThrow(/holds no whole copy/);
    expect(await storedIn(['catalog', 'images'])).toEqual(whole);
  });

  test('is not restored while metering or accounts runs, nor over data that nobody has given up', async () => {
    const copy = await backUp('refused');
    const whole = await storedIn(['catalog', 'images']);
    await expect(restoreFrom(copy, '--replace', '--yes')).rejects.toThrow(/metering runs/);
    const onlyAccounts = ['--only', 'accounts', '--replace', '--yes'];
    await expect(restoreFrom(copy, ...onlyAccounts)).rejects.toThrow(/accounts runs: stop accounts/);
    for (const service of ['accounts', 'metering']) expect(await markOf(service).findOne()).toBeNull();
    await expect(restoreFrom(copy, '--only', 'images')).rejects.toThrow(/is not empty: --replace/);
    await expect(restoreFrom(copy, '--only', 'images', '--replace')).rejects.toThrow(/add --yes/);
    expect(await storedIn(['catalog', 'images'])).toEqual(whole);
  });

  test(
    'is brought back by the next restore if one is stopped in the middle, after which no token is valid',
    async () => {
      const account = await operator.newAccount(1_000);
      await answeredCalls(account.token, 10);
      const copy = await backUp('for-a-stop');
      await kill([...GATEWAYS, ...SERVICES]);
      // Both databases are marked before anything is removed, so no service can start on what is left.
      expect((await stoppedRestore(copy, /restoring images/)).status).toBe(130);
      for (const service of ['accounts', 'metering']) {
        expect(await markOf(service).findOne()).not.toBeNull();
        expect(await storedIn([service])).toEqual([expect.objectContaining({ name: 'restoring' })]);
      }
      const { status, errors } = await stoppedRestore(copy, /waiting \d+ s for the grants/);
      expect({ status, errors }).toEqual({
        status: 130,
        errors: expect.stringMatching(/restore again with --replace before you start the services/),
      });
      expect(await storedIn(['accounts'])).toEqual([expect.objectContaining({ name: 'restoring' })]);
      await restoreFrom(copy, '--gateways-stopped', '--replace', '--yes');
      await start([...SERVICES, ...GATEWAYS]);
      await answeredCalls(account.token, 5);
      await expect.poll(() => usedBy(account.accountId)).toBe(15);
    },
    DRILL_MS,
  );

  test(
    'lets nobody call accounts and metering before its restore has ended, and is restored again if that is stopped',
    async () => {
      const account = await operator.newAccount(1_000);
      await answeredCalls(account.token, 10);
      const copy = await backUp('for-a-late-stop');
      await kill([...GATEWAYS, ...SERVICES]);
      const stopped = await stoppedRestore(copy, /start the services now/, '--gateways-stopped');
      expect(stopped.status).toBe(130);
      const held = ['accounts', 'metering'] as const;
      await start(held);
      for (const service of held) {
        const [host, port] = (stack.targets[service] ?? '').split(':');
        const socket = connectSocket(Number(port), host);
        await expect(once(socket, 'connect')).rejects.toThrow(/ECONNREFUSED/);
      }
      await expect(stack.bds('account', 'list')).rejects.toThrow(/accounts at .*/);

      // As if accounts had done all, and could not remove its mark: the call that is repeated removes it alone.
      const answer = { keys: ['key-1'], accounts: [], plans: [], validKeys: [], deletedAccounts: [] };
      const mark = await markOf('accounts').findOneAndUpdate({}, { $set: { isEnding: true, answer } });
      const request = {
        restoreId: mark?.restoreId ?? '',
        changes: [],
        services: [],
        copyEndedAt: '',
        revokeChangedKeys: false,
      };
      const connection = openConnection(stack.operator);
      const repeated = () => connection.accounts().call((client) => client.finishRestore, request);
      expect(await repeated()).toEqual(answer);
      await expect.poll(() => stack.bds('plan', 'list')).toHaveProperty('plans');
      // The service has closed the port and opened it again, so the first calls may not get through.
      const refusal = () =>
        repeated().then(
          () => '',
          ({ message }: Error) => message,
        );
      await expect.poll(refusal).toMatch(/was running when the restore began/);
      connection.close();
      await kill(['accounts']);

      await restoreFrom(copy, '--gateways-stopped', '--replace', '--yes');
      await start(['catalog', 'images', ...GATEWAYS]);
      await answeredCalls(account.token, 5);
      await expect.poll(() => usedBy(account.accountId)).toBe(15);
    },
    DRILL_MS,
  );

  test(
    'of one service replaces the data of that service alone',
    async () => {
      const logo = await operator.putLogo(LOGO);
      const copy = await backUp('of-images');
      // A running service may change its own data at any moment.
      await kill([...GATEWAYS, ...SERVICES]);
      const whole = await storedIn(SERVICES);
      await mongo.db(`${stack.databasePrefix}_images`).collection('of-a-mistake').insertOne({});
      await restoreFrom(copy, '--only', 'images', '--replace', '--yes');
      expect(await storedIn(SERVICES)).toEqual(whole);
      await start([...SERVICES, ...GATEWAYS]);
      expect((await fetch(`${stack.images[0]?.url}/${logo}`)).status).toBe(200);
    },
    DRILL_MS,
  );

  test('is not written over files that are there already', async () => {
    const copy = await backUp('twice');
    const copies = async () =>
      (await stack.bds('audit', '--method', 'Backup', '--limit', '1')) as { entries: object[] };
    await expect.poll(copies).toMatchObject({
      entries: [{ operator: 'backup', outcome: 'done', details: { services: SERVICES.join(' ') } }],
    });
    const scraped = () => scrape(stack.opsUrls.get('accounts') ?? '');
    await expect.poll(scraped).toMatch(/^accounts_newest_backup_timestamp_seconds\{.*\} [1-9]/m);
    await expect(stack.bds('backup', '--out', copy, ...databases())).rejects.toThrow(/is not empty/);
  });
});
