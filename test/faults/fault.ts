import { setTimeout as delay } from 'node:timers/promises';
import type { CutFrom, FaultStack } from './stack.ts';

/** The kinds of faults. Each resolves to the function that repairs it. */
const WAYS = {
  killed: async (stack: FaultStack, name: string) => {
    await stack.kill(name);
    return () => stack.restart(name);
  },
  frozen: async (stack: FaultStack, name: string) => {
    stack.freeze(name);
    return () => stack.thaw(name);
  },
  restarted: async (stack: FaultStack, name: string) => {
    await stack.restart(name);
    return () => {};
  },
  /**
   * Cuts a gateway off from NATS, and kills it before it sends a Report. Its latest usage is then neither in the stream nor in
   * metering. If the gateway had answered the calls of this usage already, they would never be billed.
   */
  'killed unbilled': async (stack: FaultStack, name: string) => {
    stack.cut(name);
    await delay(200);
    await stack.kill(name);
    stack.heal(name);
    return () => stack.restart(name);
  },
  /** From `from`. Absent: from everything. */
  'cut off': async (stack: FaultStack, name: string, from?: CutFrom) => {
    stack.cut(name, from);
    return () => stack.heal(name, from);
  },
  /** A member of MongoDB is cut off from the other members, but clients can still reach it. */
  isolated: async ({ clusters }: FaultStack, name: string) => {
    clusters?.mongod.isolate(name);
    return () => clusters?.mongod.heal();
  },
};

export type How = keyof typeof WAYS;

/** A fault that the run injects into a part, and repairs after a while. */
export interface InjectedFault {
  /** A process, such as "gateway-1", or a member of a cluster by its present role, such as "mongod leader". */
  part: string;
  how: How;
  from?: CutFrom | undefined;
}

/** Resolves to the function that repairs the fault. */
export async function inject(stack: FaultStack, { part, how, from }: InjectedFault): Promise<() => unknown> {
  const [, kind, role] = /^(mongod|nats-server) (leader|follower)$/.exec(part) ?? [];
  const name = role === undefined ? part : await memberOf(stack, kind as 'mongod', role);
  return WAYS[how](stack, name, from);
}

async function memberOf(
  { clusters }: FaultStack,
  kind: 'mongod' | 'nats-server',
  role: string,
): Promise<string> {
  const cluster = clusters?.[kind];
  const leader = await cluster?.leader();
  const found = [...(cluster?.members.keys() ?? [])].find(
    (name) => (name === leader) === (role === 'leader'),
  );
  if (leader === undefined || found === undefined) throw new Error(`there is no ${kind} that leads`);
  return found;
}

export const isServer = (name: string) => /^(nats-server|mongod)/.test(name);

/** Returns how long callers may notice the fault after the part is back, while connections are opened and servers elect leaders. */
export function boundAfter({ part, how }: InjectedFault): number {
  // Connections seem to be open until keepalives on both sides have detected the cut: 13 s for gRPC, 13 s for MongoDB, 6 s for
  // NATS. A named member of a cluster that led it is back before the other members elect another. They still wait for the election.
  if (how === 'cut off' || /^(nats-server|mongod)-\d/.test(part)) return 14_000;
  return isServer(part) ? 5_000 : 3_000;
}

/** A row of a campaign's table: what is lost at about the same time, for how long, and what must hold. */
export interface FaultRow {
  name: string;
  faults: readonly InjectedFault[];
  /** Whether grants may lose their holder, so that their permits become available only when metering has settled them. */
  losesGrants?: boolean;
  awayMs: number;
  /** Calls for cached records of accounts with permits may be answered 503 too, since no usage can be made durable. */
  mayTell503?: boolean;
  /** The allowances of new accounts whose calls begin before the fault. */
  before?: readonly number[];
  /** The allowances of new accounts whose calls begin one after another from the fault on. */
  meanwhile?: readonly number[];
  /** The name under which the table at the end sums the row up. By default its own. */
  kind?: string;
}
