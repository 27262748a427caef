import type { AcquireResponse } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { createVirtualClock } from '@brand-data/testing/virtual-clock';
import { expect, test } from 'vitest';
import { problemErrorFrom } from '../src/answers/problem.ts';
import { GrantBook } from '../src/quota/grant-book.ts';
import { type HeldGrant, snapshotOf } from '../src/quota/held-grant.ts';
import { Quota } from '../src/quota/quota.ts';

const NOW_MS = Date.UTC(2026, 10, 20);
const allowance = { accountId: 'acct', pool: 'calls', limit: 100, limitRevision: 1 };
const granted: AcquireResponse = {
  outcome: {
    $case: 'grant',
    value: {
      id: 'acct/calls/2026-11/1',
      size: 5,
      ttlMs: 60_000,
      idleMs: 0,
      remaining: 0,
      periodStartMs: Date.UTC(2026, 10, 1),
      periodEndMs: Date.UTC(2026, 11, 1),
    },
  },
};

test.each([
  { backInMs: 6_500, told: '9' },
  { backInMs: 600_000, told: '15' },
])(
  'a 503 for want of a permit says Retry-After: $told if metering has a crashed gateway’s permits back in $backInMs ms',
  async ({ backInMs, told }) => {
    const clock = createVirtualClock(NOW_MS);
    const quota = new Quota({
      book: new GrantBook(),
      clock,
      holder: 'gateway',
      acquire: async () => ({ outcome: { $case: 'wait', value: { retryAfterMs: 10, backInMs } } }),
      journal: {
        commit: async () => {},
        send: () => {},
        reportAtOnce: async () => true,
        flush: async () => {},
      },
      events: { asked: () => {}, waited: () => {}, recalled: () => {} },
    });
    const refused = Promise.resolve(quota.admit(allowance)).catch(problemErrorFrom);
    await clock.advance(3_000);
    expect(await refused).toMatchObject({
      problem: { code: 'upstream_unavailable', headers: { 'Retry-After': told } },
    });
  },
);

test('the close of a grant after a recall reaches metering even if the recall ends at that moment', async () => {
  const clock = createVirtualClock(NOW_MS);
  // In a busy process a turn of the event loop ends late, here after 2 ms.
  const busyClock = { now: clock.now, sleep: (ms: number) => clock.sleep(ms || 2) };
  const book = new GrantBook();
  const sent = new Set<HeldGrant>();
  const quota = new Quota({
    book,
    clock: busyClock,
    holder: 'gateway',
    acquire: async () => granted,
    journal: {
      commit: async () => {},
      send: (grant) => sent.add(grant),
      reportAtOnce: async (grants) => {
        for (const grant of grants) sent.add(grant);
        book.reported(new Map(grants.map((grant) => [grant, snapshotOf(grant)])), clock.now());
        return true;
      },
      flush: async () => {},
    },
    events: { asked: () => {}, waited: () => {}, recalled: () => {} },
  });
  const admitting = quota.admit(allowance);
  await clock.advance(10);
  const admission = await admitting;
  if (admission.kind !== 'permit') throw new Error(`expected a permit, got ${admission.kind}`);
  quota.recall({ accountId: 'acct', pool: 'calls', holder: 'another' });
  await clock.advance(999);
  sent.clear();
  // The last call of the grant ends without an answer, just before the gateway stops reporting outcomes.
  admission.permit.release();
  await clock.advance(10);
  expect([...sent].map(({ closed }) => closed)).toEqual([true]);
});

test.each([
  { how: 'in the answer', stale: (): AcquireResponse => ({ outcome: { $case: 'stale', value: {} } }) },
  {
    how: 'as metering of an earlier version refuses it',
    stale: (): AcquireResponse => {
      throw new Fault('failed_precondition', 'stale');
    },
  },
])('after a stale seq, said $how, permits are asked for with a new seq', async ({ stale }) => {
  const clock = createVirtualClock(NOW_MS);
  const seqs: number[] = [];
  const outcomes: string[] = [];
  const nothing = async () => {};
  const quota = new Quota({
    book: new GrantBook(),
    clock,
    holder: 'gateway',
    acquire: async ({ seq }) => {
      seqs.push(seq);
      return seqs.length === 1 ? stale() : granted;
    },
    journal: { commit: nothing, send: () => {}, reportAtOnce: async () => true, flush: nothing },
    events: { asked: (outcome) => outcomes.push(outcome), waited: () => {}, recalled: () => {} },
  });
  const admitting = quota.admit(allowance);
  await clock.advance(100);
  expect((await admitting).kind).toBe('permit');
  expect(seqs).toEqual([1, 2]);
  expect(outcomes).toEqual(['stale', 'grant']);
});
