import { randomBytes } from 'node:crypto';
import { type Account, AccountState } from '@brand-data/contracts';

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
