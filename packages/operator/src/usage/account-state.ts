import { AccountState } from '@brand-data/contracts';

export const STATE_NAME: Record<AccountState, 'active' | 'closed' | 'unknown'> = {
  [AccountState.UNSPECIFIED]: 'unknown',
  [AccountState.ACTIVE]: 'active',
  [AccountState.CLOSED]: 'closed',
};
