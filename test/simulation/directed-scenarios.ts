import { Route } from '@brand-data/contracts';
import type { Random } from '@brand-data/testing/random';
import { NATS } from './jetstream-consumer.ts';
import {
  type Fault,
  GATEWAYS,
  MOST_DRIFT,
  type Plan,
  type PlannedCall,
  type PlannedFault,
  REPLICAS,
} from './plan.ts';
import type { RuleName } from './rules.ts';
import { NO_LINK_FAULTS } from './world.ts';

/** Calls and faults of one account, chosen so that the world violates an invariant without a certain rule. */
export type Scenario = Pick<Plan, 'accounts' | 'calls' | 'faults' | 'planChanges' | 'mustServe' | 'attacks'>;

interface DirectedScenario {
  lastsMs: number;
  /** @param fromMs when the scenario begins, in milliseconds of the world's time */
  planFrom(random: Random, fromMs: number): Scenario;
}

/** What is drawn for most scenarios: a gateway, by its number and by the name of its machine. */
interface Place {
  random: Random;
  fromMs: number;
  gateway: number;
  machine: string;
}

/** A scenario of one account with this limit. */
type Parts = Partial<Scenario> & { limit: number };

const ACCOUNT = 'ambushed';
const FILLING = 'filling';
const MID_MONTH = Date.UTC(2026, 10, 20, 12);

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

const fault = (atMs: number, forMs: number, of: Fault): PlannedFault => ({ atMs, forMs, fault: of });

/** `count` calls, one after another. */
function callsEvery(
  everyMs: number,
  count: number,
  firstMs: number,
  gateway: number,
  more?: Partial<PlannedCall>,
) {
  return Array.from({ length: count }, (_, index) => call(firstMs + index * everyMs, gateway, more));
}

function placeOf(random: Random, fromMs: number): Place {
  const gateway = random.whole(0, GATEWAYS.length - 1);
  return { random, fromMs, gateway, machine: GATEWAYS[gateway] ?? GATEWAYS[0] };
}

const filled = ({ limit, ...scenario }: Parts): Scenario => ({
  accounts: [{ accountId: ACCOUNT, limit }],
  planChanges: [],
  calls: [],
  faults: [],
  attacks: [],
  ...scenario,
});

/** A scenario at a gateway. */
const at = (lastsMs: number, partsOf: (place: Place) => Parts): DirectedScenario => ({
  lastsMs,
  planFrom: (random, fromMs) => filled(partsOf(placeOf(random, fromMs))),
});

/** A scenario at all gateways. */
const everywhere = (
  lastsMs: number,
  partsOf: (random: Random, fromMs: number) => Parts,
): DirectedScenario => ({
  lastsMs,
  planFrom: (random, fromMs) => filled(partsOf(random, fromMs)),
});

const STALLED = { kind: 'stream', faults: { consumerStalled: true, unread: true } } as const;

/** Usage is in the stream and not applied when its holder crashes and metering wants to settle the grant. */
const unapplied = at(40_000, ({ random, fromMs, gateway, machine }) => ({
  limit: random.whole(1, 3),
  calls: [call(fromMs + 500, gateway)],
  faults: [
    fault(fromMs, random.between(15_000, 35_000), STALLED),
    fault(fromMs + 500 + random.between(20, 200), 20_000, { kind: 'crash', machine }),
  ],
}));

const redelivered = at(20_000, ({ random, fromMs, gateway }) => ({
  limit: random.whole(3, 10),
  calls: callsEvery(500, 6, fromMs + 100, gateway),
  faults: [fault(fromMs, 8_000, { kind: 'stream', faults: { consumerAcksLost: 0.9 } })],
}));

const unstored = at(15_000, ({ random, fromMs, gateway, machine }) => {
  const accounts = [ACCOUNT, FILLING].map((accountId) => ({ accountId, limit: random.whole(1, 3) }));
  return {
    limit: 0,
    accounts,
    calls: accounts.map(({ accountId }) => call(fromMs, gateway, { accountId })),
    faults: [
      fault(fromMs + 50, random.between(2_000, 5_000), { kind: 'fail-over' }),
      fault(fromMs + random.between(50, 300), 10_000, { kind: 'crash', machine }),
    ],
  };
});

/**
 * For each rule, a scenario with the fault that the rule guards against. The account is so near its limit that its grants live
 * for five seconds. Times are random within limits, so not every scenario causes a violation without the rule.
 */
export const DIRECTED_SCENARIOS: Record<RuleName, DirectedScenario> = {
  'marker-barrier': unapplied,
  // The same, and only the second stream is not applied. The holder's name selects the stream, so all holders crash.
  'marker-in-each-stream': everywhere(40_000, (random, fromMs) => ({
    limit: random.whole(6, 9),
    calls: GATEWAYS.map((_, gateway) => call(fromMs + 500, gateway)),
    faults: [
      fault(fromMs, random.between(15_000, 35_000), { ...STALLED, stream: 1 }),
      ...GATEWAYS.map((machine) =>
        fault(fromMs + 500 + random.between(20, 200), 20_000, { kind: 'crash', machine }),
      ),
    ],
  })),
  // Another primary is elected right after a grant was given out, and does not show the grant, so its usage is parked. The holder
  // crashes, and metering wants to settle the grant while the parked usage is not applied.
  'parked-usage-awaited': at(45_000, ({ random, fromMs, gateway, machine }) => ({
    limit: random.whole(1, 3),
    calls: [call(fromMs, gateway)],
    faults: [
      fault(fromMs, random.between(20_000, 40_000), { ...STALLED, stream: 'parked' }),
      fault(fromMs + random.between(250, 500), 1, { kind: 'election', deposed: false }),
      fault(fromMs + random.between(100, 900), 20_000, { kind: 'crash', machine }),
    ],
  })),
  // A holder has crashed, and an attacker goes on publishing usage of grants that do not exist.
  'unknown-waits-apart': at(10_000, ({ random, fromMs, gateway, machine }) => {
    const usage = { as: 'used', share: 1, closed: false } as const;
    return {
      limit: random.whole(1, 3),
      calls: [call(fromMs, gateway, { lookUpMs: 1_000 })],
      faults: [fault(fromMs + random.between(100, 200), 5_000, { kind: 'crash', machine })],
      attacks: [{ atMs: fromMs + random.between(50, 900), kind: 'unknown', grant: 0, usage, guesses: false }],
    };
  }),
  // A holder is stopped while a call is in progress, and continues after metering has settled its grant.
  'acknowledgement-deadline': at(35_000, ({ random, fromMs, gateway, machine }) => ({
    limit: random.whole(1, 3),
    calls: [call(fromMs, gateway, { lookUpMs: random.between(500, 2_000) })],
    faults: [fault(fromMs + 400, random.between(14_000, 30_000), { kind: 'pause', machine })],
  })),
  // A call is admitted within a grant's lifetime and ends in the grace for acknowledgements after it.
  'grace-and-drift': at(15_000, ({ random, fromMs, gateway }) => {
    const lookUpMs = random.between(5_500, 9_500);
    return { limit: random.whole(1, 3), calls: [call(fromMs, gateway, { lookUpMs })] };
  }),
  // All replies to one Acquire and its retries are lost for longer than a grant's lifetime. Then a reply arrives.
  'time-from-first-send': at(30_000, ({ random, fromMs, gateway, machine }) => {
    const links = REPLICAS.map((from) => ({ from, to: machine }));
    const faults = [fault(fromMs, random.between(5_500, 9_500), { kind: 'cut', links })];
    const calls = callsEvery(1_500, 8, fromMs + 100, gateway).map((planned) => ({
      ...planned,
      lookUpMs: random.between(5_000, 7_500),
    }));
    return { limit: 1, calls, faults };
  }),
  // Requests are duplicated. The second copy arrives when the grant of the first is used up and closed.
  'stale-seq-refused': at(20_000, ({ random, fromMs, gateway }) => {
    const faults = { ...NO_LINK_FAULTS, doubled: 0.8, late: 0.3 };
    return {
      limit: random.whole(10, 20),
      calls: callsEvery(400, 12, fromMs + 100, gateway),
      faults: [fault(fromMs, 6_000, { kind: 'link faults', faults })],
    };
  }),
  // As in 'acknowledgement-deadline', but the holder is cut off from the stream, so it can only report.
  'closed-report-refused': at(35_000, ({ random, fromMs, gateway, machine }) => {
    const links = [
      { from: machine, to: NATS },
      { from: NATS, to: machine },
    ];
    return {
      limit: random.whole(1, 3),
      calls: [call(fromMs, gateway, { lookUpMs: random.between(500, 2_000) })],
      faults: [
        fault(fromMs + 400, random.between(14_000, 30_000), { kind: 'pause', machine }),
        fault(fromMs + 300, 34_000, { kind: 'cut', links }),
      ],
    };
  }),
  // A grant's lifetime ends while a call that uses it is in progress.
  'closed-only-when-quiet': at(10_000, ({ random, fromMs, gateway }) => {
    const lookUpMs = random.between(4_900, 6_500);
    return { limit: random.whole(1, 3), calls: [call(fromMs, gateway, { lookUpMs })] };
  }),
  // Usage is delivered again after its grant is closed.
  'closed-events-dropped': redelivered,
  'closing-only-if-open': redelivered,
  // An attacker names a limit of 0 with a revision that accounts never gave.
  'signed-limits': at(5_000, ({ random, fromMs, gateway }) => {
    const usage = { as: 'used', share: 0, closed: false } as const;
    return {
      limit: random.whole(3, 9),
      calls: [call(fromMs, gateway)],
      attacks: [{ atMs: fromMs + random.between(500, 900), kind: 'limit', grant: 0, usage, guesses: false }],
    };
  }),
  // An attacker closes another holder's grant while a call that uses it is in progress.
  'own-grants-only': at(10_000, ({ random, fromMs, gateway }) => {
    const usage = { as: 'used', share: 0, closed: true } as const;
    return {
      limit: random.whole(1, 3),
      calls: [call(fromMs, gateway, { lookUpMs: random.between(300, 500) })],
      attacks: [{ atMs: fromMs + random.between(150, 250), kind: 'event', grant: 0, usage, guesses: false }],
    };
  }),
  // Another primary is elected right after a grant was given out. Its reads do not show the grant when the usage arrives.
  'refused-only-if-proven': at(25_000, ({ random, fromMs, gateway, machine }) => {
    const electedMs = fromMs + random.between(40, 400);
    return {
      limit: random.whole(1, 3),
      calls: [call(fromMs, gateway)],
      faults: [
        fault(electedMs, 1, { kind: 'election', deposed: false }),
        fault(fromMs + random.between(100, 900), 20_000, { kind: 'crash', machine }),
      ],
    };
  }),
  // Both replicas decide on one ledger at the same moment.
  'compare-and-set': everywhere(15_000, (random, fromMs) => ({
    limit: random.whole(2, 9),
    calls: Array.from({ length: 40 }, (_, index) =>
      call(fromMs + 100 + Math.floor(index / 8) * 700 + random.between(0, 2), index % GATEWAYS.length),
    ),
  })),
  // Breakdowns are merged into a day, but the replica fails to store the ledger without them.
  'merged-once': everywhere(25_000, (random, fromMs) => ({
    limit: random.whole(30, 60),
    calls: Array.from({ length: 60 }, (_, index) =>
      call(fromMs + 100 + index * 250 + random.between(0, 3), index % GATEWAYS.length, {
        keyId: `key-${index % 7}`,
      }),
    ),
    faults: Array.from({ length: 12 }, (_, index) =>
      fault(fromMs + 1_000 + index * 1_400 + random.between(0, 900), 1, {
        kind: 'election',
        deposed: random.chance(0.3),
      }),
    ),
  })),
  // A replica is killed while it closes a grant.
  'no-lock-outlives-its-holder': everywhere(20_000, (random, fromMs) => {
    const slowFromMs = fromMs + 1_500;
    // Calls that find no record keep an account near its limit, where grants are closed soon after they become idle.
    const calls = Array.from({ length: 60 }, (_, index) =>
      call(fromMs + 100 + index * 330 + random.between(0, 50), index % GATEWAYS.length, { fails: true }),
    );
    return {
      limit: random.whole(4, 8),
      calls,
      faults: [
        fault(slowFromMs, 5_000, { kind: 'slow database' }),
        ...REPLICAS.map((machine) =>
          fault(slowFromMs + random.between(1_000, 4_900), 1_500, { kind: 'crash', machine }),
        ),
      ],
      mustServe: { accountId: ACCOUNT, fromMs: fromMs + 12_000, toMs: fromMs + 20_000 },
    };
  }),
  // The allowance is lowered, and for some seconds only one gateway knows.
  'revision-order': at(20_000, ({ random, fromMs, gateway: informed }) => {
    const others = [0, 1, 2].filter((gateway) => gateway !== informed);
    const heardAfterMs = [0, 1, 2].map((gateway) =>
      gateway === informed ? 1 : random.between(5_000, 19_000),
    );
    const lowered = { accountId: ACCOUNT, limit: random.whole(0, 3), revision: 2, heardAfterMs };
    const late = Array.from({ length: 24 }, (_, index) =>
      call(fromMs + 500 + index * 150, others[index % 2] ?? 0),
    );
    return {
      limit: 40,
      planChanges: [{ atMs: fromMs, ...lowered }],
      calls: [call(fromMs + 100, informed), ...late],
    };
  }),
  // A gateway holds the next month's permits before that month begins.
  'months-cut': at(20_000, ({ random, fromMs, gateway }) => {
    const calls = Array.from({ length: 80 }, () => call(fromMs + random.between(0, 19_000), gateway));
    return { limit: random.whole(65, 200), calls };
  }),
  // The clocks of the gateways and of one replica are minutes slow, and that of the other replica is minutes fast. Calls come when
  // only the fast clock says that the month is over, and when only the slow ones say that it is not.
  'opened-in-time': everywhere(250_000, (random, fromMs) => {
    const jump = (machine: string, byMs: number) => fault(fromMs, 1, { kind: 'wall jump', machine, byMs });
    const slowMs = -random.between(240_000, 270_000);
    const callsFrom = (ms: number) =>
      GATEWAYS.flatMap((_, gateway) => callsEvery(2_000, 4, ms + random.between(0, 1_000), gateway));
    return {
      limit: random.whole(20, 30),
      calls: [...callsFrom(fromMs + 6_000), ...callsFrom(fromMs + 170_000)],
      faults: [...GATEWAYS, REPLICAS[0]]
        .map((machine) => jump(machine, slowMs))
        .concat(jump(REPLICAS[1], -slowMs)),
    };
  }),
  // The database cannot store usage from the stream, or does not show its grants. No gateway sends that usage again.
  'acknowledged-once-stored': unstored,
  'unstored-comes-again': unstored,
  // The account's usage is the oldest message in a stream that is nearly full and has no applied message. No gateway sends it
  // again.
  'only-applied-purged': at(40_000, ({ random, fromMs, gateway, machine }) => {
    const others = [0, 1, 2].filter((other) => other !== gateway);
    const fill = others.flatMap((other) => callsEvery(400, 5, fromMs + 1_000, other, { accountId: FILLING }));
    const faults = { consumerStalled: true, unread: true, small: true };
    return {
      limit: 0,
      accounts: [
        { accountId: ACCOUNT, limit: random.whole(1, 3) },
        { accountId: FILLING, limit: 100 },
      ],
      calls: [call(fromMs + 100, gateway), ...fill],
      faults: [
        fault(fromMs, random.between(14_000, 25_000), { kind: 'stream', faults }),
        fault(fromMs + random.between(150, 300), 30_000, { kind: 'crash', machine }),
      ],
    };
  }),
};

/** A world in which nothing happens by itself. */
const QUIET = {
  seed: 1,
  streams: 1,
  misdirected: 0,
  clocks: {},
  restarts: [],
  healthyUntilMs: 0,
  startWallMs: MID_MONTH,
};

/**
 * The stream acknowledges usage, and loses it before metering has applied it. `holderLives`: the holder uses another permit of
 * the grant afterwards. Otherwise the holder is killed.
 */
export function planOfLostTail(random: Random, holderLives: boolean): Plan {
  const { gateway, machine } = placeOf(random, 0);
  const lostAtMs = 3_000 + random.between(0, 400);
  const after = holderLives ? [call(lostAtMs + 2_000, gateway)] : [];
  const killed = holderLives ? [] : [fault(2_900, 10_000, { kind: 'crash', machine })];
  // This is so far from the limit that one grant is enough for all these calls.
  const limit = random.whole(500, 600);
  return {
    ...filled({
      limit,
      calls: [...callsEvery(300, 6, 1_000, gateway), ...after],
      faults: [
        fault(2_000, 1_500, STALLED),
        fault(lostAtMs, 1, { kind: 'lost tail', messages: random.whole(1, 3) }),
        ...killed,
      ],
    }),
    ...QUIET,
    healAtMs: 40_000,
  };
}

/** Returns a world with one scenario and no other calls and faults. */
export function planOfScenario(rule: RuleName, random: Random): Plan {
  const { lastsMs, planFrom } = DIRECTED_SCENARIOS[rule];
  const monthEndsAtMs = 11_000;
  return {
    ...planFrom(random, 1_000),
    ...QUIET,
    seed: random.whole(1, 1_000_000),
    streams: 2,
    misdirected: 0.5,
    healAtMs: 2_000 + lastsMs,
    startWallMs: ['months-cut', 'opened-in-time'].includes(rule)
      ? Date.UTC(2026, 11, 1) - monthEndsAtMs
      : MID_MONTH,
  };
}

/** A gateway's clocks are slow and metering's are fast. A call ends some time after its grant of ten minutes has ended. */
export function planOfDriftingClocks(lookUpMs: number): Plan {
  const clock = (drift: number) => ({ monotonicDrift: drift, wallDrift: drift });
  return {
    ...filled({ limit: 100, calls: [call(1_000, 0), call(599_000, 0, { lookUpMs })] }),
    ...QUIET,
    healAtMs: 630_000,
    clocks: Object.fromEntries([
      ...GATEWAYS.map((name) => [name, clock(-MOST_DRIFT)]),
      ...REPLICAS.map((name) => [name, clock(MOST_DRIFT)]),
    ]),
  };
}
