import { setImmediate } from 'node:timers/promises';
import { systemClock } from '@brand-data/runtime';
import { createMemoryDatabase } from '@brand-data/test/simulation/ledger-documents.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { grantIdOf, type Ledger, newGrantSecret, usedOf } from '../src/ledger/ledger.ts';
import { LedgerStore } from '../src/ledger/ledger-store.ts';
import { openMongoLedgerDatabase } from '../src/ledger/mongo-ledger-database.ts';
import { askFor, NOW_MS, newKey, openGrant, read, usageOf } from './ledger-actions.ts';
import { memoryStore, mongoLedgers } from './ledger-stores.ts';

const mongo = mongoLedgers();

const holder = fc.constantFrom('a', 'b', 'c');
const usage = fc.record({
  grant: fc.nat({ max: 12 }),
  used: fc.integer({ min: 0, max: 6 }),
  returned: fc.integer({ min: 0, max: 2 }),
  closed: fc.boolean(),
});
const command = fc.oneof(
  fc.record({
    kind: fc.constant('ask'),
    holder,
    want: fc.integer({ min: 1, max: 8 }),
    givesUp: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('apply'), usage: fc.array(usage, { minLength: 1, maxLength: 4 }) }),
  fc.record({ kind: fc.constant('wait'), ms: fc.integer({ min: 1, max: 400_000 }) }),
  fc.record({ kind: fc.constant('list'), limit: fc.integer({ min: 1, max: 3 }) }),
);

test('requests for 500 ledgers at once cost a few commands to the database', async () => {
  const database = createMemoryDatabase();
  let commands = 0;
  const counted =
    <Given extends unknown[], T>(run: (...given: Given) => Promise<T>) =>
    async (...given: Given): Promise<T> => {
      commands += 1;
      await setImmediate();
      return run(...given);
    };
  const store = new LedgerStore({
    database: {
      ...database,
      readLedgers: counted(database.readLedgers),
      storeLedgers: counted(database.storeLedgers),
    },
    clock: systemClock,
  });
  const keys = Array.from({ length: 500 }, newKey);
  const asked = keys.map((key) =>
    askFor(store, key, { holder: 'a', seq: 1, want: 1, limit: 9, nowMs: NOW_MS }),
  );
  for (const grantId of await Promise.all(asked)) expect(grantId).toBeDefined();
  expect(commands).toBeLessThan(40);
});

test('settling 100 ledgers at once reads the breakdowns of at most 16 at a time', async () => {
  const database = createMemoryDatabase();
  let reading = 0;
  let mostReading = 0;
  const store = new LedgerStore({
    database: {
      ...database,
      readWithBreakdowns: async (id) => {
        reading += 1;
        mostReading = Math.max(mostReading, reading);
        await setImmediate();
        reading -= 1;
        return database.readWithBreakdowns(id);
      },
    },
    clock: systemClock,
  });
  const opened = await Promise.all(Array.from({ length: 100 }, () => openGrant(store, newKey())));
  const ids = opened.map(({ id }) => id);
  expect((await store.settle(ids)).sort()).toEqual(ids.sort());
  expect(mostReading).toBe(16);
});

test('a ledger whose breakdown the database refuses does not prevent the other ledgers of a batch from being billed', async () => {
  const database = createMemoryDatabase();
  let refusedId = '';
  const store = new LedgerStore({
    database: {
      ...database,
      raiseCells: async (grants) => {
        if (grants.some(({ grantId }) => grantId === refusedId)) throw new Error('the document is too large');
        await database.raiseCells(grants);
      },
    },
    clock: systemClock,
  });
  const keys = Array.from({ length: 20 }, newKey);
  const ids = await Promise.all(keys.map(async (key) => (await openGrant(store, key)).id));
  refusedId = ids[7] ?? '';
  const { unavailable } = await store.applyUsage(ids.map((id) => usageOf(id, 3)));
  expect(unavailable).toEqual([refusedId]);
  const ledgers = await Promise.all(keys.map((key) => read(store, key)));
  expect(ledgers.map(({ ledger }) => usedOf(ledger))).toEqual(ids.map((id) => (id === refusedId ? 0 : 3)));
});

test('both stores give the same answers to the same commands', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
      const stores = [memoryStore(), await mongo.open()];
      const key = newKey();
      const secret = newGrantSecret();
      let nowMs = NOW_MS;
      let seq = 0;
      for (const step of commands) {
        seq += 1;
        const answers = await Promise.all(
          stores.map(async (store) => {
            if (step.kind === 'ask') {
              const ignoredFromSeq = step.givesUp ? Math.max(1, seq - 3) : 0;
              const { holder, want } = step;
              return askFor(store, key, { holder, seq, want, limit: 60, ignoredFromSeq, nowMs, secret });
            }
            if (step.kind === 'apply') {
              const answer = await store.applyUsage(
                step.usage.map(({ grant, used, ...more }) =>
                  usageOf(grantIdOf(key, { number: grant + 1, secret }), used, more),
                ),
              );
              return Object.values(answer).map((ids) => ids.sort());
            }
            if (step.kind === 'list') {
              const { grantIds, ...more } = await store.listOpen(undefined, step.limit);
              return [await store.listOverdue(nowMs, step.limit), grantIds.sort(), more];
            }
            return undefined;
          }),
        );
        if (step.kind === 'wait') nowMs += step.ms;
        expect(answers[1]).toEqual(answers[0]);
        const [memory, onMongo] = await Promise.all(
          stores.map((store) => store.readUsage(key.accountId, key.month)),
        );
        expect(onMongo).toEqual(memory);
      }
    }),
    { numRuns: 15 },
  );
});

test.each(['in memory', 'on MongoDB'])(
  'replicas that race report as billed exactly the calls that are on the bills, %s',
  async (where) => {
    const database =
      where === 'in memory' ? createMemoryDatabase() : await openMongoLedgerDatabase(mongo.openDatabase());
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat({ max: 9 }), { minLength: 4, maxLength: 4 }), {
          minLength: 2,
          maxLength: 6,
        }),
        async (batches) => {
          let billed = 0;
          const events = {
            changed: (before: Ledger, after: Ledger) => {
              billed += usedOf(after) - usedOf(before);
            },
            dropped: () => {},
            failed: () => {},
          };
          const replicas = [0, 1].map(() => new LedgerStore({ database, clock: systemClock, events }));
          const [store] = replicas;
          if (!store) throw new Error('there are two replicas');
          const keys = Array.from({ length: 4 }, newKey);
          const ids = await Promise.all(keys.map(async (key) => (await openGrant(store, key)).id));
          await Promise.all(
            batches.map((uses, index) => {
              const closed = index === batches.length - 1;
              const usage = uses.map((used, each) => usageOf(ids[each] ?? '', used, { closed }));
              return replicas[index % 2]?.applyUsage(usage);
            }),
          );
          const ledgers = await Promise.all(keys.map((key) => read(store, key)));
          expect(billed).toBe(ledgers.reduce((sum, { ledger }) => sum + usedOf(ledger), 0));
        },
      ),
      { numRuns: where === 'in memory' ? 200 : 5 },
    );
  },
);
