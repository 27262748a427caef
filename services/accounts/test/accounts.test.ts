import { randomBytes, randomUUID } from 'node:crypto';
import {
  AccountsAdminServiceService,
  ADMIN_PORT,
  AUDIT_STREAM,
  AuditEvent,
  type CallLimits,
  createToken,
  type ListAuditRequest,
  OPERATOR_ROLES,
  type OperatorRole,
  type Pool,
  Route,
  TokenRefusal,
  tokenSha256,
} from '@brand-data/contracts';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import { Metadata, status } from '@grpc/grpc-js';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import * as fc from 'fast-check';
import { BSON, MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { present, type RunningAccounts, readNotices, startAccounts } from './running-accounts.ts';

const database = `accounts-${randomUUID()}`;
let nats: TestServer;
let accounts: RunningAccounts;

beforeAll(async () => {
  nats = await startTestNats();
  accounts = await startAccounts({ mongodbUrl: inject('mongodbUrl'), natsUrl: nats.url, database });
  await accounts.operate(accounts.admin.setPlan, { name: 'free', pools: [logosPool(100)] });
});

afterAll(async () => {
  await accounts?.stop();
  await nats?.stop();
});

const logosPool = (allowance: number): Pool => ({ name: 'logos', allowance, routes: [Route.LOGOS] });

async function createAccount(): Promise<string> {
  const { account } = await accounts.operate(accounts.admin.createAccount, {
    id: '',
    name: 'Acme',
    plan: 'free',
  });
  return present(account).id;
}

const createKey = (accountId: string, more: { allowedOrigins?: string[]; expiresAtMs?: number } = {}) =>
  accounts.operate(accounts.admin.createKey, { accountId, label: '', allowedOrigins: [], ...more });

/** Makes a call whose request has no fields. */
function emptyCall(path: string, metadata: Metadata): Promise<{ code: status; details: string }> {
  return new Promise((resolve) =>
    accounts.admin.makeUnaryRequest(
      path,
      () => Buffer.alloc(0),
      (bytes) => bytes,
      {},
      metadata,
      { deadline: Date.now() + 10_000 },
      (error) => resolve(error ?? { code: status.OK, details: '' }),
    ),
  );
}

/** Calls again while the database is too slow to answer, which says nothing about the role. */
async function answered(call: () => ReturnType<typeof emptyCall>): ReturnType<typeof emptyCall> {
  const answer = await call();
  return answer.code === status.UNAVAILABLE ? answered(call) : answer;
}

/** Returns all documents of the database, and everything that the service has logged. */
async function everythingStored(): Promise<Buffer> {
  const client = new MongoClient(inject('mongodbUrl'));
  const documents: Buffer[] = [];
  for (const { name } of await client.db(database).listCollections().toArray())
    for await (const document of client.db(database).collection(name).find())
      documents.push(Buffer.from(BSON.serialize(document)));
  await client.close();
  return Buffer.concat([...documents, Buffer.from(accounts.log())]);
}

let operators = 0;
async function createOperator(role: OperatorRole, name = `operator-${++operators}`) {
  const { operator, credential } = await accounts.operate(accounts.admin.createOperator, { name, role });
  return { ...present(operator), credential };
}

const listAudit = (filter: Partial<ListAuditRequest>) =>
  accounts.operate(accounts.admin.listAudit, {
    operator: '',
    service: '',
    method: '',
    about: '',
    limit: 0,
    after: '',
    ...filter,
  });

describe('a token', () => {
  test('that nobody made is refused as unknown', async () => {
    expect(await accounts.verifyToken(createToken())).toEqual({
      $case: 'refusal',
      value: TokenRefusal.UNKNOWN,
    });
  });

  test('is asked about by a digest of 32 bytes and by nothing else', async () => {
    for (const length of [0, 31, 33])
      await expect(accounts.verify(randomBytes(length))).rejects.toMatchObject({ kind: 'invalid_argument' });
  });

  test('is good until its expiry and refused as expired from then on', async () => {
    const account = await createAccount();
    const expiresAtMs = Date.now() + 2_000;
    const { token } = await createKey(account, { expiresAtMs });
    for (;;) {
      const askedAtMs = Date.now();
      const outcome = await accounts.verifyToken(token);
      if (outcome?.$case === 'refusal') {
        expect(outcome.value).toBe(TokenRefusal.EXPIRED);
        expect(Date.now()).toBeGreaterThanOrEqual(expiresAtMs);
        break;
      }
      expect(outcome?.value.expiresAtMs).toBe(expiresAtMs);
      expect(askedAtMs).toBeLessThan(expiresAtMs);
    }
  });

  test('is in no document and in no log, nor is its digest', async () => {
    const { key, token } = await createKey(await createAccount());
    await accounts.verifyToken(token);
    const kept = await everythingStored();
    const digest = tokenSha256(token);
    expect(kept.includes(present(key).id)).toBe(true);
    for (const secret of [token, digest, digest.toString('hex'), digest.toString('base64')])
      expect(kept.includes(secret)).toBe(false);
  });
});

describe('an operator', () => {
  test.each([undefined, 'Bearer ', 'Bearer another credential', 'Basic dGhlIG9wZXJhdG9yIGNyZWRlbnRpYWw='])(
    'with the credential %j is refused by every method',
    async (authorization) => {
      const metadata = new Metadata();
      if (authorization !== undefined) metadata.set('authorization', authorization);
      for (const { path } of Object.values(AccountsAdminServiceService)) {
        expect((await emptyCall(path, metadata)).code, path).toBe(status.UNAUTHENTICATED);
      }
    },
  );

  test.each(OPERATOR_ROLES)(
    'with the role %s may call exactly the methods that the table gives this role',
    async (role) => {
      const { credential, name } = await createOperator(role);
      const metadata = new Metadata();
      metadata.set('authorization', `Bearer ${credential}`);
      for (const { path } of Object.values(AccountsAdminServiceService)) {
        const needed = present(ADMIN_PORT.roleNeeded.get(path));
        const { code, details } = await answered(() => emptyCall(path, metadata));
        if (ADMIN_PORT.mayCall(role, needed))
          expect(
            // Accounts was not being restored when it started.
            path.endsWith('/FinishRestore')
              ? [status.FAILED_PRECONDITION]
              : [status.OK, status.INVALID_ARGUMENT, status.NOT_FOUND],
            path,
          ).toContain(code);
        else
          expect([code, details], path).toEqual([
            status.PERMISSION_DENIED,
            `this needs the role ${needed}; ${name} has ${role}`,
          ]);
      }
    },
  );

  test('cannot set a plan whose pools say two things or none about a route', async () => {
    const calls: Pool = { name: 'calls', allowance: 10, routes: [Route.BRANDS] };
    const logos = logosPool(10);
    const contradictions: Pool[][] = [
      [calls, { ...logos, name: 'calls' }],
      [calls, { ...logos, routes: [Route.BRANDS] }],
      [{ ...calls, routes: [Route.BRANDS, Route.BRANDS] }],
      [{ ...calls, routes: [Route.UNSPECIFIED] }],
    ];
    const outOfRange = fc.oneof(fc.integer({ max: 0 }), fc.integer({ min: 1_000_001 }));
    const wrong: fc.Arbitrary<{ name?: string; pools: Pool[]; limits?: CallLimits }> = fc.oneof(
      outOfRange.map((concurrency) => ({ pools: [calls], limits: { concurrency } })),
      outOfRange.map((figure) => ({
        pools: [calls],
        limits: {
          rate: { perSecond: figure, burst: 1, ...(figure % 2 === 0 && { perSecond: 1, burst: figure }) },
        },
      })),
      fc.constantFrom(...contradictions).map((pools) => ({ pools })),
      fc.integer({ max: -1 }).map((allowance) => ({ pools: [{ ...calls, allowance }] })),
      fc
        .constantFrom('', '-', 'Calls', 'a b', 'x'.repeat(64))
        .map((name) => ({ pools: [{ ...calls, name }] })),
      fc
        .constantFrom('', '-', 'Free', 'a_b', 'x'.repeat(64))
        .map((name) => ({ name, pools: [calls, logos] })),
      fc.integer({ min: 21, max: 30 }).map((count) => ({
        pools: Array.from({ length: count }, (_, i) => ({ name: `pool-${i}`, allowance: 1, routes: [] })),
      })),
    );
    const { admin, operate } = accounts;
    await fc.assert(
      fc.asyncProperty(wrong, async (plan) => {
        await expect(operate(admin.setPlan, { name: 'wrong', ...plan })).rejects.toMatchObject({
          kind: 'invalid_argument',
        });
      }),
      { numRuns: 50 },
    );
    const { plans } = await operate(admin.listPlans, {});
    expect(plans.map(({ name }) => name)).not.toContain('wrong');
  });

  test('shows everybody the plans that are public, until they are not, whatever else of them changes', async () => {
    const { admin, operate, publicPlans } = accounts;
    const set = async (allowance: number, isPublic?: boolean) => {
      await operate(admin.setPlan, { name: 'shown', pools: [logosPool(allowance)], public: isPublic });
      return (await publicPlans()).map(({ name, pools }) => [name, pools[0]?.allowance]);
    };
    expect(await set(1)).toEqual([]);
    expect(await set(1, true)).toEqual([['shown', 1]]);
    expect(await set(2)).toEqual([['shown', 2]]);
    expect(await set(2, false)).toEqual([]);
    expect(await set(3)).toEqual([]);
  });

  test('cannot create an account under an id that is taken or is no slug', async () => {
    const { admin, operate } = accounts;
    const create = (id: string) => operate(admin.createAccount, { id, name: 'Acme', plan: 'free' });
    await create('taken');
    await expect(create('taken')).rejects.toMatchObject({ kind: 'already_exists' });
    for (const id of ['Acme', '-acme', 'a'.repeat(64), 'a b', 'é'])
      await expect(create(id)).rejects.toMatchObject({ kind: 'invalid_argument' });
  });

  test('is told of an account or a key that there is not', async () => {
    const { admin, operate } = accounts;
    const calls = [
      operate(admin.getAccount, { id: 'nobody' }),
      operate(admin.setAccountPlan, { id: 'nobody', plan: 'free' }),
      operate(admin.closeAccount, { id: 'nobody' }),
      operate(admin.listKeys, { accountId: 'nobody' }),
      operate(admin.revokeKey, { keyId: 'nothing' }),
      createKey('nobody'),
    ];
    const answers = await Promise.allSettled(calls);
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 'rejected', reason: { kind: 'not_found' } });
  });

  test('gives origins in any spelling, and they are kept as browsers send them, each once', async () => {
    const { key } = await createKey(await createAccount(), {
      allowedOrigins: [
        'https://Example.COM',
        'https://example.com:443',
        'http://localhost:3000',
        'http://[::1]:8080',
        'https://bücher.example',
        'capacitor://localhost',
        'https://*.Bücher.example:443',
      ],
    });
    expect(present(key).allowedOrigins).toEqual([
      'https://example.com',
      'http://localhost:3000',
      'http://[::1]:8080',
      'https://xn--bcher-kva.example',
      'capacitor://localhost',
      'https://*.xn--bcher-kva.example',
    ]);
  });

  test.each([
    '',
    '*',
    'null',
    'example.com',
    'https://',
    'https://example.com/',
    'https://example.com/path',
    'https://example.com?query',
    'https://user@example.com',
    'https://*',
    'https://*.com',
    'https://*.*.example.com',
    'https://a.*.example.com',
    'https://*example.com',
    'https://*.127.0.0.1',
    'https://*.[::1]',
    'https://*.example.com/',
    'https://example.com:99999',
    'https://exam ple.com',
    `https://${'a'.repeat(300)}.example`,
  ])('cannot allow the origin %j', async (origin) => {
    const creation = createKey(await createAccount(), { allowedOrigins: [origin] });
    await expect(creation).rejects.toMatchObject({ kind: 'invalid_argument' });
  });

  test.each(['co.uk', 'github.io', 'Azurewebsites.NET', 'gov.in', 'xn--55qx5d.cn', 'com.ck'])(
    'cannot allow all names under the public suffix %s, and says why, but can allow them under one name of it',
    async (suffix) => {
      const accountId = await createAccount();
      await expect(
        createKey(accountId, { allowedOrigins: [`https://*.${suffix}:8443`] }),
      ).rejects.toMatchObject({
        kind: 'invalid_argument',
        message: expect.stringContaining(`anyone can get a name under ${suffix.toLowerCase()}`),
      });
      const { key } = await createKey(accountId, {
        allowedOrigins: [`https://*.ours.${suffix}`, `https://${suffix}`, 'https://*.corp.internal'],
      });
      expect(present(key).allowedOrigins[0]).toBe(`https://*.ours.${suffix.toLowerCase()}`);
    },
  );

  test('cannot give a key more than 20 origins, a time in the past or a label without end', async () => {
    const accountId = await createAccount();
    const allowedOrigins = Array.from({ length: 21 }, (_, i) => `https://${i}.example`);
    await expect(createKey(accountId, { allowedOrigins })).rejects.toMatchObject({
      kind: 'invalid_argument',
    });
    for (const expiresAtMs of [-1, 0, Date.now(), Number.MAX_SAFE_INTEGER])
      await expect(createKey(accountId, { expiresAtMs })).rejects.toMatchObject({ kind: 'invalid_argument' });
    const { admin, operate } = accounts;
    for (const label of ['x'.repeat(101), 'two\nlines']) {
      const creation = operate(admin.createKey, { accountId, label, allowedOrigins: [] });
      await expect(creation).rejects.toMatchObject({ kind: 'invalid_argument' });
    }
    expect((await operate(admin.listKeys, { accountId })).keys).toEqual([]);
  });

  test('has at most 100 good keys an account, though many are made at once, and one more for each revoked', async () => {
    const accountId = await createAccount();
    const ids: string[] = [];
    for (let i = 0; i < 96; i++) ids.push(present((await createKey(accountId)).key).id);
    const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => createKey(accountId)));
    expect(attempts.filter((attempt) => attempt.status === 'fulfilled')).toHaveLength(4);
    for (const attempt of attempts)
      if (attempt.status === 'rejected') expect(attempt.reason).toMatchObject({ kind: 'resource_exhausted' });
    await accounts.operate(accounts.admin.revokeKey, { keyId: present(ids[0]) });
    await createKey(accountId);
    await expect(createKey(accountId)).rejects.toMatchObject({ kind: 'resource_exhausted' });
  });

  test('makes changes at the same time, and each has a revision of its own and is told in their order', async () => {
    const { admin, operate } = accounts;
    const before = (await readNotices(nats.url)).length;
    const names = Array.from({ length: 20 }, (_, i) => `at-once-${i}`);
    const answers = await Promise.all(
      names.map((name) => operate(admin.setPlan, { name, pools: [logosPool(1)] })),
    );
    const revisions = answers.map(({ plan }) => present(plan).revision);
    expect(new Set(revisions).size).toBe(names.length);
    const told = (await readNotices(nats.url)).slice(before);
    expect(told.map(({ revision }) => revision)).toEqual(revisions.toSorted((a, b) => a - b));
  });
});

describe("an operator's credential", () => {
  test('is refused as soon as its revocation is confirmed, and the other one of the operator is not', async () => {
    const { admin, operate } = accounts;
    const [first, second] = [await createOperator('read', 'ana'), await createOperator('read', 'ana')];
    const use = ({ credential }: { credential: string }) =>
      operate(admin.listPlans, {}, { operatorToken: credential });
    await expect(createOperator('read', 'ana')).rejects.toMatchObject({ kind: 'resource_exhausted' });
    await Promise.all([use(first), use(second)]);
    await operate(admin.revokeOperator, { name: 'ana', credentialId: first.id });
    await expect(use(first)).rejects.toMatchObject({ kind: 'unauthenticated', message: /revoked/ });
    await use(second);
    const again = await operate(admin.revokeOperator, { name: 'ana', credentialId: first.id });
    const all = await operate(admin.revokeOperator, { name: 'ana', credentialId: '' });
    expect([...again.operators, ...all.operators].map(({ id }) => id)).toEqual([first.id, second.id]);
    await expect(use(second)).rejects.toMatchObject({ kind: 'unauthenticated' });
    const { operators: listed } = await operate(admin.listOperators, {});
    expect(listed.filter(({ name }) => name === 'ana')).toMatchObject([
      {
        id: first.id,
        role: 'read',
        createdBy: 'installation',
        revokedAtMs: present(again.operators[0]).revokedAtMs,
      },
      { id: second.id, role: 'read', createdBy: 'installation', revokedAtMs: expect.any(Number) },
    ]);
  });

  test('belongs to one role, a name of its own and two at most, though many are created at once', async () => {
    const { admin, operate } = accounts;
    await createOperator('keys', 'ben');
    await expect(createOperator('all', 'ben')).rejects.toMatchObject({
      kind: 'failed_precondition',
      message: 'ben has the role keys: revoke its credentials before you give it another role',
    });
    const attempts = await Promise.allSettled(
      Array.from({ length: 5 }, () => createOperator('read', 'cleo')),
    );
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const [name, role] of [
      ['installation', 'read'],
      ['Ana', 'read'],
      ['', 'read'],
      ['dora', 'root'],
      ['dora', ''],
    ])
      await expect(
        operate(admin.createOperator, { name: name ?? '', role: role ?? '' }),
      ).rejects.toMatchObject({
        kind: 'invalid_argument',
      });
    for (const request of [
      { name: 'nobody', credentialId: '' },
      { name: 'ben', credentialId: 'opc-0' },
    ])
      await expect(operate(admin.revokeOperator, request)).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('is in no document and in no log, nor is that of the installation', async () => {
    const { credential, id } = await createOperator('read');
    await accounts.operate(accounts.admin.listPlans, {}, { operatorToken: credential });
    const stored = await everythingStored();
    expect(stored.includes(id)).toBe(true);
    expect(stored.includes(credential.slice(8))).toBe(false);
    expect(stored.includes('the operator credential of tests')).toBe(false);
  });
});

describe('the trail', () => {
  test('says who changed what, when and from where, and what it was before', async () => {
    const { admin, operate } = accounts;
    const { credential, ...eve } = await createOperator('keys', 'eve');
    const as = { operatorToken: credential, requestId: 'run-of-eve' };
    const beganMs = Date.now();
    await operate(admin.setPlan, { name: 'eves', pools: [logosPool(5)] }, as);
    await operate(admin.setPlan, { name: 'eves', pools: [logosPool(7)] }, as);
    const { account } = await operate(
      admin.createAccount,
      { id: 'eves-account', name: 'Eve & Co', plan: 'free' },
      as,
    );
    await operate(admin.setAccountPlan, { id: 'eves-account', plan: 'eves' }, as);
    const allowedOrigins = ['https://example.com', 'https://example.org'];
    const { key, token } = await operate(
      admin.createKey,
      { accountId: 'eves-account', label: 'web', allowedOrigins },
      as,
    );
    const keyId = present(key).id;
    await operate(admin.revokeKey, { keyId }, as);
    await operate(admin.closeAccount, { id: 'eves-account' }, as);
    await expect(operate(admin.closeAccount, { id: 'nobody' }, as)).rejects.toMatchObject({
      kind: 'not_found',
    });
    await expect(operate(admin.createOperator, { name: 'mallory', role: 'all' }, as)).rejects.toMatchObject({
      kind: 'permission_denied',
    });

    const { entries, next } = await listAudit({ operator: 'eve' });
    expect(next).toBe('');
    const what = entries.toReversed().map(({ method, details }) => [method, details]);
    const forEve = { account: 'eves-account', key: keyId, label: 'web' };
    expect(what).toEqual([
      ['SetPlan', { plan: 'eves', pools: 'logos: 5 for logos' }],
      ['SetPlan', { plan: 'eves', pools: 'logos: 7 for logos', before: 'logos: 5 for logos' }],
      ['CreateAccount', { account: 'eves-account', name: 'Eve & Co', plan: 'free' }],
      ['SetAccountPlan', { account: 'eves-account', plan: 'eves', before: 'free' }],
      ['CreateKey', { ...forEve, origins: 'https://example.com https://example.org' }],
      ['RevokeKey', forEve],
      ['CloseAccount', { account: 'eves-account' }],
    ]);
    for (const { atMs, lastAtMs, id, method: _method, details: _details, ...entry } of entries) {
      expect(entry).toEqual({
        service: 'accounts',
        operator: 'eve',
        role: 'keys',
        credentialId: eve.id,
        outcome: 'done',
        counts: {},
        requestId: 'run-of-eve',
        from: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
      });
      expect(lastAtMs).toBe(atMs);
      expect(atMs).toBeGreaterThanOrEqual(beganMs);
      expect(atMs).toBeLessThanOrEqual(Date.now());
      expect(accounts.log()).toContain(`"audit":{"id":"${id}"`);
    }
    expect(present(account).id).toBe('eves-account');
    expect((await everythingStored()).includes(token)).toBe(false);
  });

  test('is found by each filter, in pages, latest first, and no filter lets anything else through', async () => {
    const { admin, operate } = accounts;
    const { credential } = await createOperator('keys', 'finn');
    const as = { operatorToken: credential };
    for (let i = 0; i < 7; i++)
      await operate(admin.createAccount, { id: `finns-${i}`, name: 'Finn', plan: 'free' }, as);
    const { entries: all } = await listAudit({ operator: 'finn' });
    expect(all.map(({ details }) => details.account)).toEqual([6, 5, 4, 3, 2, 1, 0].map((i) => `finns-${i}`));

    const paged: typeof all = [];
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page = await listAudit({ operator: 'finn', limit: 3, after });
      expect(page.entries.length).toBeLessThanOrEqual(3);
      paged.push(...page.entries);
      after = page.next || undefined;
    }
    expect(paged).toEqual(all);

    expect((await listAudit({ about: 'finns-3' })).entries).toEqual([all[3]]);
    expect(
      (await listAudit({ operator: 'finn', method: 'CreateAccount', service: 'accounts' })).entries,
    ).toEqual(all);
    expect((await listAudit({ operator: 'finn', method: 'CloseAccount' })).entries).toEqual([]);
    expect((await listAudit({ operator: 'finn', service: 'catalog' })).entries).toEqual([]);
    const at = present(all[2]).atMs;
    const { entries: since } = await listAudit({ operator: 'finn', sinceMs: at });
    expect(since).toEqual(all.filter(({ atMs }) => atMs >= at));
    const { entries: until } = await listAudit({ operator: 'finn', untilMs: at });
    expect(until).toEqual(all.filter(({ atMs }) => atMs < at));
    for (const wrong of [{ limit: -1 }, { limit: 1_001 }, { after: 'x' }, { after: '1.{$ne:1}' }])
      await expect(listAudit(wrong)).rejects.toMatchObject({ kind: 'invalid_argument' });
  });

  test('gathers what other services say about a change, whatever order and how often it arrives, and drops what it cannot read', async () => {
    const event = (part: string, counts: Record<string, number>, more: Partial<AuditEvent> = {}) => ({
      subject: 'brand_data.audit.catalog',
      data: AuditEvent.encode({
        entry: 'gathered',
        part,
        atMs: 1_000 + (counts.calls ?? 0),
        method: 'Import',
        operator: 'gwen',
        role: 'catalogue',
        credentialId: 'opc-1',
        from: '127.0.0.1:9',
        requestId: 'run',
        about: ['mine'],
        details: { source: 'mine' },
        counts,
        ...more,
      }).finish(),
    });
    const messages = [
      event('1-one', { calls: 1 }),
      event('1-one', { calls: 1, done: 1, created: 500 }),
      event('1-one', { calls: 2, done: 1, created: 500 }),
      event('1-one', { calls: 2, done: 2, created: 900 }),
      event('2-two', { calls: 1 }),
      event('2-two', { calls: 1, failed: 1 }, { details: { source: 'mine', failure: 'too busy' } }),
      // No caller can change the entries of accounts or of another service.
      { ...event('1-one', { calls: 7 }), subject: 'brand_data.audit.images' },
      { subject: 'brand_data.audit.catalog', data: Buffer.from([0xff, 0xff, 0xff]) },
      event('$where', { calls: 1 }),
      event('1-one', { 'a.b': 1 }),
    ];
    const connection = await connect({ servers: nats.url });
    const js = jetstream(connection);
    const [sent] = fc.sample(fc.shuffledSubarray([...messages, ...messages], { minLength: 20 }), 1);
    for (const { subject, data } of sent ?? []) await js.publish(subject, data);
    const left = async () =>
      (await (await jetstreamManager(connection)).streams.info(AUDIT_STREAM)).state.messages;
    await expect.poll(left).toBe(0);
    await connection.close();
    const { entries } = await listAudit({ operator: 'gwen' });
    const shown = entries.map(({ id, service, outcome, counts, details, atMs, lastAtMs }) => ({
      id,
      service,
      outcome,
      counts,
      details,
      atMs,
      lastAtMs,
    }));
    expect(shown.toSorted((a, b) => a.service.localeCompare(b.service))).toEqual([
      {
        id: 'catalog-gathered',
        service: 'catalog',
        outcome: 'partly failed',
        atMs: 1_001,
        lastAtMs: 1_002,
        counts: { calls: 3, done: 2, failed: 1, created: 900 },
        details: { source: 'mine', failure: 'too busy' },
      },
      {
        id: 'images-gathered',
        service: 'images',
        outcome: 'unfinished',
        atMs: 1_007,
        lastAtMs: 1_007,
        counts: { calls: 7 },
        details: { source: 'mine' },
      },
    ]);
  });

  test('is removed by its age alone, and every filter has an index', async () => {
    const client = new MongoClient(inject('mongodbUrl'));
    const audit = client.db(database).collection('audit');
    const indexes = await audit.indexes();
    const newest = await audit.findOne({}, { sort: { at: -1 } });
    await client.close();
    expect(indexes).toContainEqual(expect.objectContaining({ key: { expiresAt: 1 }, expireAfterSeconds: 0 }));
    for (const field of ['operator', 'service', 'method', 'about'])
      expect(indexes).toContainEqual(expect.objectContaining({ key: { [field]: 1, at: -1, _id: -1 } }));
    expect(newest?.expiresAt - newest?.at).toBe(400 * 86_400_000);
  });
});
