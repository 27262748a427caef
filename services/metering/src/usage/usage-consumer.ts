import type { UsageStream } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { applyReadable } from '../ledger/usage-by-ledger.ts';
import { createGathering, type Gathering } from './gathering.ts';
import { createMessagesInHand } from './messages-in-hand.ts';
import { takeMessages } from './take-messages.ts';
import { createUsageBatches, type UsageBatchEvents, type UsageBatches } from './usage-batch.ts';
import { peekWhileSilent } from './usage-peek.ts';
import type { UsageMessages, UsageStreams } from './usage-streams.ts';

const OPEN_AGAIN_AFTER_MS = 250;

/** The ledgers, as far as the consumer needs them. */
export type ConsumerStore = Pick<LedgerStore, 'applyUsage' | 'listOverdue'>;

export interface UsageConsumerEvents extends UsageBatchEvents {
  /** A stream cannot be read at the moment. The consumer tries again. */
  notOpen(error: unknown): void;
}

/**
 * Applies usage from the streams in batches. While it applies a batch, further messages gather for the next one. It acknowledges
 * a message after a majority has stored the message's usage. If the replica crashes before the acknowledgement, the stream
 * delivers the message again, and the same usage changes nothing. All replicas share one durable consumer for each stream. If a
 * consumer or a stream no longer exists, metering creates it again.
 */
export class UsageConsumer {
  /** Resolves once messages are taken from every stream, or the consumer is stopped. */
  readonly opened: Promise<void>;
  readonly #streams: UsageStreams;
  readonly #store: ConsumerStore;
  readonly #clock: Clock;
  readonly #events: UsageConsumerEvents;
  readonly #batches: UsageBatches;
  readonly #gathering: Gathering;
  readonly #open = new Set<UsageMessages>();
  readonly #stopped = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  #stopping = false;

  constructor(
    { streams, store, clock }: { streams: UsageStreams; store: ConsumerStore; clock: Clock },
    events: UsageConsumerEvents,
  ) {
    this.#streams = streams;
    this.#store = store;
    this.#clock = clock;
    this.#events = events;
    this.#batches = createUsageBatches({ streams, store, clock }, events);
    this.#gathering = createGathering(clock);
    const opened = Promise.withResolvers<void>();
    this.opened = opened.promise;
    this.#running = this.#consumeAll(opened.resolve).finally(opened.resolve);
  }

  /** For this time, usage is applied as soon as it arrives. */
  flushImmediatelyFor(ms: number): void {
    this.#gathering.flushImmediatelyFor(ms);
  }

  /** Resolves once every message that was taken is applied or given back. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#stopped.resolve();
    this.#gathering.stop();
    for (const messages of this.#open) messages.close();
    await this.#running;
  }

  async #consumeAll(allOpen: () => void): Promise<void> {
    const all = (await this.#untilDone(() => this.#streams.list())) ?? [];
    const toOpen = new Set(all);
    const isOpen = (stream: UsageStream): void => {
      toOpen.delete(stream);
      if (toOpen.size === 0) allOpen();
    };
    await Promise.all(all.map((stream) => this.#consume(stream, () => isOpen(stream))));
  }

  async #consume(stream: UsageStream, isOpen: () => void): Promise<void> {
    while (!this.#stopping) {
      // A replica without its store would only delay messages that other replicas could apply.
      await this.#untilDone(() => this.#store.listOverdue(0, 1));
      const messages = await this.#untilDone(() => this.#streams.open(stream));
      if (!messages) return;
      if (this.#stopping) {
        messages.close();
        return;
      }
      isOpen();
      this.#open.add(messages);
      await this.#take(stream, messages);
      this.#open.delete(messages);
      await Promise.race([this.#clock.sleep(OPEN_AGAIN_AFTER_MS), this.#stopped.promise]);
    }
  }

  #take(stream: UsageStream, messages: UsageMessages): Promise<void> {
    const inHand = createMessagesInHand(this.#clock);
    const peek = peekWhileSilent({
      streams: this.#streams,
      stream,
      messages,
      clock: this.#clock,
      isBusy: () => !inHand.isEmpty(),
      apply: async (usage) => {
        await applyReadable(this.#store, usage);
      },
    });
    const batches = this.#batches;
    const gathering = this.#gathering;
    return takeMessages(messages, { batches, gathering, inHand, peek }).catch(this.#events.notOpen);
  }

  /** Repeats the attempt until it succeeds. Returns undefined if the consumer is stopped. */
  async #untilDone<T>(attempt: () => Promise<T>): Promise<T | undefined> {
    while (!this.#stopping) {
      try {
        return await attempt();
      } catch (error) {
        if (!this.#stopping) this.#events.notOpen(error);
        await Promise.race([this.#clock.sleep(OPEN_AGAIN_AFTER_MS), this.#stopped.promise]);
      }
    }
    return undefined;
  }
}
