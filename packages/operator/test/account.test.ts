import { AccountState, Route } from '@brand-data/contracts';
import { expect, test } from 'vitest';
import { accountToJson } from '../src/commands/accounts/account.ts';
import { routeWord } from '../src/usage/allowance-use.ts';

test.each([
  [AccountState.ACTIVE, 'active'],
  [AccountState.CLOSED, 'closed'],
  [AccountState.DELETED, 'deleted'],
  [AccountState.UNSPECIFIED, 'unknown'],
])('an account in the state %s is shown as %s', (state, shown) => {
  const account = { id: 'acme', name: 'Acme', plan: 'team', state, createdAtMs: 0, revision: 1 };
  expect(accountToJson({ ...account, closedAtMs: undefined }).state).toBe(shown);
});

test('a route of a newer plan is shown as unknown', () => {
  expect([Route.BRANDS, Route.LOGOS, Route.UNSPECIFIED].map(routeWord)).toEqual([
    'brands',
    'logos',
    'unknown',
  ]);
});
