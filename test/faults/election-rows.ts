import type { How, Loss } from './fault.ts';

/** The parts that are lost within the same second, and the bounds that hold meanwhile. */
export interface ElectionRow {
  name: string;
  losses: readonly Loss[];
  /**
   * No account goes longer than this without an answer for which the gateway needs a permit. The same bound holds for calls with
   * new tokens and for uncached records.
   */
  answeredWithinMs: number;
  /** No counted answer is billed later than this. Absent: the run only shows the delay. */
  billedWithinMs?: number;
  /** Calls for cached records of accounts with permits may be answered 503 too, since no usage can be made durable. */
  mayTell503?: boolean;
}

const PRIMARY_MS = 12_000;
const NATS_LEADER_MS = 3_000;
const REPLICA_MS = 2_000;
/** Near the limit, the permits of a gateway that gets no recall become available when its grants end after 5 s. */
const UNHEARD_RECALL_MS = 7_000;
/**
 * The stream may deliver messages to a frozen replica until the replica's last pull ends, up to 5 s later. Another replica gets
 * them 2 s after that, and needs some time to apply them.
 */
const TAKEN_MS = 11_000;

export const GATEWAY = 'gateway-2';
export const METERING = 'metering-2';
/** Operators' changes go to the first replicas. */
const OTHERS = ['accounts-1', 'accounts-2', 'catalog-1', 'catalog-2', 'images-2'];

const mongodb = (member: 'leader' | 'follower', how: How): Loss => ({ of: 'mongodb', member, how });
const nats = (member: 'leader' | 'follower', how: How): Loss => ({ of: 'nats', member, how });
const service = (name: string, how: How): Loss => ({ of: 'process', name, how });

const BOTH: readonly How[] = ['killed', 'frozen'];

export const ROWS: readonly ElectionRow[] = [
  ...BOTH.flatMap((how): ElectionRow[] => [
    {
      name: `MongoDB's primary ${how}`,
      losses: [mongodb('leader', how)],
      answeredWithinMs: PRIMARY_MS,
    },
    {
      name: `a secondary of MongoDB ${how}`,
      losses: [mongodb('follower', how)],
      answeredWithinMs: REPLICA_MS,
    },
    {
      name: `NATS' leader ${how}`,
      losses: [nats('leader', how)],
      answeredWithinMs: NATS_LEADER_MS,
      billedWithinMs: NATS_LEADER_MS,
    },
    {
      name: `a follower of NATS ${how}`,
      losses: [nats('follower', how)],
      answeredWithinMs: NATS_LEADER_MS,
      billedWithinMs: TAKEN_MS,
    },
    {
      name: `a metering replica ${how}`,
      losses: [service(METERING, how)],
      answeredWithinMs: REPLICA_MS,
      billedWithinMs: TAKEN_MS,
    },
    {
      name: `a gateway ${how}`,
      losses: [service(GATEWAY, how)],
      answeredWithinMs: REPLICA_MS,
      billedWithinMs: TAKEN_MS,
    },
    {
      name: `MongoDB's primary killed, a gateway ${how}`,
      losses: [mongodb('leader', 'killed'), service(GATEWAY, how)],
      answeredWithinMs: PRIMARY_MS,
    },
    {
      name: `MongoDB's primary ${how}, a metering replica ${how}`,
      losses: [mongodb('leader', how), service(METERING, how)],
      answeredWithinMs: PRIMARY_MS,
    },
    {
      name: `NATS' leader killed, a gateway ${how}`,
      losses: [nats('leader', 'killed'), service(GATEWAY, how)],
      answeredWithinMs: NATS_LEADER_MS,
      billedWithinMs: TAKEN_MS,
    },
    {
      name: `NATS' leader ${how}, a metering replica ${how}`,
      losses: [nats('leader', how), service(METERING, how)],
      answeredWithinMs: NATS_LEADER_MS,
      billedWithinMs: TAKEN_MS,
    },
  ]),
  ...OTHERS.map((name, index): ElectionRow => {
    const how = index % 2 === 0 ? 'killed' : 'frozen';
    return {
      name: `${name} ${how}`,
      losses: [service(name, how)],
      answeredWithinMs: REPLICA_MS,
      billedWithinMs: TAKEN_MS,
    };
  }),
  {
    name: "MongoDB's primary cut off from the other members",
    losses: [{ of: 'mongodb', member: 'leader', how: 'cut off' }],
    answeredWithinMs: PRIMARY_MS,
  },
  {
    name: "MongoDB's primary and NATS' leader killed",
    losses: [mongodb('leader', 'killed'), nats('leader', 'killed')],
    answeredWithinMs: PRIMARY_MS,
    mayTell503: true,
  },
  {
    name: 'a gateway and a metering replica killed',
    losses: [service(GATEWAY, 'killed'), service(METERING, 'killed')],
    answeredWithinMs: REPLICA_MS,
    billedWithinMs: TAKEN_MS,
  },
  ...(
    [
      [METERING, 'MongoDB'],
      [METERING, 'NATS'],
      [METERING, 'gateways'],
      [METERING, undefined],
      [GATEWAY, 'NATS', UNHEARD_RECALL_MS],
      [GATEWAY, 'metering'],
    ] as const
  ).map(
    ([name, from, answeredWithinMs = REPLICA_MS]): ElectionRow => ({
      name: `${name} cut off from ${from ?? 'everything'}`,
      losses: [{ of: 'link', name, from }],
      answeredWithinMs,
      billedWithinMs: TAKEN_MS,
    }),
  ),
];

/** Returns the services that the row kills, freezes or cuts off. */
export function targetsOf({ losses }: ElectionRow): string[] {
  return losses.flatMap((loss) => ('name' in loss ? loss.name : []));
}

/** Checks whether a gateway is killed or frozen, so that no other gateway can use its permits. */
export function losesGrants({ losses }: ElectionRow): boolean {
  return losses.some((loss) => loss.of === 'process' && loss.name.startsWith('gateway'));
}
