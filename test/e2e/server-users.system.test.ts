import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  ACCOUNT_CHANGES_CONSUMER,
  ACCOUNT_CHANGES_DELIVERY_SUBJECT,
  ACCOUNT_CHANGES_STREAM,
  AUDIT_STREAM,
  CATALOG_CHANGES_SUBJECT,
  DATABASE_SERVICES,
  DEAD_LETTER_STREAM,
  inboxPrefixOf,
  NOTICES_STREAM,
  PARKED_USAGE,
  SERVICES,
  type ServiceName,
  usageStream,
} from '@brand-data/contracts';
import { settingFile } from '@brand-data/local';
import { type LocalServer, natsUrlOf, natsUsers, newSecrets, startNatsServer } from '@brand-data/servers';
import { NO_USER_NEEDED, startTestNats, type TestServer } from '@brand-data/testing/servers';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestStack, type TestStack } from '../stack/index.ts';
import { callerOf } from './caller.ts';
import { bareMerchant } from './fixtures.ts';
import { nextUsers } from './next-users.ts';
import { TestOperator } from './operator.ts';

/** Connects with the user in the URL. `refused` gets each operation that NATS refuses, such as "publish a.b". */
async function connectAs(url: string, service: string): Promise<{ nats: NatsConnection; refused: string[] }> {
  const { host, username: user, password: pass } = new URL(url);
  const nats = await connect({ servers: host, user, pass, inboxPrefix: inboxPrefixOf(service) });
  const refused: string[] = [];
  void (async () => {
    for await (const status of nats.status())
      if (status.type === 'error')
        for (const [, operation = '', subject = ''] of status.error.message.matchAll(
          /Permissions Violation for (\w+) to "(.*?)"/gi,
        ))
          refused.push(`${operation.toLowerCase()} ${subject}`);
  })();
  return { nats, refused };
}

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path fill="#c00" d="M0 0h9v9z"/></svg>';
const USAGE = usageStream(1).name;
const none: ServiceName[] = [];

/** All subjects of JetStream on which nats-server 2.15 acts. "S" stands for a stream, "C" for one of its consumers. */
const JETSTREAM_SUBJECTS = [
  ...['INFO', 'STREAM.NAMES', 'STREAM.LIST', 'STREAM.CREATE.S', 'STREAM.UPDATE.S', 'STREAM.INFO.S'],
  ...['STREAM.DELETE.S', 'STREAM.PURGE.S', 'STREAM.SNAPSHOT.S', 'STREAM.RESTORE.S', 'STREAM.MSG.GET.S'],
  ...['STREAM.MSG.DELETE.S', 'STREAM.PEER.REMOVE.S', 'STREAM.PEER.EVACUATE.S', 'STREAM.LEADER.STEPDOWN.S'],
  ...['STREAM.CANCEL', 'DIRECT.GET.S', 'DIRECT.GET.S.brand_data.a', 'ACCOUNT.PURGE.$G', 'SERVER.REMOVE'],
  ...['SERVER.EVACUATE', 'ACCOUNT.STREAM.MOVE.$G.S', 'ACCOUNT.STREAM.CANCEL', 'META.LEADER.STEPDOWN'],
  ...['META.RESCUE', 'CONSUMER.CREATE.S', 'CONSUMER.CREATE.S.C', 'CONSUMER.CREATE.S.C.brand_data.a'],
  ...['CONSUMER.DURABLE.CREATE.S.C', 'CONSUMER.NAMES.S', 'CONSUMER.LIST.S', 'CONSUMER.INFO.S.C'],
  ...['CONSUMER.DELETE.S.C', 'CONSUMER.PAUSE.S.C', 'CONSUMER.RESET.S.C', 'CONSUMER.UNPIN.S.C'],
  ...['CONSUMER.LEADER.STEPDOWN.S.C', 'CONSUMER.PEER.REMOVE.S.C', 'CONSUMER.PEER.EVACUATE.S.C'],
  'CONSUMER.MSG.NEXT.S.C',
]
  .map((each) => `$JS.API.${each}`)
  // An acknowledgement of the message 0, which does not exist.
  .concat('$JS.ACK.S.C.1.0.0.1.0');

/** What a service may do with JetStream, without the parts before the name of a stream or of its consumer. */
const MAY: Record<ServiceName, (subject: string) => boolean> = {
  gateway: (subject) => /^INFO$|^STREAM\.INFO\.BRAND_DATA_USAGE(_2)?$/.test(subject),
  accounts: (subject) =>
    /^INFO$|^STREAM\.(INFO|CREATE|UPDATE)\.BRAND_DATA_(ACCOUNT_CHANGES|AUDIT)$/.test(subject) ||
    /^CONSUMER\.(CREATE|DURABLE\.CREATE|INFO)\.BRAND_DATA_ACCOUNT_CHANGES\.gateways$/.test(subject) ||
    /^CONSUMER\.(CREATE|DURABLE\.CREATE|INFO|MSG\.NEXT)\.BRAND_DATA_AUDIT\.accounts$/.test(subject) ||
    subject.startsWith('$JS.ACK.BRAND_DATA_AUDIT.accounts.'),
  catalog: (subject) => subject === 'INFO',
  metering: (subject) =>
    /^INFO$|^STREAM\.NAMES$|^STREAM\.(INFO|CREATE|UPDATE)\.BRAND_DATA_(DEAD_LETTERS|NOTICES)$/.test(
      subject,
    ) ||
    /^(STREAM\.(INFO|CREATE|UPDATE|PURGE)|DIRECT\.GET)\.BRAND_DATA_(USAGE(_2)?|PARKED_USAGE)$/.test(
      subject,
    ) ||
    /^CONSUMER\.(CREATE|DURABLE\.CREATE|INFO|MSG\.NEXT)\.BRAND_DATA_(USAGE(_2)?|PARKED_USAGE)\.metering$/.test(
      subject,
    ) ||
    /^\$JS\.ACK\.BRAND_DATA_(USAGE(_2)?|PARKED_USAGE)\.metering\./.test(subject),
  images: (subject) => subject === 'INFO',
};

/** Lists the streams and consumers of a server, and returns all subjects of JetStream with their names in them. */
async function jetstreamOf(admin: NatsConnection) {
  const manager = await jetstreamManager(admin);
  const consumers: string[] = [];
  const stored: string[] = [];
  for await (const { config } of manager.streams.list()) {
    stored.push(...config.subjects.map((subject) => subject.replaceAll(/[*>]/g, 'a-part')));
    consumers.push(`${config.name}.a-new-one`);
    for await (const { name } of manager.consumers.list(config.name))
      consumers.push(`${config.name}.${name}`);
  }
  const subjects = JETSTREAM_SUBJECTS.flatMap((each) =>
    consumers.map((pair) => {
      const [stream = '', consumer = ''] = pair.split('.');
      return each.replace(/\.S(?=\.|$)/, `.${stream}`).replace(/\.C(?=\.|$)/, `.${consumer}`);
    }),
  );
  return { subjects: [...new Set(subjects)], consumers, stored };
}

/** Who may publish to the subject. */
const PUBLISH: [subject: string, allowed: ServiceName[]][] = [
  [CATALOG_CHANGES_SUBJECT, ['catalog']],
  ['brand_data.metering.recalls', ['metering']],
  ['brand_data.metering.news', ['metering']],
  ['brand_data.accounts.changes.7', ['accounts']],
  ['brand_data.accounts.beats.a-gateway', ['gateway']],
  ['brand_data.gateway.demand', ['gateway']],
  ['brand_data.usage.a-holder', ['gateway', 'metering']],
  ['brand_data.usage.16.a-holder', ['gateway', 'metering']],
  ['brand_data.parked_usage', ['metering']],
  ['brand_data.dead_letters.usage', ['metering']],
  ['brand_data.audit.catalog', ['catalog']],
  ['brand_data.audit.metering', ['metering']],
  ['brand_data.audit.images', ['images']],
  ['brand_data.audit.accounts', none],
  ['brand_data.anything.else', none],
  ...SERVICES.map((service): [string, ServiceName[]] => [`${inboxPrefixOf(service)}.a.reply`, none]),
  ['$SYS.REQ.SERVER.PING', none],
];

/** Who may subscribe to the subject. */
const SUBSCRIBE: [subject: string, allowed: ServiceName[]][] = [
  [CATALOG_CHANGES_SUBJECT, ['gateway']],
  ['brand_data.metering.recalls', ['gateway']],
  ['brand_data.metering.news', ['gateway']],
  ['brand_data.gateway.demand', ['gateway']],
  ['brand_data.usage.>', none],
  ['brand_data.accounts.changes.*', none],
  ['brand_data.audit.*', none],
  ['brand_data.>', none],
  ['_INBOX.>', none],
  ['_INBOX.*.a', none],
  ['>', none],
  ...SERVICES.map((service): [string, ServiceName[]] => [`${inboxPrefixOf(service)}.>`, [service]]),
];

describe('on NATS', () => {
  const { serverSecret } = newSecrets();
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestNats(serverSecret);
  });
  afterAll(() => server?.stop());

  test.for(SERVICES)(
    '%s publishes and subscribes where its work needs it, and nowhere else',
    async (service) => {
      const { nats, refused } = await connectAs(natsUrlOf(service, server.url, serverSecret), service);
      try {
        const expected: string[] = [];
        for (const [subject, allowed] of PUBLISH) {
          if (!allowed.includes(service)) expected.push(`publish ${subject}`);
          nats.publish(subject);
        }
        for (const [subject, allowed] of SUBSCRIBE) {
          if (!allowed.includes(service)) expected.push(`subscription ${subject}`);
          nats.subscribe(subject, { callback: () => {} });
        }
        await nats.flush();
        await expect.poll(() => refused.length).toBe(expected.length);
        expect(refused.toSorted()).toEqual(expected.toSorted());
      } finally {
        await nats.close();
      }
    },
  );

  test('nobody gets in with a wrong password', async () => {
    const url = natsUrlOf('catalog', server.url, 'another secret');
    await expect(connectAs(url, 'catalog')).rejects.toThrow(/authorization/i);
  });
});

test('the users of NATS that an operator makes as deploy/operations.md says get in with their passwords alone', async () => {
  const deploy = join(import.meta.dirname, '../../deploy');
  const page = await readFile(join(deploy, 'operations.md'), 'utf8');
  const [, section = ''] = /^### Users on NATS and MongoDB\n(.*?)^##/ms.exec(page) ?? [];
  const [, passwords = ''] = /^ *```conf\n(.*?)^ *```$/ms.exec(section) ?? [];
  const [, makeUsers = ''] = /^ *```sh\n( *cat .*?)^ *```$/ms.exec(section) ?? [];
  const [operator = ''] = /\{ user: operator, .*? \}/.exec(section) ?? [];
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'passwords.conf'), passwords);
  await copyFile(join(deploy, 'chart/files/nats-users.conf'), join(folder, 'nats-users.conf'));
  await promisify(execFile)('sh', ['-ec', makeUsers], { cwd: folder });
  const file = join(folder, 'users.conf');
  await writeFile(file, (await readFile(file, 'utf8')).replace('users: [', `users: [\n${operator}`));
  const nats = await startNatsServer({ dataDir: folder, settings: ['include ./users.conf'] });
  try {
    for (const user of ['operator', ...SERVICES]) {
      await connect({ servers: nats.url, user, pass: '…' }).then((connection) => connection.close());
      const refused = connect({ servers: nats.url, user, pass: 'another', reconnect: false });
      await expect(refused).rejects.toThrow('Authorization Violation');
    }
  } finally {
    await nats.stop();
  }
});

describe('a running stack', () => {
  const { serverSecret } = newSecrets();
  let stack: TestStack;
  let nats: LocalServer;
  let natsConfig: string;
  beforeAll(async () => {
    const dataDir = await temporaryFolder();
    natsConfig = join(dataDir, 'nats-server.conf');
    nats = await startNatsServer({ dataDir, settings: [...natsUsers(serverSecret), NO_USER_NEEDED] });
    stack = await startTestStack({
      gateways: 1,
      natsUrl: nats.url,
      change: (service) => ({
        ...service,
        secretSettings: {
          ...service.secretSettings,
          NATS_URL: natsUrlOf(service.service, nats.url, serverSecret),
        },
      }),
      environment: { USAGE_STREAMS: '2' },
    });
  });
  afterAll(async () => {
    await stack?.stop();
    await nats?.stop();
  });
  const urlOf = (name: string, setting: string) =>
    readFile(settingFile(stack.dataDir, name, setting), 'utf8');

  test('NATS refuses nothing that the services do', async () => {
    const operator = new TestOperator(stack);
    try {
      const [gateway] = stack.gateways.map(callerOf);
      await operator.putBrands([bareMerchant]);
      await operator.putLogo(Buffer.from(LOGO));
      const { accountId, keyId, token } = await operator.newAccount(5);
      const call = async () => (await gateway?.brand(bareMerchant.name ?? '', token))?.status;
      expect(await call()).toBe(200);
      const used = async () => (await operator.usage(accountId)).map((pool) => pool.used);
      await expect.poll(used).toContain(1);
      await operator.revokeKey(keyId);
      await expect.poll(call).toBe(401);
      for (const name of ['accounts', 'catalog', 'metering']) await stack.restart(name);
      expect(await readFile(nats.child.logFile, 'utf8')).not.toMatch(/violation/i);
    } finally {
      operator.close();
    }
  });

  test('nobody can delete messages of a stream, or purge those of accounts', async () => {
    const admin = await connect({ servers: stack.natsUrl });
    try {
      const manager = await jetstreamManager(admin);
      const guards: Record<string, (boolean | undefined)[]> = {};
      for await (const { config } of manager.streams.list())
        guards[config.name] = [config.deny_delete, config.deny_purge];
      expect(guards).toEqual({
        [ACCOUNT_CHANGES_STREAM]: [true, true],
        [AUDIT_STREAM]: [true, true],
        [DEAD_LETTER_STREAM]: [true, false],
        [NOTICES_STREAM]: [true, false],
        [PARKED_USAGE.name]: [true, false],
        [USAGE]: [true, false],
        [usageStream(2).name]: [true, false],
      });
    } finally {
      await admin.close();
    }
  });

  test.for(SERVICES)(
    '%s reaches what it needs of JetStream, of every stream and consumer',
    async (service) => {
      const admin = await connect({ servers: stack.natsUrl });
      const name = service === 'gateway' ? 'gateway-1' : service;
      const { nats, refused } = await connectAs(await urlOf(name, 'NATS_URL'), service);
      try {
        const { subjects, consumers } = await jetstreamOf(admin);
        expect(consumers).toEqual(
          expect.arrayContaining([
            `${USAGE}.metering`,
            `${AUDIT_STREAM}.accounts`,
            `${ACCOUNT_CHANGES_STREAM}.${ACCOUNT_CHANGES_CONSUMER}`,
          ]),
        );
        const expected = subjects.filter((subject) => !MAY[service](subject.replace('$JS.API.', '')));
        // No request that JetStream could read, so nothing happens where it is allowed.
        for (const subject of subjects) nats.publish(subject, 'no request');
        await nats.flush();
        await expect.poll(() => refused.length).toBeGreaterThanOrEqual(expected.length);
        expect(refused.toSorted()).toEqual(expected.map((subject) => `publish ${subject}`).toSorted());
      } finally {
        await nats.close();
        await admin.close();
      }
    },
  );

  test.for(['gateway', 'catalog', 'images'] as const)(
    'NATS sends nothing of %s to a subject of others, whatever answer or delivery it asks for',
    async (service) => {
      const admin = await connect({ servers: stack.natsUrl });
      const name = service === 'gateway' ? 'gateway-1' : service;
      const { nats } = await connectAs(await urlOf(name, 'NATS_URL'), service);
      const marker = JSON.stringify({ batch: 1, by: randomBytes(8).toString('hex') });
      try {
        const { subjects, consumers, stored } = await jetstreamOf(admin);
        const own = [
          'brand_data.accounts.beats.a-part',
          'brand_data.usage.a-part',
          `brand_data.audit.${service}`,
        ];
        const targets = [
          CATALOG_CHANGES_SUBJECT,
          'brand_data.metering.recalls',
          ACCOUNT_CHANGES_DELIVERY_SUBJECT,
          ...stored.filter((subject) => !own.includes(subject)),
          ...consumers.map((each) => `$JS.API.CONSUMER.MSG.NEXT.${each}`),
        ];
        const reached: string[] = [];
        for (const target of targets)
          admin.subscribe(target, {
            callback: (_error, { data, reply, subject }) => {
              // What the gateways' consumer delivers here is its work.
              if (target === ACCOUNT_CHANGES_DELIVERY_SUBJECT && subject.startsWith('brand_data.accounts.'))
                return;
              // A delivery, or the service's own words. The services' own requests and JetStream's answers are neither.
              if (reply?.startsWith('$JS.ACK.') || Buffer.from(data).includes(marker)) reached.push(target);
            },
          });
        await admin.flush();
        for (const target of targets) {
          const config = { deliver_subject: target, ack_policy: 'none', deliver_policy: 'new' };
          for (const subject of subjects) {
            const [stream_name] = /BRAND_DATA_\w+/.exec(subject) ?? [];
            const body = subject.includes('CONSUMER.CREATE')
              ? JSON.stringify({ stream_name, config })
              : marker;
            // A purge by its owner would take usage away.
            if (!subject.includes('.PURGE.')) nats.publish(subject, body, { reply: target });
          }
          for (const subject of own) nats.publish(subject, marker, { reply: target });
        }
        for (const subject of own) nats.publish(subject, marker);
        await nats.flush();
        // Whatever NATS was made to send has been sent when the answer to a later request is there.
        await jetstreamOf(admin);
        await admin.flush();
        expect([...new Set(reached)]).toEqual([]);
      } finally {
        await nats.close();
        await admin.close();
      }
    },
  );

  test('a message that a consumer delivers to another subject changes nothing there', async () => {
    const admin = await connect({ servers: stack.natsUrl });
    const dropped = () =>
      stack.metric('gateway-1', 'gateway_unreadable_messages_total', { kind: 'catalog_changes' });
    try {
      const before = await dropped();
      const config = { deliver_subject: CATALOG_CHANGES_SUBJECT, ack_policy: 'none', deliver_policy: 'new' };
      const request = JSON.stringify({ stream_name: ACCOUNT_CHANGES_STREAM, config });
      const made = await admin.request(`$JS.API.CONSUMER.CREATE.${ACCOUNT_CHANGES_STREAM}`, request);
      expect(made.json()).not.toHaveProperty('error');
      admin.publish('brand_data.accounts.beats.forged', 'an announcement that catalog never made');
      await expect.poll(dropped).toBeGreaterThan(before);
      const { name } = made.json<{ name: string }>();
      await (await jetstreamManager(admin)).consumers.delete(ACCOUNT_CHANGES_STREAM, name);
    } finally {
      await admin.close();
    }
  });

  test('a service reads and writes its own database on MongoDB, and no other', async () => {
    const foreign = [
      ...DATABASE_SERVICES.map((service) => `${stack.databasePrefix}_${service}`),
      'admin',
      'test',
    ];
    for (const service of DATABASE_SERVICES) {
      const own = `${stack.databasePrefix}_${service}`;
      const client = new MongoClient(await urlOf(service, 'MONGODB_URL'));
      const isAllowed = (command: Promise<unknown>) =>
        command.then(
          () => true,
          (error: { codeName?: string }) => {
            expect(error.codeName).toBe('Unauthorized');
            return false;
          },
        );
      try {
        for (const name of foreign) {
          const db = client.db(name);
          const things = db.collection(`things-${randomBytes(4).toString('hex')}`);
          const allowed = [
            await isAllowed(things.insertOne({ a: 1 })),
            await isAllowed(things.findOne()),
            await isAllowed(things.updateOne({ a: 1 }, { $set: { a: 2 } })),
            await isAllowed(things.createIndex({ a: 1 })),
            await isAllowed(things.deleteMany({})),
            await isAllowed(db.command({ dropDatabase: 1 })),
          ];
          expect(allowed, `${service} in ${name}`).toEqual([...Array(5).fill(name === own), false]);
        }
        const admin = client.db('admin');
        const checks = service === 'accounts' || service === 'catalog';
        const parameter = { getParameter: 1, transactionLifetimeLimitSeconds: 1 };
        expect(await isAllowed(admin.command(parameter))).toBe(checks);
        for (const command of [
          { createUser: 'another', pwd: 'a', roles: [] },
          { usersInfo: { forAllDBs: true } },
          { replSetGetStatus: 1 },
          { setParameter: 1, transactionLifetimeLimitSeconds: 60 },
          { grantRolesToUser: own, roles: ['root'] },
          { shutdown: 1 },
        ])
          expect(await isAllowed(admin.command(command)), JSON.stringify(command)).toBe(false);
        expect(await isAllowed(client.db('local').collection('oplog.rs').findOne())).toBe(false);
      } finally {
        await client.close();
      }
    }
  });

  test('MongoDB lets nobody in without a user', async () => {
    const client = new MongoClient((await urlOf('catalog', 'MONGODB_URL')).replace(/\/\/.*@/, '//'));
    try {
      await expect(
        client.db(`${stack.databasePrefix}_catalog`).collection('brands').findOne(),
      ).rejects.toThrow(/requires authentication/);
    } finally {
      await client.close();
    }
  });

  test('a new URL that cannot be used leaves the old one in use', async () => {
    const fileOf = (setting: string) => settingFile(stack.dataDir, 'catalog', setting);
    const before = {
      nats: await urlOf('catalog', 'NATS_URL'),
      mongodb: await urlOf('catalog', 'MONGODB_URL'),
    };
    await writeFile(fileOf('NATS_URL'), 'nats://somewhere-else:4222');
    await expect.poll(() => stack.logs('catalog')).toContain('it names other servers');
    await writeFile(fileOf('MONGODB_URL'), 'mongodb://a:secret-text@h/?w=1');
    await expect.poll(() => stack.logs('catalog')).toContain('leave out w');
    expect(await stack.logs('catalog')).not.toContain('secret-text');
    const operator = new TestOperator(stack);
    await operator.putBrands([bareMerchant]);
    operator.close();
    await writeFile(fileOf('NATS_URL'), before.nats);
    await writeFile(fileOf('MONGODB_URL'), before.mongodb);
    const again = async () => (await stack.logs('catalog')).split('was read again').length - 1;
    await expect.poll(again).toBe(2);
  });

  test('no call fails while all services change to other users of NATS and MongoDB, and the old ones are removed', async () => {
    const names = ['gateway-1', 'accounts', 'catalog', 'metering', 'images'];
    const operator = new TestOperator(stack);
    const [gateway] = stack.gateways.map(callerOf);
    await operator.putBrands([bareMerchant]);
    const { accountId } = await operator.newAccount(1_000_000);
    const failures: unknown[] = [];
    let rounds = 0;
    let isOver = false;
    const work = async () => {
      for (; !isOver; rounds++) {
        try {
          const { token } = await operator.createKey(accountId);
          await operator.putBrands([{ ...bareMerchant, rank: rounds + 1 }]);
          for (let call = 0; call < 5; call++) {
            const { status } = (await gateway?.brand(bareMerchant.name ?? '', token)) ?? {};
            if (status !== 200) failures.push(status);
          }
        } catch (error) {
          failures.push(error);
        }
      }
    };
    const reconnects = () => Promise.all(names.map((name) => stack.metric(name, 'nats_reconnects_total')));
    const users = await nextUsers(stack, nats, natsConfig);
    const before = await reconnects();
    const working = Promise.all([work(), work()]);
    try {
      // Both users are valid side by side.
      await users.add();
      await expect.poll(() => rounds).toBeGreaterThan(1);

      for (const name of names) await users.use(name);
      const haveAll = async () => (await reconnects()).every((count, index) => count > (before[index] ?? 0));
      await expect.poll(haveAll).toBe(true);
      for (const name of names.slice(1))
        await expect.poll(() => stack.logs(name)).toContain('connections to MongoDB now use the new');

      const changed = await reconnects();
      await users.removeOld();
      const then = rounds;
      await expect.poll(() => rounds).toBeGreaterThan(then + 4);
      isOver = true;
      await working;
      expect(failures).toEqual([]);
      expect(await reconnects()).toEqual(changed);
      for (const name of names) expect(await stack.metric(name, 'nats_connected'), name).toBe(1);
    } finally {
      isOver = true;
      await working;
      operator.close();
      await users.end();
    }
  });
});
