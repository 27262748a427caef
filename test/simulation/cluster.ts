import {
  ALLOWANCE_LASTS_MS,
  type Grant,
  PARKED_USAGE,
  type Recall,
  usageStreams,
} from '@brand-data/contracts';
import type { Allowance } from '@brand-data/gateway/src/quota/holding.ts';
import type { ReplicaChoice } from '@brand-data/runtime';
import { attack } from './attacker.ts';
import { broadcastRecall, GatewayNode, replicaInOrder } from './gateway-node.ts';
import { InvariantChecker } from './invariant-checker.ts';
import type { SeenOutcome } from './invariants.ts';
import { JetStream } from './jetstream.ts';
import { Machine } from './machine.ts';
import { type MeteringReplica, startReplica } from './metering-replica.ts';
import { type ChangedLedger, ReplicaSet } from './mongo.ts';
import { GATEWAYS, type Plan, type PlannedAttack, type PlannedCall, REPLICAS } from './plan.ts';
import type { Rules } from './rules.ts';
import { signAllowance } from './signed-allowances.ts';
import { connectUsageStreams, type DeadLetter } from './usage-streams.ts';
import type { World } from './world.ts';

const POOL = 'calls';
/** Metering gives up a message with an unknown grant a minute later. */
const POISONED_EVERY_MS = 30_000;
const TOKEN_TRUSTED_MS = 600_000;
/** Returns a name of the form that a public key has. */
const holderName = (name: string) => name.padEnd(43, '-');
/** A caller that has no answer after this time hangs up. */
const CALLER_WAITS_MS = 90_000;

/** A plan of an account as a gateway knows it. */
interface KnownPlan {
  limit: number;
  limitRevision: number;
}

/** The parts of a world, and what can be done to them. */
export class QuotaCluster {
  /** The usage streams, all on one server. */
  readonly jetStreams: readonly JetStream[];
  /** The stream of usage with unknown grants, on the same server. */
  readonly parked: JetStream;
  /** Dead letters, by their stream and sequence. */
  readonly deadLetters = new Map<string, DeadLetter>();
  /** Whether attacks with unknown grants are repeated. */
  isPoisoned = true;
  readonly mongo: ReplicaSet;
  readonly checker: InvariantChecker;
  readonly #world: World;
  readonly #plan: Plan;
  readonly #rules: Rules;
  readonly #machines: ReadonlyMap<string, Machine>;
  readonly #gateways = new Map<string, GatewayNode>();
  readonly #replicas = new Map<string, MeteringReplica>();
  readonly #boots = new Map<string, number>();
  /** The grants that metering gave out, the latest last. */
  readonly #grants: { holder: string; accountId: string; grant: Grant }[] = [];
  /** For each gateway, the accounts' plans. */
  readonly #plans: readonly Map<string, KnownPlan>[];

  constructor(world: World, plan: Plan, rules: Rules) {
    const { accounts, clocks, streams } = plan;
    this.#world = world;
    this.#plan = plan;
    this.#rules = rules;
    this.#machines = new Map(
      [...GATEWAYS, ...REPLICAS].map((name) => [name, new Machine(world, name, clocks[name])]),
    );
    this.jetStreams = usageStreams(streams).map((stream) => new JetStream(world, stream));
    this.parked = new JetStream(world, PARKED_USAGE);
    const changed = (ledgers: readonly ChangedLedger[]) => this.checker.billChanged(ledgers);
    this.mongo = new ReplicaSet(world, rules.mongo, changed);
    this.checker = new InvariantChecker(world, () => this.mongo.durable(), plan, rules);
    this.#plans = GATEWAYS.map(
      () => new Map(accounts.map(({ accountId, limit }) => [accountId, { limit, limitRevision: 1 }])),
    );
    for (const name of [...REPLICAS, ...GATEWAYS]) this.boot(name);
  }

  machine(name: string): Machine {
    const found = this.#machines.get(name);
    if (!found) throw new Error(`no machine is called ${name}`);
    return found;
  }

  get allStreams(): readonly JetStream[] {
    return [...this.jetStreams, this.parked];
  }

  gateways(): GatewayNode[] {
    return [...this.#gateways.values()].filter(({ process }) => process.isAlive());
  }

  /** Starts the machine's process unless it is running. */
  boot(name: string): void {
    if (this.#running(name)?.process.isAlive()) return;
    const number = (this.#boots.get(name) ?? 0) + 1;
    this.#boots.set(name, number);
    if (name.startsWith('metering')) this.#bootReplica(name);
    else this.#bootGateway(name, holderName(`${name}-${number}`));
  }

  /** kill -9. */
  crash(name: string): void {
    this.#running(name)?.process.end();
    this.#world.note(() => `${name} is killed`);
  }

  /** Stops one gateway as a rolling restart does. `again`: whether a new process replaces it. */
  async restart(index: number, again: boolean): Promise<void> {
    const name = GATEWAYS[index] ?? GATEWAYS[0];
    const gateway = this.#gateways.get(name);
    if (!gateway?.isReady()) return;
    const { checker } = this;
    const { health } = checker;
    await gateway.drain();
    gateway.process.end();
    if (again) this.#world.after(500, () => this.boot(name));
    if (health !== 'good') return;
    this.#world.after(2_000, () => {
      if (checker.health === 'good') checker.stopped(gateway.holder, gateway.book.size.grants);
    });
  }

  /** An attacker with a gateway's identity tries this. */
  attack(planned: PlannedAttack): void {
    const target = this.#grants.at(-1 - planned.grant);
    const replica = [...this.#replicas.values()].find(({ process }) => process.isAlive());
    const plan = target && this.#plans[0]?.get(target.accountId);
    if (!target || !plan || !replica) return;
    const allowance = this.#allowanceOf(target.accountId, plan).signed ?? '';
    this.#world.note(() => `attack on ${target.grant.id}: ${JSON.stringify(planned)}`);
    const [jetStream] = this.jetStreams;
    attack(planned, {
      ...target,
      allowance,
      replica,
      pool: POOL,
      jetStream,
      wallMs: this.#world.trueWallMs(),
    });
    const goesOn = planned.kind === 'unknown' && this.isPoisoned;
    if (goesOn) this.#world.after(POISONED_EVERY_MS, () => this.attack(planned));
  }

  /** Asks each replica whether the accounts' figures of this month are final. */
  askWhetherFinal(month: string): void {
    for (const { process, readUsage } of this.#replicas.values())
      for (const { accountId } of this.#plan.accounts)
        process.reach(async () => {
          const { final, pools } = await readUsage(accountId, month).catch(() => ({
            final: false,
            pools: [],
          }));
          if (final) this.checker.saidFinal(accountId, month, pools[0]?.used ?? 0);
        });
  }

  /** A gateway learns of an account's plan. */
  tellPlan(gateway: number, accountId: string, plan: KnownPlan): void {
    this.#plans[gateway]?.set(accountId, plan);
  }

  /** Makes a call. Resolves when the caller knows the outcome: to true if the answer is that the allowance is used up. */
  call({ accountId, gateway: wanted, answerLost, ...work }: Omit<PlannedCall, 'atMs'>): Promise<boolean> {
    const found = this.#reachable(wanted);
    const known = found && this.#plans[found.index]?.get(accountId);
    if (!found || !known) return Promise.resolve(false);
    const { gateway } = found;
    const { checker } = this;
    const kind = `${work.keyId}/${work.route}/${work.status}`;
    const seen = checker.callBegan({ accountId, limit: known.limit, kind });
    const allowance = this.#allowanceOf(accountId, known);
    return new Promise((resolve) => {
      let ended = false;
      const end = (outcome: SeenOutcome) => {
        if (ended) return;
        ended = true;
        this.#world.note(() => `a call of ${accountId} on ${gateway.holder}: ${outcome}`);
        checker.callEnded(seen, outcome);
        resolve(outcome === 'exhausted');
      };
      const admitted = (wallMs: number) => {
        const call = ended ? { ...seen } : seen;
        checker.callAdmitted(call, wallMs);
        if (ended) checker.callEnded(call, 'unsure');
      };
      gateway.process.reach(() => {
        // The caller has hung up or the gateway's process has ended, so no answer reaches the caller.
        if (ended) return;
        void gateway
          .answer(allowance, work, admitted)
          .then((outcome) => end(answerLost ? 'unsure' : outcome));
      });
      const lookAgain = () => {
        if (ended) return;
        if (!gateway.process.isAlive()) end('unsure');
        else this.#world.after(500, lookAgain);
      };
      lookAgain();
      this.#world.after(CALLER_WAITS_MS, () => end('unsure'));
    });
  }

  #allowanceOf(accountId: string, { limit, limitRevision }: KnownPlan): Allowance {
    // The token was verified as long ago as a gateway trusts it without accounts.
    const signedUntilMs = this.#world.trueWallMs() + ALLOWANCE_LASTS_MS - TOKEN_TRUSTED_MS;
    const limits = new Map([[POOL, limit]]);
    const signed = signAllowance({ accountId, limitRevision, limits, untilMs: signedUntilMs });
    return { accountId, pool: POOL, limit, limitRevision, signed, signedUntilMs };
  }

  /** Returns the gateway that the caller wants, or the next one that takes calls. */
  #reachable(index: number): { gateway: GatewayNode; index: number } | undefined {
    for (let step = 0; step < GATEWAYS.length; step++) {
      const at = (index + step) % GATEWAYS.length;
      const gateway = this.#gateways.get(GATEWAYS[at] ?? '');
      if (gateway?.isReady()) return { gateway, index: at };
    }
    return undefined;
  }

  #running(name: string): GatewayNode | MeteringReplica | undefined {
    return this.#gateways.get(name) ?? this.#replicas.get(name);
  }

  #bootReplica(name: string): void {
    const world = this.#world;
    const recalled = ({ accountId, holder }: Recall) => {
      world.note(() => `recall of ${accountId} for ${holder || 'the lower limit'}`);
      return this.#gateways.values();
    };
    const replica = startReplica({
      world,
      machine: this.machine(name),
      rules: this.#rules,
      broadcast: (from, recall) => broadcastRecall(world, from, recall, () => recalled(recall)),
      connectDatabase: (client) => this.mongo.connect(client),
      connectStreams: (client) => connectUsageStreams(client, world, this.allStreams, this.deadLetters),
    });
    this.#replicas.set(name, replica);
  }

  #bootGateway(name: string, holder: string): void {
    const gateway = new GatewayNode({
      world: this.#world,
      jetStreams: this.jetStreams,
      machine: this.machine(name),
      book: new this.#rules.Book(),
      replica: (choice) => this.#replicaFor(choice),
      holder,
      decided: (request, response) => {
        const { seq, accountId } = request;
        const { outcome } = response;
        this.#world.note(() => `${request.holder} request ${seq}: ${JSON.stringify(outcome)}`);
        this.checker.decided(request, response);
        if (outcome?.$case === 'grant') this.#grants.push({ holder, accountId, grant: outcome.value });
      },
    });
    this.#gateways.set(name, gateway);
  }

  /** Gateways soon stop asking replicas that are down, but not replicas that hang. */
  #replicaFor(choice: ReplicaChoice): MeteringReplica | undefined {
    const connected = [...this.#replicas.values()].filter(({ process }) => process.isAlive());
    const isMisdirected = this.#world.random.chance(this.#plan.misdirected);
    return replicaInOrder(connected, isMisdirected ? { ...choice, attempt: choice.attempt + 1 } : choice);
  }
}
