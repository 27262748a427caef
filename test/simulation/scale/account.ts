import { Route } from '@brand-data/contracts';
import { GrantBook } from '@brand-data/gateway/src/quota/grant-book.ts';
import { type Allowance, countCall } from '@brand-data/gateway/src/quota/holding.ts';
import {
  acquire,
  grantIdOf,
  type Ledger,
  newLedger,
  parseGrantId,
} from '@brand-data/metering/src/ledger/ledger.ts';
import type { Instant } from '@brand-data/runtime';

/** The requests that one account's traffic causes at metering. */
export interface AccountLoad {
  seconds: number;
  calls: number;
  acquires: number;
  /** Closed grants. */
  closes: number;
  /** Calls that found no permit at their gateway. */
  waited: number;
}

const ROUND_TRIP_MS = 3;
/** Longer than in the product, so a grant may be closed some seconds later than in the product. */
const SWEEP_EVERY_MS = 5_000;
const MONTH = '2026-11';
const MONTH_START = Date.UTC(2026, 10, 1);
/** The middle of a month, so that no month ends meanwhile. */
const BEGIN_MS = Date.UTC(2026, 10, 10);
const MONTH_SECONDS = 30 * 86_400;

type Step = { atMs: number; run: () => void };

/**
 * Simulates one account's calls over several gateways in virtual time, with the product's own grant book and ledger. Calls
 * arrive as a Poisson process. The first third of the time warms up and is not measured. The account's
 * allowance is twice its monthly traffic, and half of the allowance is used.
 */
export function simulateAccount(
  { callsPerSecond, gateways }: { callsPerSecond: number; gateways: number },
  random: () => number,
): AccountLoad {
  const seconds = Math.min(2_400, Math.max(120, 300_000 / callsPerSecond));
  const limit = Math.max(1_000, Math.ceil(callsPerSecond * MONTH_SECONDS * 2));
  const allowance: Allowance = { accountId: 'account', pool: 'calls', limit, limitRevision: 1 };
  const books = Array.from({ length: gateways }, () => new GrantBook());
  const asking = new Set<number>();
  const holding = new Set<number>();
  let ledger: Ledger = {
    ...newLedger({ accountId: 'account', pool: 'calls', month: MONTH }),
    closedUsed: Math.floor(limit / 2),
  };
  const load: AccountLoad = { seconds: (seconds * 2) / 3, calls: 0, acquires: 0, closes: 0, waited: 0 };
  const countFromMs = (seconds * 1_000) / 3;

  const later: Step[] = [];
  const schedule = (atMs: number, run: () => void) => {
    const index = later.findLastIndex((step) => step.atMs <= atMs);
    later.splice(index + 1, 0, { atMs, run });
  };
  const at = (ms: number): Instant => ({ monotonicMs: ms, wallMs: BEGIN_MS + ms });
  const counts = (ms: number) => ms >= countFromMs;

  const close = (gateway: number, ms: number) => {
    const book = books[gateway];
    const final = book?.sweep(at(ms)) ?? [];
    for (const grant of final) {
      const number = parseGrantId(grant.id)?.number;
      ledger = {
        ...ledger,
        closedUsed: ledger.closedUsed + grant.used,
        grants: ledger.grants.filter((open) => open.number !== number),
      };
      if (counts(ms)) load.closes += 1;
    }
    if (final.length > 0) book?.forget(new Set(final), at(ms));
    if (book?.size.grants === 0) holding.delete(gateway);
  };

  const ask = (gateway: number, ms: number) => {
    const book = books[gateway];
    if (!book || asking.has(gateway)) return;
    asking.add(gateway);
    close(gateway, ms);
    const held = book.holding(allowance, at(ms));
    const next = book.nextAcquire(held, 0, at(ms));
    if (counts(ms)) load.acquires += 1;
    schedule(ms + ROUND_TRIP_MS, () => {
      asking.delete(gateway);
      const asked = acquire(
        ledger,
        { ...next, holder: `gateway-${gateway}`, limit, limitRevision: 1 },
        BEGIN_MS + ms,
      );
      ledger = asked.ledger;
      const now = at(ms + ROUND_TRIP_MS);
      if (asked.decision.kind !== 'grant') {
        book.refused(held, next.seq);
        return;
      }
      const { grant, remaining } = asked.decision;
      const period = { periodStartMs: MONTH_START, periodEndMs: MONTH_START + MONTH_SECONDS * 1_000 };
      const id = grantIdOf(ledger, grant);
      holding.add(gateway);
      book.granted(held, next.seq, { ...grant, ...period, id, remaining }, now);
    });
  };

  const call = (gateway: number, ms: number, isFirstTry: boolean) => {
    const book = books[gateway];
    if (!book) return;
    if (isFirstTry && counts(ms)) load.calls += 1;
    const held = book.holding(allowance, at(ms));
    countCall(held, at(ms));
    const admission = book.take(held, at(ms));
    if (admission.kind === 'permit') {
      admission.permit.use({ keyId: 'key', route: Route.BRANDS, status: 200 });
      book.committed(admission.permit.grant, 1);
      if (book.wantsRenewal(held, at(ms))) ask(gateway, ms);
      return;
    }
    if (isFirstTry && counts(ms)) load.waited += 1;
    ask(gateway, ms);
    schedule(ms + ROUND_TRIP_MS, () => call(gateway, ms + ROUND_TRIP_MS, false));
  };

  let nextSweepMs = SWEEP_EVERY_MS;
  for (let ms = 0; ms < seconds * 1_000; ) {
    ms += (-Math.log(1 - random()) / callsPerSecond) * 1_000;
    while (later[0] && later[0].atMs <= ms) later.shift()?.run();
    for (; nextSweepMs <= ms; nextSweepMs += SWEEP_EVERY_MS) {
      for (const gateway of holding) close(gateway, nextSweepMs);
    }
    call(Math.floor(random() * gateways), ms, true);
  }
  return load;
}
