import { randomBytes } from 'node:crypto';
import { type Account, AccountState, type ListAccountsRequest } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import type { Filter } from 'mongodb';

const DEFAULT_LIMIT = 100;
const HIGHEST_LIMIT = 500;
const LONGEST_TEXT = 200;

export interface AccountDoc {
  /** The account's id. */
  _id: string;
  name: string;
  /** The name of an existing plan: plans are never deleted. */
  plan: string;
  createdAt: Date;
  /** Absent while the account is open. */
  closedAt?: Date;
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
    state: account.closedAt ? AccountState.CLOSED : AccountState.ACTIVE,
    createdAtMs: account.createdAt.getTime(),
    closedAtMs: account.closedAt?.getTime(),
    revision: account.revision,
  };
}

/** A page of accounts, by id. */
export interface AccountPage {
  filter: Filter<AccountDoc>;
  limit: number;
}

/** Throws Fault `invalid_argument` if the request is not one that `bds` would send. */
export function requireAccountPage({ plan, state, text, limit, after }: ListAccountsRequest): AccountPage {
  if (limit < 0 || limit > HIGHEST_LIMIT)
    throw new Fault('invalid_argument', `a page can have at most ${HIGHEST_LIMIT} accounts`);
  if (text.length > LONGEST_TEXT)
    throw new Fault('invalid_argument', `a text to search for can have at most ${LONGEST_TEXT} characters`);
  const pattern = { $regex: text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), $options: 'i' };
  const conditions: Filter<AccountDoc>[] = [
    ...(plan === '' ? [] : [{ plan }]),
    ...(state === AccountState.ACTIVE ? [{ closedAt: { $exists: false } }] : []),
    ...(state === AccountState.CLOSED ? [{ closedAt: { $exists: true } }] : []),
    ...(text === '' ? [] : [{ $or: [{ _id: pattern }, { name: pattern }] }]),
    ...(after === '' ? [] : [{ _id: { $gt: after } }]),
  ];
  return {
    filter: conditions.length === 0 ? {} : { $and: conditions },
    limit: limit === 0 ? DEFAULT_LIMIT : limit,
  };
}
