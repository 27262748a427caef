import { Route } from '@brand-data/contracts';
import type { Random } from '@brand-data/testing/random';
import { NATS } from './jetstream-consumer.ts';
import { GATEWAYS, type Plan, type PlannedCall, REPLICAS } from './plan.ts';
import type { RuleName } from './rules.ts';
import { NO_LINK_FAULTS } from './world.ts';

/** Calls and faults of one account, chosen so that the world violates an invariant without a certain rule. */
export type Scenario = Pick<Plan, 'accounts' | 'calls' | 'faults' | 'planChanges' | 'mustServe'> &
  Partial<Pick<Plan, 'attacks'>>;

export interface DirectedScenario {
  lastsMs: number;
  /** @param fromMs when the scenario begins, in milliseconds of the world's time */
  planFrom(random: Random, fromMs: number): Scenario;
}

const ACCOUNT = 'ambushed';
const FILLING = 'filling';

const call = (atMs: number, gateway: number, more: Partial<PlannedCall> = {}): PlannedCall => ({
  atMs,
  accountId: ACCOUNT,
  gateway,
  keyId: 'key-1',
  route: Route.BRANDS,
  status: 200,
  lookUpMs: 0,
  fails: false,
  answerLost: false,
  ...more,
});

const account = (limit: number) => ({ accounts: [{ accountId: ACCOUNT, limit }], planChanges: [] });

const somewhere = (random: Random) => {
  const gateway = random.whole(0, GATEWAYS.length - 1);
  return { gateway, machine: GATEWAYS[gateway] ?? GATEWAYS[0] };
};

/**
 * For each rule, a scenario with the fault that the rule guards against. The account is so near its limit that its grants live
 * for five seconds. Times are random within limits, so not every scenario causes a violation without the rule.
 */
export const DIRECTED_SCENARIOS: Record<RuleName, DirectedScenario> = {
  // Usage is in the stream and not applied when its holder crashes and metering wants to settle the grant.
  'marker-barrier': {
    lastsMs: 40_000,
    planFrom: (random, fromMs) => {
      const { gateway, machine } = somewhere(random);
      const usedMs = fromMs + 500;
      return {
        ...account(random.whole(1, 3)),
        calls: [call(usedMs, gateway)],
        faults: [
          { atMs: fromMs, forMs: random.between(15_000, 35_000), fault: stalled() },
          { atMs: usedMs + random.between(20, 200), forMs: 20_000, fault: { kind: 'crash', machine } },
        ],
      };
    },
  },
  // A holder is stopped while a call is in progress, and continues after metering has settled its grant.
  'acknowledgement-deadline': {
    lastsMs: 35_000,
    planFrom: (random, fromMs) => {
      const { gateway, machine } = somewhere(random);
      return {
        ...account(random.whole(1, 3)),
        calls: [call(fromMs, gateway, { lookUpMs: random.between(500, 2_000) })],
        faults: [
          { atMs: fromMs + 400, forMs: random.between(14_000, 30_000), fault: { kind: 'pause', machine } },
        ],
      };
    },
  },
  // A call is admitted within a grant's lifetime and ends in the grace for acknowledgements after it.
  'grace-and-drift': {
    lastsMs: 15_000,
    planFrom: (random, fromMs) => {
      const { gateway } = somewhere(random);
      const lookUpMs = random.between(5_500, 9_500);
      return { ...account(random.whole(1, 3)), calls: [call(fromMs, gateway, { lookUpMs })], faults: [] };
    },
  },
  // All replies to one Acquire and its retries are lost for longer than a grant's lifetime. Then a reply arrives.
  'time-from-first-send': {
    lastsMs: 30_000,
    planFrom: (random, fromMs) => {
      const { gateway, machine } = somewhere(random);
      const forMs = random.between(5_500, 9_500);
      const calls = Array.from({ length: 8 }, (_, index) => call(fromMs + 100 + index * 1_500, gateway));
      return {
        ...account(1),
        calls: calls.map((planned) => ({ ...planned, lookUpMs: random.between(5_000, 7_500) })),
        faults: [
          {
            atMs: fromMs,
            forMs,
            fault: { kind: 'cut', links: REPLICAS.map((from) => ({ from, to: machine })) },
          },
        ],
      };
    },
  },
  // Requests are duplicated. The second copy arrives when the grant of the first is used up and closed.
  'stale-seq-refused': {
    lastsMs: 20_000,
    planFrom: (random, fromMs) => {
      const { gateway } = somewhere(random);
      return {
        ...account(random.whole(10, 20)),
        calls: Array.from({ length: 12 }, (_, index) => call(fromMs + 100 + index * 400, gateway)),
        faults: [
          {
            atMs: fromMs,
            forMs: 6_000,
            fault: { kind: 'link faults', faults: { ...NO_LINK_FAULTS, doubled: 0.8, late: 0.3 } },
          },
        ],
      };
    },
  },
  // As in 'acknowledgement-deadline', but the holder is cut off from the stream, so it can only report.
  'closed-report-refused': {
    lastsMs: 35_000,
    planFrom: (random, fromMs) => {
      const { gateway, machine } = somewhere(random);
      const links = [
        { from: machine, to: NATS },
        { from: NATS, to: machine },
      ];
      return {
        ...account(random.whole(1, 3)),
        calls: [call(fromMs, gateway, { lookUpMs: random.between(500, 2_000) })],
        faults: [
          { atMs: fromMs + 400, forMs: random.between(14_000, 30_000), fault: { kind: 'pause', machine } },
          { atMs: fromMs + 300, forMs: 34_000, fault: { kind: 'cut', links } },
        ],
      };
    },
  },
  // A grant's lifetime ends while a call that uses it is in progress.
  'closed-only-when-quiet': {
    lastsMs: 10_000,
    planFrom: (random, fromMs) => {
      const { gateway } = somewhere(random);
      const lookUpMs = random.between(4_900, 6_500);
      return { ...account(random.whole(1, 3)), calls: [call(fromMs, gateway, { lookUpMs })], faults: [] };
    },
  },
  // Usage is delivered again after its grant is closed.
  'closed-events-dropped': { lastsMs: 20_000, planFrom: redelivered },
  'closing-only-if-open': { lastsMs: 20_000, planFrom: redelivered },
  // An attacker names a limit of 0 with a revision that accounts never gave.
  'signed-limits': {
    lastsMs: 5_000,
    planFrom: (random, fromMs) => {
      const { gateway } = somewhere(random);
      const usage = { as: 'used', share: 0, closed: false } as const;
      return {
        ...account(random.whole(3, 9)),
        calls: [call(fromMs, gateway)],
        attacks: [
          { atMs: fromMs + random.between(500, 900), kind: 'limit', grant: 0, usage, guesses: false },
        ],
        faults: [],
      };
    },
  },
  // An attacker closes another holder's grant while a call that uses it is in progress.
  'own-grants-only': {
    lastsMs: 10_000,
    planFrom: (random, fromMs) => {
      const { gateway } = somewhere(random);
      const close = { as: 'used', share: 0, closed: true } as const;
      return {
        ...account(random.whole(1, 3)),
        calls: [call(fromMs, gateway, { lookUpMs: random.between(300, 500) })],
        attacks: [
          { atMs: fromMs + random.between(150, 250), kind: 'event', grant: 0, usage: close, guesses: false },
        ],
        faults: [],
      };
    },
  },
  // Another primary is elected right after a grant was given out. Its reads do not show the grant when the usage arrives.
  'refused-only-if-proven': {
    lastsMs: 25_000,
    planFrom: (random, fromMs) => {
      const { gateway, machine } = somewhere(random);
      const atMs = fromMs + random.between(40, 400);
      return {
        ...account(random.whole(1, 3)),
        calls: [call(fromMs, gateway)],
        faults: [
          { atMs, forMs: 1, fault: { kind: 'election', deposed: false } },
          { atMs: fromMs + random.between(100, 900), forMs: 20_000, fault: { kind: 'crash', machine } },
        ],
      };
    },
  },
  // Both replicas decide on one ledger at the same moment.
  'compare-and-set': {
    lastsMs: 15_000,
    planFrom: (random, fromMs) => ({
      ...account(random.whole(2, 9)),
      calls: Array.from({ length: 40 }, (_, index) =>
        call(fromMs + 100 + Math.floor(index / 8) * 700 + random.between(0, 2), index % GATEWAYS.length),
      ),
      faults: [],
    }),
  },
  // Breakdowns are merged into a day, but the replica fails to store the ledger without them.
  'merged-once': {
    lastsMs: 25_000,
    planFrom: (random, fromMs) => ({
      ...account(random.whole(30, 60)),
      calls: Array.from({ length: 60 }, (_, index) =>
        call(fromMs + 100 + index * 250 + random.between(0, 3), index % GATEWAYS.length, {
          keyId: `key-${index % 7}`,
        }),
      ),
      faults: Array.from({ length: 12 }, (_, index) => ({
        atMs: fromMs + 1_000 + index * 1_400 + random.between(0, 900),
        forMs: 1,
        fault: { kind: 'election' as const, deposed: random.chance(0.3) },
      })),
    }),
  },
  // A replica is killed while it closes a grant.
  'no-lock-outlives-its-holder': {
    lastsMs: 20_000,
    planFrom: (random, fromMs) => {
      const slowFromMs = fromMs + 1_500;
      // Calls that find no record keep an account near its limit, where grants are closed soon after they become idle.
      const calls = Array.from({ length: 60 }, (_, index) =>
        call(fromMs + 100 + index * 330 + random.between(0, 50), index % GATEWAYS.length, { fails: true }),
      );
      return {
        ...account(random.whole(4, 8)),
        calls,
        faults: [
          { atMs: slowFromMs, forMs: 5_000, fault: { kind: 'slow database' } },
          ...REPLICAS.map((machine) => ({
            atMs: slowFromMs + random.between(1_000, 4_900),
            forMs: 1_500,
            fault: { kind: 'crash' as const, machine },
          })),
        ],
        mustServe: { accountId: ACCOUNT, fromMs: fromMs + 12_000, toMs: fromMs + 20_000 },
      };
    },
  },
  // The allowance is lowered, and for some seconds only one gateway knows.
  'revision-order': {
    lastsMs: 20_000,
    planFrom: (random, fromMs) => {
      const informed = somewhere(random).gateway;
      const others = [0, 1, 2].filter((gateway) => gateway !== informed);
      const heardAfterMs = [0, 1, 2].map((gateway) =>
        gateway === informed ? 1 : random.between(5_000, 19_000),
      );
      return {
        accounts: [{ accountId: ACCOUNT, limit: 40 }],
        planChanges: [
          { atMs: fromMs, accountId: ACCOUNT, limit: random.whole(0, 3), revision: 2, heardAfterMs },
        ],
        calls: [
          call(fromMs + 100, informed),
          ...Array.from({ length: 24 }, (_, index) =>
            call(fromMs + 500 + index * 150, others[index % 2] ?? 0),
          ),
        ],
        faults: [],
      };
    },
  },
  // A gateway holds the next month's permits before that month begins.
  'months-cut': {
    lastsMs: 20_000,
    planFrom: (random, fromMs) => {
      const { gateway } = somewhere(random);
      const calls = Array.from({ length: 80 }, () => call(fromMs + random.between(0, 19_000), gateway));
      return { ...account(random.whole(65, 200)), calls, faults: [] };
    },
  },
  // The database cannot store usage from the stream, or does not show its grants. No gateway sends that usage again.
  'acknowledged-once-stored': { lastsMs: 15_000, planFrom: unstored },
  'unstored-comes-again': { lastsMs: 15_000, planFrom: unstored },
  // The account's usage is the oldest message in a stream that is nearly full and has no applied message. No gateway sends it
  // again.
  'only-applied-purged': {
    lastsMs: 40_000,
    planFrom: (random, fromMs) => {
      const { gateway, machine } = somewhere(random);
      const others = [0, 1, 2].filter((other) => other !== gateway);
      const fill = others.flatMap((other) =>
        Array.from({ length: 5 }, (_, index) =>
          call(fromMs + 1_000 + index * 400, other, { accountId: FILLING }),
        ),
      );
      const faults = { consumerStalled: true, unread: true, small: true };
      return {
        accounts: [
          { accountId: ACCOUNT, limit: random.whole(1, 3) },
          { accountId: FILLING, limit: 100 },
        ],
        planChanges: [],
        calls: [call(fromMs + 100, gateway), ...fill],
        faults: [
          { atMs: fromMs, forMs: random.between(14_000, 25_000), fault: { kind: 'stream', faults } },
          { atMs: fromMs + random.between(150, 300), forMs: 30_000, fault: { kind: 'crash', machine } },
        ],
      };
    },
  },
};

function unstored(random: Random, fromMs: number): Scenario {
  const { gateway, machine } = somewhere(random);
  const accounts = [ACCOUNT, FILLING].map((accountId) => ({ accountId, limit: random.whole(1, 3) }));
  return {
    accounts,
    planChanges: [],
    calls: accounts.map(({ accountId }) => call(fromMs, gateway, { accountId })),
    faults: [
      { atMs: fromMs + 50, forMs: random.between(2_000, 5_000), fault: { kind: 'fail-over' } },
      { atMs: fromMs + random.between(50, 300), forMs: 10_000, fault: { kind: 'crash', machine } },
    ],
  };
}

function redelivered(random: Random, fromMs: number): Scenario {
  const { gateway } = somewhere(random);
  return {
    ...account(random.whole(3, 10)),
    calls: Array.from({ length: 6 }, (_, index) => call(fromMs + 100 + index * 500, gateway)),
    faults: [{ atMs: fromMs, forMs: 8_000, fault: { kind: 'stream', faults: { consumerAcksLost: 0.9 } } }],
  };
}

function stalled() {
  return { kind: 'stream' as const, faults: { consumerStalled: true, unread: true } };
}

/**
 * The stream acknowledges usage, and loses it before metering has applied it. `holderLives`: the holder uses another permit of
 * the grant afterwards. Otherwise the holder is killed.
 */
export function planOfLostTail(random: Random, holderLives: boolean): Plan {
  const { gateway, machine } = somewhere(random);
  const lostAtMs = 3_000 + random.between(0, 400);
  const after = holderLives ? [call(lostAtMs + 2_000, gateway)] : [];
  return {
    // This is so far from the limit that one grant is enough for all these calls.
    ...account(random.whole(500, 600)),
    calls: [...Array.from({ length: 6 }, (_, index) => call(1_000 + index * 300, gateway)), ...after],
    faults: [
      { atMs: 2_000, forMs: 1_500, fault: stalled() },
      { atMs: lostAtMs, forMs: 1, fault: { kind: 'lost tail', messages: random.whole(1, 3) } },
      ...(holderLives ? [] : [{ atMs: 2_900, forMs: 10_000, fault: { kind: 'crash' as const, machine } }]),
    ],
    seed: 1,
    streams: 1,
    misdirected: 0,
    clocks: {},
    restarts: [],
    healthyUntilMs: 0,
    healAtMs: 40_000,
    attacks: [],
    startWallMs: Date.UTC(2026, 10, 20, 12),
  };
}

/** Returns a world with one scenario and no other calls and faults. */
export function planOfScenario(rule: RuleName, random: Random): Plan {
  const { lastsMs, planFrom } = DIRECTED_SCENARIOS[rule];
  const monthEndsAtMs = 11_000;
  return {
    attacks: [],
    ...planFrom(random, 1_000),
    seed: 1,
    streams: 2,
    misdirected: 0.5,
    clocks: {},
    restarts: [],
    healthyUntilMs: 0,
    healAtMs: 2_000 + lastsMs,
    startWallMs: rule === 'months-cut' ? Date.UTC(2026, 11, 1) - monthEndsAtMs : Date.UTC(2026, 10, 20, 12),
  };
}
