import { ACCOUNT_CHANGES_STREAM, ACCOUNT_CHANGES_SUBJECTS, AccountChanged } from '@brand-data/contracts';
import { DeliverPolicy, jetstream } from '@nats-io/jetstream';
import { Binary, type Db } from 'mongodb';
import type { OpenNats } from './servers.ts';
import { unlessMissing } from './usage-messages.ts';

/** More than any number of changes between a copy and its restore. */
const REVISIONS_LEFT_OUT = 1_000_000;
/** How long the stream keeps a notice. */
const NOTICES_KEPT_MS = 60 * 60_000;
const MESSAGES_AT_ONCE = 500;
const ANSWERED_WITHIN_MS = 2_000;
const MOST_NOTICES = 100_000;
/** MongoDB's clock and that of NATS may differ by this time. */
const CLOCKS_APART_MS = 60_000;
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

/** What operators have changed in accounts since a copy, as far as NATS still knows. */
export interface ChangesSince {
  /** Whether these are all changes since the copy. NATS keeps the notice of a change for an hour. */
  complete: boolean;
  keys: string[];
  accounts: string[];
  plans: string[];
}

/** The number of the last change that the database contains. */
export async function lastRevision(db: Db): Promise<number> {
  const counter = await db.collection<CounterDoc>('counters').findOne({ _id: REVISION });
  return Number(counter?.value ?? 0);
}

/** Reads the notices of changes after this one, which was made before `at`. They say what was changed, and not how. */
export async function changesSince(
  nats: OpenNats,
  { revision, at }: { revision: number; at: Date },
  signal: AbortSignal,
): Promise<ChangesSince> {
  const info = await nats.manager.streams.info(ACCOUNT_CHANGES_STREAM).catch(unlessMissing);
  if (info === undefined) return { complete: false, keys: [], accounts: [], plans: [] };
  const fromMs = at.getTime() - CLOCKS_APART_MS;
  const isKept = new Date(info.created).getTime() <= at.getTime() && Date.now() - fromMs < NOTICES_KEPT_MS;
  const consumer = await jetstream(nats.connection).consumers.get(ACCOUNT_CHANGES_STREAM, {
    deliver_policy: DeliverPolicy.StartTime,
    opt_start_time: new Date(fromMs).toISOString(),
    filter_subjects: [ACCOUNT_CHANGES_SUBJECTS],
  });
  const found = { keyId: new Set<string>(), accountId: new Set<string>(), plan: new Set<string>() };
  let read = 0;
  for (let count = 1; count > 0 && read < MOST_NOTICES; read += count) {
    signal.throwIfAborted();
    count = 0;
    const messages = await consumer.fetch({ max_messages: MESSAGES_AT_ONCE, expires: ANSWERED_WITHIN_MS });
    for await (const { data } of messages) {
      count += 1;
      const { subject, revision: changed } = AccountChanged.decode(data);
      if (subject && changed > revision) found[subject.$case].add(subject.value);
    }
  }
  return {
    complete: isKept && read < MOST_NOTICES,
    keys: [...found.keyId].toSorted(),
    accounts: [...found.accountId].toSorted(),
    plans: [...found.plan].toSorted(),
  };
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
