import { setImmediate } from 'node:timers/promises';
import { PARKED_USAGE, usageStream } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import { JetStream } from '@brand-data/test/simulation/jetstream.ts';
import { Machine } from '@brand-data/test/simulation/machine.ts';
import { connectUsageStreams, type DeadLetter } from '@brand-data/test/simulation/usage-streams.ts';
import { World } from '@brand-data/test/simulation/world.ts';
import { createRandom } from '@brand-data/testing/random';
import type { CopiedStreams } from './usage-streams.contract.ts';

const ELECTED_AFTER_MS = 5_000;

export interface SimulatedStreams extends CopiedStreams {
  /** The clock of the replica that connects. */
  clock: Clock;
}

/** Returns the simulation's streams, in a world whose time passes by itself as fast as possible. */
export async function simulatedStreams(): Promise<SimulatedStreams> {
  const world = new World(createRandom(1), Date.UTC(2026, 10, 20));
  const stream = new JetStream(world, usageStream(1));
  const parked = new JetStream(world, PARKED_USAGE);
  const deadLetters = new Map<string, DeadLetter>();
  let machines = 0;
  const boot = () => {
    machines += 1;
    return new Machine(world, `machine-${machines}`).boot();
  };
  const gateway = boot();
  const replica = boot();
  let isOver = false;
  const running = (async () => {
    while (!isOver) {
      await world.runUntil(world.now() + 10);
      await setImmediate();
    }
  })();
  return {
    clock: replica.clock,
    connect: async () => connectUsageStreams(boot(), world, [stream, parked], deadLetters),
    publish: (event, messageId) => stream.publish(gateway, event, 2_000, messageId),
    nowMs: () => world.now(),
    sleep: (ms) => new Promise((resolve) => world.after(ms, resolve)),
    setSmall: async (small) => stream.setFaults({ small }),
    deleteConsumer: async () => stream.deleteConsumer(),
    deadLetters: async () => deadLetters.size,
    loseLeader: async () => {
      stream.setFaults({ consumerStalled: true });
      world.after(ELECTED_AFTER_MS, () => stream.setFaults({ consumerStalled: false }));
    },
    close: async () => {
      isOver = true;
      await running;
    },
  };
}
