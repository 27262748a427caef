import type { ClientSession } from 'mongodb';
import type { AccountDoc } from '../model/account.ts';
import type { AccountsCollections } from './collections.ts';

/** What the trail tells of an account's names. */
const NAMES = {
  'details.name': '',
  'details.label': '',
  'details.origins': '',
  'details.label_before': '',
  'details.origins_before': '',
} as const;

/**
 * Removes an account, its keys, and what the trail says of their names. What stays is its id, so that no account gets it again.
 * May be repeated. Resolves to what stays, and to the number of keys.
 *
 * @param account what is known of it: after a restore that may be no more than its id
 */
export async function removeAccount(
  { accounts, deletedAccounts, keys, audit }: AccountsCollections,
  account: Pick<AccountDoc, '_id'> & Partial<AccountDoc>,
  { now, revision, session }: { now: Date; revision: number; session?: ClientSession },
): Promise<{ result: AccountDoc; keys: number }> {
  const { _id, createdAt = now, closedAt = now, deletedAt = now } = account;
  const result = { _id, name: '', plan: '', createdAt, closedAt, deletedAt, revision };
  const within = session ? { session } : {};
  await deletedAccounts.replaceOne({ _id }, result, { upsert: true, ...within });
  await accounts.deleteOne({ _id }, within);
  const { deletedCount } = await keys.deleteMany({ accountId: _id }, within);
  const told = { about: _id, 'details.account': _id };
  await audit.updateMany(told, { $unset: NAMES }, within);
  // Of other changes, this is no name.
  await audit.updateMany({ ...told, method: 'RenameAccount' }, { $unset: { 'details.before': '' } }, within);
  return { result, keys: deletedCount };
}
