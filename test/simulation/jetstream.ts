import type { UsageEvent, UsageStream } from '@brand-data/contracts';
import { JetStreamConsumer, NATS, NO_STREAM_FAULTS, type StreamFaults } from './jetstream-consumer.ts';
import type { Process, World } from './world.ts';

const DUPLICATE_WINDOW_MS = 600_000;
/** How many messages a small stream takes. Retention leaves enough room for messages that are being sent. */
const SMALL = 12;

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
export class JetStream implements UsageStream {
  readonly name: string;
  readonly subjects: string;
  readonly subjectOf: UsageStream['subjectOf'];
  readonly faults: StreamFaults = { ...NO_STREAM_FAULTS };
  /** All messages that were ever stored, in order. */
  readonly log: StoredMessage[] = [];
  readonly consumer: JetStreamConsumer;
  readonly #world: World;
  readonly #storedIds = new Map<string, { sequence: number; at: number }>();
  #firstSequence = 1;
  #oldFloor = 0;
  /** The leader's term. A message that a former leader had received and not stored is never stored. */
  #term = 1;

  constructor(world: World, { name, subjects, subjectOf }: UsageStream) {
    this.name = name;
    this.subjects = subjects;
    this.subjectOf = subjectOf;
    this.#world = world;
    this.consumer = new JetStreamConsumer(world, this);
  }

  get firstSequence(): number {
    return this.#firstSequence;
  }

  /** How many messages the stream takes. */
  get mostMessages(): number {
    return this.faults.small ? SMALL : Number.POSITIVE_INFINITY;
  }

  /** Resolves to the message's sequence once it is stored. Rejects if it is refused or no acknowledgement arrives in time. */
  publish(
    from: Process,
    event: UsageEvent | undefined,
    timeoutMs: number,
    messageId?: string,
  ): Promise<number> {
    const { random } = this.#world;
    return this.#ask<number>(from, timeoutMs, (reply) => {
      const inTerm = this.#term;
      const storeAndReply = () => {
        // The leader that had received the message is gone, so the message was never in the stream.
        if (this.faults.deposed && inTerm !== this.#term) return;
        try {
          const sequence = this.#store(event, messageId);
          if (!random.chance(this.faults.acknowledgementsLost)) reply(sequence);
        } catch (error) {
          reply(error as Error);
        }
      };
      if (!this.faults.deposed) storeAndReply();
      else if (random.chance(0.5)) this.#world.after(random.between(50, 3_000), storeAndReply);
    });
  }

  /** A request of a process to the server. Rejects if there is no answer in time. */
  ask<Answer>(from: Process, timeoutMs: number, answer: () => Answer | undefined): Promise<Answer> {
    return this.#ask(from, timeoutMs, (reply) => {
      const value = answer();
      if (value !== undefined) reply(value);
    });
  }

  /** The sequence up to which all messages are acknowledged, as far as the server knows. undefined: no server answers. */
  floor(): number | undefined {
    if (this.faults.consumerStalled) return undefined;
    if (!this.faults.deposed) this.#oldFloor = this.consumer.floor;
    return this.#oldFloor;
  }

  /** Some of the stream's messages. A copy may lack the latest. undefined: no copy answers. */
  read(from: number, most: number): readonly StoredMessage[] | undefined {
    if (this.faults.unread) return undefined;
    const { random } = this.#world;
    const behind = random.chance(0.3) ? random.whole(1, 5) : 0;
    const first = Math.max(from, this.#firstSequence);
    const end = Math.min(first - 1 + most, Math.max(first - 1, this.log.length - behind));
    return this.log.slice(first - 1, end);
  }

  purge(firstKept: number): number {
    const before = this.#firstSequence;
    this.#firstSequence = Math.max(before, Math.min(firstKept, this.log.length + 1));
    this.consumer.skipTo(this.#firstSequence);
    return this.#firstSequence - before;
  }

  /** Stores a message that no gateway sent. `signer`: the holder whose key has signed it, by default the one that it names. */
  put(event: UsageEvent | undefined, signer?: string): void {
    if (this.#hasRoom()) this.#store(event, undefined, signer);
  }

  setFaults(wanted: Partial<StreamFaults>): void {
    if (wanted.consumerStalled || wanted.deposed) this.#changeLeader();
    Object.assign(this.faults, wanted);
  }

  /** An operator deletes the consumer. When it is opened again, it begins with the first message in the stream. */
  deleteConsumer(): void {
    this.consumer.begin(this.#firstSequence - 1);
    this.#oldFloor = this.consumer.floor;
    this.#world.note(() => 'the consumer is deleted');
  }

  /** The server is killed. The consumer's latest acknowledgements are forgotten, so their messages are delivered again. */
  killHard(): void {
    const { random } = this.#world;
    const before = Math.max(this.#firstSequence - 1, this.consumer.floor - random.whole(0, 20));
    this.consumer.fallBack(before);
    this.#changeLeader();
    this.#oldFloor = Math.min(this.#oldFloor, before);
    const last = this.log.length;
    this.#world.note(() => `the stream's server is killed: its consumer goes back to ${before} of ${last}`);
  }

  /** The stream loses its latest messages although it acknowledged them. The protocol does not promise to survive that. */
  loseTail(messages: number): void {
    const last = Math.max(0, this.log.length - messages);
    this.log.length = last;
    for (const [id, { sequence }] of this.#storedIds) if (sequence > last) this.#storedIds.delete(id);
    this.#firstSequence = Math.min(this.#firstSequence, last + 1);
    this.consumer.cutBack(last);
    this.#changeLeader();
    this.#oldFloor = Math.min(this.#oldFloor, this.consumer.floor);
    this.#world.note(() => `the stream goes back to ${last}`);
  }

  #hasRoom(): boolean {
    return this.log.length + 1 - this.#firstSequence < this.mostMessages;
  }

  #store(event: UsageEvent | undefined, messageId: string | undefined, signer = event?.holder ?? ''): number {
    const world = this.#world;
    const before = messageId === undefined ? undefined : this.#storedIds.get(messageId);
    if (before && world.now() - before.at < DUPLICATE_WINDOW_MS) return before.sequence;
    if (!this.#hasRoom()) throw new Error('maximum messages exceeded');
    const sequence = this.log.length + 1;
    this.log.push({ sequence, event, signer, storedMs: Math.floor(world.trueWallMs()) });
    if (messageId !== undefined) this.#storedIds.set(messageId, { sequence, at: world.now() });
    this.consumer.pump();
    return sequence;
  }

  #changeLeader(): void {
    this.#term += 1;
    this.consumer.forgetPulls();
  }

  #ask<Answer>(
    from: Process,
    withinMs: number,
    perform: (reply: (answer: Answer | Error) => void) => void,
  ): Promise<Answer> {
    return this.#world.ask(from, NATS, withinMs, () => new Error('timeout'), perform);
  }
}
