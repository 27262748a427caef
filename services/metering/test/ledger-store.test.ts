import fc from 'fast-check';
import { expect, test } from 'vitest';
import { askFor, NOW_MS, newKey, usageOf } from './ledger-actions.ts';
import { ledgerStoreContract } from './ledger-store.contract.ts';
import { memoryStore, mongoLedgers } from './ledger-stores.ts';

const mongo = mongoLedgers();

ledgerStoreContract('in memory', async () => memoryStore());
ledgerStoreContract('on MongoDB', mongo.open);

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

test('both stores give the same answers to the same commands', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
      const stores = [memoryStore(), await mongo.open()];
      const key = newKey();
      let nowMs = NOW_MS;
      let seq = 0;
      for (const step of commands) {
        seq += 1;
        const answers = await Promise.all(
          stores.map(async (store) => {
            if (step.kind === 'ask') {
              const ignoredFromSeq = step.givesUp ? Math.max(1, seq - 3) : 0;
              const { holder, want } = step;
              return askFor(store, key, { holder, seq, want, limit: 60, ignoredFromSeq, nowMs });
            }
            if (step.kind === 'apply') {
              const answer = await store.applyUsage(
                step.usage.map(({ grant, used, ...more }) =>
                  usageOf(`${key.accountId}/calls/2026-11/${grant + 1}`, used, more),
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
