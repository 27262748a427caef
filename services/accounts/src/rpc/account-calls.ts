import type { AccountsAdminServiceServer } from '@brand-data/contracts';
import { Fault, operatorCallOf, type Service, unary } from '@brand-data/runtime';
import { type AccountDoc, accountToProto, createAccountId, requireAccountPage } from '../model/account.ts';
import { requireLimits, requireSlug, requireText } from '../model/input.ts';
import { keyToProto } from '../model/key.ts';
import { planToProto, requirePools } from '../model/plan.ts';
import type { Outbox } from '../storage/outbox.ts';
import type { Store } from '../storage/store.ts';
import type { AllowanceSigner } from './allowance-signer.ts';

const LONGEST_NAME = 200;

function requireName(name: string): string {
  const trimmed = requireText('an account name', name, LONGEST_NAME);
  if (trimmed === '')
    throw new Fault('invalid_argument', 'the name is empty: give one that people recognize');
  return trimmed;
}

/** Returns the calls about plans and accounts. */
export function accountCalls(
  service: Service,
  { store, outbox, signer }: { store: Store; outbox: Outbox; signer: AllowanceSigner },
) {
  const { accounts, keys, plans } = store;
  const confirm = async (change: Promise<AccountDoc>, hintOf?: (account: AccountDoc) => string) => ({
    account: accountToProto(await outbox.confirm(change, hintOf)),
  });

  return {
    setPlan: unary(service, async ({ name, pools, limits, replaces, ...plan }, metadata) => {
      const by = operatorCallOf(metadata);
      const terms = { pools: requirePools(pools), limits: requireLimits(limits), public: plan.public };
      const set = plans.set(requireSlug('a plan name', name), { ...terms, replaces }, by);
      return { plan: planToProto(await outbox.confirm(set)) };
    }),

    deletePlan: unary(service, async ({ name }, metadata) => ({
      plan: planToProto(await outbox.confirm(plans.delete(name, operatorCallOf(metadata)))),
    })),

    listPlans: unary(service, async () => {
      const listed = await plans.list();
      return { plans: listed.map(planToProto) };
    }),

    createAccount: unary(service, async ({ id, name, plan }, metadata) => {
      const account = {
        _id: id === '' ? createAccountId() : requireSlug('an account id', id),
        name: requireName(name),
        plan,
        createdAt: new Date(),
      };
      const created = accounts.create(account, operatorCallOf(metadata));
      return confirm(created, ({ _id }) => `its id is ${_id}`);
    }),

    signAllowance: unary(service, async ({ accountId }) => {
      const { account, plan } = await accounts.getWithPlan(accountId);
      if (account.closedAt) throw new Fault('failed_precondition', 'the account is closed: reopen it first');
      return { allowance: (await signer.sign(account, plan, Date.now())).token };
    }),

    listAccounts: unary(service, async (request) => {
      const { found, next } = await accounts.list(requireAccountPage(request));
      return { accounts: found.map(accountToProto), next };
    }),

    getAccount: unary(service, async ({ id }) => {
      const account = await accounts.get(id);
      const listed = await keys.list(id);
      return { account: accountToProto(account), keys: listed.map(keyToProto) };
    }),

    setAccountPlan: unary(service, async ({ id, plan }, metadata) =>
      confirm(accounts.setPlan(id, plan, operatorCallOf(metadata))),
    ),

    renameAccount: unary(service, async ({ id, name }, metadata) => {
      const wanted = requireName(name);
      return confirm(accounts.rename(id, wanted, operatorCallOf(metadata)));
    }),

    closeAccount: unary(service, async ({ id }, metadata) =>
      confirm(accounts.close(id, new Date(), operatorCallOf(metadata))),
    ),

    reopenAccount: unary(service, async ({ id }, metadata) =>
      confirm(accounts.reopen(id, operatorCallOf(metadata))),
    ),

    deleteAccount: unary(service, async ({ id }, metadata) =>
      confirm(accounts.delete(id, new Date(), operatorCallOf(metadata))),
    ),
  } satisfies Partial<AccountsAdminServiceServer>;
}
