import type { Clock } from '@brand-data/runtime';
import type { UsageBatches } from './usage-batch.ts';
import type { Peek } from './usage-peek.ts';
import { ACK_WAIT_MS, MESSAGES_AT_ONCE, type UsageMessage, type UsageMessages } from './usage-streams.ts';

/**
 * All messages about a grant that arrive within this time cause one write, since usage is cumulative. The stream has already
 * stored the messages, so no gateway waits for the write.
 */
const GATHER_MS = 500;
/** How often metering reports to the stream that it is still working on a message. */
const WORKING_AFTER_MS = ACK_WAIT_MS / 2;

/** Delays the application of usage so that more messages share a write, unless a caller asks for an account's usage now. */
export class Gathering {
  readonly #clock: Clock;
  readonly #waiting = new Set<() => void>();
  #flushImmediatelyUntilMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves after half a second, or at a flush. Resolves at once if `isFull`. */
  async wait(isFull: boolean): Promise<void> {
    if (isFull || this.#clock.now().monotonicMs < this.#flushImmediatelyUntilMs) return;
    const { promise: flushed, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    await Promise.race([this.#clock.sleep(GATHER_MS), flushed]);
    this.#waiting.delete(resolve);
  }

  flush(): void {
    for (const goOn of this.#waiting) goOn();
  }

  /** Ends all waits, and prevents new ones for this time. */
  flushImmediatelyFor(ms: number): void {
    this.#flushImmediatelyUntilMs = this.#clock.now().monotonicMs + ms;
    this.flush();
  }
}

/**
 * Messages that were delivered to this process and are not acknowledged or given back yet. Tells the stream that they are still
 * being worked on, so that it does not deliver them again.
 */
export class MessagesInHand {
  readonly #clock: Clock;
  /** When each message was delivered or was last reported to the stream. */
  readonly #reportedMs = new Map<UsageMessage, number>();
  #isKeeping = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isEmpty(): boolean {
    return this.#reportedMs.size === 0;
  }

  add(message: UsageMessage): void {
    this.#reportedMs.set(message, this.#clock.now().monotonicMs);
    if (!this.#isKeeping) void this.#keep();
  }

  remove(messages: readonly UsageMessage[]): void {
    for (const message of messages) this.#reportedMs.delete(message);
  }

  async #keep(): Promise<void> {
    this.#isKeeping = true;
    while (!this.isEmpty) {
      await this.#clock.sleep(WORKING_AFTER_MS / 2);
      const { monotonicMs } = this.#clock.now();
      for (const [message, sinceMs] of this.#reportedMs) {
        if (monotonicMs - sinceMs < WORKING_AFTER_MS) continue;
        message.working();
        this.#reportedMs.set(message, monotonicMs);
      }
    }
    this.#isKeeping = false;
  }
}

/**
 * Takes messages in batches until the consumer is gone or closed, not faster than they are applied. If the store cannot be
 * reached, closes the consumer, so that other replicas get the messages. Rejects if the deliveries fail.
 */
export async function takeMessages(
  messages: UsageMessages,
  parts: { batches: UsageBatches; gathering: Gathering; inHand: MessagesInHand; peek: Peek },
): Promise<void> {
  const { batches, gathering, inHand, peek } = parts;
  let waiting: UsageMessage[] = [];
  let applying: Promise<void> | undefined;

  const applyWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      await gathering.wait(waiting.length >= MESSAGES_AT_ONCE);
      const batch = waiting;
      waiting = [];
      const isStored = await batches.apply(batch);
      inHand.remove(batch);
      if (isStored) continue;
      messages.close();
      batches.giveBack(waiting);
      inHand.remove(waiting);
      waiting = [];
    }
    applying = undefined;
  };

  try {
    for await (const message of messages) {
      peek.seen(message.sequence);
      waiting.push(message);
      inHand.add(message);
      applying ??= applyWaiting();
      if (waiting.length >= MESSAGES_AT_ONCE) {
        gathering.flush();
        await applying;
      }
    }
  } finally {
    peek.stop();
    await applying;
  }
}
