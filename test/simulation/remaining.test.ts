import { boundsOfMonth, Route, toleranceOf, type UsageNews } from '@brand-data/contracts';
import { GrantBook } from '@brand-data/gateway/src/quota/grant-book.ts';
import { type HeldGrant, snapshotOf } from '@brand-data/gateway/src/quota/held-grant.ts';
import { UsageNewsSender } from '@brand-data/metering/src/granting/usage-news.ts';
import { acquire, type Ledger, newLedger, parseGrantId } from '@brand-data/metering/src/ledger/ledger.ts';
import { decideOnUsage } from '@brand-data/metering/src/ledger/ledger-usage.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const MONTH = '2026-11';
const { startMs: periodStartMs, endMs: periodEndMs } = boundsOfMonth(MONTH);
const TICK_MS = 250;
/** After this time a gateway has noticed that it hears no news. */
const NOTICED_MS = 2_000;
type Replica = 'one' | 'two';
const answer = { keyId: 'key-1', route: Route.BRANDS, status: 200, day: '2026-11-20' };

/** Two gateways, and two replicas of metering, which apply usage and send news four times a second. */
function startWorld(limit: number) {
  let ms = 0;
  let used = 0;
  let ledger = newLedger({ accountId: 'acct', pool: 'calls', month: MONTH });
  const history = [{ ms, used }];
  const sent: Record<Replica, UsageNews[]> = { one: [], two: [] };
  const senders = {
    one: new UsageNewsSender((news) => sent.one.push(news)),
    two: new UsageNewsSender((news) => sent.two.push(news)),
  };
  /** Stores the gateways' usage. */
  let replica: Replica = 'one';
  let isTwoCutOff = false;
  const books = { a: new GrantBook(() => 2), b: new GrantBook(() => 2) };
  const now = () => ({ monotonicMs: ms, wallMs: periodStartMs + 86_400_000 + ms });
  const holdingOf = (name: 'a' | 'b') =>
    books[name].holding({ accountId: 'acct', pool: 'calls', limit, limitRevision: 1 }, now());
  const change = (after: Ledger) => {
    senders[replica].changed(ledger, after);
    ledger = after;
  };
  const report = (name: 'a' | 'b', grants: readonly HeldGrant[]) => {
    const snapshots = new Map(grants.map((grant) => [grant, snapshotOf(grant)]));
    const usage = [...snapshots.values()].flatMap(({ usage }) => {
      const parsed = parseGrantId(usage.grantId);
      return parsed ? [{ ...parsed, usage }] : [];
    });
    change(decideOnUsage(ledger, usage).ledger);
    books[name].reported(snapshots, now());
  };
  const ask = (name: 'a' | 'b') => {
    const holding = holdingOf(name);
    const { snapshots, ...wanted } = books[name].nextAcquire(holding, 1, now());
    report(name, [...snapshots.keys()]);
    const request = { ...wanted, holder: name, limit, limitRevision: 1, secret: 's'.repeat(22) };
    const { ledger: after, decision } = acquire(ledger, request, now().wallMs);
    change(after);
    if (decision.kind === 'exhausted') books[name].exhausted(holding, wanted.seq, periodEndMs, now());
    if (decision.kind !== 'grant') return;
    const { size, ttlMs, idleMs, number, secret } = decision.grant;
    const id = `acct/calls/${MONTH}/${number}.${secret}`;
    const told = { remaining: decision.remaining, used: decision.used };
    books[name].granted(
      holding,
      wanted.seq,
      { id, size, ttlMs, idleMs, periodStartMs, periodEndMs, ...told },
      now(),
    );
  };
  return {
    reportTo: (to: Replica) => {
      replica = to;
    },
    /** Nobody hears the news of the second replica any more, or everybody does again. */
    cutOff: (isCutOff: boolean) => {
      isTwoCutOff = isCutOff;
    },
    /** `told`: the calls that are left, as the gateway tells them. */
    call: (name: 'a' | 'b') => {
      const holding = holdingOf(name);
      report(name, books[name].retire(holding, now()));
      let admission = books[name].take(holding, now());
      if (admission.kind === 'empty') {
        ask(name);
        admission = books[name].take(holding, now());
      }
      if (admission.kind !== 'permit')
        return { isAdmitted: false, told: books[name].remaining(holding, now()) };
      admission.permit.use(answer);
      books[name].committed(admission.permit.grant, 1);
      used += 1;
      history.push({ ms, used });
      return { isAdmitted: true, told: books[name].remaining(holding, now()) };
    },
    tick: (isLost: boolean) => {
      ms += TICK_MS;
      for (const name of ['a', 'b'] as const) {
        report(name, books[name].sweep(now()));
        report(name, holdingOf(name).grants);
      }
      for (const sender of Object.values(senders)) sender.send();
      const [one, two] = [sent.one.splice(0), sent.two.splice(0)];
      for (const news of isTwoCutOff ? one : [...one, ...two]) {
        books.b.heard(news, now());
        if (!isLost) books.a.heard(news, now());
      }
    },
    /** The calls that were left lately. */
    left: () => {
      const before = history.findLastIndex((each) => each.ms <= ms - NOTICED_MS);
      const least = history[Math.max(0, before)]?.used ?? 0;
      return { most: limit - least, least: limit - used };
    },
  };
}

interface Step {
  calls?: number;
  at: 'a' | 'b';
  to: Replica;
  ticks?: number;
  /** Gateway a hears no news. */
  areLost?: boolean;
  /** From now on, the second replica is cut off from NATS or not. */
  isCutOff?: boolean;
}

const place = { at: fc.constantFrom('a' as const, 'b'), to: fc.constantFrom('one' as const, 'two') };
const ticks = fc.integer({ min: 1, max: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ ...place, calls: fc.integer({ min: 1, max: 400 }) }) },
  { weight: 4, arbitrary: fc.record({ ...place, ticks }) },
  { weight: 2, arbitrary: fc.record({ ...place, ticks, areLost: fc.constant(true) }) },
  { weight: 1, arbitrary: fc.record({ ...place, isCutOff: fc.boolean() }) },
);

test('a gateway tells the calls that are left within 2 % of the allowance or ten calls, or does not tell them', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5_000 }),
      fc.array(step, { minLength: 5, maxLength: 60 }),
      (limit, steps) => {
        const world = startWorld(limit);
        world.tick(false);
        let isAnyLost = false;
        for (const { at, to, calls = 0, ticks = 0, areLost = false, isCutOff } of steps) {
          isAnyLost ||= areLost || isCutOff === true;
          world.reportTo(to);
          if (isCutOff !== undefined) world.cutOff(isCutOff);
          for (let tick = 0; tick < ticks; tick++) world.tick(areLost);
          for (let call = 0; call < calls; call++) {
            const { isAdmitted, told } = world.call(at);
            if (at === 'b') continue;
            if (isAdmitted && !isAnyLost) expect(told, 'nothing was lost').toBeDefined();
            if (told === undefined) continue;
            const { most, least } = world.left();
            expect(told).toBeLessThanOrEqual(most + toleranceOf(limit));
            expect(told).toBeGreaterThanOrEqual(least - toleranceOf(limit));
          }
        }
      },
    ),
  );
});
