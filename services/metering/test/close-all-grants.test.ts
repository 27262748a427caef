import { generateKeyPairSync } from 'node:crypto';
import { type GrantUsage, Route } from '@brand-data/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  acquire,
  grantIdOf,
  type Ledger,
  newGrantSecret,
  newLedger,
  type OpenGrant,
  remainingOf,
} from '../src/ledger/ledger.ts';
import { type Breakdowns, decideOnUsage } from '../src/ledger/ledger-usage.ts';
import { countOf, largerCells } from '../src/ledger/usage-merge.ts';
import { closeAllGrants, NUMBERS_LEFT_OUT, type ReportedGrant } from '../src/restoring/close-all-grants.ts';

const key = { accountId: 'acct', pool: 'calls', month: '2026-11' };
const nowMs = Date.UTC(2026, 10, 20);
const LIMIT = 500;

/** The name of a holder is its public key. */
const holders = Array.from(
  { length: 3 },
  () => generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x,
).map(String);

/** What holders and metering do, in any order. */
const action = fc.oneof(
  fc.record({ kind: fc.constant('acquire' as const), holder: fc.nat({ max: 2 }), want: fc.nat({ max: 60 }) }),
  fc.record({ kind: fc.constant('use' as const), pick: fc.nat(), calls: fc.nat({ max: 20 }) }),
  fc.record({ kind: fc.constant('close' as const), pick: fc.nat() }),
  // Metering applies the oldest message that it has not applied.
  fc.record({ kind: fc.constant('apply' as const) }),
);

type Action = typeof action extends fc.Arbitrary<infer Value> ? Value : never;

interface World {
  ledger: Ledger;
  breakdowns: Map<number, ReturnType<typeof largerCells>>;
  /** What the holders know, and have not closed. */
  held: { grant: OpenGrant; used: number }[];
  messages: { number: number; secret: string; sender: string; usage: GrantUsage }[];
  applied: number;
  answered: number;
}

function usageOf(grant: OpenGrant, used: number, closed: boolean): GrantUsage {
  const cells = [{ keyId: 'key-1', route: Route.BRANDS, status: 200, day: '2026-11-20', count: used }];
  return {
    grantId: grantIdOf(key, grant),
    used,
    closed,
    partial: false,
    returned: closed ? grant.size - used : 0,
    cells: used > 0 ? cells : [],
  };
}

function run(world: World, actions: readonly Action[]): void {
  for (const step of actions) {
    if (step.kind === 'acquire') {
      const request = {
        holder: holders[step.holder] ?? '',
        limit: LIMIT,
        limitRevision: 1,
        ignoredFromSeq: 0,
      };
      const seq = world.ledger.nextGrant;
      const { ledger, decision } = acquire(
        world.ledger,
        { ...request, seq, want: step.want, secret: newGrantSecret() },
        nowMs,
      );
      world.ledger = ledger;
      if (decision.kind === 'grant') world.held.push({ grant: decision.grant, used: 0 });
    } else if (step.kind === 'apply') {
      const message = world.messages[world.applied];
      if (!message) continue;
      world.applied += 1;
      const { number, secret, sender, usage } = message;
      const stored: Breakdowns = world.breakdowns;
      const { ledger, raised } = decideOnUsage(
        world.ledger,
        [{ number, secret, usage: { ...usage, sender } }],
        stored,
      );
      world.ledger = ledger;
      for (const { cells } of raised)
        world.breakdowns.set(number, largerCells(world.breakdowns.get(number) ?? [], cells));
    } else {
      const held = world.held[step.pick % world.held.length];
      if (!held) continue;
      const { grant } = held;
      if (step.kind === 'use') {
        const calls = Math.min(step.calls, grant.size - held.used);
        held.used += calls;
        world.answered += calls;
      } else world.held = world.held.filter((other) => other !== held);
      const usage = usageOf(grant, held.used, step.kind === 'close');
      world.messages.push({ number: grant.number, secret: grant.secret, sender: grant.holder, usage });
    }
  }
}

/** Returns the largest figures of each grant, as the restore collects them. */
function reportedIn(messages: World['messages']): ReportedGrant[] {
  const reported = new Map<number, ReportedGrant>();
  for (const { number, secret, sender, usage } of messages) {
    const { grantId, used, returned, cells } = usage;
    const before = reported.get(number);
    reported.set(number, {
      grantId,
      number,
      secret,
      sender,
      used: Math.max(used, before?.used ?? 0),
      returned: Math.max(returned, before?.returned ?? 0),
      cells: largerCells(before?.cells ?? [], cells),
    });
  }
  return [...reported.values()];
}

const worlds = fc.record({
  before: fc.array(action, { maxLength: 40 }),
  after: fc.array(action, { maxLength: 40 }),
});

describe('a restored ledger', () => {
  test('bills every answered call exactly once, whenever the copy was made and from whichever message the stream is read', () => {
    fc.assert(
      fc.property(worlds, fc.double({ min: 0, max: 1, noNaN: true }), ({ before, after }, share) => {
        const world: World = {
          ledger: newLedger(key),
          breakdowns: new Map(),
          held: [],
          messages: [],
          applied: 0,
          answered: 0,
        };
        run(world, before);
        const copied = {
          ledger: world.ledger,
          breakdowns: new Map(world.breakdowns),
          applied: world.applied,
        };
        run(world, after);
        const reported = reportedIn(world.messages.slice(Math.floor(share * copied.applied)));

        const { ledger, disputed } = closeAllGrants(copied.ledger, reported, copied.breakdowns);
        expect(disputed).toBe(0);
        expect(ledger.grants).toEqual([]);
        expect(ledger.closedUsed).toBe(world.answered);
        expect(remainingOf({ ...ledger, limit: LIMIT })).toBe(LIMIT - world.answered);
        const cells = ledger.closed.flatMap(({ cells = [] }) => cells);
        expect(countOf(cells.filter(({ keyId }) => keyId === 'key-1'))).toBe(world.answered);
        // Whatever gateways report later is known, and a new grant has a number that none of them had.
        expect(ledger.nextGrant).toBeGreaterThan(Math.max(0, ...reported.map(({ number }) => number)));
        expect(world.ledger.nextGrant).toBeLessThan(NUMBERS_LEFT_OUT);
      }),
    );
  });

  test('bills no usage that another holder reports, nor usage without a signature', () => {
    const [owner = '', other = ''] = holders;
    const request = { holder: owner, seq: 1, limit: LIMIT, limitRevision: 1, want: 10, ignoredFromSeq: 0 };
    const { ledger } = acquire(newLedger(key), { ...request, secret: newGrantSecret() }, nowMs);
    const [grant] = ledger.grants;
    if (!grant) throw new Error('a grant is needed');
    const reportOf = (more: Partial<ReportedGrant>): ReportedGrant => {
      const { number, secret } = grant;
      return {
        grantId: grantIdOf(key, grant),
        number,
        secret,
        sender: owner,
        used: 2,
        returned: 0,
        cells: [],
        ...more,
      };
    };
    const later = { number: 2, secret: newGrantSecret() };
    for (const foreign of [
      [reportOf({ sender: other })],
      [reportOf({ secret: newGrantSecret() })],
      [reportOf({ ...later, sender: '' })],
      [reportOf({ ...later, used: 1 }), reportOf({ ...later, used: 1, sender: other })],
    ]) {
      const after = closeAllGrants(ledger, foreign, new Map());
      expect([after.ledger.closedUsed, after.disputed]).toEqual([0, 2]);
    }
    expect(closeAllGrants(ledger, [reportOf(later)], new Map()).ledger.closedUsed).toBe(2);
  });
});
