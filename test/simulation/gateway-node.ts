import {
  type AcquireRequest,
  type AcquireResponse,
  type Recall,
  Route,
  usageStream,
  usageStreamOf,
} from '@brand-data/contracts';
import type { Acquire } from '@brand-data/gateway/src/quota/acquirer.ts';
import type { GrantBook } from '@brand-data/gateway/src/quota/grant-book.ts';
import type { Allowance } from '@brand-data/gateway/src/quota/holding.ts';
import { startQuota } from '@brand-data/gateway/src/quota/quota.ts';
import { GroupCommitJournal, type UsagePaths } from '@brand-data/gateway/src/quota/usage-journal.ts';
import { Fault, type ReplicaChoice } from '@brand-data/runtime';
import type { JetStream } from './jetstream.ts';
import type { Machine, Process } from './machine.ts';
import type { MeteringReplica } from './metering-replica.ts';
import type { Network } from './network.ts';
import type { World } from './world.ts';

/** What a call asks for, and how long the gateway takes to find its record. `fails`: the gateway does not find it in time. */
export interface CallWork {
  keyId: string;
  route: Route;
  status: number;
  lookUpMs: number;
  fails: boolean;
}

/** The part of a gateway's answer that matters for billing. */
type Answer =
  | { kind: 'counted' }
  | { kind: 'exhausted' }
  /** 503 with X-Quota-Charged: 1. */
  | { kind: 'unsure' }
  /** 503 with X-Quota-Charged: 0. `reason`: what was missing. */
  | { kind: 'free'; reason: 'permit' | 'record' };

export interface GatewayNode {
  readonly process: Process;
  readonly holder: string;
  readonly book: GrantBook;
  /** Whether it takes new calls. It does not while it stops. */
  isReady(): boolean;
  /** `admitted` gets the wall clock's time at which the call was admitted. */
  answer(allowance: Allowance, work: CallWork, admitted: (wallMs: number) => void): Promise<Answer>;
  recall(recall: Recall): void;
  /** Stops as in a rolling restart: takes no new calls, answers those in progress, and returns unused permits. */
  drain(): Promise<void>;
}

export interface GatewayParts {
  world: World;
  machine: Machine;
  network: Network;
  jetStreams: readonly JetStream[];
  /** Returns undefined if no replica can be reached. */
  replica: (choice: ReplicaChoice) => MeteringReplica | undefined;
  holder: string;
  book: GrantBook;
  /** Called when metering's reply to a request for a grant leaves metering. */
  decided: (request: AcquireRequest, response: AcquireResponse) => void;
}

export function startGateway({
  world,
  machine,
  network,
  jetStreams,
  replica,
  holder,
  book,
  decided,
}: GatewayParts): GatewayNode {
  const process = machine.boot();
  const { clock } = process;
  const call = <T>(
    choice: ReplicaChoice,
    deadlineMs: number,
    handle: (replica: MeteringReplica) => Promise<T>,
  ): Promise<T> => {
    const server = replica(choice);
    const answer = () =>
      server ? handle(server) : Promise.reject(new Fault('unavailable', 'metering is away'));
    return network.call(process, server, answer, deadlineMs);
  };
  const stream = usageStream(usageStreamOf(holder, jetStreams.length));
  const jetStream = jetStreams.find(({ name }) => name === stream.name);
  const events = {
    committed: () => {},
    waits: () => {},
    asked: () => {},
    waited: () => {},
    recalled: () => {},
    failed: (calls: number, error: unknown) =>
      world.note(() => `${holder} could not bill ${calls} calls: ${error}`),
  };
  const paths: UsagePaths = {
    publish: async (event, messageId, withinMs) => {
      await jetStream?.publish(process, event, withinMs, messageId);
    },
    report: ({ usage }, withinMs, choice) =>
      call(choice, withinMs, async ({ metering }) => {
        const { refused, foreign, unknown, unavailable } = await metering.report(usage, holder);
        const refusedGrantIds = [...refused, ...foreign];
        return { refusedGrantIds, unavailableGrantIds: [...unknown, ...unavailable] };
      }),
  };
  const acquire: Acquire = (request, withinMs, choice) =>
    call(choice, withinMs, async ({ metering }) => {
      const response = await metering.acquire(request, holder);
      decided(request, response);
      return response;
    });
  const journal = new GroupCommitJournal({ book, holder, clock, paths }, events);
  const quota = startQuota({ book, journal, acquire, clock, holder }, events);
  world.note(() => `${holder} starts`);

  let underWay = 0;
  let ready = true;

  const answer: GatewayNode['answer'] = async (allowance, work, admitted) => {
    let admission: Awaited<ReturnType<typeof quota.admit>>;
    try {
      admission = await quota.admit(allowance);
    } catch {
      return { kind: 'free', reason: 'permit' };
    }
    if (admission.kind === 'exhausted') return { kind: 'exhausted' };
    const { permit } = admission;
    admitted(clock.now().wallMs);
    if (work.lookUpMs > 0) await clock.sleep(work.lookUpMs);
    if (work.fails) {
      permit.release();
      return { kind: 'free', reason: 'record' };
    }
    const { keyId, route, status } = work;
    permit.use({ keyId, route, status });
    try {
      await quota.commit(permit);
      return { kind: 'counted' };
    } catch {
      return { kind: 'unsure' };
    }
  };

  return {
    process,
    holder,
    book,
    isReady: () => ready && process.isAlive(),
    answer: async (...call) => {
      underWay += 1;
      const result = await answer(...call);
      underWay -= 1;
      return result;
    },
    recall: (recall) => quota.recall(recall),
    drain: async () => {
      ready = false;
      while (underWay > 0) await clock.sleep(20);
      await quota.stop();
      world.note(() => `${holder} has stopped`);
    },
  };
}

/** Each replica is the first choice for about the same number of keys. */
export function replicaInOrder(
  replicas: readonly MeteringReplica[],
  { key, attempt }: ReplicaChoice,
): MeteringReplica | undefined {
  const first = [...key].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0);
  return replicas[(first + attempt) % replicas.length];
}

export const ROUTES = [Route.BRANDS, Route.LOGOS] as const;
