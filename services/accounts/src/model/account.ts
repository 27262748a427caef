import { randomBytes } from 'node:crypto';
import { type Account, AccountState, type ListAccountsRequest } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import type { ClientSession, Collection, Filter } from 'mongodb';

const DEFAULT_LIMIT = 100;
const HIGHEST_LIMIT = 500;
const LONGEST_TEXT = 200;
/** Accounts that are read for one page. MongoDB reads so many in a fraction of the deadline. */
const MOST_READ = 20_000;
/** The database ends a read after this time. Shorter than the answer's deadline, so that none outlives its request. */
const READ_WITHIN_MS = 4_000;

export interface AccountDoc {
  /** The account's id. */
  _id: string;
  name: string;
  /** The name of an existing plan: a plan with accounts cannot be deleted. */
  plan: string;
  createdAt: Date;
  /** Absent while the account is open. */
  closedAt?: Date;
  /** Only in the collection of deleted accounts, where `name` and `plan` are empty. */
  deletedAt?: Date;
  revision: number;
}

export function createAccountId(): string {
  return `acct-${randomBytes(10).toString('hex')}`;
}

export function accountToProto(account: AccountDoc): Account {
  return {
    id: account._id,
    name: account.name,
    plan: account.plan,
    state: stateOf(account),
    createdAtMs: account.createdAt.getTime(),
    closedAtMs: account.closedAt?.getTime(),
    deletedAtMs: account.deletedAt?.getTime(),
    revision: account.revision,
  };
}

function stateOf({ closedAt, deletedAt }: AccountDoc): AccountState {
  if (deletedAt) return AccountState.DELETED;
  return closedAt ? AccountState.CLOSED : AccountState.ACTIVE;
}

/** A page of accounts, by id. */
export interface AccountPage {
  isOfDeleted: boolean;
  /** An index finds these accounts in the order of their ids. */
  among: Filter<AccountDoc>;
  /** Conditions that no index answers: each account has to be read. Absent if all accounts fit. */
  where: Filter<AccountDoc> | undefined;
  limit: number;
}

/** Throws Fault `invalid_argument` if the request is not one that `bds` would send. */
export function requireAccountPage({ plan, state, text, limit, after }: ListAccountsRequest): AccountPage {
  if (limit < 0 || limit > HIGHEST_LIMIT)
    throw new Fault('invalid_argument', `a page can have at most ${HIGHEST_LIMIT} accounts`);
  if (text.length > LONGEST_TEXT)
    throw new Fault('invalid_argument', `a text to search for can have at most ${LONGEST_TEXT} characters`);
  // MongoDB refuses a pattern with a null byte in it.
  const escaped = text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('\0', '\\x00');
  const pattern = { $regex: escaped, $options: 'i' };
  const conditions: Filter<AccountDoc>[] = [
    ...(state === AccountState.ACTIVE ? [{ closedAt: { $exists: false } }] : []),
    ...(state === AccountState.CLOSED ? [{ closedAt: { $exists: true } }] : []),
    ...(text === '' ? [] : [{ $or: [{ _id: pattern }, { name: pattern }] }]),
  ];
  return {
    isOfDeleted: state === AccountState.DELETED,
    among: { ...(plan !== '' && { plan }), ...(after !== '' && { _id: { $gt: after } }) },
    where: conditions.length === 0 ? undefined : { $and: conditions },
    limit: limit === 0 ? DEFAULT_LIMIT : limit,
  };
}

/** Reads a page. `next` is the id after which the next page begins. Empty: this is the last page. */
export async function accountPage(
  accounts: Collection<AccountDoc>,
  { among, where, limit }: AccountPage,
  session: ClientSession,
): Promise<{ found: AccountDoc[]; next: string }> {
  const options = { session, sort: { _id: 1 }, maxTimeMS: READ_WITHIN_MS } as const;
  // Without an end, a page of which few accounts fit would be a read of the whole collection, which may take too long.
  const end =
    where && (await accounts.findOne(among, { ...options, skip: MOST_READ - 1, projection: { _id: 1 } }));
  const conditions = [among, ...(where ? [where] : []), ...(end ? [{ _id: { $lte: end._id } }] : [])];
  const found = await accounts.find({ $and: conditions }, { ...options, limit }).toArray();
  const next = found.length === limit ? found.at(-1)?._id : end?._id;
  return { found, next: next ?? '' };
}
