import { setTimeout as delay } from 'node:timers/promises';
import type { CutFrom, FaultStack } from './stack.ts';

/** A fault of one or more processes, which is repaired after some time. */
export interface ProcessFault {
  name: string;
  /** The processes that are affected. */
  targets: readonly string[];
  /** Whether grants may lose their holder, so that their permits become available only when metering has settled them. */
  losesGrants: boolean;
  /** For how long after its end callers may still notice the fault, while connections are opened and servers elect leaders. */
  boundMs: number;
  /** Breaks and repairs the process. Resolves when it serves again. */
  happen(stack: FaultStack, forMs: number): Promise<void>;
}

export type How = 'killed' | 'frozen';

/** Something that is lost until the run brings it back. */
export type Loss =
  | { of: 'mongodb' | 'nats'; member: 'leader' | 'follower'; how: How }
  /** The primary is cut off from the other members, but clients can still reach it. */
  | { of: 'mongodb'; member: 'leader'; how: 'cut off' }
  | { of: 'process'; name: string; how: How }
  /** The process is cut off from `from`. Absent: from everything. */
  | { of: 'link'; name: string; from?: CutFrom | undefined };

export const isServer = (name: string) => /^(nats-server|mongod)/.test(name);
/**
 * Connections seem to be open until keepalives on both sides have detected the cut: 13 s for gRPC, 13 s for MongoDB, 6 s for
 * NATS.
 */
const AFTER_CUT_MS = 14_000;
/** A killed leader of a cluster is back before the other members elect another. They still wait for the election to end. */
const AFTER_MEMBER_MS = 14_000;
const AFTER_SERVER_MS = 5_000;
const AFTER_SERVICE_MS = 3_000;

/** Returns how long callers may notice the fault after the process is back. */
export function boundAfter(target: string): number {
  if (!isServer(target)) return AFTER_SERVICE_MS;
  return /\d$/.test(target) ? AFTER_MEMBER_MS : AFTER_SERVER_MS;
}

/** Returns how long callers may notice the loss after all parts are back and the clusters are whole. */
export function boundAfterLosses(losses: readonly Loss[]): number {
  const bounds = losses.map((loss) => {
    if (loss.of === 'link') return AFTER_CUT_MS;
    return loss.of === 'process' ? boundAfter(loss.name) : AFTER_SERVER_MS;
  });
  return Math.max(...bounds);
}

/** Returns a fault that loses one part and brings it back. */
function losing(name: string, loss: Loss & { name: string }, boundMs: number): ProcessFault {
  return {
    name,
    targets: [loss.name],
    losesGrants: loss.of === 'process' && loss.how === 'killed' && loss.name.startsWith('gateway'),
    boundMs,
    happen: async (stack, forMs) => {
      const bringBack = await lose(stack, loss);
      try {
        await delay(forMs);
      } finally {
        await bringBack();
      }
    },
  };
}

export function killed(target: string): ProcessFault {
  return losing(`kill -9 ${target}`, { of: 'process', name: target, how: 'killed' }, boundAfter(target));
}

/** SIGSTOP and SIGCONT. */
export function frozen(target: string): ProcessFault {
  return losing(`SIGSTOP ${target}`, { of: 'process', name: target, how: 'frozen' }, boundAfter(target));
}

/** Cuts a process off from `from`, or from everything if `from` is absent. */
export function cutOff(target: string, from?: CutFrom): ProcessFault {
  const name = `cut ${target} off from ${from ?? 'everything'}`;
  return losing(name, { of: 'link', name: target, from }, AFTER_CUT_MS);
}

/**
 * Cuts a gateway off from NATS, and kills it before it sends a Report. Its latest usage is then neither in the stream nor in
 * metering. If the gateway had answered the calls of this usage already, they would never be billed.
 */
export function killedUnbilled(target: string): ProcessFault {
  const kill = killed(target);
  return {
    ...kill,
    name: `kill -9 ${target} cut off from NATS`,
    happen: async (stack, forMs) => {
      stack.cut(target);
      await delay(200);
      await stack.kill(target);
      stack.heal(target);
      await kill.happen(stack, forMs);
    },
  };
}

export function restarted(target: string): ProcessFault {
  return {
    name: `restart ${target}`,
    targets: [target],
    losesGrants: false,
    boundMs: boundAfter(target),
    happen: (stack) => stack.restart(target),
  };
}

/** Resolves to the function that brings the part back. */
export async function lose(stack: FaultStack, loss: Loss): Promise<() => Promise<void>> {
  if (loss.of === 'link') {
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
  if (leader === undefined || found === undefined) throw new Error(`${which} has no leader`);
  return found;
}
