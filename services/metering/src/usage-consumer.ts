import { setTimeout as delay } from 'node:timers/promises';
import {
  type GrantUsage,
  USAGE_CONSUMER,
  USAGE_DEAD_LETTER_SUBJECT,
  USAGE_SUBJECTS,
  UsageEvent,
  type UsageStream,
  usageStream,
} from '@brand-data/contracts';
import {
  ensureStream,
  Fault,
  inBatchSpan,
  type Nats,
  placeOfMessage,
  retryUntilStopped,
  type Service,
} from '@brand-data/runtime';
import { AckPolicy, type ConsumerMessages, DiscardPolicy, type JsMsg } from '@nats-io/jetstream';
import { Counter, Histogram } from 'prom-client';
import { applyReadable } from './apply-usage.ts';
import type { LedgerStore } from './ledger-store.ts';
import type { Barrier } from './settler.ts';
import { registerUsageGauges } from './usage-metrics.ts';
import { keepRoom } from './usage-retention.ts';

const MESSAGES_AT_ONCE = 500;
/** Usage is cumulative: what comes in this time is one write a grant. It is durable already, so nobody waits for it. */
const GATHER_MS = 500;
const REDELIVER_AFTER_MS = 1_000;
const LONGEST_REDELIVERY_MS = 5_000;
/** A pull that the server forgot is noticed and made again within this. */
const PULL_FOR_MS = 5_000;
const OPEN_AGAIN_AFTER_MS = 250;
const POLL_MS = 10;
const LONGEST_POLL_MS = 200;
const ASK_WITHIN_MS = 2_000;
const APPLIED_WITHIN_MS = 10_000;
const SECONDS_NS = 1_000_000_000;

export interface UsageConsumer {
  /**
   * Resolves to true once everything that was in the streams at the call is applied, by whichever replica; to false when
   * that takes longer than `withinMs` or NATS does not answer.
   */
  caughtUp(withinMs: number): Promise<boolean>;
}

/** What usage streams there are to be. */
export interface UsageStreams {
  streams: number;
  /** The largest size of each. */
  maxBytes: number;
  /** How many copies the NATS cluster keeps of each. */
  replicas: number;
}

/** A message with what it says; undefined: it is no usage event. */
interface Taken {
  message: JsMsg;
  usage: GrantUsage[] | undefined;
}

/**
 * Applies usage from the streams, as much at once as has come meanwhile. A message is acknowledged after its majority
 * write; a crash between the two brings it again, which changes nothing. All replicas share the one durable consumer of a
 * stream; when it or the stream is gone, they are made again.
 * Streams that are there beyond those that are to be are consumed too, since gateways may use them.
 */
export async function consumeUsage(
  service: Service,
  nats: Nats,
  store: LedgerStore,
  settings: UsageStreams,
): Promise<UsageConsumer> {
  const { streams } = settings;
  const { log, metrics, tracing, signal } = service;
  const registers = [metrics];
  const results = new Counter({
    name: 'metering_usage_messages_total',
    help: 'Usage messages taken from the stream, by what became of them',
    labelNames: ['result'],
    registers,
  });
  // There from the start, so that the first of them is an increase.
  for (const result of ['applied', 'redelivered', 'dead_letter']) results.inc({ result }, 0);
  const batchMessages = new Histogram({
    name: 'metering_usage_batch_messages',
    help: 'Usage messages applied at once',
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500],
    registers,
  });
  const applySeconds = new Histogram({
    name: 'metering_usage_apply_duration_seconds',
    help: 'Time that a batch of usage messages took to be stored, or to fail',
    buckets: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
    registers,
  });
  const all = await retryUntilStopped(
    'the names of the usage streams',
    () => usageStreams(nats, streams),
    service,
  );
  registerUsageGauges(service, nats, all);
  keepRoom(service, nats, all);

  const applyBatch = async (batch: readonly Taken[]): Promise<void> => {
    batchMessages.observe(batch.length);
    const stopTimer = applySeconds.startTimer();
    try {
      const places = batch.flatMap(({ message }) => placeOfMessage(tracing, message) ?? []);
      const { refused, unreadable, unknown, unavailable } = await inBatchSpan(
        tracing,
        'apply usage',
        { places, kind: 'consumer' },
        () =>
          applyReadable(
            store,
            batch.flatMap(({ usage = [] }) => usage),
          ),
      );
      if (refused.length > 0) log.info({ grants: refused.length }, 'usage of closed grants dropped');
      const ids = new Set(unreadable);
      const isSuspect = ({ usage }: Taken) => !usage || usage.some(({ grantId }) => ids.has(grantId));
      const left = new Set([...unknown, ...unavailable]);
      const isLeft = ({ usage = [] }: Taken) => usage.some(({ grantId }) => left.has(grantId));
      const {
        suspect = [],
        notStored = [],
        sound = [],
      } = Object.groupBy(batch, (taken) =>
        isSuspect(taken) ? 'suspect' : isLeft(taken) ? 'notStored' : 'sound',
      );
      for (const { message } of notStored) comeAgain(message);
      for (const { message } of sound) message.ack();
      results.inc({ result: 'applied' }, sound.length);
      // Of several messages about one grant only one may be at fault.
      for (const taken of suspect) await (batch.length === 1 ? setAside(taken) : applyBatch([taken]));
    } catch (err) {
      const isDefect = !(err instanceof Fault && err.kind === 'unavailable');
      log.warn({ err, messages: batch.length }, 'usage was not stored: it comes again');
      // One message that cannot be stored must not keep the others from it, however often they come together.
      if (isDefect && batch.length > 1) for (const taken of batch) await applyBatch([taken]);
      else for (const { message } of batch) comeAgain(message);
    } finally {
      stopTimer();
    }
  };

  const comeAgain = (message: JsMsg): void => {
    message.nak(Math.min(REDELIVER_AFTER_MS * 2 ** (message.info.deliveryCount - 1), LONGEST_REDELIVERY_MS));
    results.inc({ result: 'redelivered' });
  };

  /** A message that nobody can read would come for ever: it goes where an operator can look at it. */
  const setAside = async ({ message }: Taken): Promise<void> => {
    try {
      await nats.publish('dead letters', USAGE_DEAD_LETTER_SUBJECT, message.data, {
        msgID: `${message.info.stream}-${message.seq}-${message.time.getTime()}`,
        timeout: ASK_WITHIN_MS,
      });
      message.term('unreadable');
      results.inc({ result: 'dead_letter' });
      log.error({ seq: message.seq }, 'an unreadable usage message was set aside');
    } catch (err) {
      log.warn({ err }, 'an unreadable usage message could not be set aside: it comes again');
      comeAgain(message);
    }
  };

  const open = async (stream: UsageStream): Promise<ConsumerMessages> => {
    await ensureUsageStream(service, nats, stream, settings);
    return retryUntilStopped(`the consumer of ${stream.name}`, () => subscribe(nats, stream.name), service);
  };

  // Somebody wants to see what was just used: nothing is gathered until then.
  let hurryUntilMs = 0;
  const gathering = new Set<() => void>();
  const wake = () => {
    for (const wakeOne of gathering) wakeOne();
  };
  const gather = async (isFull: () => boolean): Promise<void> => {
    if (isFull() || signal.aborted || performance.now() < hurryUntilMs) return;
    const { promise: woken, resolve } = Promise.withResolvers<void>();
    gathering.add(resolve);
    await Promise.race([delay(GATHER_MS, undefined, { ref: false }), woken]);
    gathering.delete(resolve);
  };

  /** Takes messages until the consumer is gone or the service stops, no more of them than are applied meanwhile. */
  const consume = async (messages: ConsumerMessages): Promise<void> => {
    const close = () => {
      wake();
      void messages.close();
    };
    signal.addEventListener('abort', close);
    if (signal.aborted) close();
    let waiting: Taken[] = [];
    let applying: Promise<void> | undefined;
    const applyWaiting = async (): Promise<void> => {
      while (waiting.length > 0) {
        await gather(() => waiting.length >= MESSAGES_AT_ONCE);
        const batch = waiting;
        waiting = [];
        await applyBatch(batch);
      }
      applying = undefined;
    };
    try {
      for await (const message of messages) {
        waiting.push({ message, usage: readEvent(message.data)?.usage });
        applying ??= applyWaiting();
        if (waiting.length >= MESSAGES_AT_ONCE) {
          wake();
          await applying;
        }
      }
    } catch (err) {
      log.warn({ err }, 'the usage consumer is gone: it is made again');
    }
    await applying;
    signal.removeEventListener('abort', close);
  };

  const openAgain = async (stream: UsageStream): Promise<ConsumerMessages | undefined> => {
    try {
      await delay(OPEN_AGAIN_AFTER_MS, undefined, { signal });
      return await open(stream);
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  };

  const run = async (stream: UsageStream, first: ConsumerMessages): Promise<void> => {
    for (let messages: ConsumerMessages | undefined = first; messages; messages = await openAgain(stream))
      await consume(messages);
  };
  const opened = await Promise.all(all.map(async (stream) => ({ stream, first: await open(stream) })));
  const running = Promise.all(opened.map(({ stream, first }) => run(stream, first)));
  service.onStop('usage consumer', async () => {
    await running;
  });

  return {
    caughtUp: (withinMs) => {
      hurryUntilMs = performance.now() + withinMs;
      wake();
      const looking = async () => {
        const last = async ({ name }: UsageStream) => (await nats.manager.streams.info(name)).state.last_seq;
        return areAppliedUpTo(nats, await sequencesOf(await usageStreams(nats, streams), last), withinMs);
      };
      return Promise.race([looking().catch(() => false), delay(withinMs, false, { ref: false })]);
    },
  };
}

/** Makes the usage streams that are to be, or brings them to these settings, before anybody consumes them. */
export async function ensureUsageStreams(
  service: Service,
  nats: Nats,
  settings: UsageStreams,
): Promise<void> {
  for (let number = 1; number <= settings.streams; number++)
    await ensureUsageStream(service, nats, usageStream(number), settings);
}

function ensureUsageStream(
  service: Service,
  nats: Nats,
  { name, subjects }: UsageStream,
  { maxBytes, replicas }: UsageStreams,
): Promise<void> {
  return ensureStream(service, nats, {
    name,
    subjects: [subjects],
    discard: DiscardPolicy.New,
    max_age: 72 * 3_600 * SECONDS_NS,
    max_bytes: maxBytes,
    duplicate_window: 600 * SECONDS_NS,
    num_replicas: replicas,
  });
}

/** The usage streams as settling needs them: all that stands before markers that are put into each is applied. */
export function usageBarrier(
  nats: Pick<Nats, 'js' | 'manager'>,
  holder: string,
  streams: number,
  withinMs = APPLIED_WITHIN_MS,
): Barrier {
  const marker = UsageEvent.encode({ holder, usage: [] }).finish();
  const mark = async ({ subjectOf }: UsageStream) =>
    (await nats.js.publish(subjectOf(holder), marker, { timeout: ASK_WITHIN_MS })).seq;
  return {
    pass: async () =>
      areAppliedUpTo(nats, await sequencesOf(await usageStreams(nats, streams), mark), withinMs),
  };
}

/** Those that are to be, and those that are there beyond: gateways may still, or already, publish to them. */
async function usageStreams({ manager }: Pick<Nats, 'manager'>, streams: number): Promise<UsageStream[]> {
  const all = new Map(
    Array.from({ length: streams }, (_, index) => usageStream(index + 1)).map((stream) => [
      stream.name,
      stream,
    ]),
  );
  for await (const name of manager.streams.names(USAGE_SUBJECTS)) {
    const number = Number(/_(\d+)$/.exec(name)?.[1] ?? 1);
    if (usageStream(number).name === name) all.set(name, usageStream(number));
  }
  return [...all.values()];
}

async function sequencesOf(
  streams: readonly UsageStream[],
  sequenceOf: (stream: UsageStream) => Promise<number>,
): Promise<Map<string, number>> {
  return new Map(
    await Promise.all(streams.map(async (stream) => [stream.name, await sequenceOf(stream)] as const)),
  );
}

/** Whether all that is in each stream up to its sequence is applied within this time. */
async function areAppliedUpTo(
  { manager }: Pick<Nats, 'manager'>,
  sequences: ReadonlyMap<string, number>,
  withinMs: number,
): Promise<boolean> {
  const began = performance.now();
  const isApplied = async ([stream, sequence]: [string, number]): Promise<boolean> => {
    for (let pauseMs = POLL_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_POLL_MS)) {
      const { ack_floor } = await manager.consumers.info(stream, USAGE_CONSUMER);
      if (ack_floor.stream_seq >= sequence) return true;
      if (performance.now() - began + pauseMs > withinMs) return false;
      await delay(pauseMs);
    }
  };
  return (await Promise.all([...sequences].map(isApplied))).every(Boolean);
}

async function subscribe({ manager, js }: Nats, stream: string): Promise<ConsumerMessages> {
  await manager.consumers.add(stream, {
    durable_name: USAGE_CONSUMER,
    ack_policy: AckPolicy.Explicit,
    // Long enough to apply a batch; what a killed replica had taken is applied by another this much later.
    ack_wait: 5 * SECONDS_NS,
    max_deliver: -1,
    max_ack_pending: 4 * MESSAGES_AT_ONCE,
  });
  const consumer = await js.consumers.get(stream, USAGE_CONSUMER);
  return consumer.consume({
    max_messages: MESSAGES_AT_ONCE,
    expires: PULL_FOR_MS,
    abort_on_missing_resource: true,
  });
}

/** undefined: not a usage event of this product. */
function readEvent(data: Uint8Array): UsageEvent | undefined {
  try {
    const event = UsageEvent.decode(data);
    return event.holder === '' ? undefined : event;
  } catch {
    return undefined;
  }
}
