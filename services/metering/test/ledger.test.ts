import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  acquire,
  type Decision,
  type GrantRequest,
  grantIdOf,
  type Ledger,
  newGrantSecret,
  newLedger,
  outOf,
  parseGrantId,
  remainingOf,
  usedOf,
} from '../src/ledger/ledger.ts';

const key = { accountId: 'acct', pool: 'calls', month: '2026-11' };
const nowMs = Date.UTC(2026, 10, 20);

const requestOf = (more: Partial<GrantRequest>): GrantRequest => ({
  holder: 'gateway-1',
  seq: 1,
  limit: 100,
  limitRevision: 1,
  want: 16,
  ignoredFromSeq: 0,
  secret: newGrantSecret(),
  ...more,
});

function grantOf(decision: Decision) {
  if (decision.kind !== 'grant') throw new Error(`expected a grant, got ${decision.kind}`);
  return decision.grant;
}

/** Closes a grant as the store does when a holder closes it. */
function close(ledger: Ledger, number: number, used: number): Ledger {
  const grants = ledger.grants.filter((grant) => grant.number !== number);
  return { ...ledger, grants, closedUsed: ledger.closedUsed + used };
}

/**
 * Two holders share calls at a steady pace, until one crashes and the other one gets all calls. Returns when no permit is free any
 * more for the other one, and how soon metering can settle the first grant then. 0: the crashed holder has no permits any more.
 */
function crashAt({ limit, perSecond, atUsed }: { limit: number; perSecond: number; atUsed: number }) {
  let ledger = newLedger(key);
  let isCrashed = false;
  let seq = 0;
  for (let tick = 0; ; tick++) {
    const ms = nowMs + tick * 100;
    const holders = isCrashed ? ['b'] : ['a', 'b'];
    for (const holder of holders) {
      let calls = perSecond / 10 / holders.length;
      calls = Math.floor((tick + 1) * calls) - Math.floor(tick * calls);
      const spendable = () =>
        ledger.grants.filter((grant) => grant.holder === holder && ms < grant.openedAtMs + grant.ttlMs);
      for (; calls > 0; ) {
        const grant = spendable().find(({ used, size }) => used < size);
        if (grant) {
          const now = Math.min(calls, grant.size - grant.used);
          calls -= now;
          const after = { ...grant, used: grant.used + now };
          ledger = { ...ledger, grants: ledger.grants.map((each) => (each === grant ? after : each)) };
          continue;
        }
        for (const over of ledger.grants.filter((each) => each.holder === holder))
          ledger = close(ledger, over.number, over.used);
        const pace = perSecond / holders.length;
        const want = Math.max(1_000, pace * Math.min(60, tick / 10));
        seq += 1;
        const wantSoon = Math.ceil(pace / 7);
        const request = requestOf({ holder, seq, limit, want, wantSoon, waiting: 1 });
        const { ledger: next, decision } = acquire(ledger, request, ms);
        if (decision.kind === 'exhausted') return { seconds: tick / 10, backInMs: 0 };
        if (decision.kind === 'wait') {
          // A holder that runs returns what it has.
          const returned = ledger.grants.filter((grant) => !isCrashed && grant.holder !== holder);
          for (const back of returned) ledger = close(ledger, back.number, back.used);
          if (returned.length === 0) return { seconds: tick / 10, backInMs: decision.backInMs };
          continue;
        }
        ledger = next;
      }
    }
    isCrashed ||= usedOf(ledger) >= atUsed;
  }
}

/** Everything that holders may do, in any order. */
const action = fc.oneof(
  fc.record({
    kind: fc.constant('acquire' as const),
    holder: fc.constantFrom('a', 'b', 'c'),
    want: fc.integer({ min: 1, max: 1000 }),
  }),
  fc.record({
    kind: fc.constant('spend' as const),
    pick: fc.nat(),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  fc.record({ kind: fc.constant('close' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('repeat' as const), holder: fc.constantFrom('a', 'b', 'c') }),
  fc.record({ kind: fc.constant('give up' as const), holder: fc.constantFrom('a', 'b', 'c') }),
);

describe('the ledger', () => {
  test('never has more held and used permits than the limit, whatever holders do', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2_000 }),
        fc.array(action, { maxLength: 120 }),
        (limit, actions) => {
          let ledger = newLedger(key);
          const seqs = new Map<string, number>();
          for (const step of actions) {
            if (step.kind === 'acquire' || step.kind === 'repeat' || step.kind === 'give up') {
              const last = seqs.get(step.holder) ?? 0;
              const seq = step.kind === 'repeat' ? Math.max(1, last) : last + 1;
              seqs.set(step.holder, seq);
              const ignoredFromSeq = step.kind === 'give up' ? last : 0;
              const want = step.kind === 'acquire' ? step.want : 1;
              const asked = acquire(
                ledger,
                requestOf({ holder: step.holder, seq, want, limit, ignoredFromSeq }),
                nowMs,
              );
              if (asked.decision.kind === 'exhausted') {
                expect(remainingOf(asked.ledger)).toBe(0);
                expect(outOf(asked.ledger)).toBe(0);
              }
              ledger = asked.ledger;
            } else {
              const grant = ledger.grants[step.pick % Math.max(1, ledger.grants.length)];
              if (!grant) continue;
              if (step.kind === 'close') ledger = close(ledger, grant.number, grant.used);
              else {
                const used = Math.max(grant.used, Math.floor(grant.size * step.share));
                ledger = {
                  ...ledger,
                  grants: ledger.grants.map((other) => (other === grant ? { ...grant, used } : other)),
                };
              }
            }
            const committed = ledger.grants.reduce(
              (sum, grant) => sum + grant.size - grant.returned,
              ledger.closedUsed,
            );
            expect(committed).toBeLessThanOrEqual(limit);
            const sizes = ledger.grants.map(({ size }) => size);
            expect(sizes.every((size) => size >= 1)).toBe(true);
            for (const holder of ['a', 'b', 'c']) {
              expect(ledger.grants.filter((grant) => grant.holder === holder).length).toBeLessThanOrEqual(16);
            }
          }
        },
      ),
    );
  });

  test('can be used up to the last permit by holders that close the grants that they used', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 200 }), (limit, want) => {
        let ledger = newLedger(key);
        for (let seq = 1; seq <= limit + 1; seq++) {
          const asked = acquire(ledger, requestOf({ seq, want, limit }), nowMs);
          ledger = asked.ledger;
          if (asked.decision.kind === 'exhausted') break;
          const grant = grantOf(asked.decision);
          ledger = close(ledger, grant.number, grant.size);
        }
        expect(usedOf(ledger)).toBe(limit);
        expect(acquire(ledger, requestOf({ seq: limit + 2, want, limit }), nowMs).decision.kind).toBe(
          'exhausted',
        );
      }),
    );
  });

  test('gives the same grant to the same holder and seq while it is open', () => {
    const first = acquire(newLedger(key), requestOf({}), nowMs);
    const again = acquire(first.ledger, requestOf({}), nowMs + 1000);
    expect(again.decision).toEqual(first.decision);
    expect(again.ledger).toEqual(first.ledger);
  });

  test('opens nothing for a seq whose grant is closed, however late it comes', () => {
    const first = acquire(newLedger(key), requestOf({}), nowMs);
    const closed = close(first.ledger, grantOf(first.decision).number, 1);
    const late = acquire(closed, requestOf({}), nowMs + 60_000);
    expect(late.decision.kind).toBe('stale');
    expect(late.ledger.grants).toEqual([]);
  });

  test('closes unused grants whose answers their holder ignores', () => {
    const first = acquire(newLedger(key), requestOf({ seq: 1 }), nowMs);
    const next = acquire(first.ledger, requestOf({ seq: 2, ignoredFromSeq: 1 }), nowMs);
    expect(next.ledger.grants.map(({ seq }) => seq)).toEqual([2]);
    expect(remainingOf(next.ledger)).toBe(100 - grantOf(next.decision).size);
  });

  test('keeps a grant with usage, even if its holder says that it ignores the answer', () => {
    const { ledger } = acquire(newLedger(key), requestOf({ seq: 1 }), nowMs);
    const used = { ...ledger, grants: ledger.grants.map((grant) => ({ ...grant, used: 1 })) };
    const next = acquire(used, requestOf({ seq: 2, ignoredFromSeq: 1 }), nowMs);
    expect(next.ledger.grants.map((grant) => [grant.seq, grant.used])).toEqual([
      [1, 1],
      [2, 0],
    ]);
  });

  test('never uses a number of a grant twice', () => {
    let ledger = newLedger(key);
    const numbers = new Set<number>();
    for (let seq = 1; seq <= 20; seq++) {
      const asked = acquire(ledger, requestOf({ seq }), nowMs);
      const { number } = grantOf(asked.decision);
      expect(numbers.has(number)).toBe(false);
      numbers.add(number);
      ledger = close(asked.ledger, number, 0);
    }
  });

  test('answers wait, not exhausted, while a holder has permits that it may return', () => {
    const first = acquire(newLedger(key), requestOf({ limit: 1 }), nowMs);
    const other = requestOf({ holder: 'gateway-2', limit: 1 });
    expect(acquire(first.ledger, other, nowMs).decision.kind).toBe('wait');
    const back = close(first.ledger, grantOf(first.decision).number, 0);
    expect(acquire(back, { ...other, seq: 2 }, nowMs).decision.kind).toBe('grant');
  });

  test('follows the newest revision of the limit and ignores older ones', () => {
    const first = acquire(newLedger(key), requestOf({ limit: 10, limitRevision: 5 }), nowMs);
    const older = acquire(first.ledger, requestOf({ seq: 2, limit: 1000, limitRevision: 4 }), nowMs);
    expect(older.ledger.limit).toBe(10);
    const newer = acquire(older.ledger, requestOf({ seq: 3, limit: 1000, limitRevision: 6 }), nowMs);
    expect(newer.ledger.limit).toBe(1000);
  });

  test('leaves at least half of the permits to other holders, except near the limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 64, max: 1e12 }), fc.integer({ min: 1, max: 1e9 }), (limit, want) => {
        const { decision } = acquire(newLedger(key), requestOf({ limit, want }), nowMs);
        expect(grantOf(decision).size).toBeLessThanOrEqual(limit / 2);
      }),
    );
  });

  test('has the permits of a crashed holder back within 15 s when calls wait for them, at any size of plan and pace', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 300 })),
        fc.constantFrom(2, 10, 50, 200, 1_000, 4_000),
        fc.integer({ min: 0, max: 99 }),
        (lastsSeconds, perSecond, percentUsed) => {
          const limit = Math.max(10, lastsSeconds * perSecond);
          const { seconds, backInMs } = crashAt({ limit, perSecond, atUsed: (limit * percentUsed) / 100 });
          // The settler looks every second, and a barrier takes about a second.
          expect(backInMs + 2_000, `after ${seconds} s`).toBeLessThanOrEqual(15_000);
        },
      ),
    );
  });

  test('reads back the grant ids that it makes, and no others', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1 }), (number) => {
        const secret = newGrantSecret();
        expect(parseGrantId(grantIdOf(key, { number, secret }))).toEqual({ key, number, secret });
      }),
    );
    for (const id of [
      '',
      'a/b/2026-11',
      'a/b/2026-11/0',
      'a/b/2026/1',
      'a/b/2026-11/1/2',
      'a/b/2026-11/1',
      'a/b/2026-11/1.',
      'a/b/2026-11/1.short',
    ]) {
      expect(parseGrantId(id)).toBeUndefined();
    }
  });
});
