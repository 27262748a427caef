import { randomUUID } from 'node:crypto';
import {
  type Account,
  type AccountChanged,
  AccountState,
  type Key,
  type Plan,
  type Pool,
  Route,
  TokenRefusal,
} from '@brand-data/contracts';
import { startTestNats, type TestServer } from '@brand-data/testing/servers';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { present, type RunningAccounts, readNotices, startAccounts } from './running-accounts.ts';

let nats: TestServer;
let accounts: RunningAccounts;

beforeAll(async () => {
  nats = await startTestNats();
  const settings = { mongodbUrl: inject('mongodbUrl'), natsUrl: nats.url };
  accounts = await startAccounts({ ...settings, database: `accounts-${randomUUID()}` });
});

afterAll(async () => {
  await accounts?.stop();
  await nats?.stop();
});

const allowance = fc.oneof(fc.nat(1_000), fc.constant(Number.MAX_SAFE_INTEGER));
const pools: fc.Arbitrary<Pool[]> = fc
  .record({ calls: allowance, logos: allowance, kind: fc.constantFrom('free', 'paid', 'apart', 'none') })
  .map(({ calls, logos, kind }) => {
    if (kind === 'free') return [{ name: 'logos', allowance: logos, routes: [Route.LOGOS] }];
    if (kind === 'paid') return [{ name: 'calls', allowance: calls, routes: [Route.BRANDS, Route.LOGOS] }];
    if (kind === 'none') return [];
    return [
      { name: 'calls', allowance: calls, routes: [Route.BRANDS] },
      { name: 'logos', allowance: logos, routes: [Route.LOGOS] },
    ];
  });

/** Steps of an operator. `of` picks one of the existing objects. */
const arbitraryStep = fc.oneof(
  fc.record({ what: fc.constant('set plan' as const), of: fc.nat(2), pools }),
  fc.record({ what: fc.constant('create account' as const), of: fc.nat(2) }),
  fc.record({ what: fc.constant('change plan' as const), of: fc.nat(9), plan: fc.nat(2) }),
  fc.record({ what: fc.constant('close' as const), of: fc.nat(9) }),
  fc.record({ what: fc.constant('create key' as const), of: fc.nat(9), origins: fc.nat(2) }),
  fc.record({ what: fc.constant('create key' as const), of: fc.nat(9), origins: fc.constant(0) }),
  fc.record({ what: fc.constant('revoke' as const), of: fc.nat(9) }),
  fc.record({ what: fc.constant('reopen' as const), of: fc.nat(9) }),
  fc.record({ what: fc.constant('rename' as const), of: fc.nat(9) }),
  fc.record({ what: fc.constant('delete' as const), of: fc.nat(9) }),
  fc.record({ what: fc.constant('delete plan' as const), of: fc.nat(2) }),
  fc.record({ what: fc.constant('edit key' as const), of: fc.nat(9), origins: fc.nat(2) }),
  fc.record({
    what: fc.constant('rotate' as const),
    of: fc.nat(9),
    overlapMs: fc.constantFrom(0, 3_600_000),
  }),
);

type Step = typeof arbitraryStep extends fc.Arbitrary<infer S> ? S : never;

const ORIGINS = ['https://example.com', 'http://localhost:3000'];

/** The state that the service is expected to have. */
interface Model {
  plans: Plan[];
  accounts: Account[];
  keys: { key: Key; token: string; revoked: boolean }[];
  /** The tokens of deleted accounts. */
  gone: string[];
  changes: AccountChanged['subject'][];
}

function expectedOutcome(model: Model, { key, revoked }: Model['keys'][number]) {
  const account = present(model.accounts.find(({ id }) => id === key.accountId));
  const plan = present(model.plans.find(({ name }) => name === account.plan));
  if (account.closedAtMs !== undefined) return { $case: 'refusal', value: TokenRefusal.ACCOUNT_CLOSED };
  if (revoked) return { $case: 'refusal', value: TokenRefusal.REVOKED };
  if (key.expiresAtMs !== undefined && key.expiresAtMs <= Date.now())
    return { $case: 'refusal', value: TokenRefusal.EXPIRED };
  return {
    $case: 'credential',
    value: {
      keyId: key.id,
      accountId: account.id,
      plan: plan.name,
      allowedOrigins: key.allowedOrigins,
      expiresAtMs: key.expiresAtMs,
      routes: plan.pools.flatMap((pool) =>
        pool.routes.map((route) => ({ route, pool: pool.name, allowance: pool.allowance })),
      ),
      limitRevision: Math.max(plan.revision, account.revision),
      allowance: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      allowanceUntilMs: expect.any(Number),
    },
  };
}

function latestRevision({ plans, accounts: all }: Model): number {
  return Math.max(0, ...[...plans, ...all].map(({ revision }) => revision));
}

/** Takes the step on the service and on the model. If the model refuses the step, the service must refuse it in the same way. */
async function take(model: Model, prefix: string, step: Step): Promise<void> {
  const { admin } = accounts;
  const operate: typeof accounts.operate = (method, request) =>
    accounts.operate(method, request, { requestId: prefix });
  const planName = (n: number) => `${prefix}-plan-${n}`;
  const hasPlan = (n: number) => model.plans.some(({ name }) => name === planName(n));
  const account = model.accounts[step.of % Math.max(1, model.accounts.length)];
  const isClosed = account?.closedAtMs !== undefined;
  const known = model.keys[step.of % Math.max(1, model.keys.length)];
  const latest = latestRevision(model);
  switch (step.what) {
    case 'set plan': {
      const answer = await operate(admin.setPlan, { name: planName(step.of), pools: step.pools });
      const plan = present(answer.plan);
      expect(plan).toEqual({
        name: planName(step.of),
        pools: step.pools,
        revision: plan.revision,
        public: false,
      });
      expect(plan.revision).toBeGreaterThan(latest);
      model.plans = [...model.plans.filter(({ name }) => name !== plan.name), plan];
      model.changes.push({ $case: 'plan', value: plan.name });
      return;
    }
    case 'create account': {
      const id = step.of === 0 ? '' : `${prefix}-account-${model.accounts.length}`;
      const creation = operate(admin.createAccount, { id, name: 'Acme', plan: planName(step.of) });
      if (!hasPlan(step.of)) return expect(creation).rejects.toMatchObject({ kind: 'not_found' });
      const created = present((await creation).account);
      if (id !== '') expect(created.id).toBe(id);
      expect(created).toMatchObject({ name: 'Acme', plan: planName(step.of), closedAtMs: undefined });
      expect(created.revision).toBeGreaterThan(latest);
      model.accounts.push(created);
      model.changes.push({ $case: 'accountId', value: created.id });
      return;
    }
    case 'change plan': {
      if (!account) return;
      const change = operate(admin.setAccountPlan, { id: account.id, plan: planName(step.plan) });
      if (isClosed) return expect(change).rejects.toMatchObject({ kind: 'failed_precondition' });
      if (!hasPlan(step.plan)) return expect(change).rejects.toMatchObject({ kind: 'not_found' });
      const changed = present((await change).account);
      expect(changed).toEqual({ ...account, plan: planName(step.plan), revision: changed.revision });
      expect(changed.revision).toBeGreaterThan(latest);
      Object.assign(account, changed);
      model.changes.push({ $case: 'accountId', value: account.id });
      return;
    }
    case 'close': {
      if (!account) return;
      const closed = present((await operate(admin.closeAccount, { id: account.id })).account);
      if (isClosed) expect(closed.closedAtMs).toBe(account.closedAtMs);
      expect(closed.revision).toBeGreaterThan(latest);
      Object.assign(account, closed);
      model.changes.push({ $case: 'accountId', value: account.id });
      return;
    }
    case 'create key': {
      if (!account) return;
      const allowedOrigins = ORIGINS.slice(0, step.origins);
      const creation = operate(admin.createKey, { accountId: account.id, label: 'web', allowedOrigins });
      if (isClosed) return expect(creation).rejects.toMatchObject({ kind: 'failed_precondition' });
      const { key, token } = await creation;
      expect(key).toMatchObject({ accountId: account.id, label: 'web', allowedOrigins });
      model.keys.push({ key: present(key), token, revoked: false });
      model.changes.push({ $case: 'keyId', value: present(key).id });
      return;
    }
    case 'revoke': {
      if (!known) return;
      const revoked = present((await operate(admin.revokeKey, { keyId: known.key.id })).key);
      if (known.revoked) expect(revoked).toEqual(known.key);
      expect(revoked.revokedAtMs).toBeDefined();
      Object.assign(known, { key: revoked, revoked: true });
      model.changes.push({ $case: 'keyId', value: known.key.id });
      return;
    }
    case 'reopen': {
      if (!account) return;
      const opened = present((await operate(admin.reopenAccount, { id: account.id })).account);
      expect(opened).toMatchObject({ state: AccountState.ACTIVE, closedAtMs: undefined });
      expect(opened.revision).toBeGreaterThan(latest);
      Object.assign(account, opened);
      model.changes.push({ $case: 'accountId', value: account.id });
      return;
    }
    case 'rename': {
      if (!account) return;
      const renamed = await operate(admin.renameAccount, { id: account.id, name: `Acme ${step.of}` });
      expect(renamed.account).toEqual({ ...account, name: `Acme ${step.of}` });
      Object.assign(account, renamed.account);
      model.changes.push({ $case: 'accountId', value: account.id });
      return;
    }
    case 'delete': {
      if (!account) return;
      const { id, createdAtMs } = account;
      const deleted = present((await operate(admin.deleteAccount, { id })).account);
      expect(deleted).toMatchObject({ id, name: '', plan: '', state: AccountState.DELETED, createdAtMs });
      expect((await operate(admin.getAccount, { id })).account).toEqual(deleted);
      await expect(operate(admin.reopenAccount, { id })).rejects.toMatchObject({
        kind: 'failed_precondition',
      });
      const again = operate(admin.createAccount, { id, name: 'Acme', plan: account.plan });
      await expect(again).rejects.toMatchObject({ kind: 'already_exists' });
      model.accounts = model.accounts.filter((each) => each.id !== id);
      model.gone.push(...model.keys.filter(({ key }) => key.accountId === id).map(({ token }) => token));
      model.keys = model.keys.filter(({ key }) => key.accountId !== id);
      model.changes.push({ $case: 'accountId', value: id });
      return;
    }
    case 'delete plan': {
      const name = planName(step.of);
      const deletion = operate(admin.deletePlan, { name });
      if (!hasPlan(step.of)) return expect(deletion).rejects.toMatchObject({ kind: 'not_found' });
      const on = model.accounts.filter(({ plan }) => plan === name);
      if (on.length > 0)
        return expect(deletion).rejects.toMatchObject({
          kind: 'failed_precondition',
          message: expect.stringContaining(`${on.length} account`),
        });
      expect((await deletion).plan).toEqual(model.plans.find((plan) => plan.name === name));
      model.plans = model.plans.filter((plan) => plan.name !== name);
      model.changes.push({ $case: 'plan', value: name });
      return;
    }
    case 'edit key': {
      if (!known) return;
      const origins = ORIGINS.slice(0, step.origins);
      const edit = operate(admin.updateKey, { keyId: known.key.id, allowedOrigins: { origins } });
      if (known.revoked) return expect(edit).rejects.toMatchObject({ kind: 'failed_precondition' });
      expect((await edit).key).toEqual({ ...known.key, allowedOrigins: origins });
      known.key = present((await edit).key);
      model.changes.push({ $case: 'keyId', value: known.key.id });
      return;
    }
    case 'rotate': {
      if (!known) return;
      const { key, revoked } = known;
      const rotation = operate(admin.rotateKey, { keyId: key.id, overlapMs: step.overlapMs });
      const isOpen = model.accounts.some(({ id, closedAtMs }) => id === key.accountId && !closedAtMs);
      if (revoked || key.replacedBy || !isOpen)
        return expect(rotation).rejects.toMatchObject({ kind: 'failed_precondition' });
      const { token, ...answer } = await rotation;
      const made = present(answer.key);
      expect(made).toEqual({ ...key, id: made.id, createdAtMs: made.createdAtMs });
      known.key = present(answer.replaced);
      model.keys.push({ key: made, token, revoked: false });
      model.changes.push({ $case: 'keyId', value: key.id });
    }
  }
}

/** Expects one entry in the trail for each change, in their order, and none for what was refused. */
async function expectTrail({ changes }: Model, requestId: string): Promise<void> {
  const { entries } = await accounts.operate(accounts.admin.listAudit, {
    operator: 'installation',
    service: 'accounts',
    method: '',
    about: '',
    limit: 1_000,
    after: '',
  });
  const own = entries.filter((entry) => entry.requestId === requestId).toReversed();
  const METHODS: Record<string, string[]> = {
    plan: ['SetPlan', 'DeletePlan'],
    accountId: [
      'CreateAccount',
      'SetAccountPlan',
      'RenameAccount',
      'CloseAccount',
      'ReopenAccount',
      'DeleteAccount',
    ],
    keyId: ['CreateKey', 'UpdateKey', 'RotateKey', 'RevokeKey'],
  };
  expect(own.length).toBe(changes.length);
  for (const [index, change] of changes.entries()) {
    expect(METHODS[change?.$case ?? '']).toContain(own[index]?.method);
    expect(Object.values(own[index]?.details ?? {})).toContain(change?.value);
  }
}

test('after any confirmed changes every token means what they made of it, and each change has told the gateways once and is in the trail once', async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryStep, { minLength: 5, maxLength: 25 }), async (steps) => {
      runs += 1;
      const before = (await readNotices(nats.url)).length;
      const model: Model = { plans: [], accounts: [], keys: [], gone: [], changes: [] };
      const start: Step[] = [
        { what: 'set plan', of: 0, pools: [] },
        { what: 'create account', of: 0 },
        { what: 'create key', of: 0, origins: 1 },
      ];
      for (const step of [...start, ...steps]) {
        await take(model, `run-${runs}`, step);
        for (const known of model.keys)
          expect(await accounts.verifyToken(known.token)).toEqual(expectedOutcome(model, known));
        for (const token of model.gone)
          expect(await accounts.verifyToken(token)).toEqual({
            $case: 'refusal',
            value: TokenRefusal.UNKNOWN,
          });
      }
      for (const { id } of model.accounts) {
        const { account, keys } = await accounts.operate(accounts.admin.getAccount, { id });
        expect(account).toEqual(model.accounts.find((known) => known.id === id));
        const known = model.keys.filter(({ key }) => key.accountId === id).map(({ key }) => key);
        expect(new Set(keys)).toEqual(new Set(known));
        expect((await accounts.operate(accounts.admin.listKeys, { accountId: id })).keys).toEqual(keys);
      }
      const notices = (await readNotices(nats.url)).slice(before);
      expect(notices.map(({ subject }) => subject)).toEqual(model.changes);
      const revisions = notices.map(({ revision }) => revision);
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b));
      await expectTrail(model, `run-${runs}`);
    }),
    { numRuns: 15 },
  );
});
