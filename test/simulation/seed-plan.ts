import { Route } from '@brand-data/contracts';
import { createRandom, type Random } from '@brand-data/testing/random';
import { DIRECTED_SCENARIOS, type Scenario } from './directed-scenarios.ts';
import { NATS } from './jetstream-consumer.ts';
import { MONGO } from './mongo.ts';
import {
  type Fault,
  GATEWAYS,
  MOST_DRIFT,
  type Plan,
  type PlanChange,
  type PlannedAccount,
  type PlannedAttack,
  type PlannedCall,
  type PlannedFault,
  REPLICAS,
} from './plan.ts';
import { RULE_NAMES } from './rules.ts';

const MID_MONTH = Date.UTC(2026, 10, 20, 12);
const NEXT_MONTH = Date.UTC(2026, 11, 1);
/** The most calls of one account. */
const MOST_CALLS = 110;

/** Attacks draw from a separate sequence of random numbers. */
const ATTACKS_SEED = 2_000_003;
/** In each second world an attacker tries this many things. */
const MOST_ATTACKS = 60;

/** Returns the plan of a seed. The same seed always gives the same plan. */
export function planOf(seed: number): Plan {
  const random = createRandom(seed);
  // A few worlds last longer than the longest grant.
  const healAtMs = random.chance(0.03) ? random.between(610_000, 700_000) : random.between(40_000, 80_000);
  const healthyUntilMs = random.chance(0.1) ? healAtMs : random.between(1_000, 12_000);
  const startWallMs = random.chance(0.25)
    ? Math.floor(NEXT_MONTH - random.between(10_000, healAtMs - 5_000))
    : MID_MONTH;
  const accounts = accountsOf(random);
  const faults = faultsOf(random, healthyUntilMs, healAtMs);
  const scenario = scenarioOf(random, healthyUntilMs, healAtMs);
  const calls = accounts.flatMap((account) =>
    callsOf(random, account, { healthyUntilMs, healAtMs, startWallMs }),
  );
  const planChanges = accounts.flatMap((account) => planChangesOf(random, account, healAtMs));
  return {
    seed,
    startWallMs,
    healthyUntilMs,
    healAtMs,
    streams: 1 + (seed % 2),
    clocks: clocksOf(random, faults),
    accounts: [...accounts, ...scenario.accounts],
    faults: [...faults, ...scenario.faults],
    calls: [...calls, ...scenario.calls],
    planChanges: [...planChanges, ...scenario.planChanges],
    attacks: [...attacksOf(createRandom(seed + ATTACKS_SEED), healAtMs), ...scenario.attacks],
    restarts: restartsOf(random, healAtMs),
    misdirected: random.pick([0, 0.1, 0.5]),
  };
}

function attacksOf(random: Random, healAtMs: number): PlannedAttack[] {
  if (random.chance(0.5)) return [];
  return Array.from({ length: random.whole(1, MOST_ATTACKS) }, () => ({
    atMs: random.between(500, healAtMs),
    kind: random.pick(['report', 'event', 'forge', 'acquire', 'limit', 'unknown', 'over-report'] as const),
    grant: random.whole(0, 5),
    usage: {
      as: random.pick(['used', 'returned'] as const),
      share: random.pick([0, 0.5, 1, 2]),
      closed: random.chance(0.5),
    },
    guesses: random.chance(0.3),
  }));
}

function accountsOf(random: Random): PlannedAccount[] {
  return Array.from({ length: random.whole(1, 3) }, (_, index) => ({
    accountId: `account-${index + 1}`,
    limit: random.chance(0.4)
      ? random.whole(1, 12)
      : random.chance(0.6)
        ? random.whole(13, 80)
        : random.whole(81, 400),
  }));
}

function scenarioOf(random: Random, fromMs: number, healAtMs: number): Scenario {
  const none: Scenario = { accounts: [], calls: [], faults: [], planChanges: [], attacks: [] };
  // The clock of a machine that sleeps must not be set back.
  const drawn = RULE_NAMES.filter((rule) => rule !== 'opened-in-time');
  const fitting = drawn
    .map((rule) => DIRECTED_SCENARIOS[rule])
    .filter(({ lastsMs }) => fromMs + lastsMs < healAtMs);
  const [first, ...others] = fitting;
  if (!first || random.chance(0.4)) return none;
  const { lastsMs, planFrom } = random.pick([first, ...others]);
  return planFrom(random, random.between(fromMs, healAtMs - lastsMs));
}

/**
 * Returns the errors of the machines' clocks. The monotonic clock of a machine that sleeps stands still, so its wall clock must
 * be right to 1.5 %. The wall clocks of other machines may be wrong.
 */
function clocksOf(random: Random, faults: readonly PlannedFault[]): Plan['clocks'] {
  return Object.fromEntries(
    [...GATEWAYS, ...REPLICAS].map((name) => {
      const sleeps = faults.some(({ fault }) => fault.kind === 'suspend' && fault.machine === name);
      const monotonicDrift = random.between(-MOST_DRIFT, MOST_DRIFT);
      const wallDrift = sleeps || random.chance(0.5) ? 0 : monotonicDrift;
      return [name, { monotonicDrift, wallDrift }];
    }),
  );
}

function callsOf(
  random: Random,
  { accountId, limit }: PlannedAccount,
  { healthyUntilMs, healAtMs, startWallMs }: Pick<Plan, 'healthyUntilMs' | 'healAtMs' | 'startWallMs'>,
): PlannedCall[] {
  // If most calls find no record, an account stays near its limit for long. Grants are small and short there.
  const failing = random.chance(0.35) ? random.between(0.5, 0.95) : 0.04;
  const wanted = Math.min(
    MOST_CALLS,
    Math.max(15, Math.ceil((limit * random.between(0.4, 2)) / (1 - failing))),
  );
  const calls: PlannedCall[] = [];
  const monthEndsAtMs = NEXT_MONTH - startWallMs;
  while (calls.length < wanted) {
    const isAtMonthsEnd = monthEndsAtMs < healAtMs && random.chance(0.3);
    const atMs = isAtMonthsEnd ? monthEndsAtMs + random.between(-3_000, 3_000) : random.between(0, healAtMs);
    const burst = random.chance(0.2) ? random.whole(2, 8) : 1;
    for (let call = 0; call < burst; call++) {
      const isHealthy = atMs < healthyUntilMs;
      calls.push({
        atMs: atMs + random.between(0, 40),
        accountId,
        gateway: random.whole(0, GATEWAYS.length - 1),
        keyId: `key-${random.whole(1, 2)}`,
        route: random.pick([Route.BRANDS, Route.LOGOS]),
        status: random.pick([200, 200, 304, 404]),
        lookUpMs: lookUpMsOf(random, isHealthy),
        fails: random.chance(failing),
        answerLost: !isHealthy && random.chance(0.01),
      });
    }
  }
  return calls.sort((a, b) => a.atMs - b.atMs);
}

/** Returns how long a look-up takes: most records are cached, some are requested, and during faults requests may be slow. */
function lookUpMsOf(random: Random, isHealthy: boolean): number {
  if (random.chance(0.7)) return 0;
  if (isHealthy || random.chance(0.6)) return random.between(1, 40);
  return random.between(40, 5_000);
}

function planChangesOf(random: Random, { accountId, limit }: PlannedAccount, healAtMs: number): PlanChange[] {
  if (random.chance(0.6)) return [];
  let last = limit;
  return Array.from({ length: random.whole(1, 3) }, (_, index) => {
    last = random.chance(0.5) ? Math.floor(last * random.between(0, 0.9)) : last + random.whole(1, 40);
    return {
      accountId,
      limit: last,
      revision: index + 2,
      atMs: random.between(0, healAtMs),
      heardAfterMs: GATEWAYS.map(() =>
        random.chance(0.7) ? random.between(1, 1_000) : random.between(0, 15_000),
      ),
    };
  });
}

function restartsOf(random: Random, healAtMs: number): Plan['restarts'] {
  if (random.chance(0.6)) return [];
  const firstMs = random.between(500, healAtMs - 15_000);
  return GATEWAYS.map((_, gateway) => ({ atMs: firstMs + gateway * random.between(2_000, 4_000), gateway }));
}

function faultsOf(random: Random, fromMs: number, healAtMs: number): PlannedFault[] {
  const longest = healAtMs - fromMs;
  if (longest < 1_000) return [];
  // The wall clock of a machine that sleeps is not set back, so that one of its two clocks is always right.
  const sleepers = new Set<string>([...GATEWAYS, ...REPLICAS].filter(() => random.chance(0.5)));
  return Array.from({ length: random.whole(1, 7) }, () => {
    const atMs = fromMs + random.unit() ** 1.3 * longest * 0.9;
    const forMs = Math.min(healAtMs - atMs - 1, lengthOf(random));
    return { atMs, forMs, fault: faultOf(random, sleepers) };
  });
}

/** Returns the length of a fault: from a moment to longer than a short grant's lifetime and all waiting periods after it. */
function lengthOf(random: Random): number {
  return random.chance(0.4) ? random.between(100, 3_000) : random.between(3_000, 35_000);
}

function faultOf(random: Random, sleepers: ReadonlySet<string>): Fault {
  const gateway = random.pick(GATEWAYS);
  const replica = random.pick(REPLICAS);
  const machine = random.chance(0.7) ? gateway : replica;
  const stream = random.whole(0, 1);
  const share = () => (random.chance(0.5) ? 0 : random.between(0, 0.3));
  const both = (from: string, to: string) => [
    { from, to },
    { from: to, to: from },
  ];
  const badLinks = (): Fault => ({
    kind: 'link faults',
    faults: { lost: share(), doubled: share(), late: share(), veryLate: share() / 3 },
  });
  const sleeps = sleepers.has(machine);
  const faults: [() => Fault, ...(() => Fault)[]] = [
    () => ({ kind: 'crash', machine }),
    () => ({ kind: 'crash', machine }),
    () => ({ kind: sleeps ? 'suspend' : 'pause', machine }),
    () => ({ kind: sleeps ? 'suspend' : 'pause', machine }),
    () =>
      sleeps
        ? { kind: 'pause', machine }
        : { kind: 'wall jump', machine, byMs: random.between(-60_000, 60_000) },
    badLinks,
    badLinks,
    // Requests arrive, and replies are lost.
    () => ({ kind: 'cut', links: REPLICAS.map((from) => ({ from, to: gateway })) }),
    () => ({ kind: 'cut', links: REPLICAS.map((from) => ({ from, to: gateway })) }),
    () => ({ kind: 'cut', links: REPLICAS.flatMap((from) => both(from, gateway)) }),
    () => ({ kind: 'cut', links: both('*', NATS).concat(both(NATS, '*')) }),
    () => ({ kind: 'cut', links: both(gateway, NATS) }),
    () => ({ kind: 'cut', links: both(replica, NATS) }),
    () => ({ kind: 'cut', links: both(replica, MONGO) }),
    () => ({ kind: 'cut', links: both(replica, '*') }),
    () => ({ kind: 'stream', stream, faults: { acknowledgementsLost: random.between(0.2, 1) } }),
    () => ({ kind: 'stream', stream, faults: { consumerAcksLost: random.between(0.2, 0.9) } }),
    () => ({ kind: 'stream', stream, faults: { deposed: true } }),
    () => ({ kind: 'stream', stream, faults: { consumerStalled: true } }),
    () => ({ kind: 'stream', faults: { consumerStalled: true, unread: true } }),
    () => ({ kind: 'stream', stream, faults: { small: true } }),
    () => ({ kind: 'stream', stream, faults: { small: true, consumerStalled: true, unread: true } }),
    () => ({ kind: 'stream killed' }),
    () => ({ kind: 'consumer deleted' }),
    () => ({
      kind: 'strange message',
      grantId: random.chance(0.5) ? `account-1/calls/2026-11/1000000.${'A'.repeat(22)}` : undefined,
    }),
    () => ({ kind: 'fail-over' }),
    () => ({ kind: 'election', deposed: random.chance(0.5) }),
    () => ({ kind: 'election', deposed: random.chance(0.5) }),
    () => ({ kind: 'slow database' }),
  ];
  return random.pick(faults)();
}
