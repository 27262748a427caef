import type { UsageEvent } from '@brand-data/contracts';
import type { Process } from './machine.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

export const NATS = 'nats';
const DUPLICATE_WINDOW_MS = 600_000;
const ACK_WAIT_MS = 5_000;

/** What is wrong with it at present. */
export interface StreamFaults {
  /** Share of the stored messages whose acknowledgement is lost. */
  acknowledgementsLost: number;
  /** A leader without a majority: publishes fail or answer late, what it tells of the consumer is old. */
  deposed: boolean;
  /** The consumer has no leader: nothing is delivered. */
  consumerStalled: boolean;
  /** Share of the consumer's acknowledgements that are lost. */
  consumerAcksLost: number;
}

/** A usage stream and its one durable consumer. */
export interface JetStream {
  readonly faults: StreamFaults;
  /** Everything that was stored, in order. */
  readonly log: readonly UsageEvent[];
  /** Resolves to the message's sequence once it is stored; rejects when no acknowledgement comes in time. */
  publish(from: Process, event: UsageEvent, timeoutMs: number, messageId?: string): Promise<number>;
  /** `appliedUpTo`, as far as the server that is asked knows. Rejects without an answer in time. */
  ackFloor(from: Process, timeoutMs: number): Promise<number>;
  subscribe(reader: Process, deliver: (message: Delivery) => void): void;
  /** The server is killed: the consumer's latest acknowledgements are forgotten, and their messages come again. */
  killHard(): void;
  /** All up to here is acknowledged by the consumer's readers. */
  appliedUpTo(): number;
  /** Faults are over: what was held up goes on. */
  resume(): void;
}

export interface Delivery {
  event: UsageEvent;
  ack(): void;
  nak(delayMs: number): void;
}

export function createJetStream(world: World, random: Random, network: Network): JetStream {
  const faults: StreamFaults = {
    acknowledgementsLost: 0,
    deposed: false,
    consumerStalled: false,
    consumerAcksLost: 0,
  };
  const log: UsageEvent[] = [];
  const storedIds = new Map<string, { sequence: number; at: number }>();
  const readers: { process: Process; deliver: (message: Delivery) => void }[] = [];
  const acked = new Set<number>();
  /** Delivered and neither acknowledged nor given up: the number of the delivery. */
  const pending = new Map<number, number>();
  let again: number[] = [];
  let nextSequence = 1;
  let floor = 0;
  let oldFloor = 0;
  let deliveries = 0;

  const store = (event: UsageEvent, messageId: string | undefined): number => {
    const before = messageId === undefined ? undefined : storedIds.get(messageId);
    if (before && world.now() - before.at < DUPLICATE_WINDOW_MS) return before.sequence;
    log.push(event);
    if (messageId !== undefined) storedIds.set(messageId, { sequence: log.length, at: world.now() });
    pump();
    return log.length;
  };

  const pump = (): void => {
    if (faults.consumerStalled) return;
    for (;;) {
      const reached = readers.filter(
        ({ process }) => process.isAlive() && !network.isCut(NATS, process.machine.name),
      );
      const [first, ...others] = reached;
      if (!first) return;
      const sequence = again.shift() ?? (nextSequence <= log.length ? nextSequence++ : undefined);
      if (sequence === undefined) return;
      deliver(sequence, random.pick([first, ...others]));
    }
  };

  const deliver = (sequence: number, reader: (typeof readers)[number]): void => {
    const event = log[sequence - 1];
    if (!event || isAcked(sequence)) return;
    deliveries += 1;
    const delivery = deliveries;
    pending.set(sequence, delivery);
    const { process } = reader;
    const tell = (arrive: () => void) =>
      network.send({ from: process.machine.name, to: NATS, sender: process, arrive });
    network.send({
      from: NATS,
      to: process.machine.name,
      arrive: () =>
        process.reach(() =>
          reader.deliver({
            event,
            ack: () =>
              tell(() => {
                if (!random.chance(faults.consumerAcksLost)) acknowledge(sequence);
              }),
            nak: (delayMs) => tell(() => redeliver(sequence, delivery, delayMs)),
          }),
        ),
    });
    redeliver(sequence, delivery, ACK_WAIT_MS);
  };

  const redeliver = (sequence: number, delivery: number, delayMs: number): void =>
    world.after(delayMs, () => {
      if (isAcked(sequence) || pending.get(sequence) !== delivery) return;
      pending.delete(sequence);
      again.push(sequence);
      pump();
    });

  const isAcked = (sequence: number) => sequence <= floor || acked.has(sequence);

  const acknowledge = (sequence: number): void => {
    if (isAcked(sequence)) return;
    pending.delete(sequence);
    acked.add(sequence);
    while (acked.delete(floor + 1)) floor += 1;
  };

  const ask = <Answer>(
    from: Process,
    timeoutMs: number,
    answer: (reply: (value: Answer) => void) => void,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      let ended = false;
      void from.clock.sleep(timeoutMs).then(() => {
        if (!ended) reject(new Error('timeout'));
      });
      const { name } = from.machine;
      const arrived = (value: Answer) => {
        ended = true;
        resolve(value);
      };
      const reply = (value: Answer) =>
        network.send({ from: NATS, to: name, arrive: () => from.reach(() => arrived(value)) });
      network.send({ from: name, to: NATS, sender: from, arrive: () => answer(reply) });
    });

  return {
    faults,
    log,
    publish: (from, event, timeoutMs, messageId) =>
      ask<number>(from, timeoutMs, (reply) => {
        const storeAndReply = () => {
          const sequence = store(event, messageId);
          if (!random.chance(faults.acknowledgementsLost)) reply(sequence);
        };
        if (!faults.deposed) storeAndReply();
        else if (random.chance(0.5)) world.after(random.between(50, 3_000), storeAndReply);
      }),
    ackFloor: (from, timeoutMs) =>
      ask<number>(from, timeoutMs, (reply) => {
        if (faults.deposed) reply(oldFloor);
        else {
          oldFloor = floor;
          reply(floor);
        }
      }),
    subscribe: (process, deliver) => {
      const gone = readers.findIndex((reader) => !reader.process.isAlive());
      if (gone >= 0) readers.splice(gone, 1);
      readers.push({ process, deliver });
      pump();
    },
    killHard: () => {
      const before = Math.max(0, floor - random.whole(0, 20));
      const forgotten = Array.from({ length: nextSequence - 1 - before }, (_, index) => before + 1 + index);
      again = [...new Set([...again, ...forgotten])].sort((a, b) => a - b);
      acked.clear();
      pending.clear();
      floor = before;
      oldFloor = Math.min(oldFloor, floor);
      world.note(() => `the stream's server is killed: its consumer goes back to ${before} of ${log.length}`);
    },
    appliedUpTo: () => floor,
    resume: pump,
  };
}
