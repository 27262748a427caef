import { AccountChanged } from '@brand-data/contracts';
import { Binary, type Db } from 'mongodb';

/** More than any number of changes between a copy and its restore. */
const REVISIONS_LEFT_OUT = 1_000_000;
const REVISION = 'revision';

interface CounterDoc {
  _id: string;
  value: number;
}

interface PlanDoc {
  _id: string;
  revision: number;
}

/**
 * Accounts numbers its changes. Gateways and ledgers may know numbers that accounts gave to changes after the copy, and ignore
 * lower ones. So this raises the counter, and makes each plan as new as if an operator had set it again, with its notice to the
 * gateways. Gateways then verify every token again.
 */
export async function renewRevisions(db: Db): Promise<void> {
  const counters = db.collection<CounterDoc>('counters');
  const plans = db.collection<PlanDoc>('plans');
  const outbox = db.collection<{ _id: number; notice: Binary }>('outbox');
  const counter = await counters.findOneAndUpdate(
    { _id: REVISION },
    { $inc: { value: REVISIONS_LEFT_OUT } },
    { returnDocument: 'after' },
  );
  let revision = Number(counter?.value ?? 0);
  for await (const { _id } of plans.find({}, { projection: { _id: 1 } }).sort({ _id: 1 })) {
    revision += 1;
    await plans.updateOne({ _id }, { $set: { revision } });
    const notice = AccountChanged.encode({ subject: { $case: 'plan', value: _id }, revision }).finish();
    await outbox.insertOne({ _id: revision, notice: new Binary(notice) });
  }
  await counters.updateOne({ _id: REVISION }, { $set: { value: revision } });
}

/** The number of the last change that the database contains. */
export async function lastRevision(db: Db): Promise<number> {
  const counter = await db.collection<CounterDoc>('counters').findOne({ _id: REVISION });
  return Number(counter?.value ?? 0);
}

interface KeyDoc {
  _id: string;
  accountId: string;
  revokedAt?: Date;
}

/** Returns those of the keys that are valid in the restored database. An operator may have revoked them after the copy. */
export async function validKeys(
  db: Db,
  keys: readonly string[],
): Promise<{ id: string; accountId: string }[]> {
  const found = await db
    .collection<KeyDoc>('keys')
    .find({ _id: { $in: [...keys] }, revokedAt: { $exists: false } }, { projection: { accountId: 1 } })
    .sort({ _id: 1 })
    .toArray();
  return found.map(({ _id, accountId }) => ({ id: _id, accountId }));
}

export async function revokeKeys(db: Db, keys: readonly string[]): Promise<void> {
  await db
    .collection<KeyDoc>('keys')
    .updateMany(
      { _id: { $in: [...keys] }, revokedAt: { $exists: false } },
      { $set: { revokedAt: new Date() } },
    );
}
