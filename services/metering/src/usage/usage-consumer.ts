import type { UsageStream } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import { applyReadable } from '../ledger/apply-readable.ts';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { createGathering } from './gathering.ts';
import { createMessagesInHand } from './messages-in-hand.ts';
import { takeMessages } from './take-messages.ts';
import { createUsageBatches, type UsageBatchEvents } from './usage-batch.ts';
import { peekWhileSilent } from './usage-peek.ts';
import type { UsageMessages, UsageStreams } from './usage-streams.ts';

const OPEN_AGAIN_AFTER_MS = 250;

export interface UsageConsumer {
  /** Resolves once messages are taken from every stream, or the consumer is stopped. */
  opened: Promise<void>;
  /** For this time, usage is applied as soon as it arrives. */
  flushImmediatelyFor(ms: number): void;
  /** Resolves once every message that was taken is applied or given back. */
  stop(): Promise<void>;
}

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
export function startUsageConsumer(
  { streams, store, clock }: { streams: UsageStreams; store: LedgerStore; clock: Clock },
  events: UsageConsumerEvents,
): UsageConsumer {
  const batches = createUsageBatches({ streams, store, clock }, events);
  const gathering = createGathering(clock);
  const open = new Set<UsageMessages>();
  const stopped = Promise.withResolvers<void>();
  let stopping = false;

  /** Repeats the attempt until it succeeds. Returns undefined if the consumer is stopped. */
  const untilDone = async <T>(attempt: () => Promise<T>): Promise<T | undefined> => {
    while (!stopping) {
      try {
        return await attempt();
      } catch (error) {
        if (!stopping) events.notOpen(error);
        await Promise.race([clock.sleep(OPEN_AGAIN_AFTER_MS), stopped.promise]);
      }
    }
    return undefined;
  };

  const take = (stream: UsageStream, messages: UsageMessages): Promise<void> => {
    const inHand = createMessagesInHand(clock);
    const peek = peekWhileSilent({
      streams,
      stream,
      messages,
      clock,
      isBusy: () => !inHand.isEmpty(),
      apply: async (usage) => {
        await applyReadable(store, usage);
      },
    });
    return takeMessages(messages, { batches, gathering, inHand, peek }).catch(events.notOpen);
  };

  const consume = async (stream: UsageStream, isOpen: () => void): Promise<void> => {
    while (!stopping) {
      // A replica without its store would only delay messages that other replicas could apply.
      await untilDone(() => store.listOverdue(0, 1));
      const messages = await untilDone(() => streams.open(stream));
      if (!messages) return;
      if (stopping) {
        messages.close();
        return;
      }
      isOpen();
      open.add(messages);
      await take(stream, messages);
      open.delete(messages);
      await Promise.race([clock.sleep(OPEN_AGAIN_AFTER_MS), stopped.promise]);
    }
  };

  const opened = Promise.withResolvers<void>();
  const consumeAll = async (): Promise<void> => {
    const all = (await untilDone(() => streams.list())) ?? [];
    const toOpen = new Set(all);
    await Promise.all(
      all.map((stream) =>
        consume(stream, () => {
          toOpen.delete(stream);
          if (toOpen.size === 0) opened.resolve();
        }),
      ),
    );
  };
  const running = consumeAll().finally(opened.resolve);

  return {
    opened: opened.promise,
    flushImmediatelyFor: gathering.flushImmediatelyFor,
    stop: async () => {
      stopping = true;
      stopped.resolve();
      gathering.stop();
      for (const messages of open) messages.close();
      await running;
    },
  };
}
