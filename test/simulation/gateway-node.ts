import { type AcquireRequest, type AcquireResponse, type Recall, usageStreamOf } from '@brand-data/contracts';
import type { Acquire } from '@brand-data/gateway/src/quota/acquirer.ts';
import type { GrantBook } from '@brand-data/gateway/src/quota/grant-book.ts';
import type { Allowance } from '@brand-data/gateway/src/quota/holding.ts';
import { type Admitted, Quota } from '@brand-data/gateway/src/quota/quota.ts';
import { UsageJournal, type UsagePaths } from '@brand-data/gateway/src/quota/usage-journal.ts';
import { Fault, type ReplicaChoice } from '@brand-data/runtime';
import type { SeenOutcome } from './invariants.ts';
import type { JetStream } from './jetstream.ts';
import { NATS } from './jetstream-consumer.ts';
import type { Machine } from './machine.ts';
import type { MeteringReplica } from './metering-replica.ts';
import type { CallWork } from './plan.ts';
import type { Process, World } from './world.ts';

interface GatewayParts {
  world: World;
  machine: Machine;
  jetStreams: readonly JetStream[];
  /** Returns undefined if no replica can be reached. */
  replica: (choice: ReplicaChoice) => MeteringReplica | undefined;
  holder: string;
  book: GrantBook;
  /** Called when metering's reply to a request for a grant leaves metering. */
  decided: (request: AcquireRequest, response: AcquireResponse) => void;
}

const noAnswer = () => new Fault('unavailable', 'no answer in time');

export class GatewayNode {
  readonly process: Process;
  readonly holder: string;
  readonly book: GrantBook;
  readonly #parts: GatewayParts;
  readonly #quota: Quota;
  #underWay = 0;
  #ready = true;

  constructor(parts: GatewayParts) {
    const { world, machine, holder, book, jetStreams, decided } = parts;
    this.#parts = parts;
    this.process = machine.boot();
    this.holder = holder;
    this.book = book;
    const { clock } = this.process;
    const jetStream = jetStreams[usageStreamOf(holder, jetStreams.length) - 1];
    const paths: UsagePaths = {
      publish: async (event, messageId, withinMs) => {
        await jetStream?.publish(this.process, event, withinMs, messageId);
      },
      report: ({ usage }, withinMs, choice) =>
        this.#call(choice, withinMs, async ({ metering }) => {
          const { refused, foreign, unknown, unavailable } = await metering.report(usage, holder);
          const refusedGrantIds = [...refused, ...foreign];
          return { refusedGrantIds, unavailableGrantIds: [...unknown, ...unavailable] };
        }),
    };
    const acquire: Acquire = (request, withinMs, choice) =>
      this.#call(choice, withinMs, async ({ metering }) => {
        const response = await metering.acquire(request, holder);
        decided(request, response);
        return response;
      });
    const unheard = () => {};
    const events = {
      committed: unheard,
      waits: unheard,
      asked: unheard,
      waited: unheard,
      recalled: unheard,
      failed: (calls: number, error: unknown) =>
        world.note(() => `${holder} could not bill ${calls} calls: ${error}`),
    };
    const journal = new UsageJournal({ book, holder, clock, paths, events });
    this.#quota = new Quota({ book, journal, acquire, clock, holder, events });
    world.note(() => `${holder} starts`);
  }

  /** Whether it takes new calls. It does not while it stops. */
  isReady(): boolean {
    return this.#ready && this.process.isAlive();
  }

  /** @param admitted gets the wall clock's time at which the call was admitted */
  async answer(
    allowance: Allowance,
    work: CallWork,
    admitted: (wallMs: number) => void,
  ): Promise<SeenOutcome> {
    this.#underWay += 1;
    const answer = await this.#answer(allowance, work, admitted);
    this.#underWay -= 1;
    return answer;
  }

  recall(recall: Recall): void {
    this.#quota.recall(recall);
  }

  /** Stops as in a rolling restart: takes no new calls, answers those in progress, and returns unused permits. */
  async drain(): Promise<void> {
    this.#ready = false;
    while (this.#underWay > 0) await this.process.clock.sleep(20);
    await this.#quota.stop();
    this.#parts.world.note(() => `${this.holder} has stopped`);
  }

  async #answer(
    allowance: Allowance,
    { keyId, route, status, lookUpMs, fails }: CallWork,
    admitted: (wallMs: number) => void,
  ): Promise<SeenOutcome> {
    const { clock } = this.process;
    let admission: Admitted;
    try {
      admission = await this.#quota.admit(allowance);
    } catch {
      return 'refused';
    }
    if (admission.kind === 'exhausted') return 'exhausted';
    const { permit } = admission;
    admitted(clock.now().wallMs);
    if (lookUpMs > 0) await clock.sleep(lookUpMs);
    if (fails) {
      permit.release();
      return 'failed';
    }
    permit.use({ keyId, route, status });
    try {
      await this.#quota.commit(permit);
      return 'counted';
    } catch {
      return 'unsure';
    }
  }

  /** One gRPC call with a deadline on the gateway's clock. */
  #call<T>(
    choice: ReplicaChoice,
    withinMs: number,
    handle: (replica: MeteringReplica) => Promise<T>,
  ): Promise<T> {
    const { world, replica } = this.#parts;
    const server = replica(choice);
    return world.ask<T>(this.process, server?.process, withinMs, noAnswer, (reply) => {
      if (server?.process.isAlive()) server.process.reach(() => handle(server).then(reply, reply));
      else reply(noAnswer());
    });
  }
}

/** Sends a recall of a replica to all gateways over core NATS. */
export function broadcastRecall(
  world: World,
  sender: Process,
  recall: Recall,
  gateways: () => Iterable<GatewayNode>,
): void {
  const arrive = () => {
    for (const gateway of gateways()) {
      const take = () => gateway.process.reach(() => gateway.recall(recall));
      world.send({ from: NATS, to: gateway.process.machine.name, arrive: take });
    }
  };
  world.send({ from: sender.machine.name, to: NATS, sender, arrive });
}

/** Each replica is the first choice for about the same number of keys. */
export function replicaInOrder(
  replicas: readonly MeteringReplica[],
  { key, attempt }: ReplicaChoice,
): MeteringReplica | undefined {
  const first = [...key].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0);
  return replicas[(first + attempt) % replicas.length];
}
