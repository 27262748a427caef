import { setTimeout as delay } from 'node:timers/promises';
import type { CutFrom, FaultStack } from './stack.ts';

/** What goes wrong, and comes right again. */
export interface Fault {
  name: string;
  /** The processes that it happens to. */
  targets: readonly string[];
  /** Grants may lose their holder: their permits come back only when they are settled. */
  losesGrants: boolean;
  /** After its end callers may still notice it for so long: connections are made anew, servers elect. */
  boundMs: number;
  /** Returns when all serves again. */
  happen(stack: FaultStack, forMs: number): Promise<void>;
}

export const isServer = (name: string) => /^(nats-server|mongod)/.test(name);
/** Connections look open until both sides' keepalives have given them up: gRPC's 13 s, MongoDB's 13 s, NATS's 6 s. */
export const AFTER_CUT_MS = 14_000;
/** A killed leader of a cluster is back before the others have elected, and they wait for it all the same. */
const AFTER_MEMBER_MS = 14_000;
const AFTER_SERVER_MS = 5_000;
const AFTER_SERVICE_MS = 3_000;

/** How long callers may notice it after a process is back. */
export function boundAfter(target: string): number {
  if (!isServer(target)) return AFTER_SERVICE_MS;
  return /\d$/.test(target) ? AFTER_MEMBER_MS : AFTER_SERVER_MS;
}

export function killed(target: string): Fault {
  return {
    ...{ name: `kill -9 ${target}`, targets: [target], losesGrants: target.startsWith('gateway') },
    boundMs: boundAfter(target),
    happen: async (stack, forMs) => {
      await stack.kill(target);
      await delay(forMs);
      await stack.restart(target);
    },
  };
}

/**
 * Killed while its latest use is neither in the stream nor with metering: it cannot reach NATS and has not reported yet. Calls
 * that it answered then would never be billed.
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
    ...{ name: `SIGSTOP ${target}`, targets: [target], losesGrants: false },
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
    ...{ name: `restart ${target}`, targets: [target], losesGrants: false, boundMs: boundAfter(target) },
    happen: (stack) => stack.restart(target),
  };
}

/** `from` absent: from everything. */
export function cutOff(target: string, from?: CutFrom): Fault {
  return {
    ...{ name: `cut ${target} off from ${from ?? 'everything'}`, targets: [target], losesGrants: false },
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
