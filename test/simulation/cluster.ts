import { ALLOWANCE_LASTS_MS, type Grant, monthOf, type Recall } from '@brand-data/contracts';
import type { Allowance } from '@brand-data/gateway/src/quota/holding.ts';
import type { ReplicaChoice } from '@brand-data/runtime';
import type { Random } from '@brand-data/testing/random';
import { attack } from './attacker.ts';
import { type GatewayNode, replicaInOrder, startGateway } from './gateway-node.ts';
import { createInvariantChecker, type InvariantChecker } from './invariant-checker.ts';
import { JetStream } from './jetstream.ts';
import { NATS } from './jetstream-consumer.ts';
import { createMachine, type Machine, type Process } from './machine.ts';
import { type MeteringReplica, startReplica } from './metering-replica.ts';
import { ReplicaSet } from './mongo.ts';
import { createNetwork, type Network } from './network.ts';
import { GATEWAYS, type Plan, type PlannedAttack, type PlannedCall, REPLICAS } from './plan.ts';
import type { Rules } from './rules.ts';
import { signAllowance } from './signed-allowances.ts';
import { connectUsageStreams, type DeadLetter } from './usage-streams.ts';
import type { World } from './world.ts';

const POOL = 'calls';
const TOKEN_TRUSTED_MS = 600_000;
/** A name of the form that a public key has. */
const holderName = (name: string) => name.padEnd(43, '-');
/** A caller that has no answer after this time hangs up. */
const CALLER_WAITS_MS = 90_000;

/** The parts of a world, and what can be done to them. */
export interface Cluster {
  readonly network: Network;
  /** The usage streams, all on one server. */
  readonly jetStreams: readonly JetStream[];
  /** Dead letters, by their stream and sequence. */
  readonly deadLetters: ReadonlyMap<string, DeadLetter>;
  readonly mongo: ReplicaSet;
  readonly checker: InvariantChecker;
  machine(name: string): Machine;
  /** Starts the machine's process unless it is running. */
  boot(machine: string): void;
  /** kill -9. */
  crash(machine: string): void;
  /** Stops one gateway as a rolling restart does. `again`: whether a new process replaces it. */
  restart(gateway: number, again: boolean): Promise<void>;
  gateways(): GatewayNode[];
  /** A gateway learns of an account's plan. */
  tellPlan(gateway: number, accountId: string, plan: { limit: number; limitRevision: number }): void;
  /** Makes a call. Resolves when the caller knows the outcome: to true if the answer is that the allowance is used up. */
  call(call: Omit<PlannedCall, 'atMs'>): Promise<boolean>;
  /** An attacker with a gateway's identity tries this. */
  attack(planned: PlannedAttack): void;
  trueWallMs(): number;
}

export function createCluster(world: World, random: Random, plan: Plan, rules: Rules): Cluster {
  const trueWallMs = () => plan.startWallMs + world.now();
  const names: string[] = [...GATEWAYS, ...REPLICAS];
  const machines = new Map(
    names.map((name) => {
      const faults = plan.clocks[name] ?? { monotonicDrift: 0, wallDrift: 0 };
      return [name, createMachine(world, random, name, plan.startWallMs, faults)];
    }),
  );
  const machine = (name: string): Machine => {
    const found = machines.get(name);
    if (!found) throw new Error(`no machine is called ${name}`);
    return found;
  };
  const network = createNetwork(world, random);
  const { startWallMs } = plan;
  const jetStreams = Array.from(
    { length: plan.streams },
    (_, index) => new JetStream({ world, random, network, startWallMs }, index + 1),
  );
  const deadLetters = new Map<string, DeadLetter>();
  const months = [...new Set([monthOf(plan.startWallMs), monthOf(plan.startWallMs + 3_600_000)])];
  const mongo = new ReplicaSet({ world, random, network }, rules.mongo, (ledgers) =>
    checker.billChanged(ledgers),
  );
  const checker = createInvariantChecker(world, () => mongo.durable(), {
    months,
    trueWallMs,
    mustServe: plan.mustServe,
    rules,
  });

  const running = new Map<string, GatewayNode | MeteringReplica>();
  const gateways = new Map<string, GatewayNode>();
  const replicas = new Map<string, MeteringReplica>();
  const boots = new Map<string, number>();
  /** The grants that metering gave out, the latest last. */
  const grants: { holder: string; accountId: string; grant: Grant }[] = [];
  const plans = GATEWAYS.map(
    () => new Map(plan.accounts.map(({ accountId, limit }) => [accountId, { limit, limitRevision: 1 }])),
  );

  const broadcast = (from: Process, recall: Recall): void => {
    network.send({
      from: from.machine.name,
      to: NATS,
      sender: from,
      arrive: () => {
        world.note(() => `recall of ${recall.accountId} for ${recall.holder || 'the lower limit'}`);
        for (const gateway of gateways.values()) {
          network.send({
            from: NATS,
            to: gateway.process.machine.name,
            arrive: () => gateway.process.reach(() => gateway.recall(recall)),
          });
        }
      },
    });
  };

  /** Gateways soon stop asking replicas that are down, but not replicas that hang. */
  const replicaFor = (choice: ReplicaChoice): MeteringReplica | undefined => {
    const connected = [...replicas.values()].filter(({ process }) => process.isAlive());
    return replicaInOrder(
      connected,
      random.chance(plan.misdirected) ? { ...choice, attempt: choice.attempt + 1 } : choice,
    );
  };

  const boot = (name: string): void => {
    if (running.get(name)?.process.isAlive()) return;
    const number = (boots.get(name) ?? 0) + 1;
    boots.set(name, number);
    if (name.startsWith('metering')) {
      const replica = startReplica({
        world,
        random,
        broadcast,
        machine: machine(name),
        rules,
        connectDatabase: (client) => mongo.connect(client),
        connectStreams: (client) => connectUsageStreams(client, network, jetStreams, deadLetters),
      });
      replicas.set(name, replica);
      running.set(name, replica);
    } else {
      const holder = holderName(`${name}-${number}`);
      const gateway = startGateway({
        world,
        network,
        jetStreams,
        machine: machine(name),
        book: new rules.Book(),
        replica: replicaFor,
        holder,
        decided: (request, response) => {
          world.note(() => `${request.holder} request ${request.seq}: ${JSON.stringify(response.outcome)}`);
          checker.decided(request, response);
          if (response.outcome?.$case === 'grant')
            grants.push({ holder, accountId: request.accountId, grant: response.outcome.value });
        },
      });
      gateways.set(name, gateway);
      running.set(name, gateway);
    }
  };

  /** The gateway that the caller wants, or the next one that takes calls. */
  const reachable = (index: number): { gateway: GatewayNode; index: number } | undefined => {
    for (let step = 0; step < GATEWAYS.length; step++) {
      const at = (index + step) % GATEWAYS.length;
      const gateway = gateways.get(GATEWAYS[at] ?? '');
      if (gateway?.isReady()) return { gateway, index: at };
    }
    return undefined;
  };

  const call: Cluster['call'] = ({ accountId, gateway: wanted, answerLost, ...work }) =>
    new Promise((resolve) => {
      const found = reachable(wanted);
      const known = found && plans[found.index]?.get(accountId);
      if (!found || !known) {
        resolve(false);
        return;
      }
      const { gateway } = found;
      const { keyId, route, status } = work;
      const seen = checker.callBegan({ accountId, limit: known.limit, kind: `${keyId}/${route}/${status}` });
      // The token was verified as long ago as a gateway trusts it without accounts.
      const signedUntilMs = trueWallMs() + ALLOWANCE_LASTS_MS - TOKEN_TRUSTED_MS;
      const { limit, limitRevision } = known;
      const limits = new Map([[POOL, limit]]);
      const signed = signAllowance({ accountId, limitRevision, limits, untilMs: signedUntilMs });
      const allowance: Allowance = { accountId, pool: POOL, ...known, signed, signedUntilMs };
      let ended = false;
      const end = (outcome: Parameters<InvariantChecker['callEnded']>[1]) => {
        if (ended) return;
        ended = true;
        world.note(() => `a call of ${accountId} on ${gateway.holder}: ${outcome}`);
        checker.callEnded(seen, outcome);
        resolve(outcome === 'exhausted');
      };
      gateway.process.reach(() => {
        // The caller has hung up or the gateway's process has ended, so no answer reaches the caller.
        if (ended) return;
        const answering = gateway.answer(allowance, work, (wallMs) => {
          if (!ended) checker.callAdmitted(seen, wallMs);
          else {
            const late = { ...seen };
            checker.callAdmitted(late, wallMs);
            checker.callEnded(late, 'unsure');
          }
        });
        void answering.then((answer) => {
          if (answerLost) end('unsure');
          else if (answer.kind === 'free') end(answer.reason === 'permit' ? 'refused' : 'failed');
          else end(answer.kind);
        });
      });
      const lookAgain = () => {
        if (ended) return;
        if (!gateway.process.isAlive()) end('unsure');
        else world.after(500, lookAgain);
      };
      lookAgain();
      world.after(CALLER_WAITS_MS, () => end('unsure'));
    });

  for (const name of [...REPLICAS, ...GATEWAYS]) boot(name);

  return {
    network,
    jetStreams,
    deadLetters,
    mongo,
    checker,
    machine,
    boot,
    call,
    trueWallMs,
    crash: (name) => {
      running.get(name)?.process.end();
      world.note(() => `${name} is killed`);
    },
    restart: async (index, again) => {
      const name = GATEWAYS[index] ?? GATEWAYS[0];
      const gateway = gateways.get(name);
      if (!gateway?.isReady()) return;
      const { health } = checker;
      await gateway.drain();
      gateway.process.end();
      if (again) world.after(500, () => boot(name));
      if (health !== 'good') return;
      world.after(2_000, () => {
        if (checker.health === 'good') void checker.stopped(gateway.holder, gateway.book.size.grants);
      });
    },
    attack: (planned) => {
      const target = grants.at(-1 - planned.grant);
      const replica = [...replicas.values()].find(({ process }) => process.isAlive());
      if (!target || !replica) return;
      world.note(() => `attack on ${target.grant.id}: ${JSON.stringify(planned)}`);
      attack(planned, { ...target, replica, pool: POOL, jetStream: jetStreams[0], wallMs: trueWallMs() });
    },
    gateways: () => [...gateways.values()].filter(({ process }) => process.isAlive()),
    tellPlan: (gateway, accountId, { limit, limitRevision }) => {
      plans[gateway]?.set(accountId, { limit, limitRevision });
    },
  };
}
