import { UsageNews } from '@brand-data/contracts';
import type { Nats } from '@brand-data/runtime';
import { expect, onTestFinished, test } from 'vitest';
import { sendUsageNews, UsageNewsSender } from '../src/granting/usage-news.ts';
import { type Ledger, newLedger, type OpenGrant } from '../src/ledger/ledger.ts';
import { NOW_MS, newKey } from './ledger-actions.ts';

/** NATS accepts larger messages only if it is told to. */
const MAX_PAYLOAD_BYTES = 1024 ** 2;

function ledgerWith(grants: number): Ledger {
  const grant = (number: number): OpenGrant => ({
    number,
    secret: 'A'.repeat(22),
    holder: 'holder',
    seq: number,
    size: 10,
    used: 1,
    returned: 0,
    ttlMs: 60_000,
    idleMs: 0,
    openedAtMs: NOW_MS,
  });
  return { ...newLedger(newKey()), grants: Array.from({ length: grants }, (_, index) => grant(index + 1)) };
}

/** The change of a ledger that has used all of this at once. */
const changeTo = (after: Ledger): [Ledger, Ledger] => [{ ...after, grants: [] }, after];

test('many accounts with many open grants are told in several messages, each of which NATS accepts', () => {
  const sent: UsageNews[] = [];
  const sender = new UsageNewsSender((news) => sent.push(news));
  const ledgers = Array.from({ length: 12 }, () => ledgerWith(2_000));
  const [first] = ledgers;
  // An account that changes several times is told once.
  if (first) for (let time = 0; time < 5; time++) sender.changed(...changeTo(first));
  for (const ledger of ledgers) sender.changed(...changeTo(ledger));
  sender.send();
  expect(sent.map(({ number, accounts }) => [number, accounts.length])).toEqual([
    [0, 3],
    [1, 3],
    [2, 3],
    [3, 3],
    [4, 0],
  ]);
  for (const news of sent) expect(UsageNews.encode(news).finish().length).toBeLessThan(MAX_PAYLOAD_BYTES / 2);
});

test('news that are too large for NATS are left out, their number is missing, and metering goes on', () => {
  const sent: UsageNews[] = [];
  const publish = (_subject: string, data: Uint8Array) => {
    if (data.length > MAX_PAYLOAD_BYTES) throw new Error('max_payload exceeded');
    sent.push(UsageNews.decode(data));
  };
  const connection = { publish, isClosed: () => false, isDraining: () => false };
  let stop = () => {};
  const service = {
    onStop: (_name: string, stopping: () => void) => {
      stop = stopping;
    },
  };
  const sender = sendUsageNews(service, { connection } as unknown as Pick<Nats, 'connection'>);
  onTestFinished(() => stop());
  sender.send();
  sender.changed(...changeTo(ledgerWith(60_000)));
  sender.changed(...changeTo(ledgerWith(20)));
  sender.send();
  expect(sent.map(({ number, accounts }) => [number, accounts.length])).toEqual([
    [0, 0],
    [2, 1],
  ]);
});
