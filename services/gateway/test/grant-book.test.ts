import { type Grant, Route } from '@brand-data/contracts';
import type { Instant } from '@brand-data/runtime';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GrantBook, type NextAcquire, type Permit } from '../src/quota/grant-book.ts';
import { type HeldGrant, snapshotOf } from '../src/quota/held-grant.ts';
import { type Allowance, countCall } from '../src/quota/holding.ts';
import { awaitedGrants } from '../src/quota/renewal.ts';

const monthStart = Date.UTC(2026, 10, 1);
const monthEnd = Date.UTC(2026, 11, 1);
const allowance: Allowance = { accountId: 'acct', pool: 'calls', limit: 1_000, limitRevision: 1 };
const answer = { keyId: 'key-1', route: Route.BRANDS, status: 200, day: '2026-11-20' };

const at = (ms: number, wallMs = monthStart + ms): Instant => ({ monotonicMs: ms, wallMs });

/** Notes a recall, returns unneeded permits, and returns the grants that the gateway then reports at once. */
function recall(book: GrantBook, accountId: string, now: Instant): HeldGrant[] {
  const holding = book.recalled(accountId, 'calls', now);
  if (!holding) return [];
  book.giveBack(holding, now);
  return awaitedGrants(holding, now);
}

const usageOf = (grant: HeldGrant) => snapshotOf(grant).usage;

let ids = 0;
const grantOf = (more: Partial<Grant> = {}): Grant => ({
  id: `acct/calls/2026-11/${++ids}`,
  size: 4,
  ttlMs: 60_000,
  idleMs: 1_000,
  remaining: 100,
  periodStartMs: monthStart,
  periodEndMs: monthEnd,
  ...more,
});

/** Returns a book with one grant, whose Acquire was sent at `sentAt` and answered at `receivedAt`. */
function bookWith(grant: Grant, sentAt = at(0), receivedAt = sentAt): GrantBook {
  const book = new GrantBook();
  const holding = book.holding(allowance, sentAt);
  const { seq } = book.nextAcquire(holding, 1, sentAt);
  book.granted(holding, seq, grant, receivedAt);
  return book;
}

function admit(book: GrantBook, now: Instant, of = allowance) {
  const holding = book.holding(of, now);
  countCall(holding, now);
  return book.take(holding, now);
}

function permitFrom(book: GrantBook, now: Instant): Permit {
  const admission = admit(book, now);
  if (admission.kind !== 'permit') throw new Error(`expected a permit, got ${admission.kind}`);
  return admission.permit;
}

const reportedWith = ({ snapshots }: NextAcquire) => [...snapshots.values()].map(({ usage }) => usage);

const kindOf = (book: GrantBook, now: Instant) => admit(book, now).kind;

const step = fc.oneof(
  fc.record({ kind: fc.constant('admit' as const) }),
  fc.record({ kind: fc.constant('use' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('release' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 5_000 }) }),
  fc.record({ kind: fc.constant('grant' as const), size: fc.integer({ min: 1, max: 10 }) }),
  fc.record({ kind: fc.constant('settle' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('recall' as const) }),
  fc.record({ kind: fc.constant('sweep' as const) }),
);

describe('the grant book', () => {
  test('never spends more permits than a grant has, and none after the grant has expired or is closed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const book = new GrantBook();
        const inFlight: Permit[] = [];
        const seen = new Map<HeldGrant, { usedAtClose?: number }>();
        const unsettled: Permit[] = [];
        let nowMs = 0;
        for (const next of steps) {
          const now = at(nowMs);
          if (next.kind === 'wait') nowMs += next.ms;
          else if (next.kind === 'grant') {
            const holding = book.holding(allowance, now);
            const { seq } = book.nextAcquire(holding, 0, now);
            book.granted(holding, seq, grantOf({ size: next.size, ttlMs: 8_000 }), now);
          } else if (next.kind === 'admit') {
            const admission = admit(book, now);
            if (admission.kind === 'permit') {
              const { grant } = admission.permit;
              expect(now.monotonicMs - grant.since.monotonicMs).toBeLessThan(grant.ttlMs);
              expect(grant.closed).toBe(false);
              seen.set(grant, seen.get(grant) ?? {});
              inFlight.push(admission.permit);
            }
          } else if (next.kind === 'settle') {
            const [permit] = unsettled.splice(next.pick % Math.max(1, unsettled.length), 1);
            if (permit) book.committed(permit.grant, 1);
          } else if (next.kind === 'recall') {
            const before = book.size.permits;
            for (const grant of recall(book, 'acct', now)) {
              expect(grant.used + grant.reserved + grant.returned).toBeLessThanOrEqual(grant.size);
            }
            expect(book.size.permits).toBeLessThanOrEqual(before / 2);
          } else if (next.kind === 'sweep') {
            for (const grant of book.sweep(now)) {
              expect(grant.reserved + grant.unsettled).toBe(0);
              seen.set(grant, { usedAtClose: grant.used });
            }
          } else {
            const [permit] = inFlight.splice(next.pick % Math.max(1, inFlight.length), 1);
            if (!permit) continue;
            if (next.kind === 'use') {
              permit.use(answer);
              unsettled.push(permit);
            } else permit.release();
          }
          for (const [grant, { usedAtClose }] of seen) {
            expect(grant.used + grant.reserved + grant.returned).toBeLessThanOrEqual(grant.size);
            expect(grant.reserved).toBeGreaterThanOrEqual(0);
            const usage = usageOf(grant);
            expect(usage.cells.reduce((sum, { count }) => sum + count, 0)).toBe(usage.used);
            if (usedAtClose !== undefined) expect(grant.used).toBe(usedAtClose);
          }
        }
      }),
    );
  });

  test('closes and forgets at a sweep of the due holdings exactly what a sweep of all holdings would', () => {
    const accounts = ['a', 'b'];
    const what = fc.oneof(
      { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom('call', 'use', 'settle') }) },
      { weight: 6, arbitrary: fc.record({ kind: fc.constant('sweep' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('release', 'lower', 'recall', 'stored') }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('grant' as const),
          size: fc.integer({ min: 1, max: 4 }),
          ttlMs: fc.constantFrom(700, 5_000, 60_000),
          idleMs: fc.constantFrom(0, 300, 1_000),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('wait' as const),
          ms: fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 15_000 })),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({
          kind: fc.constant('set the clock' as const),
          byMs: fc.integer({ min: 101, max: 90_000 }).chain((ms) => fc.constantFrom(ms, -ms)),
        }),
      },
    );
    const action = fc.record({ account: fc.nat({ max: accounts.length - 1 }), what });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 200, size: 'max' }), (actions) => {
        let [nowMs, wallMs, revision] = [0, monthStart + 1e9, 1];
        const live = (book: GrantBook, sweep: (now: Instant) => HeldGrant[]) => ({
          book,
          sweep,
          inFlight: new Map<string, Permit[]>(),
          unsettled: new Map<string, Permit[]>(),
          final: [] as HeldGrant[],
        });
        const [one, all] = [new GrantBook(), new GrantBook()];
        const lives = [live(one, (now) => one.sweep(now)), live(all, (now) => all.sweepAll(now))];
        for (const { account, what } of actions) {
          const accountId = accounts[account] ?? '';
          if (what.kind === 'wait') [nowMs, wallMs] = [nowMs + what.ms, wallMs + what.ms];
          if (what.kind === 'set the clock') wallMs += what.byMs;
          if (what.kind === 'lower') revision += 1;
          const now = at(nowMs, wallMs);
          const of = { ...allowance, accountId, limit: 1_000 - revision, limitRevision: revision };
          const id = `${accountId}/calls/2026-11/${++ids}`;
          const seen = lives.map(({ book, sweep, inFlight, unsettled, final }) => {
            const takeFrom = (permits: Map<string, Permit[]>) => permits.get(accountId)?.shift();
            const putTo = (permits: Map<string, Permit[]>, permit: Permit) =>
              permits.set(accountId, [...(permits.get(accountId) ?? []), permit]);
            if (what.kind === 'grant') {
              const holding = book.holding(of, now);
              const { seq } = book.nextAcquire(holding, 0, now);
              book.granted(holding, seq, grantOf({ ...what, id }), now);
            } else if (what.kind === 'call') {
              const admission = admit(book, now, of);
              if (admission.kind === 'permit') putTo(inFlight, admission.permit);
            } else if (what.kind === 'use') {
              const permit = takeFrom(inFlight);
              permit?.use(answer);
              if (permit) putTo(unsettled, permit);
            } else if (what.kind === 'release') takeFrom(inFlight)?.release();
            else if (what.kind === 'settle') {
              const permit = takeFrom(unsettled);
              if (permit) book.committed(permit.grant, 1);
            } else if (what.kind === 'lower') book.holding(of, now);
            else if (what.kind === 'recall') return recall(book, accountId, now).map(usageOf);
            else if (what.kind === 'stored') book.stored(final.splice(0, 1), now);
            // Sweeps are so frequent that the clock is not set forward and back between two of them.
            else if (what.kind === 'sweep' || what.kind === 'set the clock') {
              const closed = sweep(now).sort((a, b) => (a.id < b.id ? -1 : 1));
              final.push(...closed);
              return [closed.map(usageOf), book.size];
            }
            return [];
          });
          expect(seen[0]).toEqual(seen[1]);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('gives a released permit to another call, but never a used one', () => {
    const book = bookWith(grantOf({ size: 1 }));
    permitFrom(book, at(1)).release();
    permitFrom(book, at(2)).use(answer);
    expect(kindOf(book, at(3))).toBe('empty');
  });

  test("starts a grant's lifetime at the first send of its Acquire, not at metering's reply", () => {
    const book = bookWith(grantOf({ ttlMs: 5_000 }), at(0), at(1_900));
    expect(kindOf(book, at(4_999))).toBe('permit');
    expect(kindOf(book, at(5_000))).toBe('empty');
  });

  test('ends a grant by the clock on which more time has passed', () => {
    const wall = bookWith(grantOf({ ttlMs: 5_000 }));
    expect(kindOf(wall, at(10, monthStart + 5_000))).toBe('empty');
    const monotonic = bookWith(grantOf({ ttlMs: 5_000 }));
    expect(kindOf(monotonic, at(5_000, monthStart + 10))).toBe('empty');
  });

  test("spends no permit outside its grant's month", () => {
    const book = bookWith(grantOf(), at(0, monthEnd - 10), at(1, monthEnd - 9));
    expect(kindOf(book, at(5, monthEnd - 5))).toBe('permit');
    expect(kindOf(book, at(10, monthEnd))).toBe('empty');
  });

  test('retries a young Acquire under the same seq, and abandons an old one for good', () => {
    const book = new GrantBook();
    const holding = book.holding(allowance, at(0));
    const first = book.nextAcquire(holding, 1, at(0));
    expect(book.nextAcquire(holding, 1, at(500)).seq).toBe(first.seq);
    const later = book.nextAcquire(holding, 1, at(10_000));
    expect(later.seq).toBeGreaterThan(first.seq);
    expect(later.ignoredFromSeq).toBe(first.seq);
    book.granted(holding, first.seq, grantOf(), at(10_001));
    expect(kindOf(book, at(10_002))).toBe('empty');
    book.granted(holding, later.seq, grantOf(), at(10_003));
    expect(kindOf(book, at(10_004))).toBe('permit');
  });

  test('closes an idle grant, but never while a call is in flight or usage is not yet durable', () => {
    const book = bookWith(grantOf({ idleMs: 1_000 }));
    const permit = permitFrom(book, at(10));
    expect(book.sweep(at(5_000))).toEqual([]);
    permit.use(answer);
    expect(book.sweep(at(6_100))).toEqual([]);
    book.committed(permit.grant, 1);
    expect(book.sweep(at(6_200)).map(({ used, closed }) => ({ used, closed }))).toEqual([
      { used: 1, closed: true },
    ]);
  });

  test('keeps a grant without an idle limit until the grant expires', () => {
    const book = bookWith(grantOf({ idleMs: 0, ttlMs: 600_000 }));
    expect(book.sweep(at(599_999))).toEqual([]);
    expect(book.sweep(at(600_000))).toHaveLength(1);
  });

  test('returns on a recall the permits that are not reserved, and closes grants without calls under way', () => {
    const busy = bookWith(grantOf({ size: 5 }));
    const permit = permitFrom(busy, at(1));
    expect(recall(busy, 'acct', at(2)).map(usageOf)).toMatchObject([{ returned: 4, used: 0, closed: false }]);
    expect(kindOf(busy, at(3))).toBe('empty');
    permit.use(answer);
    busy.committed(permit.grant, 1);
    expect(busy.sweep(at(4)).map(usageOf)).toMatchObject([{ returned: 4, used: 1, closed: true }]);
    const idle = bookWith(grantOf({ size: 5 }));
    expect(recall(idle, 'acct', at(2)).map(usageOf)).toMatchObject([{ used: 0, closed: true }]);
  });

  test('returns its permits when the limit is lowered, and keeps them when it is raised', () => {
    const lowered = bookWith(grantOf({ size: 5 }));
    expect(admit(lowered, at(1), { ...allowance, limit: 3, limitRevision: 2 }).kind).toBe('empty');
    expect(lowered.sweep(at(2))).toHaveLength(1);
    const raised = bookWith(grantOf({ size: 5 }));
    expect(admit(raised, at(1), { ...allowance, limit: 9_000, limitRevision: 2 }).kind).toBe('permit');
  });

  test("accepts the stream's acknowledgement until the grace period after the grant's end is over", () => {
    const book = bookWith(grantOf({ ttlMs: 1_000 }));
    const { grant } = permitFrom(book, at(1));
    expect(book.acknowledgementCounts(grant, at(5_999))).toBe(true);
    expect(book.acknowledgementCounts(grant, at(6_000))).toBe(false);
  });

  test("asks for next month's permits in the last minute of this month, and does not spend them before next month", () => {
    const last = (secondsLeft: number) => at(100_000 - secondsLeft * 1_000, monthEnd - secondsLeft * 1_000);
    const book = bookWith(grantOf({ size: 100, ttlMs: 600_000 }), last(90));
    const holding = book.holding(allowance, last(90));
    expect(book.wantsRenewal(holding, last(61))).toBe(false);
    expect(book.wantsRenewal(holding, last(59))).toBe(true);
    const asked = book.nextAcquire(holding, 0, last(59));
    expect(asked.fromMs).toBe(monthEnd);
    const next = grantOf({ size: 7, ttlMs: 600_000, periodStartMs: monthEnd, periodEndMs: monthEnd + 1e9 });
    book.granted(holding, asked.seq, next, last(58));
    expect(permitFrom(book, last(1)).grant.size).toBe(100);
    expect(permitFrom(book, last(0)).grant.size).toBe(7);
  });

  test("names a month's abandoned seqs in every Acquire for that month, even after it has accepted a grant of another month", () => {
    const last = (secondsLeft: number) => at(100_000 - secondsLeft * 1_000, monthEnd - secondsLeft * 1_000);
    const book = bookWith(grantOf({ size: 1, ttlMs: 600_000 }), last(90));
    const holding = book.holding(allowance, last(90));
    const ofNextMonth = book.nextAcquire(holding, 0, last(59));
    expect(ofNextMonth.fromMs).toBe(monthEnd);
    // Metering does not answer for too long. Meanwhile calls use up the permits of the current month.
    permitFrom(book, last(58));
    const ofThisMonth = book.nextAcquire(holding, 1, last(50));
    expect(ofThisMonth.fromMs).toBeLessThan(monthEnd);
    book.granted(holding, ofThisMonth.seq, grantOf({ size: 9, ttlMs: 600_000 }), last(49));
    const again = book.nextAcquire(holding, 0, last(40));
    expect(again.fromMs).toBe(monthEnd);
    expect(again.ignoredFromSeq).toBeLessThanOrEqual(ofNextMonth.seq);
  });

  test('never names the seq of an accepted grant as abandoned, even if the clock is set back into the past month', () => {
    const around = (seconds: number) => at(100_000 + seconds * 1_000, monthEnd + seconds * 1_000);
    const book = bookWith(grantOf({ size: 1, ttlMs: 600_000 }), around(-90));
    const holding = book.holding(allowance, around(-90));
    permitFrom(book, around(-89));
    const ofThisMonth = book.nextAcquire(holding, 1, around(-80));
    book.granted(holding, ofThisMonth.seq, grantOf({ id: 'second', size: 1, ttlMs: 600_000 }), around(-79));
    permitFrom(book, around(-78));
    const ofNextMonth = book.nextAcquire(holding, 1, around(1));
    book.granted(
      holding,
      ofNextMonth.seq,
      grantOf({ size: 1, ttlMs: 600_000, periodStartMs: monthEnd, periodEndMs: Date.UTC(2027, 0, 1) }),
      around(2),
    );
    const setBack = { monotonicMs: 103_000, wallMs: monthEnd - 20_000 };
    const again = book.nextAcquire(holding, 1, setBack);
    expect(again.fromMs).toBeLessThan(monthEnd);
    expect(again.ignoredFromSeq).toBeGreaterThan(ofThisMonth.seq);
  });

  test('retries an Acquire for its first month, and sends a new one once that month is over', () => {
    const before = at(0, monthEnd - 1_000);
    const book = new GrantBook();
    const holding = book.holding(allowance, before);
    const first = book.nextAcquire(holding, 1, before);
    expect(first.fromMs).toBe(monthEnd - 1_000);
    expect(book.nextAcquire(holding, 1, at(900, monthEnd - 100))).toMatchObject({
      seq: first.seq,
      fromMs: first.fromMs,
    });
    const next = book.nextAcquire(holding, 1, at(1_100, monthEnd + 100));
    expect(next.seq).toBeGreaterThan(first.seq);
    expect(next.fromMs).toBe(monthEnd + 100);
  });

  test('repeats a close that only the stream has acknowledged, in Acquires and after recalls, until metering has applied it', () => {
    const book = bookWith(grantOf({ size: 1 }));
    permitFrom(book, at(1)).release();
    const [grant] = recall(book, 'acct', at(2));
    if (!grant) throw new Error('nothing was given back');
    book.stored([grant], at(3));
    expect(book.size.grants).toBe(0);
    const holding = book.holding(allowance, at(4));
    expect(reportedWith(book.nextAcquire(holding, 1, at(4)))).toMatchObject([
      { grantId: grant.id, closed: true },
    ]);
    expect(recall(book, 'acct', at(5))).toEqual([grant]);
    book.sweep(at(10_000));
    expect(reportedWith(book.nextAcquire(holding, 1, at(10_000)))).toHaveLength(1);
    book.sweep(at(11_003));
    expect(reportedWith(book.nextAcquire(holding, 1, at(11_003)))).toEqual([]);
  });

  test('remembers that the quota is used up only for some seconds, and forgets it when the limit or the month changes', () => {
    const exhausted = () => {
      const book = new GrantBook();
      const holding = book.holding(allowance, at(0));
      book.exhausted(holding, book.nextAcquire(holding, 1, at(0)).seq, monthEnd, at(0));
      return book;
    };
    expect(kindOf(exhausted(), at(1_000))).toBe('exhausted');
    expect(kindOf(exhausted(), at(60_000))).toBe('empty');
    expect(kindOf(exhausted(), at(1_000, monthEnd))).toBe('empty');
    expect(admit(exhausted(), at(1_000), { ...allowance, limitRevision: 2 }).kind).toBe('empty');
  });

  test('asks early when a busy grant is half used or any grant ends soon, but not for a grant that calls hardly use', () => {
    const book = bookWith(grantOf({ size: 10, ttlMs: 60_000 }));
    const holding = book.holding(allowance, at(1));
    expect(book.wantsRenewal(holding, at(1))).toBe(false);
    for (let call = 0; call < 6; call++) permitFrom(book, at(2)).use(answer);
    expect(book.wantsRenewal(holding, at(3))).toBe(true);
    const quiet = bookWith(grantOf({ size: 10, ttlMs: 60_000 }));
    const quietLease = quiet.holding(allowance, at(1));
    expect(quiet.wantsRenewal(quietLease, at(29_000))).toBe(false);
    expect(quiet.wantsRenewal(quietLease, at(30_001))).toBe(true);
  });

  test('still asks early after an Acquire without an answer', () => {
    const book = bookWith(grantOf({ size: 10 }));
    const holding = book.holding(allowance, at(1));
    for (let call = 0; call < 6; call++) permitFrom(book, at(2)).use(answer);
    book.nextAcquire(holding, 0, at(3));
    expect(book.wantsRenewal(holding, at(1_500))).toBe(true);
  });

  test('tells no remaining calls of a month that is over, also for a call that was admitted before its end', () => {
    const used = { used: 990, grants: [] };
    const book = bookWith(grantOf({ size: 4, used }), at(0, monthEnd - 10), at(1, monthEnd - 9));
    const { holding } = permitFrom(book, at(5, monthEnd - 5));
    expect(book.remaining(holding, at(9, monthEnd - 1))).toBe(10);
    expect(book.remaining(holding, at(10, monthEnd))).toBeUndefined();
  });

  test('forgets holdings without calls, so that memory is bounded by the accounts that call', () => {
    const book = new GrantBook();
    for (let account = 0; account < 100; account++) {
      const holding = book.holding({ ...allowance, accountId: `a${account}` }, at(0));
      // Half of the holdings sent an Acquire that metering never answered.
      if (account % 2 === 0) book.nextAcquire(holding, 1, at(0));
    }
    book.sweep(at(30_000));
    expect(book.size.holdings).toBe(100);
    book.sweep(at(120_000));
    expect(book.size.holdings).toBe(0);
  });
});

describe('the signed allowance of an Acquire', () => {
  const signedFrom = (limitRevision: number, signedUntilMs: number) => ({
    ...allowance,
    limitRevision,
    signedUntilMs,
    signed: `revision ${limitRevision} until ${signedUntilMs}`,
  });
  const sentAfter = (calls: readonly { atMs: number; revision: number; untilMs: number }[]) => {
    const book = new GrantBook();
    const sent = calls.map(
      ({ atMs, revision, untilMs }) =>
        book.holding(signedFrom(revision, untilMs), { monotonicMs: atMs, wallMs: atMs }).signed,
    );
    return sent.at(-1);
  };

  test('is the one of the newest revision that is valid for the longest time', () => {
    const first = { atMs: 0, revision: 2, untilMs: 900 };
    expect(sentAfter([first, { atMs: 1, revision: 2, untilMs: 901 }])).toBe('revision 2 until 901');
    expect(sentAfter([first, { atMs: 1, revision: 2, untilMs: 899 }])).toBe('revision 2 until 900');
    expect(sentAfter([first, { atMs: 1, revision: 3, untilMs: 800 }])).toBe('revision 3 until 800');
    expect(sentAfter([first, { atMs: 1, revision: 1, untilMs: 950 }])).toBe('revision 2 until 900');
  });

  test('is one of an older revision if none of a newer one is valid any more', () => {
    const older = { atMs: 900, revision: 1, untilMs: 950 };
    expect(sentAfter([{ atMs: 0, revision: 2, untilMs: 900 }, older])).toBe('revision 1 until 950');
  });
});
