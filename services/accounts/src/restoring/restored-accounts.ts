import { AccountChanged } from '@brand-data/contracts';
import { Binary, type Db } from 'mongodb';
import { type AuditDoc, auditEntry } from '../audit.ts';

/** More than any number of changes between a copy and its restore. */
const REVISIONS_LEFT_OUT = 1_000_000;
const REVISION = 'revision';
/** The default of the services' AUDIT_DAYS. A restore does not read their settings. */
const AUDIT_DAYS = 400;

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

/** What the trail says of a restore. */
export interface RestoreNote {
  /** The name of the machine on which the restore ran. */
  from: string;
  services: readonly string[];
  copyEndedAt: string;
  revoked: readonly { id: string; accountId: string }[];
}

/**
 * Adds the restore to the trail, which has just been brought back without it. Nobody knows which operator ran it, as a restore needs
 * the databases' users and no operator's credential.
 */
export async function noteRestore(
  db: Db,
  { from, services, copyEndedAt, revoked }: RestoreNote,
): Promise<void> {
  const operator = { name: 'restore', role: 'databases', credentialId: '' };
  const keys = revoked.map(({ id }) => id);
  const entry = auditEntry(
    { operator, from, requestId: '' },
    'Restore',
    {
      about: [...keys, ...revoked.map(({ accountId }) => accountId)],
      details: { services: services.join(' '), copy_ended_at: copyEndedAt, revoked: keys.join(' ') },
    },
    { nowMs: Date.now(), days: AUDIT_DAYS },
  );
  await db.collection<AuditDoc>('audit').insertOne(entry);
}
