import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { acquire, newLedger } from '../src/ledger/ledger.ts';
import { countDropped, reportDropped } from '../src/ledger/ledger-counters.ts';
import { decideOnUsage, withMerged } from '../src/ledger/ledger-usage.ts';
import { usageOf } from './ledger-actions.ts';

const key = { accountId: 'acct', pool: 'calls', month: '2026-11' };
const id = (number: number) => `acct/calls/2026-11/${number}`;

async function told(metrics: Registry): Promise<Record<string, number>> {
  const [metric] = await metrics.getMetricsAsJSON();
  return Object.fromEntries(metric?.values.map(({ labels, value }) => [labels.reason, value]) ?? []);
}

test('calls that will never be billed are counted by reason; usage that is sent again or without a number is not counted', async () => {
  const metrics = new Registry();
  const none = {
    closed_grant: 0,
    foreign_grant: 0,
    forgotten_grant: 0,
    impossible: 0,
    unreadable: 0,
    unknown_grant: 0,
  };
  const dropped = countDropped(metrics);
  expect(await told(metrics), 'there from the start, so that the first is an increase').toEqual(none);
  const usage = [usageOf(id(1), 1), usageOf(id(2), 20), usageOf(id(3), 300), usageOf(id(4), 4_000)];
  const senseless = [usageOf(id(5), -1), usageOf(id(5), Number.NaN), usageOf(id(5), 1e300)];
  const answer = { foreign: [id(1)], impossible: [id(2)], unreadable: [id(3), id(5)], unknown: [id(4)] };
  reportDropped([...usage, ...senseless], answer, dropped);
  reportDropped(usage, { ...answer, unknown: [] }, countDropped(metrics));
  expect(await told(metrics)).toEqual({
    ...none,
    foreign_grant: 2,
    impossible: 40,
    unreadable: 600,
    unknown_grant: 4_000,
  });
});

test('usage beyond the bill of a closed grant counts as dropped; if the ledger has forgotten the grant, it counts as forgotten', () => {
  let ledger = newLedger(key);
  const give = () => {
    const request = {
      holder: 'h',
      seq: ledger.nextGrant,
      limit: 10_000,
      limitRevision: 1,
      want: 10,
      ignoredFromSeq: 0,
      secret: '',
    };
    ({ ledger } = acquire(ledger, request, 0));
    return ledger.nextGrant - 1;
  };
  const apply = (number: number, used: number, closed = false) => {
    const decision = decideOnUsage(ledger, [
      { number, secret: '', usage: usageOf(id(number), used, { closed }) },
    ]);
    ({ ledger } = decision);
    ledger = withMerged(ledger, new Set(decision.closed.length > 0 ? [number] : []));
    const { verdicts, dropped, forgotten } = decision;
    return { verdict: verdicts[0], dropped, forgotten };
  };
  const first = give();
  expect(apply(first, 3, true)).toEqual({ verdict: 'applied', dropped: 0, forgotten: 0 });
  expect(apply(first, 3)).toEqual({ verdict: 'applied', dropped: 0, forgotten: 0 });
  expect(apply(first, 5)).toEqual({ verdict: 'refused', dropped: 2, forgotten: 0 });
  for (let later = 0; later < 100; later++) apply(give(), 1, true);
  expect(apply(first, 5)).toEqual({ verdict: 'refused', dropped: 0, forgotten: 5 });
});
