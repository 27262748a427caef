import { PARKED_USAGE, Route, usageStream } from '@brand-data/contracts';
import { GrantBook } from '@brand-data/gateway/src/quota/grant-book.ts';
import { usedOf } from '@brand-data/metering/src/ledger/ledger.ts';
import { createRandom } from '@brand-data/testing/random';
import { expect, test } from 'vitest';
import { broadcastRecall, GatewayNode, replicaInOrder } from './gateway-node.ts';
import type { SeenOutcome } from './invariants.ts';
import { JetStream } from './jetstream.ts';
import { Machine } from './machine.ts';
import { startReplica } from './metering-replica.ts';
import { ReplicaSet } from './mongo.ts';
import { REPLICAS } from './plan.ts';
import { ALL_RULES } from './rules.ts';
import { signAllowance } from './signed-allowances.ts';
import { connectUsageStreams } from './usage-streams.ts';
import { World } from './world.ts';

const ALLOWANCE = 40_000;
const CONNECTIONS = 256;
/** The longest time that a call may take, from far from the limit up to the last permit. */
const LONGEST_ALLOWED_MS = 2_000;
const START_MS = Date.UTC(2026, 10, 20, 12);
/** Together with the gateway's other waits, a call takes about ten milliseconds. */
const LOOK_UP_MS = [0, 12] as const;
const LONGEST_MS = 60_000;

/** Callers of one account who use many gateways, until each caller gets the answer that the allowance is used up. */
interface NearLimit {
  gateways: number;
  /** The share of calls that find no record, so that their permits become free again. */
  failing: number;
  /** The gateway of a connection's next call, which may depend on the share of the allowance that is left. */
  gatewayOf: (gateways: number) => (connection: number, left: number) => number;
}

/** Starts the product's own code in virtual time and without faults. */
function startCluster(world: World, count: number): { gateways: GatewayNode[]; mongo: ReplicaSet } {
  const jetStreams = [new JetStream(world, usageStream(1))];
  const parked = new JetStream(world, PARKED_USAGE);
  const mongo = new ReplicaSet(world, ALL_RULES.mongo, () => {});
  const gateways: GatewayNode[] = [];
  const replicas = REPLICAS.map((name) =>
    startReplica({
      world,
      broadcast: (from, recall) => broadcastRecall(world, from, recall, () => gateways),
      machine: new Machine(world, name),
      rules: ALL_RULES,
      connectDatabase: (client) => mongo.connect(client),
      connectStreams: (client) => connectUsageStreams(client, world, [...jetStreams, parked], new Map()),
    }),
  );
  for (let number = 1; number <= count; number++) {
    // A name of the form that a public key has.
    const holder = `gateway-${number}`.padEnd(43, '-');
    gateways.push(
      new GatewayNode({
        world,
        jetStreams,
        machine: new Machine(world, holder),
        book: new GrantBook(),
        holder,
        replica: (choice) => replicaInOrder(replicas, choice),
        decided: () => {},
      }),
    );
  }
  return { gateways, mongo };
}

async function simulateNearLimit({ gateways: count, failing, gatewayOf }: NearLimit) {
  const random = createRandom(count);
  const world = new World(random, START_MS);
  const { gateways, mongo } = startCluster(world, count);
  const answers: { outcome: SeenOutcome; tookMs: number }[] = [];
  const stated = { accountId: 'account', limitRevision: 1 };
  const signedUntilMs = START_MS + 2 * LONGEST_MS;
  const limits = new Map([['calls', ALLOWANCE]]);
  const signed = signAllowance({ ...stated, limits, untilMs: signedUntilMs });
  const allowance = { ...stated, pool: 'calls', limit: ALLOWANCE, signed, signedUntilMs };
  const chosen = gatewayOf(count);
  let counted = 0;
  const drive = async (_: unknown, connection: number): Promise<void> => {
    for (let outcome: SeenOutcome = 'counted'; outcome !== 'exhausted'; ) {
      const gateway = gateways[chosen(connection, 1 - counted / ALLOWANCE)];
      if (!gateway) throw new Error('no such gateway');
      const beganMs = world.now();
      const lookUpMs = random.between(...LOOK_UP_MS);
      const call = { keyId: 'key', route: Route.BRANDS, status: 200 };
      const work = { ...call, lookUpMs, fails: random.chance(failing) };
      outcome = await gateway.answer(allowance, work, () => {});
      answers.push({ outcome, tookMs: world.now() - beganMs });
      if (outcome === 'counted') counted += 1;
    }
  };
  const driven = Promise.all(Array.from({ length: CONNECTIONS }, drive));
  await world.runUntil(LONGEST_MS);
  // A caller that has not got this answer by now would continue for ever.
  await Promise.race([driven, Promise.reject(new Error('some callers are not told that nothing is left'))]);
  const [ledger] = mongo.durable().ledgers.values();
  return { answers, billed: ledger ? usedOf(ledger) : 0 };
}

const spreadEvenly = (gateways: number) => (connection: number) => connection % gateways;
/** All callers of one gateway move to the other gateways when a fifth of the allowance is left. */
const movedOn = (gateways: number) => (connection: number, left: number) =>
  left > 0.2 ? 0 : 1 + (connection % (gateways - 1));

test.each([
  { gateways: 2, failing: 0, name: 'evenly', gatewayOf: spreadEvenly },
  { gateways: 5, failing: 0.2, name: 'evenly', gatewayOf: spreadEvenly },
  { gateways: 20, failing: 0.05, name: 'evenly', gatewayOf: spreadEvenly },
  { gateways: 2, failing: 0, name: 'moving from one to another', gatewayOf: movedOn },
  { gateways: 20, failing: 0, name: 'moving from one to the others', gatewayOf: movedOn },
])(
  'near the limit, over $gateways gateways ($name), no call fails for lack of a permit, and all permits are used',
  async (callers) => {
    const { answers, billed } = await simulateNearLimit(callers);
    const outcomes = Map.groupBy(answers, ({ outcome }) => outcome);
    expect(outcomes.get('refused')).toBeUndefined();
    expect(outcomes.get('unsure')).toBeUndefined();
    expect(outcomes.get('counted')).toHaveLength(ALLOWANCE);
    expect(outcomes.get('exhausted')).toHaveLength(CONNECTIONS);
    expect(billed).toBe(ALLOWANCE);
    const longestMs = answers.reduce((longest, { tookMs }) => Math.max(longest, tookMs), 0);
    expect(longestMs).toBeLessThan(LONGEST_ALLOWED_MS);
  },
  60_000,
);
