import type { KeyObject } from 'node:crypto';
import {
  type AccountsAdminServiceServer,
  createOperatorCredential,
  createToken,
  PASS_SERVICES,
  tokenCheckKeyFrom,
  tokenSha256,
} from '@brand-data/contracts';
import { Fault, operatorCallOf, refuseRestore, type Service, signPass, unary } from '@brand-data/runtime';
import { Binary } from 'mongodb';
import { accountToProto, createAccountId } from './account.ts';
import { requireAccountPage } from './account-page.ts';
import type { AllowanceSigner } from './allowance-signer.ts';
import { auditToProto, endOfPage, requirePage } from './audit.ts';
import { requireLimits } from './call-limits.ts';
import { requireSlug, requireText } from './input.ts';
import { createKeyId, hashToken, keyToProto, requireExpiry, requireOrigins, requireOverlap } from './key.ts';
import {
  createCredentialId,
  hashCredential,
  operatorToProto,
  requireOperatorName,
  requireRole,
} from './operator.ts';
import type { Outbox } from './outbox.ts';
import { planToProto, requirePools } from './plan.ts';
import type { Store } from './store.ts';

const LONGEST_NAME = 200;
const LONGEST_LABEL = 100;

/**
 * The gRPC service for operators. See proto/brand_data/v1/accounts.proto for messages and errors. It answers a change only after
 * JetStream has acknowledged the change's notice to the gateways. If that takes too long, the answer is Fault `unavailable`, but
 * the change remains.
 */
export function accountsAdminService(
  service: Service,
  store: Store,
  outbox: Outbox,
  {
    tokenHashKey,
    signer,
    signingKey,
  }: {
    tokenHashKey: string;
    signer: Pick<AllowanceSigner, 'sign'>;
    signingKey: () => KeyObject | undefined;
  },
): AccountsAdminServiceServer {
  const checkKey = tokenCheckKeyFrom(tokenHashKey);
  const confirmed = async <Doc>(change: Promise<Doc>, hintOf?: (doc: Doc) => string): Promise<Doc> => {
    const doc = await change;
    if (await outbox.flushed()) return doc;
    const hint = hintOf ? `; ${hintOf(doc)}` : '';
    throw new Fault(
      'unavailable',
      `the change is stored, but the gateways could not be notified within 5 s: they will be notified when NATS answers again${hint}`,
    );
  };

  const newKey = () => {
    const token = createToken(checkKey);
    const tokenHash = new Binary(hashToken(tokenHashKey, tokenSha256(token)));
    return { _id: createKeyId(), tokenHash, createdAt: new Date(), token };
  };

  return {
    setPlan: unary(service, async ({ name, pools, limits }, metadata) => {
      const by = operatorCallOf(metadata);
      const wanted = { pools: requirePools(pools), limits: requireLimits(limits) };
      const plan = await confirmed(store.setPlan(requireSlug('a plan name', name), wanted, by));
      return { plan: planToProto(plan) };
    }),

    listPlans: unary(service, async () => {
      const plans = await store.listPlans();
      return { plans: plans.map(planToProto) };
    }),

    createAccount: unary(service, async ({ id, name, plan }, metadata) => {
      const account = {
        _id: id === '' ? createAccountId() : requireSlug('an account id', id),
        name: requireText('an account name', name, LONGEST_NAME),
        plan,
        createdAt: new Date(),
      };
      return {
        account: accountToProto(
          await confirmed(
            store.createAccount(account, operatorCallOf(metadata)),
            ({ _id }) => `its id is ${_id}`,
          ),
        ),
      };
    }),

    signAllowance: unary(service, async ({ accountId }) => {
      const { account, plan } = await store.getAccountWithPlan(accountId);
      if (account.closedAt) throw new Fault('failed_precondition', 'the account is closed: reopen it first');
      return { allowance: (await signer.sign(account, plan, Date.now())).token };
    }),

    listAccounts: unary(service, async (request) => {
      const { found, next } = await store.listAccounts(requireAccountPage(request));
      return { accounts: found.map(accountToProto), next };
    }),

    getAccount: unary(service, async ({ id }) => {
      const account = await store.getAccount(id);
      const keys = await store.listKeys(id);
      return { account: accountToProto(account), keys: keys.map(keyToProto) };
    }),

    setAccountPlan: unary(service, async ({ id, plan }, metadata) => {
      const account = await confirmed(store.setAccountPlan(id, plan, operatorCallOf(metadata)));
      return { account: accountToProto(account) };
    }),

    renameAccount: unary(service, async ({ id, name }, metadata) => {
      const wanted = requireText('an account name', name, LONGEST_NAME);
      const account = await confirmed(store.renameAccount(id, wanted, operatorCallOf(metadata)));
      return { account: accountToProto(account) };
    }),

    closeAccount: unary(service, async ({ id }, metadata) => {
      const account = await confirmed(store.closeAccount(id, new Date(), operatorCallOf(metadata)));
      return { account: accountToProto(account) };
    }),

    reopenAccount: unary(service, async ({ id }, metadata) => {
      const account = await confirmed(store.reopenAccount(id, operatorCallOf(metadata)));
      return { account: accountToProto(account) };
    }),

    createKey: unary(
      service,
      async ({ accountId, label, allowedOrigins, expiresAtMs, ...request }, metadata) => {
        const { token, ...made } = newKey();
        const limits = requireLimits(request.limits);
        const key = {
          ...made,
          accountId,
          label: requireText('a label', label, LONGEST_LABEL),
          allowedOrigins: requireOrigins(allowedOrigins),
          ...(expiresAtMs === undefined
            ? {}
            : { expiresAt: requireExpiry(expiresAtMs, made.createdAt.getTime()) }),
          ...(limits && { limits }),
        };
        const stored = await confirmed(
          store.createKey(key, operatorCallOf(metadata)),
          ({ _id }) => `its token was not shown and never will be: revoke ${_id} and create another`,
        );
        return { key: keyToProto(stored), token };
      },
    ),

    updateKey: unary(service, async ({ keyId, label, allowedOrigins }, metadata) => {
      const update = {
        ...(label === undefined ? {} : { label: requireText('a label', label, LONGEST_LABEL) }),
        ...(allowedOrigins && { allowedOrigins: requireOrigins(allowedOrigins.origins) }),
      };
      if (Object.keys(update).length === 0)
        throw new Fault('invalid_argument', 'there is nothing to change: give a label or origins');
      return {
        key: keyToProto(await confirmed(store.updateKey(keyId, update, operatorCallOf(metadata)))),
      };
    }),

    rotateKey: unary(service, async ({ keyId, overlapMs }, metadata) => {
      const overlap = requireOverlap(overlapMs);
      const { token, ...made } = newKey();
      const { key, replaced } = await confirmed(
        store.rotateKey(keyId, made, overlap, operatorCallOf(metadata)),
        ({ key: { _id } }) =>
          `the token of the new key ${_id} was not shown and never will be: rotate ${_id} again, before ${keyId} expires`,
      );
      return { key: keyToProto(key), token, replaced: keyToProto(replaced) };
    }),

    listKeys: unary(service, async ({ accountId }) => {
      await store.getAccount(accountId);
      const keys = await store.listKeys(accountId);
      return { keys: keys.map(keyToProto) };
    }),

    revokeKey: unary(service, async ({ keyId }, metadata) => {
      const key = await confirmed(store.revokeKey(keyId, new Date(), operatorCallOf(metadata)));
      return { key: keyToProto(key) };
    }),

    createOperator: unary(service, async ({ name, role }, metadata) => {
      const by = operatorCallOf(metadata);
      const credential = createOperatorCredential();
      const operator = {
        _id: createCredentialId(),
        name: requireOperatorName(name),
        role: requireRole(role),
        hash: new Binary(hashCredential(credential)),
        createdAt: new Date(),
        createdBy: by.operator.name,
      };
      return { operator: operatorToProto(await store.createOperator(operator, by)), credential };
    }),

    listOperators: unary(service, async () => {
      const operators = await store.listOperators();
      return { operators: operators.map(operatorToProto) };
    }),

    revokeOperator: unary(service, async ({ name, credentialId }, metadata) => {
      const revoked = await store.revokeOperator(name, credentialId, new Date(), operatorCallOf(metadata));
      return { operators: revoked.map(operatorToProto) };
    }),

    issuePass: unary(service, async (request, metadata) => {
      const found = PASS_SERVICES.find((name) => name === request.service);
      if (found === undefined)
        throw new Fault('invalid_argument', `passes are for ${PASS_SERVICES.join(', ')}`);
      const key = signingKey();
      if (key === undefined)
        throw new Fault(
          'failed_precondition',
          'accounts has no PASS_SIGNING_KEY, so named operators can use only accounts',
        );
      const { operator, from, requestId } = operatorCallOf(metadata);
      const issued = await signPass(key, operator, found, Date.now());
      service.log.info({ pass: { for: found, ...operator, from, requestId } }, 'an operator got a pass');
      return issued;
    }),

    listAudit: unary(service, async (request) => {
      const page = requirePage(request);
      const docs = await store.listAudit(page);
      const last = docs.length < page.limit ? undefined : docs.at(-1);
      return { entries: docs.map(auditToProto), next: last ? endOfPage(last) : '' };
    }),

    finishRestore: unary(service, refuseRestore),
  };
}
