import { type GrantUsage, PARKED_USAGE } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { createVirtualClock } from '@brand-data/testing/virtual-clock';
import { expect, test } from 'vitest';
import type { LedgerStore } from '../src/ledger/ledger-store.ts';
import { sentBy } from '../src/ledger/senders.ts';
import type { NotApplied } from '../src/ledger/usage-by-ledger.ts';
import { createUsageBatches } from '../src/usage/usage-batch.ts';
import type { UsageMessage } from '../src/usage/usage-streams.ts';
import { usageOf } from './ledger-actions.ts';

const SECRET = 'A'.repeat(22);
const STORED_MS = Date.UTC(2026, 10, 20);
const grant = (account: string) => `${account}/calls/2026-11/1.${SECRET}`;

interface Conditions {
  laterMs: number;
  stream: string;
  park: () => Promise<void>;
}

/** Returns what happens to messages, by account. The store gives the answers that the test sets for each. */
async function outcomeOf(
  messages: Record<string, { usage: GrantUsage[] | undefined; deliveries?: number; isForged?: boolean }>,
  applyUsage: (usage: readonly GrantUsage[]) => Partial<NotApplied>,
  { laterMs = 0, stream = 'S', park = async () => {} }: Partial<Conditions> = {},
): Promise<Record<string, string>> {
  const clock = createVirtualClock(STORED_MS);
  await clock.advance(laterMs);
  const outcome: Record<string, string> = {};
  const none = { refused: [], foreign: [], impossible: [], unknown: [], unavailable: [] };
  const store: Pick<LedgerStore, 'applyUsage'> = {
    applyUsage: async (usage) => ({ ...none, ...applyUsage(usage) }),
  };
  const batch = Object.entries(messages).map(([name, message], index): UsageMessage => {
    const { usage, deliveries = 1, isForged = false } = message;
    // The stream heeds only the first word about a delivery.
    const is = (what: string) => {
      outcome[name] ??= what;
    };
    return {
      stream,
      sequence: index + 1,
      storedMs: STORED_MS,
      deliveries,
      isForged,
      usage: usage && sentBy('sender', usage),
      ack: () => is('acknowledged'),
      nak: (ms) => is(`again in ${ms}`),
      working: () => {},
      term: (reason) => is(`dead-lettered: ${reason}`),
    };
  });
  const { apply: applyBatch } = createUsageBatches(
    {
      clock,
      store: store as LedgerStore,
      streams: {
        deadLetter: async () => {},
        park,
      },
    },
    {
      applying: (_messages, apply) => apply(),
      applied: () => {},
      refused: () => {},
      redelivered: () => {},
      parked: () => {},
      deadLettered: () => {},
    },
  );
  await applyBatch(batch);
  return outcome;
}

const of = (...accounts: string[]) => accounts.map((account) => usageOf(grant(account), 1));
const naming = (usage: readonly GrantUsage[], account: string) =>
  usage.some(({ grantId }) => grantId === grant(account)) ? [grant(account)] : [];

test('if one ledger cannot be written, only the messages about it are delivered again', async () => {
  const outcome = await outcomeOf(
    { stuck: { usage: of('a') }, both: { usage: of('a', 'b'), deliveries: 3 }, other: { usage: of('b') } },
    (usage) => ({ unavailable: naming(usage, 'a') }),
  );
  expect(outcome).toEqual({ stuck: 'again in 1000', both: 'again in 4000', other: 'acknowledged' });
});

test('if the store does not answer, all messages are delivered again', async () => {
  const outcome = await outcomeOf({ one: { usage: of('a') }, two: { usage: of('b') } }, () => {
    throw new Fault('unavailable', 'away');
  });
  expect(outcome).toEqual({ one: 'again in 1000', two: 'again in 1000' });
});

const unknown = (usage: readonly GrantUsage[]) => ({ unknown: naming(usage, 'a') });

test('a message with an unknown grant is parked, so that the messages after it count as applied', async () => {
  const messages = { it: { usage: of('a', 'b') }, next: { usage: of('b') } };
  expect(await outcomeOf(messages, unknown)).toEqual({ it: 'acknowledged', next: 'acknowledged' });
  const park = async () => {
    throw new Error('the stream of parked usage is full');
  };
  expect(await outcomeOf(messages, unknown, { park })).toEqual({ it: 'again in 1000', next: 'acknowledged' });
});

test('parked usage is delivered again until a minute and ten deliveries are over, then goes to the dead letters', async () => {
  const outcomeAfter = async (laterMs: number, deliveries: number) =>
    outcomeOf({ it: { usage: of('a'), deliveries } }, unknown, { laterMs, stream: PARKED_USAGE.name });
  expect(await outcomeAfter(0, 1)).toEqual({ it: 'again in 1000' });
  expect(await outcomeAfter(60_000, 30)).toEqual({ it: 'again in 5000' });
  expect(await outcomeAfter(3_600_000, 9)).toEqual({ it: 'again in 5000' });
  expect(await outcomeAfter(60_001, 10)).toEqual({ it: 'dead-lettered: unknown_grant' });
});

test('no message goes to the dead letters while a part of it is not stored yet', async () => {
  const outcome = await outcomeOf(
    { it: { usage: of('a', 'b'), deliveries: 99 } },
    () => ({ unknown: [grant('a')], unavailable: [grant('b')] }),
    { laterMs: 3_600_000, stream: PARKED_USAGE.name },
  );
  expect(outcome).toEqual({ it: 'again in 5000' });
});

test('a message without usage, one whose usage contradicts itself, a forged one and one about a grant of another holder go to the dead letters alone', async () => {
  const outcome = await outcomeOf(
    {
      strange: { usage: undefined },
      senseless: { usage: [usageOf(grant('a'), -1)] },
      sound: { usage: of('b') },
      impossible: { usage: of('c') },
      forged: { usage: undefined, isForged: true },
      foreign: { usage: of('d') },
    },
    (usage) => ({ impossible: naming(usage, 'c'), foreign: naming(usage, 'd') }),
  );
  expect(outcome).toEqual({
    strange: 'dead-lettered: unreadable',
    senseless: 'dead-lettered: unreadable',
    impossible: 'dead-lettered: unreadable',
    forged: 'dead-lettered: forged',
    foreign: 'dead-lettered: foreign_grant',
    sound: 'acknowledged',
  });
});

test('a defect in one message does not prevent others from being stored', async () => {
  const outcome = await outcomeOf({ bad: { usage: of('a') }, good: { usage: of('b') } }, (usage) => {
    if (naming(usage, 'a').length > 0) throw new TypeError('a defect');
    return {};
  });
  expect(outcome).toEqual({ bad: 'again in 1000', good: 'acknowledged' });
});
