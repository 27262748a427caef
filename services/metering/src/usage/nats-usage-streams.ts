import {
  PARKED_USAGE,
  USAGE_CONSUMER,
  USAGE_DEAD_LETTER_SUBJECT,
  USAGE_SIGNATURE_HEADER,
  USAGE_SUBJECTS,
  UsageEvent,
  type UsageStream,
  usageStream,
  usageStreams,
} from '@brand-data/contracts';
import { checkConsumer, ensureStream, type Nats, type Service, unlessMissing } from '@brand-data/runtime';
import {
  AckPolicy,
  type ConsumerInfo,
  type ConsumerMessages,
  DiscardPolicy,
  type JetStreamManager,
  type JsMsg,
  type StoredMsg,
} from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import { decodedEvent, type Senders, sentBy } from '../ledger/senders.ts';
import {
  ACK_WAIT_MS,
  type DeadLetterReason,
  MESSAGES_AT_ONCE,
  MOST_ON_THE_WAY,
  type UsageMessage,
  type UsageMessages,
  type UsageStreams,
} from './usage-streams.ts';

/**
 * The shortest interval that the client accepts. When a consumer loses its leader, it forgets the client's pulls. Therefore the
 * client pulls again after two missed heartbeats.
 */
const HEARTBEAT_MS = 500;
const PULL_FOR_MS = 5_000;
const ASK_WITHIN_MS = 2_000;
/** If more messages wait, metering does not keep up. The alert has the same limit. */
const MOST_WAITING = 5_000;
const SECONDS_NS = 1_000_000_000;
const DEAD_LETTER_REASON = 'Brand-Data-Reason';
/**
 * Twice the largest message of a gateway, and less than NATS accepts by default, so that a copy with more headers fits elsewhere.
 */
const LARGEST_MESSAGE_BYTES = 512 * 1024;
const PARKED_MOST_BYTES = 64 * 1024 ** 2;

export interface UsageStreamSettings {
  streams: number;
  /** The largest size of each stream. */
  maxBytes: number;
  replicas: number;
}

/** The NATS message behind each usage message. */
const delivered = new WeakMap<UsageMessage, JsMsg>();

export function headersOf(message: UsageMessage): JsMsg['headers'] {
  return delivered.get(message)?.headers;
}

export function natsUsageStreams(
  service: Service,
  nats: Pick<Nats, 'js' | 'manager'>,
  settings: UsageStreamSettings,
  senders: Pick<Senders, 'ofEvent'>,
): UsageStreams {
  const { js, manager } = nats;
  const readEvent: ReadEvent = (data, headers) => eventOf(data, headers, senders);
  const copyTo = async (subject: string, message: UsageMessage, reason?: DeadLetterReason): Promise<void> => {
    const { stream, sequence, storedMs } = message;
    const signature = headersOf(message)?.get(USAGE_SIGNATURE_HEADER);
    const copied = headers();
    if (signature) copied.set(USAGE_SIGNATURE_HEADER, signature);
    if (reason) copied.set(DEAD_LETTER_REASON, reason);
    const msgID = `${stream}-${sequence}-${storedMs}`;
    await js.publish(subject, delivered.get(message)?.data, {
      msgID,
      timeout: ASK_WITHIN_MS,
      headers: copied,
    });
  };
  const mark: UsageStreams['mark'] = async ({ subjectOf }, holder) => {
    const marker = UsageEvent.encode({ holder, usage: [] }).finish();
    return (await js.publish(subjectOf(holder), marker, { timeout: ASK_WITHIN_MS })).seq;
  };
  return {
    list: () => listStreams(manager, settings.streams),
    open: async (stream) => {
      await ensureUsageStream(service, nats, stream, settings);
      const consumer = js.consumers.getConsumerFromInfo(await ensureConsumer(manager, stream.name));
      checkConsumer(service, manager, { stream: stream.name, consumer: USAGE_CONSUMER, most: MOST_WAITING });
      checkWrites(service, stream.name, () => mark(stream, 'bds-doctor'));
      const messages = await consumer.consume({
        max_messages: MESSAGES_AT_ONCE,
        expires: PULL_FOR_MS,
        idle_heartbeat: HEARTBEAT_MS,
        // With `bind`, the client pulls again at once after missed heartbeats. Without it, the client first asks for the
        // consumer's state. A consumer without a leader does not answer, so the client gives up after 5 s and waits another 5 s.
        bind: true,
      });
      return deliveriesOf(messages, readEvent, () => consumerIsThere(manager, stream.name));
    },
    lastSequence: async ({ name }) => (await manager.streams.info(name)).state.last_seq,
    acknowledgedUpTo: async ({ name }) =>
      (await manager.consumers.info(name, USAGE_CONSUMER)).ack_floor.stream_seq,
    mark,
    park: (message) => copyTo(PARKED_USAGE.subjects, message),
    deadLetter: (message, reason) => copyTo(USAGE_DEAD_LETTER_SUBJECT, message, reason),
    read: ({ name }, from, most) =>
      readFrom(manager, name, { seq: from, batch: most }, ({ seq, data, header }) => ({
        sequence: seq,
        usage: readEvent(data, header).usage,
      })),
    readParked: (from, most) =>
      readFrom(manager, PARKED_USAGE.name, { seq: from, batch: most }, ({ seq, data }) => ({
        sequence: seq,
        grantIds: (decodedEvent(data)?.usage ?? []).map(({ grantId }) => grantId),
      })),
    fill: async ({ name }) => {
      const { state, config } = await manager.streams.info(name);
      return {
        firstSequence: state.first_seq,
        lastSequence: state.last_seq,
        bytes: state.bytes,
        maxBytes: config.max_bytes > 0 ? config.max_bytes : undefined,
      };
    },
    purge: async ({ name }, firstKept) => (await manager.streams.purge(name, { seq: firstKept })).purged,
  };
}

/** Adds the check whether a stream stores messages. On a full disk, NATS answers all other questions as usual. */
function checkWrites({ diagnosis }: Service, stream: string, write: () => Promise<unknown>): void {
  diagnosis?.add(`writes to ${stream}`, async () => {
    try {
      await write();
      return { state: 'ok', detail: 'a message was stored' };
    } catch {
      return {
        state: 'wrong',
        detail: 'a message was not stored',
        advice:
          'see the log of the nats-servers: is a disk full? Then make room, and restart each server: until then it stores nothing',
      };
    }
  });
}

/** Creates the usage streams, or updates their settings, before a replica consumes them. */
export async function ensureUsageStreams(
  service: Service,
  nats: Nats,
  settings: UsageStreamSettings,
): Promise<void> {
  for (const stream of [PARKED_USAGE, ...usageStreams(settings.streams)])
    await ensureUsageStream(service, nats, stream, settings);
}

function ensureUsageStream(
  service: Service,
  { manager }: Pick<Nats, 'manager'>,
  { name, subjects }: UsageStream,
  { maxBytes, replicas }: UsageStreamSettings,
): Promise<void> {
  return ensureStream(service, { manager } as Nats, {
    name,
    subjects: [subjects],
    discard: DiscardPolicy.New,
    max_age: 72 * 3_600 * SECONDS_NS,
    ...(name === PARKED_USAGE.name
      ? { max_bytes: PARKED_MOST_BYTES }
      : { max_bytes: maxBytes, max_msg_size: LARGEST_MESSAGE_BYTES }),
    duplicate_window: 600 * SECONDS_NS,
    num_replicas: replicas,
    // Any copy of the stream can answer reads, even without a leader.
    allow_direct: true,
  });
}

async function listStreams(manager: JetStreamManager, streams: number): Promise<UsageStream[]> {
  const all = new Map([PARKED_USAGE, ...usageStreams(streams)].map((stream) => [stream.name, stream]));
  for await (const name of manager.streams.names(USAGE_SUBJECTS)) {
    const number = Number(/_(\d+)$/.exec(name)?.[1] ?? 1);
    if (usageStream(number).name === name) all.set(name, usageStream(number));
  }
  return [...all.values()];
}

/** Creates the stream's only durable consumer, or updates its settings. */
async function ensureConsumer({ consumers }: JetStreamManager, stream: string): Promise<ConsumerInfo> {
  const wanted = {
    ack_wait: (ACK_WAIT_MS / 1_000) * SECONDS_NS,
    max_deliver: -1,
    max_ack_pending: MOST_ON_THE_WAY,
  };
  const info = await consumers.info(stream, USAGE_CONSUMER).catch(unlessMissing);
  if (!info)
    return consumers.add(stream, {
      ...wanted,
      durable_name: USAGE_CONSUMER,
      ack_policy: AckPolicy.Explicit,
    });
  const { ack_wait, max_deliver, max_ack_pending } = info.config;
  const isAsWanted =
    ack_wait === wanted.ack_wait &&
    max_deliver === wanted.max_deliver &&
    max_ack_pending === wanted.max_ack_pending;
  return isAsWanted ? info : consumers.update(stream, USAGE_CONSUMER, wanted);
}

/** The status of an answer without messages. A copy that is behind does not have those that are asked for yet. */
const NO_MESSAGE = 404;

/** Whether the consumer exists. Returns true also if NATS does not answer. */
function consumerIsThere({ consumers }: JetStreamManager, stream: string): Promise<boolean> {
  const info = consumers.info(stream, USAGE_CONSUMER).then(() => true);
  return info.catch(unlessMissing).then(Boolean, () => true);
}

/** Returns the messages of a subscription. They end if the server says that the consumer or its stream does not exist. */
function deliveriesOf(
  messages: ConsumerMessages,
  readEvent: ReadEvent,
  isThere: () => Promise<boolean>,
): UsageMessages {
  let silence = Promise.withResolvers<void>();
  let isSilent = false;
  const isHeard = () => {
    if (isSilent) silence = Promise.withResolvers();
    isSilent = false;
  };
  let looking = false;
  const look = async (): Promise<void> => {
    if (looking) return;
    looking = true;
    if (!(await isThere())) void messages.close();
    looking = false;
  };
  const watch = async (): Promise<void> => {
    for await (const { type } of messages.status()) {
      if (type === 'heartbeat') isHeard();
      if (type === 'heartbeats_missed') {
        isSilent = true;
        silence.resolve();
      }
      if (type === 'consumer_deleted') void messages.close();
      else if (type === 'heartbeats_missed' || type === 'no_responders') void look();
    }
    silence.resolve();
  };
  void watch();
  return {
    untilSilent: () => silence.promise,
    close: () => {
      void messages.close();
    },
    async *[Symbol.asyncIterator]() {
      for await (const message of messages) {
        isHeard();
        yield messageOf(message, readEvent);
      }
    },
  };
}

/**
 * Reads messages from the stream. It uses the client's callback, because the client's iterator over a batch never ends its
 * subscription.
 */
function readFrom<Read>(
  manager: JetStreamManager,
  stream: string,
  wanted: { seq: number; batch: number },
  readOne: (message: StoredMsg) => Read,
): Promise<Read[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Read[]>();
  const found: Read[] = [];
  const reading = manager.direct.getBatch(stream, {
    ...wanted,
    callback: (done, message) => {
      if (!done) found.push(readOne(message));
      else if (done.err && (done.err as { code?: number }).code !== NO_MESSAGE) reject(done.err);
      else resolve(found);
    },
  });
  const timer = setTimeout(() => {
    reject(new Error('the stream did not answer in time'));
    void reading.then((messages) => messages.stop());
  }, ASK_WITHIN_MS);
  reading.catch(reject);
  return promise.finally(() => clearTimeout(timer));
}

function messageOf(message: JsMsg, readEvent: ReadEvent): UsageMessage {
  const made: UsageMessage = {
    stream: message.info.stream,
    sequence: message.seq,
    storedMs: message.time.getTime(),
    deliveries: message.info.deliveryCount,
    ...readEvent(message.data, message.headers),
    ack: () => message.ack(),
    nak: (delayMs) => message.nak(delayMs),
    working: () => message.working(),
    term: (reason) => message.term(reason),
  };
  delivered.set(made, message);
  return made;
}

type ReadEvent = (data: Uint8Array, headers: MsgHdrs | undefined) => Pick<UsageMessage, 'usage' | 'isForged'>;

function eventOf(
  data: Uint8Array,
  headers: MsgHdrs | undefined,
  senders: Pick<Senders, 'ofEvent'>,
): ReturnType<ReadEvent> {
  const event = decodedEvent(data);
  if (!event || event.holder === '') return { usage: undefined, isForged: false };
  const signature = headers?.get(USAGE_SIGNATURE_HEADER) || undefined;
  const sender = senders.ofEvent(event.holder, data, signature);
  return sender === undefined
    ? { usage: undefined, isForged: true }
    : { usage: sentBy(sender, event.usage), isForged: false };
}
