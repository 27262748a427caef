import { setTimeout as delay } from 'node:timers/promises';
import type { CutFrom, FaultStack } from './stack.ts';

/** A fault of one or more processes, which is repaired after some time. */
export interface Fault {
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

export const isServer = (name: string) => /^(nats-server|mongod)/.test(name);
/**
 * Connections seem to be open until keepalives on both sides have detected the cut: 13 s for gRPC, 13 s for MongoDB, 6 s for
 * NATS.
 */
export const AFTER_CUT_MS = 14_000;
/** A killed leader of a cluster is back before the other members elect another. They still wait for the election to end. */
const AFTER_MEMBER_MS = 14_000;
const AFTER_SERVER_MS = 5_000;
const AFTER_SERVICE_MS = 3_000;

/** How long callers may notice the fault after the process is back. */
export function boundAfter(target: string): number {
  if (!isServer(target)) return AFTER_SERVICE_MS;
  return /\d$/.test(target) ? AFTER_MEMBER_MS : AFTER_SERVER_MS;
}

export function killed(target: string): Fault {
  return {
    name: `kill -9 ${target}`,
    targets: [target],
    losesGrants: target.startsWith('gateway'),
    boundMs: boundAfter(target),
    happen: async (stack, forMs) => {
      await stack.kill(target);
      await delay(forMs);
      await stack.restart(target);
    },
  };
}

/**
 * Cuts a gateway off from NATS, and kills it before it sends a Report. So its latest usage is neither in the stream nor in
 * metering. If the gateway had answered the calls of this usage already, they would never be billed.
 */
export function killedUnbilled(target: string): Fault {
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

export function frozen(target: string): Fault {
  return {
    name: `SIGSTOP ${target}`,
    targets: [target],
    losesGrants: false,
    boundMs: boundAfter(target),
    happen: async (stack, forMs) => {
      stack.freeze(target);
      try {
        await delay(forMs);
      } finally {
        stack.thaw(target);
      }
    },
  };
}

export function restarted(target: string): Fault {
  return {
    name: `restart ${target}`,
    targets: [target],
    losesGrants: false,
    boundMs: boundAfter(target),
    happen: (stack) => stack.restart(target),
  };
}

/** Cuts a process off from `from`, or from everything if `from` is absent. */
export function cutOff(target: string, from?: CutFrom): Fault {
  return {
    name: `cut ${target} off from ${from ?? 'everything'}`,
    targets: [target],
    losesGrants: false,
    boundMs: AFTER_CUT_MS,
    happen: async (stack, forMs) => {
      stack.cut(target, from);
      try {
        await delay(forMs);
      } finally {
        stack.heal(target, from);
      }
    },
  };
}
