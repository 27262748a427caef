import type { Route } from '@brand-data/contracts';
import type { StreamFaults } from './jetstream-consumer.ts';
import type { ClockFaults } from './machine.ts';
import type { LinkFaults } from './world.ts';

export const GATEWAYS = ['gateway-1', 'gateway-2', 'gateway-3'] as const;
/** The most by which a clock may be too fast or too slow, as a share. */
export const MOST_DRIFT = 0.015;
export const REPLICAS = ['metering-1', 'metering-2'] as const;

/**
 * Everything that happens to a world from outside, decided before the world begins. Times are in milliseconds from its
 * beginning.
 */
export interface Plan {
  seed: number;
  /** The number of usage streams. */
  streams: number;
  /**
   * The share of requests about an account that do not go to the first choice among the replicas. In reality not every gateway is
   * connected to every replica.
   */
  misdirected: number;
  /** The true time when the world begins, in milliseconds since 1970. */
  startWallMs: number;
  clocks: Record<string, ClockFaults>;
  accounts: PlannedAccount[];
  calls: PlannedCall[];
  faults: PlannedFault[];
  attacks: PlannedAttack[];
  planChanges: PlanChange[];
  /** Rolling restarts. While there are no faults, no call may fail because of one. */
  restarts: { atMs: number; gateway: number }[];
  /** The time of the first fault. No call may fail before it. */
  healthyUntilMs: number;
  /** From this time on there are no faults. */
  healAtMs: number;
  /** Calls of this account that begin in this period must get permits, although there are faults. */
  mustServe?: { accountId: string; fromMs: number; toMs: number };
}

export interface PlannedAccount {
  accountId: string;
  limit: number;
}

/** What a call asks for, and how long the gateway takes to find its record. `fails`: the gateway does not find it in time. */
export interface CallWork {
  keyId: string;
  route: Route;
  status: number;
  lookUpMs: number;
  fails: boolean;
}

export interface PlannedCall extends CallWork {
  atMs: number;
  accountId: string;
  /** The gateway that the caller tries first. If it is not running, the caller uses the next one. */
  gateway: number;
  /** The answer does not reach the caller. */
  answerLost: boolean;
}

/** The accounts service confirms a new allowance. Each gateway learns of it after the delay in `heardAfterMs`. */
export interface PlanChange {
  atMs: number;
  accountId: string;
  limit: number;
  revision: number;
  heardAfterMs: number[];
}

/**
 * The actions of an attacker that has a gateway's identity and its own key pair as a holder. It knows the ids of all grants and
 * the names of their holders, but not their private keys. No attack may harm anyone, so calls may not fail because of it.
 */
export interface PlannedAttack {
  atMs: number;
  /**
   * `report` and `event`: sends usage of another holder's grant. `forge`: publishes an event in the other holder's name. `acquire`:
   * asks in the other holder's name, and gives up all its earlier requests. `limit`: asks in its own name, with a limit of 0 and the
   * newest revision. `unknown`: publishes usage of a grant of the account that was never given out, again every half minute
   * until all grants are settled. `over-report`: reports more usage of a grant of its own than the grant has permits.
   */
  kind: 'report' | 'event' | 'forge' | 'acquire' | 'limit' | 'unknown' | 'over-report';
  /** The grant: 0 is the latest, 1 the one before, and so on. */
  grant: number;
  /** The usage. `share` of the grant's size is used, or returned. */
  usage: { as: 'used' | 'returned'; share: number; closed: boolean };
  /** Guesses the grant's id: its secret is wrong. With `limit`: sends an allowance that accounts has not signed. */
  guesses: boolean;
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
  /** Messages on these links are lost. `*` is every place. */
  | { kind: 'cut'; links: { from: string; to: string }[] }
  /** `stream`: the stream with the faults, modulo the number of streams. `parked`: only the stream of parked usage. Absent: all streams. */
  | { kind: 'stream'; faults: Partial<StreamFaults>; stream?: number | 'parked' }
  | { kind: 'stream killed' | 'consumer deleted' }
  /** Publishes a message that no gateway would send: not a usage event, or usage of a grant that was never given out. */
  | { kind: 'strange message'; grantId: string | undefined }
  /** The stream loses messages that it acknowledged. The protocol does not promise to survive that, so seeds do not draw it. */
  | { kind: 'lost tail'; messages: number }
  /** MongoDB has no primary until the end of the fault. */
  | { kind: 'fail-over' | 'slow database' }
  /** Another member becomes primary at once. `deposed`: the former one keeps answering some clients for a while. */
  | { kind: 'election'; deposed: boolean };
