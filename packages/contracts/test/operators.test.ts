import { expect, test } from 'vitest';
import {
  ADMIN_PORT,
  createOperatorCredential,
  isOperatorCredential,
  OPERATOR_ROLES,
} from '../src/callers.ts';

const { mayCall, roleNeeded } = ADMIN_PORT;

test('the role read is enough for exactly the methods that only look', () => {
  for (const [path, needed] of roleNeeded)
    expect([path, needed === 'read']).toEqual([
      path,
      /\/(Get|List|Find|Resolve|Count|Export|Diagnose|IssuePass)\w*$/.test(path),
    ]);
});

test.each([
  ['read', ['read']],
  ['keys', ['read', 'keys']],
  ['catalogue', ['read', 'catalogue']],
  ['all', ['read', 'keys', 'catalogue', 'all']],
])('the role %s includes exactly %j', (role, included) => {
  expect(OPERATOR_ROLES.filter((needed) => mayCall(role, needed))).toEqual(included);
});

test('a role that this version does not know may only look', () => {
  expect(OPERATOR_ROLES.filter((needed) => mayCall('of a newer version', needed))).toEqual(['read']);
});

test('credentials have a form of their own, and no two are the same', () => {
  const made = Array.from({ length: 100 }, createOperatorCredential);
  expect(new Set(made).size).toBe(100);
  expect(made.every(isOperatorCredential)).toBe(true);
  for (const text of [
    '',
    'bdsop_',
    `${made[0]}x`,
    made[0]?.slice(1) ?? '',
    'an operator token of the installation',
  ])
    expect(isOperatorCredential(text)).toBe(false);
});
