import { setTimeout as delay } from 'node:timers/promises';
import {
  type GrantUsage,
  USAGE_CONSUMER,
  USAGE_DEAD_LETTER_SUBJECT,
  USAGE_STREAM,
  UsageEvent,
  usageSubject,
} from '@brand-data/contracts';
import { type Nats, retryUntilStopped, type Service } from '@brand-data/runtime';
import { AckPolicy, type ConsumerMessages, type JsMsg } from '@nats-io/jetstream';
import { Counter } from 'prom-client';
import { parseGrantId } from './ledger.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { Barrier } from './settler.ts';

const MESSAGES_AT_ONCE = 500;
const REDELIVER_AFTER_MS = 1_000;
const POLL_MS = 20;
const ASK_WITHIN_MS = 2_000;
const APPLIED_WITHIN_MS = 10_000;

export interface UsageConsumer {
  /**
   * Resolves to true once everything that was in the stream at the call is applied, by whichever replica; to false when
   * that takes longer than `withinMs` or NATS does not answer.
   */
  caughtUp(withinMs: number): Promise<boolean>;
}

/**
 * Applies usage from the stream, as much at once as has come meanwhile. A message is acknowledged after its majority
 * write; a crash between the two brings it again, which changes nothing. All replicas share the one durable consumer.
 */
export async function consumeUsage(service: Service, nats: Nats, store: LedgerStore): Promise<UsageConsumer> {
  const { log, metrics } = service;
  const applied = new Counter({
    name: 'metering_usage_messages_total',
    help: 'Usage messages taken from the stream, by what became of them',
    labelNames: ['result'],
    registers: [metrics],
  });
  const messages = await retryUntilStopped('the usage consumer', () => subscribe(nats), service);

  const applyBatch = async (batch: readonly JsMsg[]): Promise<void> => {
    const usage: GrantUsage[] = [];
    const readable: JsMsg[] = [];
    for (const message of batch) {
      const event = readEvent(message.data);
      if (event) {
        usage.push(...event.usage);
        readable.push(message);
      } else await setAside(message);
    }
    try {
      const { refused } = await store.applyUsage(usage);
      if (refused.length > 0) log.info({ grants: refused.length }, 'usage of closed grants dropped');
      for (const message of readable) message.ack();
      applied.inc({ result: 'applied' }, readable.length);
    } catch (err) {
      log.warn({ err, messages: readable.length }, 'usage was not stored: it comes again');
      for (const message of readable) message.nak(REDELIVER_AFTER_MS);
      applied.inc({ result: 'redelivered' }, readable.length);
    }
  };

  /** A message that nobody can read would come for ever: it goes where an operator can look at it. */
  const setAside = async (message: JsMsg): Promise<void> => {
    try {
      await nats.js.publish(USAGE_DEAD_LETTER_SUBJECT, message.data, {
        msgID: `${USAGE_STREAM}-${message.seq}`,
      });
      message.term('unreadable');
      applied.inc({ result: 'dead_letter' });
      log.error({ seq: message.seq }, 'an unreadable usage message was set aside');
    } catch (err) {
      log.warn({ err }, 'an unreadable usage message could not be set aside: it comes again');
      message.nak(REDELIVER_AFTER_MS);
    }
  };

  let waiting: JsMsg[] = [];
  let wake = () => {};
  let open = true;
  const collecting = (async () => {
    for await (const message of messages) {
      waiting.push(message);
      wake();
    }
  })();

  const applying = (async () => {
    while (open || waiting.length > 0) {
      if (waiting.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const batch = waiting;
      waiting = [];
      await applyBatch(batch);
    }
  })();

  service.onStop('usage consumer', async () => {
    await messages.close();
    await collecting;
    open = false;
    wake();
    await applying;
  });
  const barrier = usageBarrier(nats, 'metering');
  return {
    caughtUp: (withinMs) =>
      Promise.race([
        barrier.lastSequence().then(
          (sequence) => barrier.isAppliedUpTo(sequence),
          () => false,
        ),
        delay(withinMs, false),
      ]),
  };
}

/** The usage stream as settling and exact figures need it: what is behind a sequence is applied. */
export function usageBarrier(
  { manager, js }: Nats,
  holder: string,
): Barrier & { lastSequence(): Promise<number> } {
  return {
    mark: async () => {
      const marker = UsageEvent.encode({ holder, usage: [] }).finish();
      const { seq } = await js.publish(usageSubject(holder), marker, { timeout: ASK_WITHIN_MS });
      return seq;
    },
    lastSequence: async () => (await manager.streams.info(USAGE_STREAM)).state.last_seq,
    isAppliedUpTo: async (sequence) => {
      const began = performance.now();
      while (performance.now() - began < APPLIED_WITHIN_MS) {
        const { ack_floor } = await manager.consumers.info(USAGE_STREAM, USAGE_CONSUMER);
        if (ack_floor.stream_seq >= sequence) return true;
        await delay(POLL_MS);
      }
      return false;
    },
  };
}

async function subscribe({ manager, js }: Nats): Promise<ConsumerMessages> {
  await manager.consumers.add(USAGE_STREAM, {
    durable_name: USAGE_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    // Long enough to apply a batch; what a killed replica had taken is applied by another this much later.
    ack_wait: 5_000_000_000,
    max_deliver: -1,
    max_ack_pending: 4 * MESSAGES_AT_ONCE,
  });
  const consumer = await js.consumers.get(USAGE_STREAM, USAGE_CONSUMER);
  return consumer.consume({ max_messages: MESSAGES_AT_ONCE });
}

/** undefined: not a usage event of this product. */
function readEvent(data: Uint8Array): UsageEvent | undefined {
  try {
    const event = UsageEvent.decode(data);
    return event.holder !== '' && event.usage.every(({ grantId }) => parseGrantId(grantId))
      ? event
      : undefined;
  } catch {
    return undefined;
  }
}
