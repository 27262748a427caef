import { Route } from '@brand-data/contracts';
import { GrantBook } from '@brand-data/gateway/src/quota/grant-book.ts';
import { usedOf } from '@brand-data/metering/src/ledger/ledger.ts';
import { createRandom } from '@brand-data/testing/random';
import { broadcastRecall, GatewayNode, replicaInOrder } from './gateway-node.ts';
import { JetStream } from './jetstream.ts';
import { Machine } from './machine.ts';
import { startReplica } from './metering-replica.ts';
import { ReplicaSet } from './mongo.ts';
import { createNetwork } from './network.ts';
import { REPLICAS } from './plan.ts';
import { ALL_RULES } from './rules.ts';
import { signAllowance } from './signed-allowances.ts';
import { connectUsageStreams } from './usage-streams.ts';
import { createWorld } from './world.ts';

/** Callers of one account who use many gateways, until each caller gets the answer that the allowance is used up. */
export interface NearLimit {
  seed: number;
  gateways: number;
  connections: number;
  allowance: number;
  /** The share of calls that find no record, so that their permits become free again. */
  failing: number;
  /**
   * The gateway of a connection's next call, which may depend on the share of the allowance that is left. Absent: all calls of
   * a connection use the same gateway.
   */
  gatewayOf?: (connection: number, left: number) => number;
}

export interface NearLimitAnswer {
  kind: 'counted' | 'exhausted' | 'unsure' | 'permit' | 'record';
  /** The share of the allowance that was left, by the answers that callers had got. */
  left: number;
  atMs: number;
  tookMs: number;
}

const START_MS = Date.UTC(2026, 10, 20, 12);
const NO_DRIFT = { monotonicDrift: 0, wallDrift: 0 };
/** Together with the gateway's other waits, a call takes about ten milliseconds. */
const LOOK_UP_MS = [0, 12] as const;
const LONGEST_MS = 60_000;

/** Runs the callers in virtual time, with the product's own code and without faults. */
export async function simulateNearLimit({
  seed,
  gateways: count,
  connections,
  allowance: limit,
  failing,
  gatewayOf = (connection) => connection % count,
}: NearLimit): Promise<{ answers: NearLimitAnswer[]; billed: number }> {
  const world = createWorld({ keepsHistory: false });
  const random = createRandom(seed);
  const network = createNetwork(world, random);
  const jetStream = new JetStream({ world, random, network, startWallMs: START_MS }, 1);
  const mongo = new ReplicaSet({ world, random, network }, ALL_RULES.mongo, () => {});
  const machineOf = (name: string) => new Machine(world, random, name, START_MS, NO_DRIFT);
  const gateways: GatewayNode[] = [];

  const replicas = REPLICAS.map((name) =>
    startReplica({
      world,
      random,
      broadcast: (from, recall) => broadcastRecall(network, from, recall, () => gateways),
      machine: machineOf(name),
      rules: ALL_RULES,
      connectDatabase: (client) => mongo.connect(client),
      connectStreams: (client) => connectUsageStreams(client, network, [jetStream], new Map()),
    }),
  );
  for (let number = 1; number <= count; number++) {
    // A name of the form that a public key has.
    const holder = `gateway-${number}`.padEnd(43, '-');
    gateways.push(
      new GatewayNode({
        world,
        network,
        jetStreams: [jetStream],
        machine: machineOf(holder),
        book: new GrantBook(),
        holder,
        replica: (choice) => replicaInOrder(replicas, choice),
        decided: () => {},
      }),
    );
  }

  const answers: NearLimitAnswer[] = [];
  let counted = 0;
  const stated = { accountId: 'account', limitRevision: 1 };
  const signedUntilMs = START_MS + 2 * LONGEST_MS;
  const signed = signAllowance({ ...stated, limits: new Map([['calls', limit]]), untilMs: signedUntilMs });
  const allowance = { ...stated, pool: 'calls', limit, signed, signedUntilMs };
  const leftNow = () => 1 - counted / limit;
  const drive = async (connection: number): Promise<void> => {
    for (let isOver = false; !isOver; ) {
      const gateway = gateways[gatewayOf(connection, leftNow())];
      if (!gateway) throw new Error('no such gateway');
      const beganMs = world.now();
      const lookUpMs = random.between(...LOOK_UP_MS);
      const work = {
        keyId: 'key',
        route: Route.BRANDS,
        status: 200,
        lookUpMs,
        fails: random.chance(failing),
      };
      const answer = await gateway.answer(allowance, work, () => {});
      const kind = answer.kind === 'free' ? answer.reason : answer.kind;
      answers.push({ kind, left: leftNow(), atMs: world.now(), tookMs: world.now() - beganMs });
      if (kind === 'counted') counted += 1;
      isOver = kind === 'exhausted';
    }
  };
  const driven = Promise.all(Array.from({ length: connections }, (_, connection) => drive(connection)));
  await world.runUntil(LONGEST_MS);
  // A caller that has not got this answer by now would continue for ever.
  await Promise.race([driven, Promise.reject(new Error('some callers are not told that nothing is left'))]);
  const [ledger] = mongo.durable().ledgers.values();
  return { answers, billed: ledger ? usedOf(ledger) : 0 };
}
