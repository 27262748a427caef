import type { UsageStream } from '@brand-data/contracts';
import {
  type Clock,
  countBy,
  inBatchSpan,
  type Service,
  SpanKind,
  spanContextOfMessage,
} from '@brand-data/runtime';
import { Histogram } from 'prom-client';
import { countDropped, countRejected, reportDropped } from '../ledger/ledger-counters.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { applyReadable } from '../ledger/usage-by-ledger.ts';
import { headersOf } from './nats-usage-streams.ts';
import { Gathering, MessagesInHand, takeMessages } from './take-messages.ts';
import { createUsageBatches, type UsageBatchEvents, type UsageBatches } from './usage-batch.ts';
import { peekWhileSilent } from './usage-peek.ts';
import type { UsageMessages, UsageStreams } from './usage-streams.ts';

const OPEN_AGAIN_AFTER_MS = 250;

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
  readonly #store: Pick<LedgerStore, 'applyUsage' | 'listOverdue'>;
  readonly #clock: Clock;
  readonly #events: UsageConsumerEvents;
  readonly #batches: UsageBatches;
  readonly #gathering: Gathering;
  readonly #open = new Set<UsageMessages>();
  readonly #stopped = Promise.withResolvers<void>();
  readonly #running: Promise<void>;
  #stopping = false;

  constructor(
    {
      streams,
      store,
      clock,
    }: { streams: UsageStreams; store: Pick<LedgerStore, 'applyUsage' | 'listOverdue'>; clock: Clock },
    events: UsageConsumerEvents,
  ) {
    this.#streams = streams;
    this.#store = store;
    this.#clock = clock;
    this.#events = events;
    this.#batches = createUsageBatches({ streams, store, clock }, events);
    this.#gathering = new Gathering(clock);
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
    this.#gathering.flushImmediatelyFor(Number.POSITIVE_INFINITY);
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
    const inHand = new MessagesInHand(this.#clock);
    const peek = peekWhileSilent({
      streams: this.#streams,
      stream,
      messages,
      clock: this.#clock,
      isBusy: () => !inHand.isEmpty,
      apply: (usage) => applyReadable(this.#store, usage),
    });
    const parts = { batches: this.#batches, gathering: this.#gathering, inHand, peek };
    return takeMessages(messages, parts).catch(this.#events.notOpen);
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

/** Reports to Prometheus, traces and the log what happens to usage from the streams. */
export function usageConsumerEvents(service: Service): UsageConsumerEvents {
  const { log, metrics, tracer } = service;
  const registers = [metrics];
  const countMessages = countBy(metrics, {
    name: 'metering_usage_messages_total',
    help: 'Messages that metering took from the usage streams, by result',
    label: 'result',
    values: ['applied', 'redelivered', 'parked', 'dead_letter'],
  });
  const batchMessages = new Histogram({
    name: 'metering_usage_batch_messages',
    help: 'Messages that metering applied together, in one batch',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  });
  const applySeconds = new Histogram({
    name: 'metering_usage_apply_duration_seconds',
    help: 'Seconds until a batch of usage messages was stored or failed',
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
    registers,
  });
  const dropped = countDropped(metrics);
  const rejected = countRejected(metrics);
  return {
    applying: async (batch, apply) => {
      batchMessages.observe(batch.length);
      const stopTimer = applySeconds.startTimer();
      const spanContexts = tracer
        ? batch.flatMap((message) => spanContextOfMessage({ headers: headersOf(message) }) ?? [])
        : [];
      try {
        return await inBatchSpan(tracer, 'apply usage', { spanContexts, kind: SpanKind.CONSUMER }, apply);
      } finally {
        stopTimer();
      }
    },
    applied: (messages) => countMessages('applied', messages),
    refused: (grants) => log.info({ grants }, 'usage of closed grants refused'),
    redelivered: (messages, why, err) => {
      countMessages('redelivered', messages);
      log.warn({ err, messages, why }, 'usage was not stored, the stream delivers it again');
    },
    parked: ({ stream, sequence: seq }) => {
      countMessages('parked');
      log.warn({ stream, seq }, 'a usage message with an unknown grant was parked');
    },
    deadLettered: ({ stream, sequence: seq, usage = [] }, reason, applied) => {
      countMessages('dead_letter');
      reportDropped(usage, applied, dropped);
      if (reason === 'forged' || reason === 'foreign_grant') rejected(reason);
      log.error({ stream, seq, reason }, 'a usage message was set aside');
    },
    notOpen: (err) => log.warn({ err }, 'cannot take usage from the stream, opening it again'),
  };
}
