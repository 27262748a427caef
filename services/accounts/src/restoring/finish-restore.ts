import {
  AccountChanged,
  type FinishRestoreRequest,
  type FinishRestoreResponse,
  type RestoredKey,
} from '@brand-data/contracts';
import type { OperatorCall } from '@brand-data/runtime';
import { Binary, type Db } from 'mongodb';
import { type AccountsCollections, collectionsOf, REVISION } from '../storage/collections.ts';
import { removeAccount } from '../storage/deletion.ts';
import { auditEntry } from '../trail/audit.ts';

/** More than any number of changes between a copy and its restore. */
const REVISIONS_LEFT_OUT = 1_000_000;

/**
 * Makes a restored database fit for callers: deletes the accounts that were deleted after the copy, revokes the keys that were
 * changed after it if the request says so, raises the revisions, and adds the restore to the trail.
 */
export async function finishRestore(
  db: Db,
  { changes, revokeChangedKeys, services, copyEndedAt }: FinishRestoreRequest,
  { by, auditDays }: { by: OperatorCall; auditDays: number },
): Promise<FinishRestoreResponse> {
  const collections = collectionsOf(db);
  const { keys, counters, audit } = collections;
  const last = await counters.findOne({ _id: REVISION });
  const changed = changedAfter(Number(last?.value ?? 0), changes);
  await deleteAgain(collections, changed.deletedAccounts);
  const validKeys = await validKeysOf(keys, changed.keys);
  const revoked = revokeChangedKeys ? validKeys : [];
  const revokedIds = revoked.map(({ id }) => id);
  await keys.updateMany({ _id: { $in: revokedIds } }, { $set: { revokedAt: new Date() } });
  await renewRevisions(collections);
  const entry = auditEntry(
    // The restore replaces the trail, so its entry stands for those who have the databases' users.
    { ...by, operator: { name: 'restore', role: 'databases', credentialId: '' } },
    'Restore',
    {
      about: [...revokedIds, ...revoked.map(({ accountId }) => accountId), ...changed.deletedAccounts],
      details: {
        services: services.join(' '),
        copy_ended_at: copyEndedAt,
        revoked: revokedIds.join(' '),
        deleted: changed.deletedAccounts.join(' '),
        ended_by: by.operator.name,
      },
    },
    { nowMs: Date.now(), days: auditDays },
  );
  await audit.insertOne(entry);
  return { ...changed, validKeys };
}

/** Returns what the notices with a higher revision are about. */
function changedAfter(
  lastRevision: number,
  notices: readonly AccountChanged[],
): Omit<FinishRestoreResponse, 'validKeys'> {
  const found = { keyId: new Set<string>(), accountId: new Set<string>(), plan: new Set<string>() };
  const deleted = new Set<string>();
  // Gateways list the blocked networks again every minute.
  for (const { subject, revision, deleted: isDeleted } of notices)
    if (subject && subject.$case !== 'network' && revision > lastRevision)
      (isDeleted ? deleted : found[subject.$case]).add(subject.value);
  return {
    keys: [...found.keyId].sort(),
    accounts: [...found.accountId.difference(deleted)].sort(),
    plans: [...found.plan].sort(),
    deletedAccounts: [...deleted].sort(),
  };
}

/** What an interrupted restore has deleted already keeps the times that it has. */
async function deleteAgain(collections: AccountsCollections, ids: readonly string[]): Promise<void> {
  const { accounts, deletedAccounts } = collections;
  for (const _id of ids) {
    const account = (await accounts.findOne({ _id })) ?? (await deletedAccounts.findOne({ _id }));
    await removeAccount(collections, account ?? { _id }, { now: new Date(), revision: 0 });
  }
}

/** Returns those of the keys that are valid in the restored database. An operator may have revoked them after the copy. */
async function validKeysOf(
  keys: AccountsCollections['keys'],
  ids: readonly string[],
): Promise<RestoredKey[]> {
  const found = await keys
    .find({ _id: { $in: [...ids] }, revokedAt: { $exists: false } }, { projection: { accountId: 1 } })
    .sort({ _id: 1 })
    .toArray();
  return found.map(({ _id, accountId }) => ({ id: _id, accountId }));
}

/**
 * Accounts numbers its changes. Gateways and ledgers may know numbers that accounts gave to changes after the copy, and ignore
 * lower ones. Therefore this raises the counter, and makes each plan as new as if an operator had set it again, with its notice to
 * the gateways. Gateways then verify every token again.
 */
async function renewRevisions({ counters, plans, outbox }: AccountsCollections): Promise<void> {
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
