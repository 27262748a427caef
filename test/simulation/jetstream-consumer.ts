import { ACK_WAIT_MS, MOST_ON_THE_WAY } from '@brand-data/metering/src/usage/usage-streams.ts';
import type { Random } from '@brand-data/testing/random';
import type { Process } from './machine.ts';
import type { Network } from './network.ts';
import type { World } from './world.ts';

export const NATS = 'nats';
const PULL_FOR_MS = 5_000;

/** A process that takes messages. */
export interface Reader {
  process: Process;
  /**
   * @param deliveries how often the message was delivered
   * @param delivery the number of this delivery among those of all messages
   */
  deliver: (sequence: number, deliveries: number, delivery: number) => void;
  /** The consumer was deleted. */
  gone: () => void;
}

/** A stream's only durable consumer, as its server stores it. */
export interface JetStreamConsumer {
  /** All messages up to this sequence are acknowledged. */
  readonly floor: number;
  pull(reader: Reader): void;
  /** The reader takes no more messages. */
  leave(reader: Reader): void;
  /** Whether the server has an unfinished pull of this reader. */
  isPulling(reader: Reader): boolean;
  acknowledge(sequence: number): void;
  /** The reader gives this delivery back. The message is delivered again after this time. */
  redeliverIn(delayMs: number, sequence: number, delivery: number): void;
  /** Delivers messages if there are any. */
  pump(): void;
  /** A new leader does not know the pulls of the old one. */
  forgetPulls(): void;
  /** Forgets the acknowledgements after this sequence. Their messages are delivered again. */
  fallBack(floor: number): void;
  /** Starts again as a new consumer, after this sequence. */
  begin(floor: number): void;
  /** The stream has lost all messages after this sequence. */
  cutBack(last: number): void;
  /** The messages before this sequence were purged and count as acknowledged. */
  skipTo(firstSequence: number): void;
}

/** @param isLed whether the consumer has a leader; it delivers nothing without one */
export function createConsumer(
  { world, random, network }: { world: World; random: Random; network: Network },
  { lastSequence, isLed }: { lastSequence: () => number; isLed: () => boolean },
): JetStreamConsumer {
  const pulls = new Map<Reader, number>();
  const acked = new Set<number>();
  /** Messages that were delivered and are neither acknowledged nor given back. */
  const pending = new Map<number, { delivery: number; dueMs: number }>();
  const deliveriesOf = new Map<number, number>();
  let again: number[] = [];
  let nextSequence = 1;
  let floor = 0;
  let deliveries = 0;

  const isPulling = (reader: Reader): boolean => {
    const untilMs = pulls.get(reader);
    if (untilMs === undefined) return false;
    const { process } = reader;
    if (untilMs >= world.now()) return process.isAlive();
    // A reader that is alive and connected would have pulled again in time.
    const { name } = process.machine;
    const asksAgain =
      process.isAlive() &&
      !process.machine.isStopped() &&
      !network.isCut(name, NATS) &&
      !network.isCut(NATS, name);
    if (asksAgain) pulls.set(reader, world.now() + PULL_FOR_MS);
    else pulls.delete(reader);
    return asksAgain;
  };

  const pump = (): void => {
    if (!isLed() || pulls.size === 0) return;
    // Messages that are delivered to one reader together arrive in order, or all of them are lost.
    const together = new Map<Reader, (() => void)[]>();
    while (pending.size < MOST_ON_THE_WAY && (again.length > 0 || nextSequence <= lastSequence())) {
      const [first, ...others] = [...pulls.keys()].filter(isPulling);
      if (!first) break;
      const sequence = again.shift() ?? nextSequence++;
      if (isAcked(sequence)) continue;
      const reader = others.length > 0 ? random.pick([first, ...others]) : first;
      together.set(reader, [...(together.get(reader) ?? []), delivered(sequence, reader)]);
    }
    for (const [{ process }, arrivals] of together)
      network.send({
        from: NATS,
        to: process.machine.name,
        arrive: () => {
          for (const arrive of arrivals) process.reach(arrive);
        },
      });
  };

  /** Notes the delivery, and returns what happens when it arrives at the reader. */
  const delivered = (sequence: number, reader: Reader): (() => void) => {
    deliveries += 1;
    const delivery = deliveries;
    const times = (deliveriesOf.get(sequence) ?? 0) + 1;
    deliveriesOf.set(sequence, times);
    pending.set(sequence, { delivery, dueMs: world.now() + ACK_WAIT_MS });
    redeliverWhenDue(sequence, delivery);
    return () => reader.deliver(sequence, times, delivery);
  };

  const redeliverWhenDue = (sequence: number, delivery: number): void => {
    const dueMs = pending.get(sequence)?.dueMs ?? 0;
    world.after(dueMs - world.now(), () => {
      const entry = pending.get(sequence);
      // Meanwhile the message was acknowledged or delivered again, or its time was extended.
      if (entry?.delivery !== delivery || entry.dueMs !== dueMs) return;
      pending.delete(sequence);
      again.push(sequence);
      pump();
    });
  };

  const isAcked = (sequence: number) => sequence <= floor || acked.has(sequence);

  const acknowledge = (sequence: number): void => {
    if (isAcked(sequence)) return;
    pending.delete(sequence);
    deliveriesOf.delete(sequence);
    acked.add(sequence);
    while (acked.delete(floor + 1)) floor += 1;
  };

  const forget = (): void => {
    acked.clear();
    pending.clear();
    deliveriesOf.clear();
    pulls.clear();
  };

  return {
    get floor() {
      return floor;
    },
    pull: (reader) => {
      for (const other of pulls.keys()) if (!other.process.isAlive()) pulls.delete(other);
      pulls.set(reader, world.now() + PULL_FOR_MS);
      pump();
    },
    leave: (reader) => {
      pulls.delete(reader);
    },
    isPulling,
    acknowledge,
    redeliverIn: (delayMs, sequence, delivery) => {
      const entry = pending.get(sequence);
      if (entry?.delivery !== delivery) return;
      entry.dueMs = world.now() + delayMs;
      redeliverWhenDue(sequence, delivery);
    },
    pump,
    forgetPulls: () => pulls.clear(),
    fallBack: (to) => {
      forget();
      again = Array.from({ length: nextSequence - 1 - to }, (_, index) => to + 1 + index);
      floor = to;
    },
    begin: (from) => {
      const readers = [...pulls.keys()];
      forget();
      again = [];
      floor = from;
      nextSequence = from + 1;
      for (const { process, gone } of readers)
        network.send({ from: NATS, to: process.machine.name, arrive: () => process.reach(gone) });
    },
    cutBack: (last) => {
      again = again.filter((sequence) => sequence <= last);
      for (const sequence of [...pending.keys(), ...acked]) {
        if (sequence <= last) continue;
        pending.delete(sequence);
        acked.delete(sequence);
      }
      nextSequence = Math.min(nextSequence, last + 1);
      floor = Math.min(floor, last);
      pulls.clear();
    },
    skipTo: (firstSequence) => {
      for (let sequence = floor + 1; sequence < firstSequence; sequence++) acknowledge(sequence);
      nextSequence = Math.max(nextSequence, firstSequence);
    },
  };
}
