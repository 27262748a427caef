import type { CallWork } from './gateway-node.ts';
import type { StreamFaults } from './jetstream.ts';
import type { ClockFaults } from './machine.ts';
import type { LinkFaults } from './network.ts';

export const GATEWAYS = ['gateway-1', 'gateway-2', 'gateway-3'] as const;
export const REPLICAS = ['metering-1', 'metering-2'] as const;

/** All that happens to a world from outside, decided before it begins; times in milliseconds from its beginning. */
export interface Plan {
  seed: number;
  /** Usage streams. */
  streams: number;
  /** Share of the requests about an account that go to another replica than its first: not all are connected to all. */
  misdirected: number;
  /** The true time at the beginning, since 1970. */
  startWallMs: number;
  clocks: Record<string, ClockFaults>;
  accounts: PlannedAccount[];
  calls: PlannedCall[];
  faults: PlannedFault[];
  planChanges: PlanChange[];
  /** Rolling restarts; outside of faults, no call may fail by one. */
  restarts: { atMs: number; gateway: number }[];
  /** Until the first fault; no call may fail before. */
  healthyUntilMs: number;
  /** From here on all faults are over. */
  healAtMs: number;
  /** Calls of this account that begin in this time have to find permits, though parts fail meanwhile. */
  mustServe?: { accountId: string; fromMs: number; toMs: number };
}

export interface PlannedAccount {
  accountId: string;
  limit: number;
}

export interface PlannedCall extends CallWork {
  atMs: number;
  accountId: string;
  /** The gateway that the caller reaches; another when it is away. */
  gateway: number;
  /** The answer does not get back to the caller. */
  answerLost: boolean;
}

/** The accounts service confirms a new allowance; each gateway hears of it this much later. */
export interface PlanChange {
  atMs: number;
  accountId: string;
  limit: number;
  revision: number;
  heardAfterMs: number[];
}

export interface PlannedFault {
  atMs: number;
  forMs: number;
  fault: Fault;
}

export type Fault =
  | { kind: 'crash' | 'pause' | 'suspend'; machine: string }
  | { kind: 'wall jump'; machine: string; byMs: number }
  | { kind: 'link faults'; faults: LinkFaults }
  /** Messages on these links are lost; `*` is every place. */
  | { kind: 'cut'; links: { from: string; to: string }[] }
  /** `stream`: to that one, counted round the streams that there are; absent: to all. */
  | { kind: 'stream'; faults: Partial<StreamFaults>; stream?: number }
  | { kind: 'stream killed' | 'consumer deleted' }
  /** Somebody publishes what no gateway would: no usage event at all, or usage of a grant that was never given. */
  | { kind: 'strange message'; grantId: string | undefined }
  /** Messages that were acknowledged are gone, which the protocol does not claim to live through: never drawn. */
  | { kind: 'lost tail'; messages: number }
  /** MongoDB's primary is gone, and there is another at the end. */
  | { kind: 'fail-over' | 'slow database' }
  /** Another becomes primary at once; `deposed`: the former one goes on for a while. */
  | { kind: 'election'; deposed: boolean };
