import type { SignedAllowance } from '@brand-data/contracts';
import type { Allowances } from '@brand-data/metering/src/granting/allowances.ts';

/** The signature of accounts is simulated by the text's beginning, which no attacker may write. */
const SIGNED = 'accounts ';

export function signAllowance(allowance: SignedAllowance): string {
  return SIGNED + JSON.stringify({ ...allowance, limits: [...allowance.limits] });
}

export const ACCOUNTS_WORD: Pick<Allowances, 'verify'> = {
  verify: async (token) => {
    if (!token.startsWith(SIGNED)) return undefined;
    const { limits, ...allowance } = JSON.parse(token.slice(SIGNED.length));
    return { ...allowance, limits: new Map(limits) };
  },
};
