import { addMonths, type GrantUsage, monthOf } from '@brand-data/contracts';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { grantIdOf, newGrantSecret, newLedger, usedOf } from '../src/ledger/ledger.ts';
import type { OpenCursor } from '../src/ledger/ledger-database.ts';
import type { LedgerStore } from '../src/ledger/ledger-store.ts';
import {
  answerOf,
  NOW_MS,
  newKey,
  openGrant,
  openOldGrant,
  read,
  settlingOf,
  sumOf,
  usageOf,
} from './ledger-actions.ts';
import { memoryStore, mongoLedgers } from './ledger-stores.ts';

const SIZE = 10;

/**
 * Every way in which a holder's reports may arrive: in any order and number, combined or not, at once or one after another.
 */
const arrivals = fc.record({
  uses: fc.array(fc.integer({ min: 0, max: SIZE - 2 }), { minLength: 1, maxLength: 6 }),
  returned: fc.integer({ min: 0, max: 2 }),
  repeats: fc.array(fc.nat(), { maxLength: 6 }),
  groups: fc.integer({ min: 1, max: 4 }),
  atOnce: fc.boolean(),
});

const mongo = mongoLedgers();

describe.each([
  ['in memory', async () => memoryStore(), '1969-10'],
  ['on MongoDB', mongo.open, addMonths(monthOf(Date.now()), -2)],
] as const)('ledgers %s', (_where, open, over) => {
  let store: LedgerStore;
  beforeAll(async () => {
    store = await open();
  });

  test('no update is lost when several update one ledger at the same moment', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 30 }), async (updates) => {
        const key = newKey();
        const opened = await Promise.all(Array.from({ length: updates }, () => openGrant(store, key)));
        expect(new Set(opened.map(({ id }) => id)).size).toBe(updates);
        const { ledger } = await read(store, key);
        expect(ledger.grants.map(({ number }) => number).sort((a, b) => a - b)).toEqual(
          Array.from({ length: updates }, (_, index) => index + 1),
        );
      }),
      { numRuns: 5 },
    );
  });

  test('stores nothing if the decision does not change the ledger', async () => {
    const key = newKey();
    const seen = await store.update(key, (ledger) => ({ ledger, result: ledger }));
    expect(seen).toEqual(newLedger(key));
    expect(await store.readUsage(key.accountId, key.month)).toEqual([]);
    await openGrant(store, key);
    const before = await read(store, key);
    await store.update(key, (ledger) => ({ ledger, result: undefined }));
    expect(await read(store, key)).toEqual(before);
  });

  test('open no grant of a month that is over, and store usage that comes at the same moment', async () => {
    const key = { ...newKey(), month: over };
    const { id } = await openOldGrant(store, key);
    const opened = Promise.allSettled([openGrant(store, key), openGrant(store, key)]);
    expect(await store.applyUsage([usageOf(id, 4)])).toEqual(answerOf());
    const rejected = { status: 'rejected', reason: { kind: 'failed_precondition' } };
    expect(await opened).toMatchObject([rejected, rejected]);
    const { ledger } = await read(store, key);
    expect(ledger.grants).toMatchObject([{ used: 4 }]);
  });

  test('stores nothing if the decision throws', async () => {
    const key = newKey();
    const decision = store.update(key, () => {
      throw new Error('no decision');
    });
    await expect(decision).rejects.toThrow('no decision');
    expect(await store.readUsage(key.accountId, key.month)).toEqual([]);
  });

  test('usage and decisions that are stored at the same moment are all kept', async () => {
    const key = newKey();
    const first = await openGrant(store, key);
    await Promise.all([
      ...Array.from({ length: 8 }, () => openGrant(store, key)),
      ...Array.from({ length: 8 }, (_, index) => store.applyUsage([usageOf(first.id, index)])),
    ]);
    const { ledger } = await read(store, key);
    expect(ledger.grants).toHaveLength(9);
    expect(ledger.grants.find(({ number }) => number === first.grant.number)?.used).toBe(7);
  });

  test("shows an account's ledgers of the requested month, and no other account's", async () => {
    const key = newKey();
    const others = [
      { ...key, month: '2099-10' },
      { ...key, accountId: `${key.accountId}x` },
    ];
    for (const ledger of [key, { ...key, pool: 'other' }, ...others]) await openGrant(store, ledger);
    const shown = await store.readUsage(key.accountId, key.month);
    expect(shown.map(({ ledger }) => ledger.pool)).toEqual(['calls', 'other']);
  });

  test('usage in any order, number and grouping gives the same bill', async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, async ({ uses, returned, repeats, groups, atOnce }) => {
        const key = newKey();
        const { id } = await openGrant(store, key, { size: SIZE });
        const all = [...uses, ...repeats.map((index) => uses[index % uses.length] ?? 0)];
        const sent = all.map((used, index) => usageOf(id, used, { returned: index % 2 ? returned : 0 }));
        sent.push(usageOf(id, 0, { returned }));
        const batches = Array.from({ length: groups }, (_, group) =>
          sent.filter((_usage, index) => index % groups === group),
        );
        if (atOnce) await Promise.all(batches.map((batch) => store.applyUsage(batch)));
        else for (const batch of batches) await store.applyUsage(batch);
        const most = Math.max(...uses);
        const { ledger, cells } = await read(store, key);
        expect(ledger.grants).toMatchObject([{ used: most, returned }]);
        expect(cells).toEqual(usageOf(id, most).cells);
      }),
      { numRuns: 25 },
    );
  });

  test('applies a batch of many accounts, each account its own usage', async () => {
    const opened = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const key = newKey();
        const { id } = await openGrant(store, key);
        return { key, usage: usageOf(id, index % SIZE, { closed: index % 3 === 0 }) };
      }),
    );
    const unknown = usageOf(grantIdOf(newKey(), { number: 1, secret: newGrantSecret() }), 1);
    const batch: GrantUsage[] = [...opened.map(({ usage }) => usage), unknown];
    expect(await store.applyUsage(batch)).toEqual(answerOf({ unknown: [unknown.grantId] }));
    for (const { key, usage } of opened) {
      const { ledger, cells } = await read(store, key);
      expect(usedOf(ledger)).toBe(usage.used);
      expect(sumOf(cells)).toBe(usage.used);
      expect(ledger.grants).toHaveLength(usage.closed ? 0 : 1);
    }
  });

  test('the breakdown sums to the bill at every moment while usage is applied and grants are closed', async () => {
    const key = newKey();
    const grants = await Promise.all(Array.from({ length: 4 }, () => openGrant(store, key)));
    let done = false;
    const wrong: { used: number; sum: number }[] = [];
    const reading = (async () => {
      while (!done) {
        const { ledger, cells } = await read(store, key);
        const seen = { used: usedOf(ledger), sum: sumOf(cells) };
        if (seen.used !== seen.sum) wrong.push(seen);
      }
    })();
    await Promise.all(
      grants.map(async ({ id }) => {
        for (let used = 1; used <= SIZE; used++) await store.applyUsage([usageOf(id, used)]);
        await store.applyUsage([settlingOf(id)]);
      }),
    );
    done = true;
    await reading;
    expect(wrong).toEqual([]);
    const { ledger, cells } = await read(store, key);
    expect(ledger).toMatchObject({ closedUsed: 4 * SIZE, grants: [] });
    expect(sumOf(cells)).toBe(4 * SIZE);
  });

  test('a grant is closed once, with the largest known usage, even if many close it at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        arrivals,
        fc.integer({ min: 1, max: 3 }),
        fc.boolean(),
        async ({ uses }, closers, isSettled) => {
          const key = newKey();
          const { id } = await openGrant(store, key, { size: SIZE });
          const other = await openGrant(store, key, { size: SIZE });
          await store.applyUsage(uses.map((used) => usageOf(id, used)));
          await store.applyUsage([usageOf(other.id, 3)]);
          const most = Math.max(...uses);
          const close = isSettled ? settlingOf(id) : usageOf(id, most, { closed: true });
          const answers = await Promise.all([
            ...Array.from({ length: closers }, () => store.applyUsage([close])),
            store.applyUsage([usageOf(id, uses[0] ?? 0)]),
            store.applyUsage([settlingOf(id)]),
          ]);
          const closings = [...answers.slice(0, closers), ...answers.slice(-1)];
          expect(closings.some(({ refused }) => refused.length === 0)).toBe(true);
          const { ledger, cells } = await read(store, key);
          expect(ledger.closedUsed).toBe(most);
          expect(ledger.grants.map(({ number }) => number)).toEqual([other.grant.number]);
          expect(sumOf(cells)).toBe(most + 3);
        },
      ),
      { numRuns: 25 },
    );
  });

  test('a grant is settled with all calls that its holder reported, though a part of their breakdown is missing', async () => {
    const key = newKey();
    const { id } = await openGrant(store, key);
    await store.applyUsage([{ ...usageOf(id, 7), cells: usageOf(id, 4).cells, partial: true }]);
    expect(await store.settle([id])).toEqual([id]);
    const { ledger, cells } = await read(store, key);
    expect(ledger).toMatchObject({ closedUsed: 7, grants: [] });
    expect(cells.map(({ keyId, count }) => [keyId, count])).toContainEqual(['unattributed', 3]);
    expect(sumOf(cells)).toBe(7);
  });

  test('a close with less usage than is stored bills what is stored', async () => {
    const key = newKey();
    const { id } = await openGrant(store, key);
    await store.applyUsage([usageOf(id, 5)]);
    expect(await store.applyUsage([usageOf(id, 3, { closed: true })])).toEqual(answerOf());
    expect((await read(store, key)).ledger).toMatchObject({ closedUsed: 5, grants: [] });
  });

  test('usage under a guessed id changes nothing, whoever sends it', async () => {
    const key = newKey();
    const { grant } = await openGrant(store, key);
    const before = await read(store, key);
    const guessed = grantIdOf(key, { ...grant, secret: newGrantSecret() });
    for (const sender of [grant.holder, undefined])
      for (const closed of [false, true]) {
        const usage = { ...usageOf(guessed, 3, { closed }), ...(sender && { sender }) };
        expect(await store.applyUsage([usage])).toEqual(answerOf({ foreign: [guessed] }));
      }
    expect(await read(store, key)).toEqual(before);
  });

  test('a closed grant never opens again and never changes', async () => {
    const key = newKey();
    const { id } = await openGrant(store, key);
    await store.applyUsage([usageOf(id, 4, { closed: true })]);
    const before = await read(store, key);
    for (const late of [usageOf(id, 9), usageOf(id, 9, { closed: true }), usageOf(id, 99)])
      expect(await store.applyUsage([late])).toEqual(answerOf({ refused: [id] }));
    expect(await store.settle([id])).toEqual([]);
    expect(await read(store, key)).toEqual(before);
    expect(before.ledger).toMatchObject({ closedUsed: 4, grants: [] });
    expect((await openGrant(store, key)).id).not.toBe(id);
  });

  test('a repeated close is not refused and changes nothing', async () => {
    const key = newKey();
    const { id } = await openGrant(store, key);
    await store.applyUsage([usageOf(id, 4, { closed: true })]);
    const before = await read(store, key);
    for (const again of [usageOf(id, 3), usageOf(id, 4, { closed: true }), settlingOf(id)])
      expect(await store.applyUsage([again])).toEqual(answerOf());
    expect(await read(store, key)).toEqual(before);
  });

  test('usage of a grant that was not given out is never refused, and stores nothing', async () => {
    const key = newKey();
    const id = grantIdOf(key, { number: 7, secret: newGrantSecret() });
    for (const closed of [false, true])
      expect(await store.applyUsage([usageOf(id, 1, { closed })])).toEqual(answerOf({ unknown: [id] }));
    expect(await store.readUsage(key.accountId, key.month)).toEqual([]);
    const { id: known } = await openGrant(store, key);
    expect(await store.applyUsage([usageOf(id, 1), usageOf(known, 2)])).toEqual(answerOf({ unknown: [id] }));
    expect(usedOf((await read(store, key)).ledger)).toBe(2);
  });

  test('usage of more permits than a grant has is refused and changes nothing, with or without a close', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          used: fc.integer({ min: 0, max: 30 }),
          returned: fc.integer({ min: 0, max: 30 }),
          closed: fc.boolean(),
        }),
        fc.integer({ min: 0, max: 5 }),
        async ({ used, returned, closed }, returnedBefore) => {
          const key = newKey();
          const { id } = await openGrant(store, key, { size: SIZE });
          await store.applyUsage([usageOf(id, 5, { returned: returnedBefore })]);
          const before = await read(store, key);
          const tooMuch = Math.max(used, 5) + Math.max(returned, returnedBefore) > SIZE;
          const answer = await store.applyUsage([usageOf(id, used, { returned, closed })]);
          expect(answer).toEqual(answerOf({ impossible: tooMuch ? [id] : [] }));
          if (tooMuch) expect(await read(store, key)).toEqual(before);
        },
      ),
      { numRuns: 25 },
    );
  });

  test('refuses a request with an invalid grant id without applying anything', async () => {
    const key = newKey();
    const { id } = await openGrant(store, key);
    for (const closed of [false, true]) {
      const mixed = [usageOf(id, 1), usageOf('no grant id', 1, { closed })];
      await expect(store.applyUsage(mixed)).rejects.toMatchObject({ kind: 'invalid_argument' });
    }
    expect(usedOf((await read(store, key)).ledger)).toBe(0);
  });

  test('lists exactly the overdue open grants, the earliest end first, up to the requested number', async () => {
    const grant = fc.record({ account: fc.nat({ max: 3 }), openedMsAgo: fc.integer({ min: 0, max: 9 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(grant, fc.boolean()), { maxLength: 12 }),
        fc.integer({ min: 1, max: 12 }),
        async (grants, limit) => {
          const fresh = await open();
          const keys = Array.from({ length: 4 }, newKey);
          const open_: { id: string; endMs: number }[] = [];
          for (const [{ account, openedMsAgo }, isClosed] of grants) {
            const openedAtMs = NOW_MS - openedMsAgo;
            const { id } = await openGrant(fresh, keys[account] ?? newKey(), { openedAtMs, ttlMs: 5 });
            if (isClosed) await fresh.applyUsage([settlingOf(id)]);
            else open_.push({ id, endMs: openedAtMs + 5 });
          }
          const expected = open_
            .filter(({ endMs }) => endMs < NOW_MS)
            .sort((a, b) => a.endMs - b.endMs || (a.id < b.id ? -1 : 1))
            .slice(0, limit)
            .map(({ id }) => ({ grantId: id, ttlMs: 5 }));
          expect(await fresh.listOverdue(NOW_MS, limit)).toEqual(expected);
        },
      ),
      { numRuns: 8 },
    );
  });

  test('lists every open grant once, in parts, and no closed one', async () => {
    const grant = fc.record({ account: fc.nat({ max: 5 }), openedMsAgo: fc.integer({ min: 0, max: 3 }) });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(grant, fc.boolean()), { maxLength: 14 }),
        fc.integer({ min: 1, max: 6 }),
        async (grants, limit) => {
          const fresh = await open();
          const keys = Array.from({ length: 6 }, newKey);
          const expected: string[] = [];
          for (const [{ account, openedMsAgo }, isClosed] of grants) {
            const openedAtMs = NOW_MS - openedMsAgo;
            const { id } = await openGrant(fresh, keys[account] ?? newKey(), { openedAtMs, ttlMs: 5 });
            if (isClosed) await fresh.applyUsage([settlingOf(id)]);
            else expected.push(id);
          }
          const listed: string[] = [];
          let after: OpenCursor | undefined;
          do {
            const { grantIds, next } = await fresh.listOpen(after, limit);
            listed.push(...grantIds);
            if (next) expect(grantIds.length).toBeGreaterThanOrEqual(limit);
            after = next;
          } while (after);
          expect(listed.sort()).toEqual(expected.sort());
        },
      ),
      { numRuns: 8 },
    );
  });

  test('closed grants, however many, do not hide an overdue open one', async () => {
    const fresh = await open();
    for (let index = 0; index < 3; index++) {
      const { id } = await openGrant(fresh, newKey(), { openedAtMs: NOW_MS - 100, ttlMs: 5 });
      await fresh.applyUsage([usageOf(id, 1, { closed: true })]);
    }
    const { id } = await openGrant(fresh, newKey(), { openedAtMs: NOW_MS - 50, ttlMs: 5 });
    expect(await fresh.listOverdue(NOW_MS, 1)).toEqual([{ grantId: id, ttlMs: 5 }]);
  });
});
