import { expect, test } from 'vitest';
import { textOfChanges } from '../src/commands/installation/restore.ts';

const none = { plans: [], accounts: [], keys: [], validKeys: [], deletedAccounts: [], revoked: false };

test('a restore announces a list of changes only if there is one', () => {
  expect(textOfChanges({ ...none, complete: true })).toBe('No operator has changed anything after the copy.');
  expect(textOfChanges({ ...none, complete: false })).toMatch(/Search the log of accounts for "[^"]+"\.$/);
  expect(textOfChanges({ ...none, complete: false, plans: ['team'] })).toEqual([
    expect.stringMatching(/It knows of:$/),
    ['  plans: team'],
  ]);
});
