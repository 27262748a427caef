import { ACK_WAIT_MS, MOST_ON_THE_WAY } from '@brand-data/metering/src/usage/usage-streams.ts';
import type { Process, World } from './world.ts';

export const NATS = 'nats';
const PULL_FOR_MS = 5_000;

/** The stream's faults at present. */
export interface StreamFaults {
  /** The share of stored messages whose acknowledgement is lost. */
  acknowledgementsLost: number;
  /** The leader has no majority: publishes fail or are acknowledged late, and its state of the consumer is old. */
  deposed: boolean;
  /** The consumer has no leader: it delivers nothing, loses acknowledgements and has forgotten its pulls. */
  consumerStalled: boolean;
  /** The share of the consumer's acknowledgements that are lost. */
  consumerAcksLost: number;
  /** The stream takes only a few messages, and refuses further publishes. */
  small: boolean;
  /** No copy of the stream answers reads. */
  unread: boolean;
}

export const NO_STREAM_FAULTS: StreamFaults = {
  acknowledgementsLost: 0,
  deposed: false,
  consumerStalled: false,
  consumerAcksLost: 0,
  small: false,
  unread: false,
};

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

/** A stream's only durable consumer, as its server stores it. Without a leader it delivers nothing and forgets what it is told. */
export class JetStreamConsumer {
  readonly #world: World;
  readonly #stream: { readonly faults: StreamFaults; readonly log: readonly unknown[] };
  readonly #pulls = new Map<Reader, number>();
  readonly #acked = new Set<number>();
  /** Messages that were delivered and are neither acknowledged nor given back. */
  readonly #pending = new Map<number, { delivery: number; dueMs: number }>();
  readonly #deliveriesOf = new Map<number, number>();
  #again: number[] = [];
  #nextSequence = 1;
  #floor = 0;
  #deliveries = 0;

  constructor(world: World, stream: { readonly faults: StreamFaults; readonly log: readonly unknown[] }) {
    this.#world = world;
    this.#stream = stream;
  }

  /** All messages up to this sequence are acknowledged. */
  get floor(): number {
    return this.#floor;
  }

  pull(reader: Reader): void {
    if (this.#stream.faults.consumerStalled) return;
    for (const other of this.#pulls.keys()) if (!other.process.isAlive()) this.#pulls.delete(other);
    this.#pulls.set(reader, this.#world.now() + PULL_FOR_MS);
    this.pump();
  }

  /** A reader takes no further messages. */
  leave(reader: Reader): void {
    this.#pulls.delete(reader);
  }

  isPulling(reader: Reader): boolean {
    const untilMs = this.#pulls.get(reader);
    if (untilMs === undefined) return false;
    const { isAlive, machine } = reader.process;
    if (untilMs >= this.#world.now()) return isAlive();
    // A reader that is alive and connected would have pulled again in time.
    const { name } = machine;
    const asksAgain =
      isAlive() && !machine.isStopped() && !this.#world.isCut(name, NATS) && !this.#world.isCut(NATS, name);
    if (asksAgain) this.#pulls.set(reader, this.#world.now() + PULL_FOR_MS);
    else this.#pulls.delete(reader);
    return asksAgain;
  }

  acknowledge(sequence: number): void {
    const { consumerStalled, consumerAcksLost } = this.#stream.faults;
    if (!consumerStalled && !this.#world.random.chance(consumerAcksLost)) this.#settle(sequence);
  }

  /** The reader gives this delivery back, or is still working on it. The message is delivered again after this time. */
  redeliverIn(delayMs: number, sequence: number, delivery: number): void {
    const entry = this.#pending.get(sequence);
    if (this.#stream.faults.consumerStalled || entry?.delivery !== delivery) return;
    entry.dueMs = this.#world.now() + delayMs;
    this.#redeliverWhenDue(sequence, delivery);
  }

  /** Delivers messages if there are any. */
  pump(): void {
    if (this.#stream.faults.consumerStalled || this.#pulls.size === 0) return;
    // Messages that are delivered to one reader together arrive in order, or all of them are lost.
    const together = new Map<Reader, (() => void)[]>();
    while (this.#pending.size < MOST_ON_THE_WAY && this.#hasMore()) {
      const [first, ...others] = [...this.#pulls.keys()].filter((reader) => this.isPulling(reader));
      if (!first) break;
      const sequence = this.#again.shift() ?? this.#nextSequence++;
      if (this.isAcknowledged(sequence)) continue;
      const reader = others.length > 0 ? this.#world.random.pick([first, ...others]) : first;
      together.set(reader, [...(together.get(reader) ?? []), this.#delivered(sequence, reader)]);
    }
    for (const [{ process }, arrivals] of together)
      this.#world.send({
        from: NATS,
        to: process.machine.name,
        arrive: () => {
          for (const arrive of arrivals) process.reach(arrive);
        },
      });
  }

  /** A new leader does not know the pulls of the old one. */
  forgetPulls(): void {
    this.#pulls.clear();
  }

  /** Forgets the acknowledgements after this sequence. Their messages are delivered again. */
  fallBack(to: number): void {
    this.#forget();
    this.#again = Array.from({ length: this.#nextSequence - 1 - to }, (_, index) => to + 1 + index);
    this.#floor = to;
  }

  /** Starts again as a new consumer, after this sequence. */
  begin(from: number): void {
    const readers = [...this.#pulls.keys()];
    this.#forget();
    this.#again = [];
    this.#floor = from;
    this.#nextSequence = from + 1;
    for (const { process, gone } of readers)
      this.#world.send({ from: NATS, to: process.machine.name, arrive: () => process.reach(gone) });
  }

  /** The stream has lost all messages after this sequence. */
  cutBack(last: number): void {
    this.#again = this.#again.filter((sequence) => sequence <= last);
    for (const sequence of [...this.#pending.keys(), ...this.#acked]) {
      if (sequence <= last) continue;
      this.#pending.delete(sequence);
      this.#acked.delete(sequence);
    }
    this.#nextSequence = Math.min(this.#nextSequence, last + 1);
    this.#floor = Math.min(this.#floor, last);
    this.#pulls.clear();
  }

  /** The messages before this sequence were purged and count as acknowledged. */
  skipTo(firstSequence: number): void {
    for (let sequence = this.#floor + 1; sequence < firstSequence; sequence++) this.#settle(sequence);
    this.#nextSequence = Math.max(this.#nextSequence, firstSequence);
  }

  #settle(sequence: number): void {
    if (this.isAcknowledged(sequence)) return;
    this.#pending.delete(sequence);
    this.#deliveriesOf.delete(sequence);
    this.#acked.add(sequence);
    while (this.#acked.delete(this.#floor + 1)) this.#floor += 1;
  }

  #hasMore(): boolean {
    return this.#again.length > 0 || this.#nextSequence <= this.#stream.log.length;
  }

  isAcknowledged(sequence: number): boolean {
    return sequence <= this.#floor || this.#acked.has(sequence);
  }

  /** Notes the delivery, and returns what happens when it arrives at the reader. */
  #delivered(sequence: number, reader: Reader): () => void {
    const delivery = ++this.#deliveries;
    const times = (this.#deliveriesOf.get(sequence) ?? 0) + 1;
    this.#deliveriesOf.set(sequence, times);
    this.#pending.set(sequence, { delivery, dueMs: this.#world.now() + ACK_WAIT_MS });
    this.#redeliverWhenDue(sequence, delivery);
    return () => reader.deliver(sequence, times, delivery);
  }

  #redeliverWhenDue(sequence: number, delivery: number): void {
    const dueMs = this.#pending.get(sequence)?.dueMs ?? 0;
    this.#world.after(dueMs - this.#world.now(), () => {
      const entry = this.#pending.get(sequence);
      // Meanwhile the message was acknowledged or delivered again, or its time was extended.
      if (entry?.delivery !== delivery || entry.dueMs !== dueMs) return;
      this.#pending.delete(sequence);
      this.#again.push(sequence);
      this.pump();
    });
  }

  #forget(): void {
    this.#acked.clear();
    this.#pending.clear();
    this.#deliveriesOf.clear();
    this.#pulls.clear();
  }
}
