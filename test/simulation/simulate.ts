import { boundsOfMonth, monthOf, Route, type UsageEvent } from '@brand-data/contracts';
import { createRandom } from '@brand-data/testing/random';
import { ATTACKER } from './attacker.ts';
import { QuotaCluster } from './cluster.ts';
import type { Violation } from './invariants.ts';
import type { JetStream } from './jetstream.ts';
import { NO_STREAM_FAULTS } from './jetstream-consumer.ts';
import { type Fault, GATEWAYS, type Plan, REPLICAS } from './plan.ts';
import type { Rules } from './rules.ts';
import { LATEST_MESSAGE_MS, NO_LINK_FAULTS, World } from './world.ts';

/**
 * The time until metering has settled a grant, measured by a slow clock: the longest lifetime, the grace, the drift of clocks,
 * and the settler's period of a second.
 */
const SETTLED_WITHIN_MS = 645_000;
/** The time to finish calls that wait, look up records and report usage, and to publish the last batch. */
const STOPPED_WITHIN_MS = 30_000;
/** How often somebody asks whether the figures of the month are final in which the world began. */
const ASKS_WHETHER_FINAL_EVERY_MS = 5_000;
const MOST_CALLS_TO_DRIVE = 60;
/** The name under which strange messages are published. */
const STRANGER = 'stranger';
/** This long after the last fault, all attempts that began during the fault have ended. */
const RECOVERED_AFTER_MS = 12_000;
const PLAIN_CALL = {
  keyId: 'key-1',
  route: Route.LOGOS,
  status: 200,
  lookUpMs: 5,
  fails: false,
  answerLost: false,
};

export interface Outcome {
  violations: readonly Violation[];
  history: readonly string[];
  /** Virtual milliseconds. */
  lastedMs: number;
}

/** Runs a plan from its first call to the end of the last grant, and checks the invariants. */
export async function simulate(plan: Plan, rules: Rules, keepsHistory = false): Promise<Outcome> {
  const world = new World(createRandom(plan.seed + 1_000_003), plan.startWallMs, { keepsHistory });
  const cluster = new QuotaCluster(world, plan, rules);
  const { checker } = cluster;

  schedule(world, cluster, plan);
  await world.runUntil(plan.healAtMs);
  heal(cluster);
  await visit(world, cluster, plan);
  await settle(world, cluster);
  tellLatestPlans(cluster, plan);
  for (const name of GATEWAYS) cluster.boot(name);
  checker.health = 'good';
  await drive(world, cluster, plan);
  await stopGateways(world, cluster);
  await checker.atTheEnd(streamsAtTheEnd(cluster));
  return { violations: checker.violations, history: world.history, lastedMs: world.now() };
}

function schedule(world: World, cluster: QuotaCluster, plan: Plan): void {
  for (const { atMs, ...call } of plan.calls) world.after(atMs, () => void cluster.call(call));
  for (const planned of plan.attacks) world.after(planned.atMs, () => cluster.attack(planned));
  for (const { atMs, gateway } of plan.restarts) world.after(atMs, () => void cluster.restart(gateway, true));
  for (const { atMs, forMs, fault } of plan.faults) {
    world.after(atMs, () => {
      world.note(() => `fault for ${(forMs / 1_000).toFixed(1)} s: ${JSON.stringify(fault)}`);
      const end = applyFault(world, cluster, fault);
      world.after(forMs, () => {
        world.note(() => `over: ${JSON.stringify(fault)}`);
        end();
      });
    });
  }
  for (const { atMs, accountId, limit, revision, heardAfterMs } of plan.planChanges)
    for (const [gateway, afterMs] of heardAfterMs.entries())
      world.after(atMs + afterMs, () =>
        cluster.tellPlan(gateway, accountId, { limit, limitRevision: revision }),
      );
  if (plan.healthyUntilMs < plan.healAtMs) {
    world.after(plan.healthyUntilMs, () => {
      cluster.checker.health = 'bad';
    });
  }
  const lookAtMemory = () => {
    for (const { holder, book } of cluster.gateways()) cluster.checker.memory(holder, book.size);
    if (world.now() < plan.healAtMs) world.after(1_000, lookAtMemory);
  };
  lookAtMemory();
  const month = monthOf(plan.startWallMs);
  const askWhetherFinal = () => {
    cluster.askWhetherFinal(month);
    world.after(ASKS_WHETHER_FINAL_EVERY_MS, askWhetherFinal);
  };
  if (boundsOfMonth(month).endMs < plan.startWallMs + plan.healAtMs) askWhetherFinal();
}

function heal(cluster: QuotaCluster): void {
  for (const name of [...GATEWAYS, ...REPLICAS]) {
    cluster.machine(name).resume();
    cluster.machine(name).syncWall();
    cluster.boot(name);
  }
}

/** The gateways that were running during the faults serve a few calls again. */
async function visit(world: World, cluster: QuotaCluster, { accounts }: Plan): Promise<void> {
  await world.runUntil(world.now() + RECOVERED_AFTER_MS);
  if (cluster.checker.health === 'bad') cluster.checker.health = 'recovered';
  for (let call = 0; call < 4; call++) {
    for (const { accountId } of accounts)
      for (const gateway of GATEWAYS.keys()) void cluster.call({ ...PLAIN_CALL, accountId, gateway });
    await world.runUntil(world.now() + 300);
  }
  await world.runUntil(world.now() + 5_000);
  cluster.checker.atRest(new Set(cluster.gateways().map(({ holder }) => holder)));
  cluster.checker.health = 'bad';
}

/**
 * All usage that gateways stored in the streams, and how many of its messages were applied. Dead letters do not count as
 * applied, except strange messages. An attacker's messages may be dead letters or not.
 */
function streamsAtTheEnd({ jetStreams, allStreams, deadLetters }: QuotaCluster): {
  log: UsageEvent[];
  applied: number;
} {
  const isStrange = (event: UsageEvent | undefined) => !event || event.holder === STRANGER;
  const ofAttacker = ({ signer }: { signer: string }) => signer === ATTACKER;
  const all = jetStreams.flatMap((stream) => stream.log);
  const messages = all.filter((message) => !ofAttacker(message));
  const log = messages.flatMap(({ event }) => (event && !isStrange(event) ? event : []));
  const unapplied = allStreams.flatMap(({ log, consumer }) =>
    log.filter((message) => !ofAttacker(message) && !consumer.isAcknowledged(message.sequence)),
  ).length;
  const dead = [...deadLetters.values()].filter((letter) => !ofAttacker(letter));
  const strange = messages.length - log.length;
  const astray = dead.filter(({ event }) => !isStrange(event)).length;
  const swallowed = strange - (dead.length - astray);
  return { log, applied: log.length - unapplied - astray - swallowed };
}

/** Stops all gateways, waits for the last late message, and waits until the grants of crashed gateways are settled. */
async function settle(world: World, cluster: QuotaCluster): Promise<void> {
  await stopGateways(world, cluster);
  await world.runUntil(world.now() + LATEST_MESSAGE_MS);
  const deadline = world.now() + SETTLED_WITHIN_MS;
  while (world.now() < deadline && cluster.checker.openGrants() > 0) {
    await world.runUntil(world.now() + 5_000);
  }
  cluster.isPoisoned = false;
}

async function stopGateways(world: World, cluster: QuotaCluster): Promise<void> {
  let stopped = 0;
  for (const gateway of GATEWAYS.keys()) void cluster.restart(gateway, false).then(() => stopped++);
  await world.runUntil(world.now() + STOPPED_WITHIN_MS);
  if (stopped < GATEWAYS.length) throw new Error('a gateway did not stop');
}

function tellLatestPlans(cluster: QuotaCluster, plan: Plan): void {
  for (const account of plan.accounts) {
    const { limit, revision } = latestPlan(plan, account.accountId);
    for (const gateway of GATEWAYS.keys())
      cluster.tellPlan(gateway, account.accountId, { limit, limitRevision: revision });
  }
}

function latestPlan(plan: Plan, accountId: string): { limit: number; revision: number } {
  const first = plan.accounts.find((account) => account.accountId === accountId)?.limit ?? 0;
  return plan.planChanges
    .filter((change) => change.accountId === accountId)
    .reduce((a, b) => (b.revision > a.revision ? b : a), { limit: first, revision: 1 });
}

/**
 * Calls until every gateway says that the allowance is used up. No call may fail meanwhile, and the whole allowance must be
 * billed.
 */
async function drive(world: World, cluster: QuotaCluster, plan: Plan): Promise<void> {
  const driveOne = async (accountId: string, gateway: number): Promise<boolean> => {
    for (let calls = 0; calls < MOST_CALLS_TO_DRIVE; calls++) {
      if (await cluster.call({ ...PLAIN_CALL, accountId, gateway })) return true;
      await new Promise<void>((resolve) => world.after(15, resolve));
    }
    return false;
  };
  const driveAll = async (accountId: string): Promise<void> => {
    const reached = await Promise.all(GATEWAYS.map((_, gateway) => driveOne(accountId, gateway)));
    if (reached.every(Boolean)) {
      const { limit } = latestPlan(plan, accountId);
      cluster.checker.drivenPast(accountId, monthOf(world.trueWallMs()), limit);
    }
  };
  const unanswered = new Set(plan.accounts.map(({ accountId }) => accountId));
  for (const { accountId } of plan.accounts)
    void driveAll(accountId).then(() => unanswered.delete(accountId));
  await world.runUntil(world.now() + 30_000);
  // Callers that still have no answer now would wait for ever.
  for (const accountId of unanswered) cluster.checker.unanswered(accountId);
}

/** Starts a fault. The returned function ends it, and every other fault of the same kind. */
function applyFault(world: World, cluster: QuotaCluster, fault: Fault): () => void {
  const { allStreams, jetStreams, mongo } = cluster;
  switch (fault.kind) {
    case 'crash':
      cluster.crash(fault.machine);
      return () => cluster.boot(fault.machine);
    case 'pause':
    case 'suspend':
      cluster.machine(fault.machine).stop(fault.kind === 'pause' ? 'paused' : 'suspended');
      return () => cluster.machine(fault.machine).resume();
    case 'wall jump':
      cluster.machine(fault.machine).jumpWall(fault.byMs);
      return () => {};
    case 'link faults':
      world.linkFaults = fault.faults;
      return () => {
        world.linkFaults = NO_LINK_FAULTS;
      };
    case 'cut':
      for (const { from, to } of fault.links) world.cut(from, to);
      return () => {
        for (const { from, to } of fault.links) world.mend(from, to);
      };
    case 'stream':
      for (const jetStream of streamsOf(cluster, fault.stream)) jetStream.setFaults(fault.faults);
      return () => {
        for (const jetStream of allStreams) jetStream.setFaults(NO_STREAM_FAULTS);
      };
    case 'stream killed':
      for (const each of allStreams) each.killHard();
      world.cut('*', 'nats');
      return () => world.mend('*', 'nats');
    case 'consumer deleted':
      for (const each of allStreams) each.deleteConsumer();
      return () => {};
    case 'strange message': {
      const { grantId } = fault;
      const usage = { used: 1, returned: 0, closed: false, partial: false };
      const day = new Date(world.trueWallMs()).toISOString().slice(0, 10);
      const cells = [{ keyId: 'key-1', route: Route.BRANDS, status: 200, day, count: 1 }];
      jetStreams[0]?.put(
        grantId === undefined ? undefined : { holder: STRANGER, usage: [{ ...usage, grantId, cells }] },
      );
      return () => {};
    }
    case 'lost tail':
      for (const each of jetStreams) each.loseTail(fault.messages);
      return () => {};
    case 'fail-over':
      mongo.losePrimary();
      return () => mongo.electPrimary({ deposed: false });
    case 'election':
      mongo.electPrimary({ deposed: fault.deposed });
      return () => {};
    case 'slow database':
      mongo.slow = true;
      return () => {
        mongo.slow = false;
      };
  }
}

/** Returns the streams of a fault. */
function streamsOf(
  { allStreams, jetStreams, parked }: QuotaCluster,
  stream: Extract<Fault, { kind: 'stream' }>['stream'],
): readonly JetStream[] {
  if (stream === undefined) return allStreams;
  return stream === 'parked'
    ? [parked]
    : jetStreams.filter((_, index) => stream % jetStreams.length === index);
}
