import { type Grant, type GrantUsage, ReportRequest, Route, type UsageCell } from '@brand-data/contracts';
import { usageDefect } from '@brand-data/metering/src/ledger/usage-check.ts';
import { largerCells } from '@brand-data/metering/src/ledger/usage-merge.ts';
import { Fault } from '@brand-data/runtime';
import { createVirtualClock } from '@brand-data/testing/virtual-clock';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { GrantBook, type Permit } from '../src/quota/grant-book.ts';
import { type HeldGrant, markDurable, newHeldGrant, snapshotOf, useOne } from '../src/quota/held-grant.ts';
import { MOST_IN_BATCH, UsageJournal } from '../src/quota/usage-journal.ts';

const START_MS = Date.UTC(2026, 10, 20);
const GRACE_MS = 5_000;
const month = { periodStartMs: Date.UTC(2026, 10, 1), periodEndMs: Date.UTC(2026, 11, 1) };
const answer = { keyId: 'key', route: Route.BRANDS, status: 200 };

/** Returns a journal whose stream acknowledges at once by default. The test decides when a report is answered. */
function journalWith({
  publish = async () => {},
  report,
  unavailable = [],
}: {
  publish?: () => Promise<void>;
  report: (request: ReportRequest) => Promise<string[]>;
  /** The ids of the grants whose usage metering cannot store. */
  unavailable?: string[];
}) {
  const clock = createVirtualClock(START_MS);
  const book = new GrantBook();
  const reports: string[][] = [];
  const journal = new UsageJournal({
    book,
    clock,
    holder: 'gateway',
    paths: {
      publish,
      report: async (request, withinMs) => {
        reports.push(request.usage.map(({ grantId }) => grantId));
        const late = clock.sleep(withinMs).then(() => Promise.reject(new Fault('unavailable', 'late')));
        const refusedGrantIds = await Promise.race([report(request), late]);
        return { refusedGrantIds, unavailableGrantIds: unavailable };
      },
    },
    events: { waits: () => {}, committed: () => {}, failed: () => {} },
  });
  const permitOf = (accountId: string, ttlMs: number): Permit => {
    const allowance = { accountId, pool: 'calls', limit: 100, limitRevision: 1 };
    const holding = book.holding(allowance, clock.now());
    const { seq } = book.nextAcquire(holding, 1, clock.now());
    const grant: Grant = {
      id: `${accountId}/calls/2026-11/1`,
      size: 10,
      ttlMs,
      remaining: 1,
      idleMs: 0,
      ...month,
    };
    book.granted(holding, seq, grant, clock.now());
    const admission = book.take(holding, clock.now());
    if (admission.kind !== 'permit') throw new Error(`expected a permit, got ${admission.kind}`);
    return admission.permit;
  };
  const outcomes = new Map<HeldGrant, string>();
  const commit = (permit: Permit) => {
    permit.use(answer);
    journal.commit(permit.grant).then(
      () => outcomes.set(permit.grant, 'durable'),
      () => outcomes.set(permit.grant, 'unsure'),
    );
  };
  return { clock, permitOf, commit, outcomes, reports };
}

test('the largest batch fits into a request to metering', () => {
  const { grants, cells } = MOST_IN_BATCH;
  const cell = {
    keyId: `key-${'0'.repeat(20)}`,
    route: Route.LOGOS,
    status: 404,
    day: '2026-11-30',
    count: 2 ** 40,
  };
  const usage = Array.from({ length: grants }, () => ({
    grantId: 'x'.repeat(120),
    used: 2 ** 40,
    returned: 2 ** 40,
    closed: true,
    partial: true,
    cells: Array<UsageCell>(cells / grants).fill(cell),
  }));
  const bytes = ReportRequest.encode({ holder: 'x'.repeat(43), usage }).finish().length;
  expect(bytes).toBeLessThan(256 * 1024);
});

test('a call whose usage neither the stream nor metering can store does not end as counted, and calls of other grants do', async () => {
  const publish = async () => {
    throw new Error('the stream is down');
  };
  const unavailable = ['stuck/calls/2026-11/1'];
  const { clock, permitOf, commit, outcomes } = journalWith({ publish, report: async () => [], unavailable });
  const [stuck, other] = [permitOf('stuck', 600_000), permitOf('other', 600_000)];
  for (const permit of [stuck, other]) commit(permit);
  await clock.advance(2_000);
  expect([stuck, other].map(({ grant }) => outcomes.get(grant))).toEqual(['unsure', 'durable']);
});

describe('calls share messages', () => {
  /** Makes calls of several accounts at these times, in ms, with acknowledgements after 1 ms. Resolves to the calls of each message. */
  async function messagesOf(times: readonly number[]): Promise<{ atMs: number; calls: number }[]> {
    const messages: { atMs: number; calls: number }[] = [];
    let waiting = 0;
    const publish = async () => {
      messages.push({ atMs: clock.now().wallMs - START_MS, calls: waiting });
      waiting = 0;
      await clock.sleep(1);
    };
    const { clock, permitOf, commit, outcomes } = journalWith({ publish, report: async () => [] });
    const permits = times.map((_, call) => permitOf(`a${call}`, 600_000));
    for (const [call, permit] of permits.entries()) {
      const passed = (times[call] ?? 0) - (times[call - 1] ?? 0);
      if (passed > 0) await clock.advance(passed);
      waiting += 1;
      commit(permit);
    }
    await clock.advance(50);
    expect(permits.map(({ grant }) => outcomes.get(grant))).toEqual(permits.map(() => 'durable'));
    return messages;
  }

  test('a call that comes alone, or with a few others, is sent at once', async () => {
    const times = [0, 2, 4, 5, 5, 5, 6, 7];
    expect(await messagesOf(times)).toEqual([
      { atMs: 0, calls: 1 },
      { atMs: 2, calls: 1 },
      { atMs: 4, calls: 1 },
      { atMs: 5, calls: 3 },
      { atMs: 6, calls: 1 },
      { atMs: 7, calls: 1 },
    ]);
  });

  test('while ten calls come each millisecond, those of 2 ms share a message', async () => {
    const times = Array.from({ length: 120 }, (_, call) => Math.floor(call / 10));
    const messages = await messagesOf(times);
    expect(messages.map(({ atMs }) => atMs)).toEqual([0, 2, 4, 6, 8, 10, 12]);
    expect(messages.slice(2, 6).map(({ calls }) => calls)).toEqual([20, 20, 20, 20]);
  });

  test('a message with two hundred calls does not wait', async () => {
    const times = Array.from({ length: 220 }, (_, call) => (call < 20 ? 0 : 1));
    expect(await messagesOf(times)).toEqual([
      { atMs: 0, calls: 20 },
      { atMs: 1, calls: 200 },
    ]);
  });
});

describe('when the stream refuses usage', () => {
  test('metering gets it at once, and later usage goes to both until the stream acknowledges some again', async () => {
    let isRefusing = true;
    const publish = () => (isRefusing ? Promise.reject(new Error('no leader')) : Promise.resolve());
    const { clock, permitOf, commit, outcomes, reports } = journalWith({ publish, report: async () => [] });
    const permit = permitOf('a', 600_000);
    for (const expected of [1, 2]) {
      commit(permit);
      await clock.advance(10);
      expect(outcomes.get(permit.grant)).toBe('durable');
      expect(reports).toHaveLength(expected);
    }
    isRefusing = false;
    await clock.advance(50);
    commit(permit);
    await clock.advance(10);
    expect(reports).toHaveLength(2);
  });

  test('a call is answered if metering confirms its usage after more than a second', async () => {
    const { clock, permitOf, commit, outcomes } = journalWith({
      publish: () => Promise.reject(new Error('no leader')),
      report: () => clock.sleep(1_300).then(() => []),
    });
    const permit = permitOf('a', 600_000);
    commit(permit);
    await clock.advance(1_400);
    expect(outcomes.get(permit.grant)).toBe('durable');
  });
});

describe("when the stream's acknowledgement is too late for some of the grants in a batch", () => {
  const SHORT_MS = 1_000;
  const grants = fc.array(fc.boolean(), { minLength: 1, maxLength: 6 });

  test('only the calls of those grants wait for the report, and the other calls are answered at once', async () => {
    await fc.assert(
      fc.asyncProperty(grants, fc.boolean(), async (areLate, isRefused) => {
        let answerReport = (_refused: string[]) => {};
        const reported = new Promise<string[]>((resolve) => {
          answerReport = resolve;
        });
        const { clock, permitOf, commit, outcomes, reports } = journalWith({ report: () => reported });
        const permits = areLate.map((isLate, index) => permitOf(`a${index}`, isLate ? SHORT_MS : 600_000));
        await clock.advance(SHORT_MS + GRACE_MS);
        for (const permit of permits) commit(permit);
        await clock.advance(50);
        const late = permits.filter((_, index) => areLate[index]).map(({ grant }) => grant);
        for (const { grant } of permits)
          expect(outcomes.get(grant)).toBe(late.includes(grant) ? undefined : 'durable');
        expect(reports).toEqual(late.length > 0 ? [late.map(({ id }) => id)] : []);
        answerReport(isRefused ? late.map(({ id }) => id) : []);
        await clock.advance(50);
        for (const grant of late) expect(outcomes.get(grant)).toBe(isRefused ? 'unsure' : 'durable');
      }),
    );
  });

  test('a late call whose report gets no answer fails within about a second and a half', async () => {
    const { clock, permitOf, commit, outcomes } = journalWith({ report: () => new Promise(() => {}) });
    const permit = permitOf('a', SHORT_MS);
    await clock.advance(SHORT_MS + GRACE_MS);
    commit(permit);
    await clock.advance(1_600);
    expect(outcomes.get(permit.grant)).toBe('unsure');
  });
});

describe('the breakdown of a grant', () => {
  const KEYS = 12;
  /** The outcome of each publish in turn. All later ones are stored and acknowledged. */
  const fate = fc.constantFrom('acknowledged', 'acknowledged', 'stored', 'lost');
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ key: fc.nat({ max: KEYS - 1 }), calls: fc.integer({ min: 1, max: 3 }) }),
    },
    { weight: 1, arbitrary: fc.record({ waitMs: fc.integer({ min: 1, max: 400 }) }) },
  );

  test('is complete if the largest stored count of each cell is taken, in any order of messages and after any losses', async () => {
    let partial = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60, size: 'max' }),
        fc.array(fate, { maxLength: 30, size: 'max' }),
        fc.infiniteStream(fc.nat()),
        async (steps, fates, random) => {
          const stored: GrantUsage[] = [];
          const clock = createVirtualClock(START_MS);
          const book = new GrantBook();
          const journal = new UsageJournal({
            book,
            clock,
            holder: 'gateway',
            paths: {
              publish: async ({ usage }) => {
                const becomes = fates.shift() ?? 'acknowledged';
                if (becomes !== 'lost') stored.push(...usage);
                if (becomes !== 'acknowledged')
                  await clock.sleep(250).then(() => Promise.reject(new Error('late')));
              },
              report: (_, withinMs) =>
                clock.sleep(withinMs).then(() => Promise.reject(new Fault('unavailable', 'away'))),
            },
            events: { waits: () => {}, committed: () => {}, failed: () => {} },
          });
          const now = clock.now();
          const allowance = { accountId: 'acct', pool: 'calls', limit: 1_000, limitRevision: 1 };
          const holding = book.holding(allowance, now);
          const grant = {
            id: `acct/calls/2026-11/1.${'A'.repeat(22)}`,
            size: 1_000,
            ttlMs: 600_000,
            remaining: 1,
            idleMs: 0,
            ...month,
          };
          book.granted(holding, book.nextAcquire(holding, 1, now).seq, grant, now);
          const counts = new Map<string, number>();
          /** The number of calls of each key whose usage was confirmed as durable. */
          const durable = new Map<string, number>();
          for (const next of steps) {
            if ('waitMs' in next) {
              await clock.advance(next.waitMs);
              continue;
            }
            for (let call = 0; call < next.calls; call++) {
              const admission = book.take(holding, clock.now());
              if (admission.kind !== 'permit') throw new Error(`expected a permit, got ${admission.kind}`);
              const keyId = `key-${next.key}`;
              admission.permit.use({ ...answer, keyId });
              counts.set(keyId, (counts.get(keyId) ?? 0) + 1);
              const soFar = counts.get(keyId) ?? 0;
              journal.commit(admission.permit.grant).then(
                () => durable.set(keyId, Math.max(durable.get(keyId) ?? 0, soFar)),
                () => {},
              );
            }
          }
          await clock.advance(5);
          const storedCounts = () => {
            const shuffled = stored.toSorted(() => ((random.next().value ?? 0) % 2 === 0 ? 1 : -1));
            const cells = shuffled.reduce<UsageCell[]>((all, usage) => largerCells(all, usage.cells), []);
            return new Map(cells.map(({ keyId, count }) => [keyId, count]));
          };
          const soFar = storedCounts();
          for (const [keyId, count] of durable) expect(soFar.get(keyId) ?? 0).toBeGreaterThanOrEqual(count);
          await clock.advance(20_000);
          expect(storedCounts()).toEqual(counts);
          for (const usage of stored) {
            expect(usageDefect(usage)).toBeUndefined();
            partial += usage.partial ? 1 : 0;
          }
        },
      ),
    );
    expect(partial).toBeGreaterThan(100);
  });

  test('is sent again only with the cells that changed since they were durable, and whole with a close', () => {
    const now = createVirtualClock(START_MS).now();
    const given: Grant = { id: 'a/calls/2026-11/1', size: 99, ttlMs: 9, remaining: 1, idleMs: 0, ...month };
    const grant = newHeldGrant(given, { accountId: 'a', pool: 'calls' }, now, now);
    const use = (key: number) => useOne(grant, { ...answer, keyId: `key-${key}`, day: '2026-11-20' });
    for (let key = 0; key < KEYS; key++) use(key);
    const first = snapshotOf(grant);
    expect(first.usage).toMatchObject({ partial: false });
    use(3);
    markDurable(grant, first);
    expect(snapshotOf(grant).usage).toMatchObject({
      used: KEYS + 1,
      partial: true,
      cells: [{ keyId: 'key-3', count: 2 }],
    });
    grant.closed = true;
    const { partial, cells } = snapshotOf(grant).usage;
    expect([partial, cells.length]).toEqual([false, KEYS]);
  });
});
