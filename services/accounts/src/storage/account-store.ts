import { type AuditDetails, Fault, type OperatorCall } from '@brand-data/runtime';
import type { ClientSession } from 'mongodb';
import { type AccountDoc, type AccountPage, accountPage } from '../model/account.ts';
import type { PlanDoc } from '../model/plan.ts';
import type { AccountsCollections } from './collections.ts';
import { StorePart } from './database.ts';
import { removeAccount } from './deletion.ts';
import { requirePlan } from './plan-store.ts';

/** The accounts in the accounts database. */
export class AccountStore extends StorePart {
  create(account: Omit<AccountDoc, 'revision'>, by: OperatorCall): Promise<AccountDoc> {
    const { collections } = this;
    return this.database.change(by, 'CreateAccount', async (session, revision) => {
      const { _id, name, plan } = account;
      await requirePlan(collections, session, plan);
      if (await findAnyAccount(collections, session, _id))
        throw new Fault('already_exists', 'an account with this id exists already: choose another id');
      const result = { ...account, revision };
      await collections.accounts.insertOne(result, { session });
      return {
        result,
        notice: { $case: 'accountId', value: _id },
        about: [_id, plan],
        details: { account: _id, name, plan },
      };
    });
  }

  async get(id: string): Promise<AccountDoc> {
    const { collections } = this;
    const account = await this.database.read((session) => findAnyAccount(collections, session, id));
    if (!account) throw noAccount(id);
    return account;
  }

  /** Returns an account and its plan, both as of one moment. */
  async getWithPlan(id: string): Promise<{ account: AccountDoc; plan: PlanDoc }> {
    const { accounts } = this.collections;
    const [found] = await this.database.read((session) =>
      accounts
        .aggregate<AccountDoc & { plans: PlanDoc[] }>(
          [
            { $match: { _id: id } },
            { $lookup: { from: 'plans', localField: 'plan', foreignField: '_id', as: 'plans' } },
          ],
          { session, readConcern: { level: 'snapshot' } },
        )
        .toArray(),
    );
    const plan = found?.plans[0];
    if (!found || !plan) throw noAccount(id);
    const { plans: _, ...account } = found;
    return { account, plan };
  }

  /** Returns a page of accounts, by id. */
  list(page: AccountPage): Promise<{ found: AccountDoc[]; next: string }> {
    const { accounts, deletedAccounts } = this.collections;
    const listed = page.isOfDeleted ? deletedAccounts : accounts;
    return this.database.read((session) => accountPage(listed, page, session));
  }

  rename(id: string, name: string, by: OperatorCall): Promise<AccountDoc> {
    const { accounts } = this.collections;
    return this.#change(id, by, 'RenameAccount', async (session, account) => {
      await accounts.updateOne({ _id: id }, { $set: { name } }, { session });
      return { result: { ...account, name }, details: { name, before: account.name } };
    });
  }

  setPlan(id: string, plan: string, by: OperatorCall): Promise<AccountDoc> {
    const { collections } = this;
    return this.#change(id, by, 'SetAccountPlan', async (session, account, revision) => {
      requireOpen(account);
      await requirePlan(collections, session, plan);
      await collections.accounts.updateOne({ _id: id }, { $set: { plan, revision } }, { session });
      return {
        result: { ...account, plan, revision },
        about: [plan, account.plan],
        details: { plan, before: account.plan },
      };
    });
  }

  /** If the account is closed already, keeps the time of the first close, and sends the notice again. */
  close(id: string, now: Date, by: OperatorCall): Promise<AccountDoc> {
    const { accounts } = this.collections;
    return this.#change(id, by, 'CloseAccount', async (session, account, revision) => {
      const closedAt = account.closedAt ?? now;
      const before = account.closedAt ? 'closed' : undefined;
      await accounts.updateOne({ _id: id }, { $set: { closedAt, revision } }, { session });
      return { result: { ...account, closedAt, revision }, details: { before } };
    });
  }

  /** If the account is open already, only sends the notice again. */
  reopen(id: string, by: OperatorCall): Promise<AccountDoc> {
    const { accounts } = this.collections;
    return this.#change(id, by, 'ReopenAccount', async (session, account, revision) => {
      await accounts.updateOne({ _id: id }, { $set: { revision }, $unset: { closedAt: '' } }, { session });
      const { closedAt, ...open } = account;
      const before = closedAt ? `closed at ${closedAt.toISOString()}` : 'open';
      return { result: { ...open, revision }, details: { before } };
    });
  }

  /** If the account is deleted already, keeps the time of its deletion, and sends the notice again. */
  delete(id: string, now: Date, by: OperatorCall): Promise<AccountDoc> {
    const { collections } = this;
    return this.database.change(by, 'DeleteAccount', async (session, revision) => {
      const account = await findAnyAccount(collections, session, id);
      if (!account) throw noAccount(id);
      const { result, keys } = await removeAccount(collections, account, { now, revision, session });
      const { closedAt, deletedAt } = account;
      const before = deletedAt ? 'deleted' : closedAt ? 'closed' : 'open';
      return {
        result,
        notice: { $case: 'accountId', value: id },
        deleted: true,
        about: [id],
        details: { account: id, keys: String(keys), before },
      };
    });
  }

  /** Changes an account that exists. `work` returns what the trail and the notice say in addition to the account's id. */
  #change(
    id: string,
    by: OperatorCall,
    method: string,
    work: (
      session: ClientSession,
      account: AccountDoc,
      revision: number,
    ) => Promise<{ result: AccountDoc; about?: string[]; details: AuditDetails['details'] }>,
  ): Promise<AccountDoc> {
    const { collections } = this;
    return this.database.change(by, method, async (session, revision) => {
      const account = await findAccount(collections, session, id);
      const { result, about = [], details } = await work(session, account, revision);
      return {
        result,
        notice: { $case: 'accountId', value: id },
        about: [id, ...about],
        details: { account: id, ...details },
      };
    });
  }
}

/** Rejects with a Fault unless the account exists and is open. */
export async function requireOpenAccount(
  collections: AccountsCollections,
  session: ClientSession,
  id: string,
): Promise<void> {
  requireOpen(await findAccount(collections, session, id));
}

async function findAccount(
  collections: AccountsCollections,
  session: ClientSession,
  id: string,
): Promise<AccountDoc> {
  const account = await findAnyAccount(collections, session, id);
  if (!account) throw noAccount(id);
  if (account.deletedAt) throw new Fault('failed_precondition', 'the account is deleted, and stays so');
  return account;
}

/** Finds an account that exists, or what is left of a deleted one. */
async function findAnyAccount(
  { accounts, deletedAccounts }: AccountsCollections,
  session: ClientSession,
  id: string,
): Promise<AccountDoc | null> {
  const account = await accounts.findOne({ _id: id }, { session });
  return account ?? deletedAccounts.findOne({ _id: id }, { session });
}

function requireOpen({ closedAt }: AccountDoc): void {
  if (closedAt) throw new Fault('failed_precondition', 'the account is closed: reopen it first');
}

function noAccount(id: string): Fault {
  return new Fault('not_found', `there is no account ${JSON.stringify(id)}: bds account list shows all`);
}
