import { AFTER_CUT_MS, boundAfter } from './fault.ts';
import type { CutFrom, FaultStack } from './stack.ts';

type How = 'killed' | 'frozen';

/** What is lost, until it is brought back. */
export type Loss =
  | { of: 'mongodb' | 'nats'; member: 'leader' | 'follower'; how: How }
  /** From the other members: clients reach it still. */
  | { of: 'mongodb'; member: 'leader'; how: 'cut off' }
  | { of: 'process'; name: string; how: How }
  /** `from` absent: from everything. */
  | { of: 'way'; name: string; from?: CutFrom };

/** The parts that are lost within the same second, and the promises meanwhile. */
export interface Row {
  name: string;
  losses: readonly Loss[];
  /** No account goes without an answer that needs a grant for longer; nor do new tokens and records. */
  answeredWithinMs: number;
  /** No counted answer is billed later; absent: the delay is only shown. */
  billedWithinMs?: number;
  /** Calls for cached records of accounts with permits may be answered 503 too: no usage can be made durable. */
  mayTell503?: boolean;
}

const PRIMARY_MS = 12_000;
const NATS_LEADER_MS = 3_000;
const REPLICA_MS = 2_000;
/** Near the limit, what a gateway holds that hears no recall is back when its 5 s are over. */
const UNHEARD_RECALL_MS = 7_000;
/** What a lost replica had taken from the stream is another's after the stream's 5 s, and a look or two. */
const TAKEN_MS = 11_000;

export const GATEWAY = 'gateway-2';
export const METERING = 'metering-2';

const mongodb = (member: 'leader' | 'follower', how: How): Loss => ({ of: 'mongodb', member, how });
const nats = (member: 'leader' | 'follower', how: How): Loss => ({ of: 'nats', member, how });
const service = (name: string, how: How): Loss => ({ of: 'process', name, how });

const BOTH: readonly How[] = ['killed', 'frozen'];

export const ROWS: readonly Row[] = [
  ...BOTH.flatMap((how): Row[] => [
    {
      ...{ name: `MongoDB's primary ${how}`, losses: [mongodb('leader', how)] },
      answeredWithinMs: PRIMARY_MS,
    },
    {
      ...{ name: `a secondary of MongoDB ${how}`, losses: [mongodb('follower', how)] },
      answeredWithinMs: REPLICA_MS,
    },
    {
      ...{ name: `NATS' leader ${how}`, losses: [nats('leader', how)] },
      ...{ answeredWithinMs: NATS_LEADER_MS, billedWithinMs: NATS_LEADER_MS },
    },
    {
      ...{ name: `a follower of NATS ${how}`, losses: [nats('follower', how)] },
      ...{ answeredWithinMs: NATS_LEADER_MS, billedWithinMs: TAKEN_MS },
    },
    {
      ...{ name: `a metering replica ${how}`, losses: [service(METERING, how)] },
      ...{ answeredWithinMs: REPLICA_MS, billedWithinMs: TAKEN_MS },
    },
    {
      ...{ name: `a gateway ${how}`, losses: [service(GATEWAY, how)] },
      ...{ answeredWithinMs: REPLICA_MS, billedWithinMs: TAKEN_MS },
    },
    {
      name: `MongoDB's primary killed, a gateway ${how}`,
      ...{ losses: [mongodb('leader', 'killed'), service(GATEWAY, how)], answeredWithinMs: PRIMARY_MS },
    },
    {
      name: `MongoDB's primary ${how}, a metering replica ${how}`,
      ...{ losses: [mongodb('leader', how), service(METERING, how)], answeredWithinMs: PRIMARY_MS },
    },
    {
      name: `NATS' leader killed, a gateway ${how}`,
      ...{ losses: [nats('leader', 'killed'), service(GATEWAY, how)], answeredWithinMs: NATS_LEADER_MS },
      billedWithinMs: TAKEN_MS,
    },
    {
      name: `NATS' leader ${how}, a metering replica ${how}`,
      ...{ losses: [nats('leader', how), service(METERING, how)], answeredWithinMs: NATS_LEADER_MS },
      billedWithinMs: TAKEN_MS,
    },
  ]),
  {
    name: "MongoDB's primary cut off from the other members",
    ...{ losses: [{ of: 'mongodb', member: 'leader', how: 'cut off' }], answeredWithinMs: PRIMARY_MS },
  },
  {
    name: "MongoDB's primary and NATS' leader killed",
    ...{ losses: [mongodb('leader', 'killed'), nats('leader', 'killed')], answeredWithinMs: PRIMARY_MS },
    mayTell503: true,
  },
  {
    name: 'a gateway and a metering replica killed',
    ...{ losses: [service(GATEWAY, 'killed'), service(METERING, 'killed')], answeredWithinMs: REPLICA_MS },
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
    ([name, from, answeredWithinMs = REPLICA_MS]): Row => ({
      name: `${name} cut off from ${from ?? 'everything'}`,
      ...{ losses: [{ of: 'way', name, ...(from && { from }) }], answeredWithinMs },
      billedWithinMs: TAKEN_MS,
    }),
  ),
];

/** The services that are in trouble themselves. */
export function targetsOf({ losses }: Row): string[] {
  return losses.flatMap((loss) => ('name' in loss ? loss.name : []));
}

/** A gateway that is gone, or asleep, keeps its permits from the others. */
export function losesGrants({ losses }: Row): boolean {
  return losses.some((loss) => loss.of === 'process' && loss.name.startsWith('gateway'));
}

/** How long callers may notice it after all is back. */
export function boundMsOf({ losses }: Row): number {
  const bounds = losses.map((loss) => {
    if (loss.of === 'way') return AFTER_CUT_MS;
    return loss.of === 'process' ? boundAfter(loss.name) : AFTER_MEMBER_IS_BACK_MS;
  });
  return Math.max(...bounds);
}

const AFTER_MEMBER_IS_BACK_MS = 5_000;

/** Resolves to what brings it back. */
export async function lose(stack: FaultStack, loss: Loss): Promise<() => Promise<void>> {
  if (loss.of === 'way') {
    stack.cut(loss.name, loss.from);
    return async () => stack.heal(loss.name, loss.from);
  }
  const name = loss.of === 'process' ? loss.name : await memberOf(stack, loss.of, loss.member);
  if (loss.how === 'frozen') {
    stack.freeze(name);
    return async () => stack.thaw(name);
  }
  if (loss.how === 'cut off') {
    stack.clusters?.mongodb.isolate(name);
    return async () => stack.clusters?.mongodb.heal();
  }
  await stack.kill(name);
  return () => stack.restart(name);
}

async function memberOf(
  { clusters }: FaultStack,
  which: 'mongodb' | 'nats',
  member: 'leader' | 'follower',
): Promise<string> {
  const cluster = clusters?.[which];
  const leader = await cluster?.leader();
  const found = [...(cluster?.members.keys() ?? [])].find(
    (name) => (name === leader) === (member === 'leader'),
  );
  if (leader === undefined || found === undefined) throw new Error(`nobody leads ${which}`);
  return found;
}
