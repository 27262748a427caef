import { AccountChanged } from '@brand-data/contracts';
import { createKeyedBatches, Fault, type Mongo, type OperatorCall, type Service } from '@brand-data/runtime';
import { Binary, type ClientSession } from 'mongodb';
import type { AccountDoc } from './account.ts';
import { type AccountPage, accountPage } from './account-page.ts';
import type { AuditDoc, AuditPage, AuditUpdate } from './audit.ts';
import type { KeyDoc } from './key.ts';
import { openKeyStore } from './key-store.ts';
import { linearizableReads } from './linearizable-reads.ts';
import type { OperatorDoc } from './operator.ts';
import { OPERATORS_COUNTER, openOperatorStore } from './operator-store.ts';
import { type PlanDoc, poolsText } from './plan.ts';
import { type Changed, recordedChanges, withDeadline } from './transactions.ts';

/** Searches for tokens that run at once, and tokens that wait for the next search of one lane. */
const SEARCH_LANES = 4;
const MOST_SEARCHES_WAITING = 1_000;
/** The counter of changes of plans, accounts and keys. */
export const REVISION = 'revision';
const PRESENT = 'present';

/** A key with its account and that account's plan, all as of one moment. */
export type FoundKey = KeyDoc & { account: AccountDoc; plan: PlanDoc };

/**
 * Makes a change of a plan, an account or a key: a recorded change, which also stores the notice to the gateways in the outbox. If
 * the replica crashes after the commit, another replica sends the notice.
 */
export type NoticedChange = <Result>(
  by: OperatorCall,
  method: string,
  work: (
    session: ClientSession,
    revision: number,
  ) => Promise<Changed<Result> & { notice: AccountChanged['subject'] }>,
) => Promise<Result>;

/** A notice to the gateways that has not been sent yet. */
export interface OutboxDoc {
  /** The change's revision. */
  _id: number;
  /** AccountChanged. */
  notice: Binary;
}

/**
 * The accounts database. Every operation rejects with Fault `unavailable` while the database cannot be reached. Every read
 * is linearizable, also just after an election: see README.md.
 */
export type Store = Awaited<ReturnType<typeof openStore>>;

/** Creates the indexes, which any replica may do at any time. Every query below uses one of them, or _id. */
export async function openStore(
  service: Pick<Service, 'log'>,
  { client, db }: Mongo,
  { auditDays }: { auditDays: number },
) {
  const plans = db.collection<PlanDoc>('plans');
  const accounts = db.collection<AccountDoc>('accounts');
  const keys = db.collection<KeyDoc>('keys');
  const outbox = db.collection<OutboxDoc>('outbox');
  const audit = db.collection<AuditDoc>('audit');
  const operators = db.collection<OperatorDoc>('operators');
  const counters = db.collection<{ _id: string; value: number }>('counters');
  await keys.createIndex({ tokenHash: 1 }, { unique: true });
  await accounts.createIndex({ plan: 1, _id: 1 });
  await audit.createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  await audit.createIndex({ at: -1, _id: -1 });
  for (const field of ['operator', 'service', 'method', 'about'])
    await audit.createIndex({ [field]: 1, at: -1, _id: -1 });
  for (const _id of [REVISION, OPERATORS_COUNTER, PRESENT])
    await counters.updateOne({ _id }, { $setOnInsert: { value: 0 } }, { upsert: true });
  const linearizable = linearizableReads(client, counters, PRESENT);

  const findKeys = async (tokenHashes: readonly Buffer[]): Promise<Map<string, FoundKey>> => {
    const found = await withDeadline(
      linearizable((session) =>
        keys
          .aggregate<FoundKey>(
            [
              { $match: { tokenHash: { $in: tokenHashes.map((hash) => new Binary(hash)) } } },
              { $lookup: { from: 'accounts', localField: 'accountId', foreignField: '_id', as: 'account' } },
              { $unwind: '$account' },
              { $lookup: { from: 'plans', localField: 'account.plan', foreignField: '_id', as: 'plan' } },
              { $unwind: '$plan' },
            ],
            // A snapshot, because a majority read may see the three collections at three different moments.
            { session, readConcern: { level: 'snapshot' } },
          )
          .toArray(),
      ),
    );
    return new Map(found.map((key) => [key.tokenHash.toString('base64'), key]));
  };
  const keySearches = createKeyedBatches(findKeys, {
    most: MOST_SEARCHES_WAITING,
    tooMany: () => new Fault('unavailable', 'too many tokens are verified at once: try again'),
  });
  let searches = 0;

  const recorded = recordedChanges(service, { counters, audit, linearizable, auditDays });

  const change: NoticedChange = (by, method, work) =>
    recorded({ by, method, counter: REVISION }, async (session, revision) => {
      const { notice: subject, ...changed } = await work(session, revision);
      const notice = new Binary(AccountChanged.encode({ subject, revision }).finish());
      await outbox.insertOne({ _id: revision, notice }, { session });
      return changed;
    });

  async function requirePlan(session: ClientSession, plan: string): Promise<void> {
    if (!(await plans.findOne({ _id: plan }, { session })))
      throw new Fault('not_found', `there is no plan ${JSON.stringify(plan)}: create it first`);
  }

  async function requireOpen(session: ClientSession, id: string): Promise<AccountDoc> {
    const account = await accounts.findOne({ _id: id }, { session });
    if (!account) throw noAccount(id);
    if (account.closedAt) throw new Fault('failed_precondition', 'the account is closed: reopen it first');
    return account;
  }

  const accountNotice = (value: string) => ({ $case: 'accountId' as const, value });

  return {
    ...(await openOperatorStore(operators, { change: recorded, linearizable })),
    ...(await openKeyStore(keys, { change, linearizable, requireOpen })),

    setPlan: (
      name: string,
      { pools, limits }: Pick<PlanDoc, 'pools' | 'limits'>,
      by: OperatorCall,
    ): Promise<PlanDoc> =>
      change(by, 'SetPlan', async (session, revision) => {
        const result = { _id: name, pools, ...(limits && { limits }), revision };
        const before = await plans.findOneAndReplace({ _id: name }, result, { upsert: true, session });
        return {
          result,
          notice: { $case: 'plan', value: name },
          about: [name],
          details: {
            plan: name,
            pools: poolsText(pools),
            rate: limits?.rate && `${limits.rate.perSecond}:${limits.rate.burst}`,
            concurrency: limits?.concurrency?.toString(),
            before: before ? poolsText(before.pools) : undefined,
          },
        };
      }),

    listPlans: (): Promise<PlanDoc[]> =>
      withDeadline(linearizable((session) => plans.find({}, { session }).sort({ _id: 1 }).toArray())),

    /** An account and its plan, both as of one moment. */
    getAccountWithPlan: async (id: string): Promise<{ account: AccountDoc; plan: PlanDoc }> => {
      const found = await withDeadline(
        linearizable(async (session) => {
          const [account] = await accounts
            .aggregate<AccountDoc & { plans: PlanDoc[] }>(
              [
                { $match: { _id: id } },
                { $lookup: { from: 'plans', localField: 'plan', foreignField: '_id', as: 'plans' } },
              ],
              { session, readConcern: { level: 'snapshot' } },
            )
            .toArray();
          return account;
        }),
      );
      const [plan] = found?.plans ?? [];
      if (!found || !plan) throw noAccount(id);
      const { plans: _, ...account } = found;
      return { account, plan };
    },

    createAccount: (account: Omit<AccountDoc, 'revision'>, by: OperatorCall): Promise<AccountDoc> =>
      change(by, 'CreateAccount', async (session, revision) => {
        const { _id, name, plan } = account;
        await requirePlan(session, plan);
        if (await accounts.findOne({ _id }, { session }))
          throw new Fault('already_exists', 'an account with this id exists already: choose another id');
        const result = { ...account, revision };
        await accounts.insertOne(result, { session });
        return {
          result,
          notice: accountNotice(_id),
          about: [_id, plan],
          details: { account: _id, name, plan },
        };
      }),

    getAccount: async (id: string): Promise<AccountDoc> => {
      const account = await withDeadline(
        linearizable((session) => accounts.findOne({ _id: id }, { session })),
      );
      if (!account) throw noAccount(id);
      return account;
    },

    /** A page of accounts, by id. */
    listAccounts: (page: AccountPage): Promise<{ found: AccountDoc[]; next: string }> =>
      withDeadline(linearizable((session) => accountPage(accounts, page, session))),

    renameAccount: (id: string, name: string, by: OperatorCall): Promise<AccountDoc> =>
      change(by, 'RenameAccount', async (session) => {
        const account = await accounts.findOneAndUpdate({ _id: id }, { $set: { name } }, { session });
        if (!account) throw noAccount(id);
        return {
          result: { ...account, name },
          notice: accountNotice(id),
          about: [id],
          details: { account: id, name, before: account.name },
        };
      }),

    setAccountPlan: (id: string, plan: string, by: OperatorCall): Promise<AccountDoc> =>
      change(by, 'SetAccountPlan', async (session, revision) => {
        const account = await requireOpen(session, id);
        await requirePlan(session, plan);
        await accounts.updateOne({ _id: id }, { $set: { plan, revision } }, { session });
        return {
          result: { ...account, plan, revision },
          notice: accountNotice(id),
          about: [id, plan, account.plan],
          details: { account: id, plan, before: account.plan },
        };
      }),

    /** If the account is closed already, keeps the time of the first close, and sends the notice again. */
    closeAccount: (id: string, now: Date, by: OperatorCall): Promise<AccountDoc> =>
      change(by, 'CloseAccount', async (session, revision) => {
        const account = await accounts.findOne({ _id: id }, { session });
        if (!account) throw noAccount(id);
        const closedAt = account.closedAt ?? now;
        await accounts.updateOne({ _id: id }, { $set: { closedAt, revision } }, { session });
        return {
          result: { ...account, closedAt, revision },
          notice: accountNotice(id),
          about: [id],
          details: { account: id, before: account.closedAt ? 'closed' : undefined },
        };
      }),

    /** If the account is open already, only sends the notice again. */
    reopenAccount: (id: string, by: OperatorCall): Promise<AccountDoc> =>
      change(by, 'ReopenAccount', async (session, revision) => {
        const account = await accounts.findOne({ _id: id }, { session });
        if (!account) throw noAccount(id);
        await accounts.updateOne({ _id: id }, { $set: { revision }, $unset: { closedAt: '' } }, { session });
        const { closedAt, ...open } = account;
        return {
          result: { ...open, revision },
          notice: accountNotice(id),
          about: [id],
          details: { account: id, before: closedAt ? `closed at ${closedAt.toISOString()}` : 'open' },
        };
      }),

    /** Stores what another service has said about a change. Idempotent. */
    storeAudit: async ({ _id, update }: AuditUpdate): Promise<void> => {
      await withDeadline(audit.updateOne({ _id }, update, { upsert: true }));
    },

    /** A page of the trail, latest first. */
    listAudit: ({ filter, limit }: AuditPage): Promise<AuditDoc[]> =>
      withDeadline(
        linearizable((session) =>
          audit.find(filter, { session }).sort({ at: -1, _id: -1 }).limit(limit).toArray(),
        ),
      ),

    /** Searches that are requested while others are under way share the next command. */
    findKey: async (tokenHash: Buffer): Promise<FoundKey | undefined> => {
      const lane = String(searches++ % SEARCH_LANES);
      return (await keySearches.add(lane, tokenHash)).get(tokenHash.toString('base64'));
    },

    /** The first `most` notices that are still in the outbox, in the order of their revisions. */
    listOutbox: (most: number): Promise<OutboxDoc[]> =>
      withDeadline(
        linearizable((session) => outbox.find({}, { session }).sort({ _id: 1 }).limit(most).toArray()),
      ),

    removeFromOutbox: async (revision: number): Promise<void> => {
      await withDeadline(outbox.deleteOne({ _id: revision }));
    },
  };
}

function noAccount(id: string): Fault {
  return new Fault('not_found', `there is no account ${JSON.stringify(id)}: bds account list shows all`);
}
