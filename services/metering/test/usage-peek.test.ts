import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LedgerStore } from '../src/ledger/ledger-store.ts';
import { UsageConsumer } from '../src/usage/usage-consumer.ts';
import { usageOf } from './ledger-actions.ts';
import { type SimulatedStreams, simulatedStreams } from './simulated-streams.ts';

let under: SimulatedStreams;
let consumer: UsageConsumer;
/** When each number of used permits was first stored. */
let storedAt: Map<number, number>;

beforeEach(async () => {
  under = await simulatedStreams();
  storedAt = new Map();
  const store: Pick<LedgerStore, 'applyUsage' | 'listOverdue'> = {
    listOverdue: async () => [],
    applyUsage: async (usage) => {
      for (const { used } of usage) if (!storedAt.has(used)) storedAt.set(used, under.nowMs());
      return { refused: [], foreign: [], impossible: [], unknown: [], unavailable: [] };
    },
  };
  const nothing = () => {};
  consumer = new UsageConsumer(
    { streams: await under.connect(), store: store as LedgerStore, clock: under.clock },
    {
      applying: (_batch, apply) => apply(),
      applied: nothing,
      refused: nothing,
      redelivered: nothing,
      parked: nothing,
      deadLettered: nothing,
      notOpen: nothing,
    },
  );
  await consumer.opened;
});

afterEach(async () => {
  await consumer.stop();
  await under.close();
});

const publish = (used: number) =>
  under.publish({ holder: 'h', usage: [usageOf(`account/calls/2026-11/1.${'A'.repeat(22)}`, used)] });

test('while a consumer has no leader, usage is billed within three seconds after the stream stored it', async () => {
  await publish(1);
  await under.sleep(2_000);
  expect(storedAt.has(1)).toBe(true);
  await under.loseLeader();
  const publishedAt = new Map<number, number>();
  for (let used = 2; used <= 40; used++) {
    publishedAt.set(used, under.nowMs());
    await publish(used);
    await under.sleep(200);
  }
  await under.sleep(3_000);
  const late = [...publishedAt].filter(([used, atMs]) => (storedAt.get(used) ?? Infinity) - atMs > 3_000);
  expect(late).toEqual([]);
});
