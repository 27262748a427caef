import { AccountChanged, type Pool } from '@brand-data/contracts';
import { answerWithin, Fault, type Mongo } from '@brand-data/runtime';
import { Binary, type ClientSession } from 'mongodb';
import type { AccountDoc } from './account.ts';
import type { KeyDoc } from './key.ts';
import { linearizableReads } from './linearizable-reads.ts';
import type { PlanDoc } from './plan.ts';

const MOST_KEYS = 100;
/** The list of an account's keys shows only this many revoked keys, those that were revoked last, so that it has a bound. */
const MOST_REVOKED_LISTED = 400;
const ANSWER_WITHIN_MS = 5_000;
const REVISION = 'revision';
const PRESENT = 'present';

/** A key with its account and that account's plan, all as of one moment. */
export type FoundKey = KeyDoc & { account: AccountDoc; plan: PlanDoc };

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
export async function openStore({ client, db }: Mongo) {
  const plans = db.collection<PlanDoc>('plans');
  const accounts = db.collection<AccountDoc>('accounts');
  const keys = db.collection<KeyDoc>('keys');
  const outbox = db.collection<OutboxDoc>('outbox');
  const counters = db.collection<{ _id: string; value: number }>('counters');
  await keys.createIndex({ tokenHash: 1 }, { unique: true });
  await keys.createIndex({ accountId: 1, revokedAt: -1 });
  for (const _id of [REVISION, PRESENT])
    await counters.updateOne({ _id }, { $setOnInsert: { value: 0 } }, { upsert: true });
  const linearizable = linearizableReads(client, counters, PRESENT);

  /**
   * Makes a change in one transaction, which stores the change, the next revision, and the notice in the outbox. The transaction
   * takes the revision first, so that one of two concurrent changes has to start again. So revisions are in the order of the
   * commits, and the documents that a change reads stay unchanged until it commits. If the replica crashes after the commit,
   * another replica sends the notice. A refused change commits nothing, so no commit proves that its reads were current. For this
   * reason the transaction begins only after the proof of a linearizable read (linearizable-reads.ts).
   */
  async function change<Result>(
    work: (session: ClientSession, revision: number) => Promise<Result>,
    subjectOf: (result: Result) => AccountChanged['subject'],
  ): Promise<Result> {
    const deadline = performance.now() + ANSWER_WITHIN_MS;
    return withDeadline(
      linearizable((session) =>
        session.withTransaction(
          async () => {
            if (performance.now() > deadline)
              throw new Fault(
                'unavailable',
                'too many changes at the same time: nothing was changed, try again',
              );
            const counter = await counters.findOneAndUpdate(
              { _id: REVISION },
              { $inc: { value: 1 } },
              { session, returnDocument: 'after' },
            );
            if (!counter) throw new Error('the counter of revisions is missing');
            const result = await work(session, counter.value);
            const notice = AccountChanged.encode({ subject: subjectOf(result), revision: counter.value });
            await outbox.insertOne({ _id: counter.value, notice: new Binary(notice.finish()) }, { session });
            return result;
          },
          { maxCommitTimeMS: ANSWER_WITHIN_MS },
        ),
      ),
    );
  }

  async function requirePlan(session: ClientSession, plan: string): Promise<void> {
    if (!(await plans.findOne({ _id: plan }, { session })))
      throw new Fault('not_found', 'there is no such plan: create it first');
  }

  async function requireOpen(session: ClientSession, id: string): Promise<AccountDoc> {
    const account = await accounts.findOne({ _id: id }, { session });
    if (!account) throw noAccount();
    if (account.closedAt) throw new Fault('failed_precondition', 'the account is closed');
    return account;
  }

  const accountSubject = ({ _id }: AccountDoc) => ({ $case: 'accountId' as const, value: _id });
  const keySubject = ({ _id }: KeyDoc) => ({ $case: 'keyId' as const, value: _id });

  return {
    setPlan: (name: string, pools: Pool[]): Promise<PlanDoc> =>
      change(
        async (session, revision) => {
          const plan = { _id: name, pools, revision };
          await plans.replaceOne({ _id: name }, plan, { upsert: true, session });
          return plan;
        },
        ({ _id }) => ({ $case: 'plan', value: _id }),
      ),

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
      if (!found || !plan) throw noAccount();
      const { plans: _, ...account } = found;
      return { account, plan };
    },

    createAccount: (account: Omit<AccountDoc, 'revision'>): Promise<AccountDoc> =>
      change(async (session, revision) => {
        await requirePlan(session, account.plan);
        if (await accounts.findOne({ _id: account._id }, { session }))
          throw new Fault('already_exists', 'an account with this id exists already');
        await accounts.insertOne({ ...account, revision }, { session });
        return { ...account, revision };
      }, accountSubject),

    getAccount: async (id: string): Promise<AccountDoc> => {
      const account = await withDeadline(
        linearizable((session) => accounts.findOne({ _id: id }, { session })),
      );
      if (!account) throw noAccount();
      return account;
    },

    setAccountPlan: (id: string, plan: string): Promise<AccountDoc> =>
      change(async (session, revision) => {
        const account = await requireOpen(session, id);
        await requirePlan(session, plan);
        await accounts.updateOne({ _id: id }, { $set: { plan, revision } }, { session });
        return { ...account, plan, revision };
      }, accountSubject),

    /** If the account is closed already, keeps the time of the first close, and sends the notice again. */
    closeAccount: (id: string, now: Date): Promise<AccountDoc> =>
      change(async (session, revision) => {
        const account = await accounts.findOne({ _id: id }, { session });
        if (!account) throw noAccount();
        const closedAt = account.closedAt ?? now;
        await accounts.updateOne({ _id: id }, { $set: { closedAt, revision } }, { session });
        return { ...account, closedAt, revision };
      }, accountSubject),

    createKey: (key: KeyDoc): Promise<KeyDoc> =>
      change(async (session) => {
        await requireOpen(session, key.accountId);
        const open = await keys.countDocuments(
          { accountId: key.accountId, revokedAt: { $exists: false } },
          { session, limit: MOST_KEYS },
        );
        if (open >= MOST_KEYS)
          throw new Fault(
            'resource_exhausted',
            `the account already has ${MOST_KEYS} keys: revoke one first`,
          );
        await keys.insertOne(key, { session });
        return key;
      }, keySubject),

    /** If the key is revoked already, keeps the time of the first revocation, and sends the notice again. */
    revokeKey: (id: string, now: Date): Promise<KeyDoc> =>
      change(async (session) => {
        const key = await keys.findOne({ _id: id }, { session });
        if (!key) throw new Fault('not_found', 'there is no such key');
        const revokedAt = key.revokedAt ?? now;
        await keys.updateOne({ _id: id }, { $set: { revokedAt } }, { session });
        return { ...key, revokedAt };
      }, keySubject),

    /** All keys that are not revoked, and up to MOST_REVOKED_LISTED that were revoked last. In the order of their creation. */
    listKeys: async (accountId: string): Promise<KeyDoc[]> => {
      const listed = await withDeadline(
        linearizable(async (session) => [
          ...(await keys.find({ accountId, revokedAt: { $exists: false } }, { session }).toArray()),
          ...(await keys
            .find({ accountId, revokedAt: { $gt: new Date(0) } }, { session })
            .sort({ revokedAt: -1 })
            .limit(MOST_REVOKED_LISTED)
            .toArray()),
        ]),
      );
      return listed.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
    },

    findKey: async (tokenHash: Buffer): Promise<FoundKey | undefined> => {
      const found = await withDeadline(
        linearizable((session) =>
          keys
            .aggregate<FoundKey>(
              [
                { $match: { tokenHash: new Binary(tokenHash) } },
                {
                  $lookup: { from: 'accounts', localField: 'accountId', foreignField: '_id', as: 'account' },
                },
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
      return found[0];
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

function noAccount(): Fault {
  return new Fault('not_found', 'there is no such account');
}

function withDeadline<T>(answer: Promise<T>): Promise<T> {
  return answerWithin(answer, {
    withinMs: ANSWER_WITHIN_MS,
    detail:
      'the accounts database does not answer; a change may or may not have been made: look before you try again',
  });
}
