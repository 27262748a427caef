import type { UsageStream } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import type { LedgerStore } from '../ledger/ledger-store.ts';
import { areAppliedUpTo, sequencesOf } from '../settling/usage-barrier.ts';
import { applyReadable } from './apply-usage.ts';
import { createUsageBatches, type UsageBatchEvents } from './usage-batch.ts';
import { peekWhileSilent } from './usage-peek.ts';
import { ALL_RULES, type UsageRules } from './usage-rules.ts';
import {
  ACK_WAIT_MS,
  MESSAGES_AT_ONCE,
  type UsageMessage,
  type UsageMessages,
  type UsageStreams,
} from './usage-streams.ts';

/** Usage is cumulative: what comes in this time is one write a grant. It is durable already, so nobody waits for it. */
const GATHER_MS = 500;
/** What is in hand for so long is still being worked on; looked at as often. */
const WORKING_AFTER_MS = ACK_WAIT_MS / 2;
const OPEN_AGAIN_AFTER_MS = 250;

export interface UsageConsumer {
  /**
   * Resolves to true once everything that was in the streams at the call is applied, by whichever replica; to false when
   * that takes longer than `withinMs` or the streams do not answer.
   */
  caughtUp(withinMs: number): Promise<boolean>;
}

export interface RunningUsageConsumer extends UsageConsumer {
  /** Resolves once messages are taken from every stream, or it is stopped. */
  opened: Promise<void>;
  /** Resolves when what was taken is applied, or given back. */
  stop(): Promise<void>;
}

export interface UsageConsumerEvents extends UsageBatchEvents {
  /** The streams, or one of them, cannot be read from now: tried again. */
  notOpen(error: unknown): void;
}

/**
 * Applies usage from the streams, as much at once as has come meanwhile. A message is acknowledged after its majority
 * write; a crash between the two brings it again, which changes nothing. All replicas share the one durable consumer of a
 * stream; when it or the stream is gone, they are made again.
 * Streams that are there beyond those that are to be are consumed too, since gateways may use them.
 */
export function startUsageConsumer(
  {
    streams,
    store,
    clock,
    rules = ALL_RULES,
  }: { streams: UsageStreams; store: LedgerStore; clock: Clock; rules?: UsageRules },
  events: UsageConsumerEvents,
): RunningUsageConsumer {
  const batches = createUsageBatches({ streams, store, clock, rules }, events);
  const open = new Set<UsageMessages>();
  const stopped = Promise.withResolvers<void>();
  let stopping = false;
  // Somebody wants to see what was just used: nothing is gathered until then.
  let hurryUntilMs = Number.NEGATIVE_INFINITY;
  const gathering = new Set<() => void>();
  const wake = () => {
    for (const wakeOne of gathering) wakeOne();
  };
  const gather = async (isFull: () => boolean): Promise<void> => {
    if (isFull() || stopping || clock.now().monotonicMs < hurryUntilMs) return;
    const { promise: woken, resolve } = Promise.withResolvers<void>();
    gathering.add(resolve);
    await Promise.race([clock.sleep(GATHER_MS), woken]);
    gathering.delete(resolve);
  };

  /**
   * Takes messages until the consumer is gone or closed, no more of them than are applied meanwhile. Where the store is out
   * of reach it closes the consumer, so that other replicas are given the messages.
   */
  const consume = async (stream: UsageStream, messages: UsageMessages): Promise<void> => {
    const inHand = new Map<UsageMessage, number>();
    const peek = peekWhileSilent({
      ...{ streams, stream, messages, clock },
      isBusy: () => inHand.size > 0,
      apply: async (usage) => {
        await applyReadable(store, usage);
      },
    });
    let waiting: UsageMessage[] = [];
    let applying: Promise<void> | undefined;
    const applyWaiting = async (): Promise<void> => {
      while (waiting.length > 0) {
        await gather(() => waiting.length >= MESSAGES_AT_ONCE);
        const batch = waiting;
        waiting = [];
        const isStored = await batches.apply(batch);
        for (const message of batch) inHand.delete(message);
        if (isStored) continue;
        messages.close();
        batches.giveBack(waiting);
        waiting = [];
        inHand.clear();
      }
      applying = undefined;
    };
    let keeping = false;
    const keepInHand = async (): Promise<void> => {
      keeping = true;
      while (inHand.size > 0) {
        await clock.sleep(WORKING_AFTER_MS / 2);
        const { monotonicMs } = clock.now();
        for (const [message, sinceMs] of inHand) {
          if (monotonicMs - sinceMs < WORKING_AFTER_MS) continue;
          message.working();
          inHand.set(message, monotonicMs);
        }
      }
      keeping = false;
    };
    try {
      for await (const message of messages) {
        peek.seen(message.sequence);
        waiting.push(message);
        inHand.set(message, clock.now().monotonicMs);
        if (!keeping) void keepInHand();
        applying ??= applyWaiting();
        if (waiting.length >= MESSAGES_AT_ONCE) {
          wake();
          await applying;
        }
      }
    } catch (error) {
      events.notOpen(error);
    }
    peek.stop();
    await applying;
  };

  /** undefined: it is stopped. */
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

  const run = async (stream: UsageStream, isOpen: () => void): Promise<void> => {
    while (!stopping) {
      // What is taken while the store does not answer would wait here in vain.
      await untilDone(() => store.listOverdue(0, 1));
      const messages = await untilDone(() => streams.open(stream));
      if (!messages) return;
      if (stopping) {
        messages.close();
        return;
      }
      isOpen();
      open.add(messages);
      await consume(stream, messages);
      open.delete(messages);
      await Promise.race([clock.sleep(OPEN_AGAIN_AFTER_MS), stopped.promise]);
    }
  };

  const opened = Promise.withResolvers<void>();
  const runAll = async (): Promise<void> => {
    const all = (await untilDone(() => streams.list())) ?? [];
    const toOpen = new Set(all);
    await Promise.all(
      all.map((stream) =>
        run(stream, () => {
          toOpen.delete(stream);
          if (toOpen.size === 0) opened.resolve();
        }),
      ),
    );
  };
  const running = runAll().finally(opened.resolve);

  return {
    opened: opened.promise,
    caughtUp: (withinMs) => {
      hurryUntilMs = clock.now().monotonicMs + withinMs;
      wake();
      const looking = async () => {
        const sequences = await sequencesOf(await streams.list(), (stream) => streams.lastSequence(stream));
        return areAppliedUpTo(sequences, { streams, clock, withinMs });
      };
      return Promise.race([looking().catch(() => false), clock.sleep(withinMs).then(() => false)]);
    },
    stop: async () => {
      stopping = true;
      stopped.resolve();
      wake();
      for (const messages of open) messages.close();
      await running;
    },
  };
}
