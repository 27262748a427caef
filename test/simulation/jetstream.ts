import { type UsageEvent, type UsageStream, usageStream } from '@brand-data/contracts';
import { ACK_WAIT_MS } from '@brand-data/metering/src/usage/usage-streams.ts';
import type { Random } from '@brand-data/testing/random';
import { createConsumer, type JetStreamConsumer, NATS } from './jetstream-consumer.ts';
import type { Process } from './machine.ts';
import type { Network } from './network.ts';
import type { World } from './world.ts';

const DUPLICATE_WINDOW_MS = 600_000;
/** How many messages a small stream takes. Retention leaves enough room for messages that are being sent. */
const SMALL = 12;

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

/** A stored message. */
interface StoredMessage {
  sequence: number;
  storedMs: number;
  /** undefined: not a usage event. */
  event: UsageEvent | undefined;
  /** The holder whose key has signed the event. */
  signer: string;
}

/**
 * A usage stream and its only durable consumer, as their server stores them. Messages and requests reach it over the network.
 */
export interface JetStream extends UsageStream {
  readonly faults: StreamFaults;
  /** All messages that were ever stored, in order. */
  readonly log: readonly StoredMessage[];
  readonly firstSequence: number;
  /** How many messages the stream takes. */
  readonly mostMessages: number;
  /** Resolves to the message's sequence once it is stored. Rejects if it is refused or no acknowledgement arrives in time. */
  publish(
    from: Process,
    event: UsageEvent | undefined,
    timeoutMs: number,
    messageId?: string,
  ): Promise<number>;
  /** A request of a process to the server. Rejects if there is no answer in time. */
  ask<Answer>(from: Process, timeoutMs: number, answer: () => Answer | undefined): Promise<Answer>;
  /** The sequence up to which all messages are acknowledged, as far as the server knows. undefined: no server answers. */
  floor(): number | undefined;
  /** Some of the stream's messages. A copy may lack the latest. undefined: no copy answers. */
  read(from: number, most: number): readonly StoredMessage[] | undefined;
  readonly consumer: Pick<JetStreamConsumer, 'pull' | 'leave' | 'isPulling'>;
  acknowledge(sequence: number): void;
  /** A reader gives this delivery back. The message is delivered again after this time. */
  redeliverIn(delayMs: number, sequence: number, delivery: number): void;
  /** A reader is still working on this delivery. */
  working(sequence: number, delivery: number): void;
  purge(firstKept: number): number;
  /** Stores a message that no gateway sent. `signer`: the holder whose key has signed it, by default the one that it names. */
  put(event: UsageEvent | undefined, signer?: string): void;
  setFaults(faults: Partial<StreamFaults>): void;
  /** An operator deletes the consumer. When it is opened again, it begins with the first message in the stream. */
  deleteConsumer(): void;
  /** The server is killed. The consumer's latest acknowledgements are forgotten, so their messages are delivered again. */
  killHard(): void;
  /** The stream loses its latest messages although it acknowledged them. The protocol does not promise to survive that. */
  loseTail(messages: number): void;
  /** All messages up to this sequence are acknowledged by metering. */
  appliedUpTo(): number;
}

export function createJetStream(
  { world, random, network, startWallMs }: StreamParts,
  number: number,
): JetStream {
  const faults: StreamFaults = { ...NO_STREAM_FAULTS };
  const log: StoredMessage[] = [];
  const storedIds = new Map<string, { sequence: number; at: number }>();
  const consumer = createConsumer(
    { world, random, network },
    { lastSequence: () => log.length, isLed: () => !faults.consumerStalled },
  );
  let firstSequence = 1;
  let oldFloor = 0;
  /** The leader's term. A message that a former leader had received and not stored is never stored. */
  let term = 1;

  const store = (
    event: UsageEvent | undefined,
    messageId: string | undefined,
    signer = event?.holder ?? '',
  ): number => {
    const before = messageId === undefined ? undefined : storedIds.get(messageId);
    if (before && world.now() - before.at < DUPLICATE_WINDOW_MS) return before.sequence;
    if (log.length + 1 - firstSequence >= stream.mostMessages) throw new Error('maximum messages exceeded');
    const sequence = log.length + 1;
    log.push({ sequence, event, signer, storedMs: Math.floor(startWallMs + world.now()) });
    if (messageId !== undefined) storedIds.set(messageId, { sequence, at: world.now() });
    consumer.pump();
    return sequence;
  };

  const redeliverIn: JetStream['redeliverIn'] = (...redelivery) => {
    if (!faults.consumerStalled) consumer.redeliverIn(...redelivery);
  };

  const changeLeader = (): void => {
    term += 1;
    consumer.forgetPulls();
  };

  /** @param answer may never reply */
  const ask = <Answer>(
    from: Process,
    timeoutMs: number,
    answer: (reply: (value: Answer | Error) => void) => void,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      let ended = false;
      void from.clock.sleep(timeoutMs).then(() => {
        if (!ended) reject(new Error('timeout'));
      });
      const { name } = from.machine;
      const arrived = (value: Answer | Error) => {
        ended = true;
        if (value instanceof Error) reject(value);
        else resolve(value);
      };
      const reply = (value: Answer | Error) =>
        network.send({ from: NATS, to: name, arrive: () => from.reach(() => arrived(value)) });
      network.send({ from: name, to: NATS, sender: from, arrive: () => answer(reply) });
    });

  const stream: JetStream = {
    ...usageStream(number),
    faults,
    log,
    get firstSequence() {
      return firstSequence;
    },
    get mostMessages() {
      return faults.small ? SMALL : Number.POSITIVE_INFINITY;
    },
    publish: (from, event, timeoutMs, messageId) =>
      ask<number>(from, timeoutMs, (reply) => {
        const inTerm = term;
        const storeAndReply = () => {
          // The leader that had received the message is gone, so the message was never in the stream.
          if (faults.deposed && inTerm !== term) return;
          try {
            const sequence = store(event, messageId);
            if (!random.chance(faults.acknowledgementsLost)) reply(sequence);
          } catch (error) {
            reply(error as Error);
          }
        };
        if (!faults.deposed) storeAndReply();
        else if (random.chance(0.5)) world.after(random.between(50, 3_000), storeAndReply);
      }),
    ask: (from, timeoutMs, answer) =>
      ask(from, timeoutMs, (reply) => {
        const value = answer();
        if (value !== undefined) reply(value);
      }),
    floor: () => {
      if (faults.consumerStalled) return undefined;
      if (!faults.deposed) oldFloor = consumer.floor;
      return oldFloor;
    },
    read: (from, most) => {
      if (faults.unread) return undefined;
      const behind = random.chance(0.3) ? random.whole(1, 5) : 0;
      const first = Math.max(from, firstSequence);
      return log.slice(first - 1, Math.min(first - 1 + most, Math.max(first - 1, log.length - behind)));
    },
    consumer: {
      ...consumer,
      pull: (reader) => {
        if (!faults.consumerStalled) consumer.pull(reader);
      },
    },
    acknowledge: (sequence) => {
      if (!faults.consumerStalled && !random.chance(faults.consumerAcksLost)) consumer.acknowledge(sequence);
    },
    redeliverIn,
    working: (sequence, delivery) => redeliverIn(ACK_WAIT_MS, sequence, delivery),
    purge: (firstKept) => {
      const before = firstSequence;
      firstSequence = Math.max(firstSequence, Math.min(firstKept, log.length + 1));
      consumer.skipTo(firstSequence);
      return firstSequence - before;
    },
    put: (event, signer) => {
      if (log.length + 1 - firstSequence < stream.mostMessages) store(event, undefined, signer);
    },
    setFaults: (wanted) => {
      if (wanted.consumerStalled || wanted.deposed) changeLeader();
      Object.assign(faults, wanted);
    },
    deleteConsumer: () => {
      consumer.begin(firstSequence - 1);
      oldFloor = consumer.floor;
      world.note(() => 'the consumer is deleted');
    },
    killHard: () => {
      const before = Math.max(firstSequence - 1, consumer.floor - random.whole(0, 20));
      consumer.fallBack(before);
      changeLeader();
      oldFloor = Math.min(oldFloor, before);
      world.note(() => `the stream's server is killed: its consumer goes back to ${before} of ${log.length}`);
    },
    loseTail: (messages) => {
      log.length = Math.max(0, log.length - messages);
      for (const [id, { sequence }] of storedIds) if (sequence > log.length) storedIds.delete(id);
      firstSequence = Math.min(firstSequence, log.length + 1);
      consumer.cutBack(log.length);
      changeLeader();
      oldFloor = Math.min(oldFloor, consumer.floor);
      world.note(() => `the stream goes back to ${log.length}`);
    },
    appliedUpTo: () => consumer.floor,
  };
  return stream;
}

export interface StreamParts {
  world: World;
  random: Random;
  network: Network;
  /** The true time when the world begins, in milliseconds since 1970. The server's clock is right. */
  startWallMs: number;
}
