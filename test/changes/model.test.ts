import { Announcer } from '@brand-data/catalog/src/storage/announcer.ts';
import {
  Brand,
  BrandType,
  CatalogChanged,
  type CatalogServiceClient,
  type LookupResult,
  MatchKind,
  MatchStrength,
} from '@brand-data/contracts';
import type { CatalogAnswer } from '@brand-data/gateway/src/records/catalog-answer.ts';
import { createChangeReader } from '@brand-data/gateway/src/records/catalog-changes.ts';
import { Records } from '@brand-data/gateway/src/records/records.ts';
import { unaryMethod } from '@brand-data/gateway/test/stand-ins.ts';
import type { Nats, Service } from '@brand-data/runtime';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

/** A changed record has to be answered anew after this time. */
const BOUND_MS = 5_000;
const TICK_MS = 500;
/** After this time a gateway knows every open series. */
const ACQUAINTED_MS = 3_000;
const GATEWAYS = 2;
const REPLICAS = 2;
const KEYS = 4;
const RECORDS = 6;
/** What an identifier is answered depends on the records that have one of its keys: the one with the highest rank. */
const IDENTIFIERS: readonly (readonly number[])[] = [[0], [0, 1], [1, 2], [2, 3], [3]];

interface StoredRecord {
  readonly version: number;
  readonly rank: number;
  readonly keys: readonly number[];
}

/** Creates the catalogue's database: the answer of each identifier, with the time since which it is the answer. */
function createDatabase() {
  const records = new Map<number, StoredRecord>();
  const answerOf = (identifier: number) => {
    const read = IDENTIFIERS[identifier] ?? [];
    const [best] = [...records]
      .filter(([, { keys }]) => keys.some((key) => read.includes(key)))
      .sort(([a, { rank }], [b, { rank: other }]) => other - rank || a - b);
    return best && `record ${best[0]}, version ${best[1].version}`;
  };
  const history = IDENTIFIERS.map((_, identifier) => [
    { sinceMs: Number.NEGATIVE_INFINITY, answer: answerOf(identifier) },
  ]);
  return {
    answerOf,
    write(id: number, record: StoredRecord | undefined): void {
      if (record === undefined) records.delete(id);
      else records.set(id, record);
      for (const [identifier, answers] of history.entries())
        if (answers.at(-1)?.answer !== answerOf(identifier))
          answers.push({ sinceMs: performance.now(), answer: answerOf(identifier) });
    },
    keysOf: (id: number) => records.get(id)?.keys ?? [],
    /** Whether a fresh look-up gave the answer at some time since then. */
    wasAnswerSince(identifier: number, answer: string | undefined, sinceMs: number): boolean {
      const answers = history[identifier] ?? [];
      return answers.some(
        (each, index) =>
          each.answer === answer && (answers[index + 1]?.sinceMs ?? Number.POSITIVE_INFINITY) >= sinceMs,
      );
    },
  };
}

/** NATS: what each gateway hears. It loses messages, but not all of a series. */
function createBus() {
  const gateways: {
    hear: (message: CatalogChanged) => void;
    isConnected: boolean;
    isLossy: boolean;
    /** The series of which the gateway has heard something on this connection. */
    heard: Set<string>;
  }[] = [];
  return {
    gateways,
    publish(data: Uint8Array): void {
      const message = CatalogChanged.decode(data);
      for (const gateway of gateways) {
        if (!gateway.isConnected) continue;
        if (gateway.isLossy && (!message.last || gateway.heard.has(message.series))) continue;
        gateway.heard.add(message.series);
        gateway.hear(message);
      }
    },
    /** Called with a replica's last message before its crash. Gateways that have heard nothing of its series hear this message. */
    endWith(data: Uint8Array): void {
      const message = CatalogChanged.decode(data);
      for (const gateway of gateways) {
        if (!gateway.isConnected || gateway.heard.has(message.series)) continue;
        gateway.heard.add(message.series);
        gateway.hear(message);
      }
    },
  };
}

type Bus = ReturnType<typeof createBus>;
type Database = ReturnType<typeof createDatabase>;

/** Creates a replica of catalog, which can crash: then it announces no more, although its writes are made. */
function createReplica(bus: Bus) {
  let isUp = true;
  let lastMessage: Uint8Array | undefined;
  const connection = {
    publish: (_: string, data: Uint8Array) => {
      if (!isUp) return;
      lastMessage = data;
      bus.publish(data);
    },
    flush: async () => {
      await pause(1);
    },
  };
  const service = { onStop: () => {}, log: { warn: () => {} } };
  const { announce } = new Announcer(service as unknown as Service, { connection } as unknown as Nats);
  return {
    announce,
    crash: () => {
      isUp = false;
      if (lastMessage !== undefined) bus.endWith(lastMessage);
    },
  };
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

function createGateway(bus: Bus, database: Database, latency: () => number) {
  const lookup = unaryMethod(async ({ queries }: { queries: { identifier: string }[] }) => {
    await pause(latency());
    const names = queries.map(({ identifier }) => database.answerOf(Number(identifier)));
    await pause(latency());
    return { results: queries.map(({ identifier }, index) => resultOf(Number(identifier), names[index])) };
  });
  const records = new Records({ lookup } as unknown as CatalogServiceClient, {
    logoHost: 'https://logos.example.com',
    monogramKey: 'any',
    cacheBytes: 1_000_000,
  });
  const expiries: string[] = [];
  const reader = createChangeReader(records, (reason) => expiries.push(reason));
  const onBus = { hear: reader.read, isConnected: true, isLossy: false, heard: new Set<string>() };
  bus.gateways.push(onBus);
  setInterval(reader.tick, TICK_MS);
  return {
    expiries,
    /** NATS loses messages on their way to this gateway, but no connection. */
    lose: (isLossy: boolean) => {
      onBus.isLossy = isLossy;
    },
    /** The connection breaks, and with it all messages are lost until it is there again. */
    async reconnect(afterMs: number) {
      onBus.isConnected = false;
      await pause(afterMs);
      onBus.isConnected = true;
      onBus.heard.clear();
      reader.reconnected();
    },
    async answer(identifier: number): Promise<string | undefined> {
      return nameOf(await records.find('grouped', String(identifier)));
    },
  };
}

function resultOf(identifier: number, name: string | undefined): LookupResult {
  const brand = Brand.fromPartial({
    id: 'some',
    type: BrandType.BRAND,
    name: name ?? '',
    description: 'Made up.',
    category: 'brand',
  });
  return {
    ...(name !== undefined && {
      brand,
      match: { kind: MatchKind.NAME, value: name, strength: MatchStrength.EXACT },
    }),
    suggestions: [],
    namesSuperinvestor: false,
    leftOut: false,
    keys: [...(IDENTIFIERS[identifier] ?? [])],
  };
}

function nameOf({ record }: CatalogAnswer): string | undefined {
  return record && (JSON.parse(record.content.body.toString()) as { name: string }).name;
}

const gateway = fc.nat(GATEWAYS - 1);
const replica = fc.nat(REPLICAS - 1);
const call = fc.record({
  kind: fc.constant('call' as const),
  gateway,
  identifier: fc.nat(IDENTIFIERS.length - 1),
});
const change = fc.record({
  kind: fc.constant('change' as const),
  replica,
  id: fc.nat(RECORDS - 1),
  /** Undefined: the record is removed. */
  record: fc.option(
    fc.record({
      rank: fc.nat(3),
      keys: fc.subarray(
        Array.from({ length: KEYS }, (_, key) => key),
        { minLength: 1, maxLength: 2 },
      ),
    }),
    { nil: undefined, freq: 4 },
  ),
  writeMs: fc.nat(1_500),
});
const fault = fc.oneof(
  fc.record({ kind: fc.constant('crash' as const), replica }),
  fc.record({ kind: fc.constant('lose' as const), gateway, forMs: fc.integer({ min: 1, max: 4_000 }) }),
  fc.record({ kind: fc.constant('reconnect' as const), gateway, afterMs: fc.nat(1_000) }),
);
type Step = typeof call | typeof change | typeof fault extends fc.Arbitrary<infer Each> ? Each : never;

const pauseMs = fc.oneof(fc.nat(50), fc.nat(1_500), fc.nat(70_000));
const stepsWith = (...more: fc.Arbitrary<Step>[]) =>
  fc.array(
    fc.tuple(fc.oneof({ arbitrary: call, weight: 4 }, { arbitrary: change, weight: 2 }, ...more), pauseMs),
    { minLength: 5, maxLength: 60 },
  );

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Runs the steps. Each answer must be one that a fresh look-up gave in the last seconds. Returns the reasons of full expiries. */
async function run(
  steps: readonly (readonly [Step, number])[],
  latencies: readonly number[],
): Promise<string[]> {
  vi.clearAllTimers();
  const [bus, database] = [createBus(), createDatabase()];
  let taken = 0;
  const latency = () => latencies[taken++ % latencies.length] ?? 0;
  const gateways = Array.from({ length: GATEWAYS }, () => createGateway(bus, database, latency));
  const replicas = Array.from({ length: REPLICAS }, () => createReplica(bus));
  const wrong: string[] = [];
  let version = 0;
  await vi.advanceTimersByTimeAsync(ACQUAINTED_MS);

  const call = async (at: number, identifier: number) => {
    const answer = await gateways[at]?.answer(identifier);
    if (!database.wasAnswerSince(identifier, answer, performance.now() - BOUND_MS))
      wrong.push(
        `gateway ${at}, identifier ${identifier}: ${answer}, but it is ${database.answerOf(identifier)}`,
      );
  };

  const make = (step: Step): unknown => {
    switch (step.kind) {
      case 'call':
        return call(step.gateway, step.identifier);
      case 'change': {
        const record = step.record && { ...step.record, version: ++version };
        const keys = [...database.keysOf(step.id), ...(record?.keys ?? [])];
        return replicas[step.replica]?.announce(keys, async () => {
          await pause(step.writeMs);
          // Another write may have been made meanwhile. Catalog would then plan again.
          if (database.keysOf(step.id).every((key) => keys.includes(key))) database.write(step.id, record);
          await pause(20);
        });
      }
      case 'crash':
        replicas[step.replica]?.crash();
        replicas[step.replica] = createReplica(bus);
        return;
      case 'lose':
        gateways[step.gateway]?.lose(true);
        return pause(step.forMs).then(() => gateways[step.gateway]?.lose(false));
      case 'reconnect':
        return gateways[step.gateway]?.reconnect(step.afterMs);
    }
  };

  for (const [step, afterMs] of steps) {
    void make(step);
    await vi.advanceTimersByTimeAsync(afterMs);
  }
  await vi.advanceTimersByTimeAsync(BOUND_MS);
  for (const at of gateways.keys()) for (const identifier of IDENTIFIERS.keys()) void call(at, identifier);
  await vi.advanceTimersByTimeAsync(BOUND_MS);
  expect(wrong).toEqual([]);
  return gateways.flatMap(({ expiries }) => expiries);
}

/**
 * A look-up and the search for suggestions take two of these latencies each, and a change may make both be repeated. If that took
 * longer than a second, or than 300 ms after all records have expired, the gateway would answer as if catalog were out of reach.
 */
const latenciesUpTo = (mostMs: number) => fc.array(fc.nat(mostMs), { minLength: 1, maxLength: 10 });

test('after any changes, every answer is one that a fresh look-up gave in the last 5 s, and no change expires all records', async () => {
  await fc.assert(
    fc.asyncProperty(stepsWith(), latenciesUpTo(100), async (steps, latency) => {
      expect(await run(steps, latency)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

/** A gateway connects while a series is under way, and loses its only message with keys. */
const LOST_AFTER_RECONNECT: [[Step, number][], number[]] = [
  [
    [{ kind: 'lose', gateway: 1, forMs: 26 }, 0],
    [{ kind: 'reconnect', gateway: 1, afterMs: 0 }, 0],
    [{ kind: 'change', replica: 0, id: 0, record: { rank: 0, keys: [2] }, writeMs: 5 }, 0],
    [{ kind: 'call', gateway: 0, identifier: 0 }, 0],
    [{ kind: 'call', gateway: 0, identifier: 0 }, 0],
    [{ kind: 'call', gateway: 1, identifier: 2 }, 0],
    [{ kind: 'change', replica: 0, id: 0, record: undefined, writeMs: 5 }, 0],
    [{ kind: 'change', replica: 0, id: 0, record: undefined, writeMs: 5 }, 6],
  ],
  [0],
];

test('the same holds when replicas crash, messages are lost and connections break', async () => {
  const reasons = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      stepsWith({ arbitrary: fault, weight: 1 } as never),
      latenciesUpTo(30),
      async (steps, latency) => {
        for (const reason of await run(steps, latency)) reasons.add(reason);
      },
    ),
    { numRuns: 500, examples: [LOST_AFTER_RECONNECT] },
  );
  expect(reasons).toEqual(new Set(['missed_message', 'reconnect']));
});
