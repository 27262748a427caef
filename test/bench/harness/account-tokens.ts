import type { TestOperator } from '../../e2e/operator.ts';

const AT_ONCE = 4;

/** Creates accounts whose allowance no bench can use up. Returns a token of each. */
export async function createTokens(operator: TestOperator, accounts: number): Promise<string[]> {
  await operator.setPlan('bench', [
    { name: 'calls', allowance: 100_000_000, routes: ['ROUTE_BRANDS', 'ROUTE_LOGOS'] },
  ]);
  const tokens: string[] = [];
  let left = accounts;
  const create = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      tokens.push((await operator.createKey(await operator.createAccount('bench'))).token);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, create));
  return tokens;
}
