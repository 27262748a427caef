import { type Grant, type ReportRequest, Route } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createVirtualClock } from '../../metering/test/virtual-clock.ts';
import type { HeldGrant } from '../src/held-grant.ts';
import { LeaseBook, type Permit } from '../src/lease-book.ts';
import { createUsageJournal } from '../src/usage-journal.ts';

const START_MS = Date.UTC(2026, 10, 20);
const GRACE_MS = 5_000;
const month = { periodStartMs: Date.UTC(2026, 10, 1), periodEndMs: Date.UTC(2026, 11, 1) };
const answer = { keyId: 'key', route: Route.BRANDS, status: 200 };

/** A journal whose stream acknowledges at once and whose reports are answered when the test says so. */
function journalWith({ report }: { report: (request: ReportRequest) => Promise<string[]> }) {
  const clock = createVirtualClock(START_MS);
  const book = new LeaseBook();
  const reports: string[][] = [];
  const journal = createUsageJournal(
    {
      ...{ book, clock, holder: 'gateway' },
      paths: {
        publish: async () => {},
        report: async (request, withinMs) => {
          reports.push(request.usage.map(({ grantId }) => grantId));
          const late = clock.sleep(withinMs).then(() => Promise.reject(new Fault('unavailable', 'late')));
          const refusedGrantIds = await Promise.race([report(request), late]);
          return { refusedGrantIds, unavailableGrantIds: [] };
        },
      },
    },
    { committed: () => {}, failed: () => {} },
  );
  const permitOf = (accountId: string, ttlMs: number): Permit => {
    const allowance = { accountId, pool: 'calls', limit: 100, limitRevision: 1 };
    const lease = book.lease(allowance, clock.now());
    const { seq } = book.wish(lease, 1, clock.now());
    const grant: Grant = {
      id: `${accountId}/calls/2026-11/1`,
      size: 10,
      ttlMs,
      remaining: 1,
      idleMs: 0,
      ...month,
    };
    book.granted(lease, seq, grant, clock.now());
    const admission = book.take(lease, clock.now());
    if (admission.kind !== 'permit') throw new Error(`expected a permit, got ${admission.kind}`);
    return admission.permit;
  };
  const outcomes = new Map<HeldGrant, string>();
  const commit = (permit: Permit) => {
    permit.use(answer);
    journal.commit(permit.grant).then(
      () => outcomes.set(permit.grant, 'durable'),
      () => outcomes.set(permit.grant, 'unsure'),
    );
  };
  return { clock, permitOf, commit, outcomes, reports };
}

describe("when the stream's acknowledgement is too late for some of the grants in a batch", () => {
  const SHORT_MS = 1_000;
  const grants = fc.array(fc.boolean(), { minLength: 1, maxLength: 6 });

  test('the calls of the others are answered at once, and only the late ones wait for the report', async () => {
    await fc.assert(
      fc.asyncProperty(grants, fc.boolean(), async (areLate, isRefused) => {
        let tell = (_refused: string[]) => {};
        const told = new Promise<string[]>((resolve) => {
          tell = resolve;
        });
        const { clock, permitOf, commit, outcomes, reports } = journalWith({ report: () => told });
        const permits = areLate.map((isLate, index) => permitOf(`a${index}`, isLate ? SHORT_MS : 600_000));
        await clock.advance(SHORT_MS + GRACE_MS);
        for (const permit of permits) commit(permit);
        await clock.advance(50);
        const late = permits.filter((_, index) => areLate[index]).map(({ grant }) => grant);
        for (const { grant } of permits)
          expect(outcomes.get(grant)).toBe(late.includes(grant) ? undefined : 'durable');
        expect(reports).toEqual(late.length > 0 ? [late.map(({ id }) => id)] : []);
        tell(isRefused ? late.map(({ id }) => id) : []);
        await clock.advance(50);
        for (const grant of late) expect(outcomes.get(grant)).toBe(isRefused ? 'unsure' : 'durable');
      }),
    );
  });

  test('a late one that no report tells of is unsure within about a second', async () => {
    const { clock, permitOf, commit, outcomes } = journalWith({ report: () => new Promise(() => {}) });
    const permit = permitOf('a', SHORT_MS);
    await clock.advance(SHORT_MS + GRACE_MS);
    commit(permit);
    await clock.advance(1_100);
    expect(outcomes.get(permit.grant)).toBe('unsure');
  });
});
