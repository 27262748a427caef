import { setTimeout as delay } from 'node:timers/promises';
import type { FaultStack } from './stack.ts';

/** One thing that goes wrong, and comes right again. */
export interface Fault {
  name: string;
  /** The process that it happens to. */
  target: string;
  /** Its grants may have nobody any more: what it held comes back after settling alone. */
  losesGrants: boolean;
  /** After its end callers may still notice it for so long: connections are made anew, servers elect. */
  boundMs: number;
  /** Returns when the process serves again. */
  happen(stack: FaultStack, forMs: number): Promise<void>;
}

const isServer = (name: string) => name === 'nats-server' || name === 'mongod';

export function killed(target: string): Fault {
  return {
    ...{ name: `kill -9 ${target}`, target, losesGrants: target.startsWith('gateway') },
    boundMs: isServer(target) ? 5_000 : 3_000,
    happen: async (stack, forMs) => {
      await stack.kill(target);
      await delay(forMs);
      await stack.restart(target);
    },
  };
}

/**
 * Killed while what it uses is with nobody: NATS is out of its reach, and metering is not asked yet. Calls that it answered
 * then would never be billed.
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
    ...{ name: `SIGSTOP ${target}`, target, losesGrants: false },
    boundMs: isServer(target) ? 5_000 : 3_000,
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
    ...{ name: `restart ${target}`, target, losesGrants: false, boundMs: 5_000 },
    happen: (stack) => stack.restart(target),
  };
}

/** `what`: from what it is cut off. */
export function cutOff(target: string, what: string): Fault {
  return {
    ...{ name: `cut ${target} off from ${what}`, target, losesGrants: false },
    // Connections look open until both sides' keepalives have given them up: gRPC's 13 s, MongoDB's 13 s, NATS's 6 s.
    boundMs: 14_000,
    happen: async (stack, forMs) => {
      stack.cut(target);
      try {
        await delay(forMs);
      } finally {
        stack.heal(target);
      }
    },
  };
}
