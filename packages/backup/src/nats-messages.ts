import {
  ACCOUNT_CHANGES_STREAM,
  ACCOUNT_CHANGES_SUBJECTS,
  AccountChanged,
  AUDIT_CONSUMER,
  AUDIT_STREAM,
  MOST_USAGE_STREAMS,
  PARKED_USAGE,
  type ReportedUsage,
  USAGE_CONSUMER,
  USAGE_SIGNATURE_HEADER,
  usageStreams,
} from '@brand-data/contracts';
import { Fault, unlessMissing } from '@brand-data/runtime';
import { type ConsumerInfo, DeliverPolicy, type JsMsg, jetstream, type StreamInfo } from '@nats-io/jetstream';
import { type CopiedStream, readCopied, writeCopied } from './copied-files.ts';
import type { OpenNats } from './servers.ts';

const MESSAGES_AT_ONCE = 500;
const ANSWERED_WITHIN_MS = 5_000;
const MOST_EMPTY_ANSWERS = 3;
/** How long the stream of notices keeps one. */
const NOTICES_KEPT_MS = 60 * 60_000;
const CHANGES_PREFIX = ACCOUNT_CHANGES_SUBJECTS.replace('*', '');
const MOST_NOTICES = 100_000;
/** MongoDB's clock and that of NATS may differ by this time. */
const CLOCKS_APART_MS = 60_000;

type UsagePosition = Awaited<ReturnType<typeof usagePositions>>[number];

/**
 * Returns the usage streams that exist, and their positions now: metering has applied all messages up to `appliedUpTo`, or copied
 * them to the stream of parked usage.
 */
export async function usagePositions(nats: OpenNats) {
  const positions = [];
  for (const { name } of [PARKED_USAGE, ...usageStreams(MOST_USAGE_STREAMS)]) {
    const info: StreamInfo | undefined = await nats.manager.streams.info(name).catch(unlessMissing);
    if (info === undefined) continue;
    const consumer = await consumerOf(nats, name, USAGE_CONSUMER);
    positions.push({
      name,
      created: info.created,
      firstSequence: info.state.first_seq,
      lastSequence: info.state.last_seq,
      appliedUpTo: consumer?.ack_floor.stream_seq ?? 0,
      consumer,
    });
  }
  return positions;
}

/** Whether a replica of the service waits for messages, as it does unless it waits for the end of a restore. */
export async function isRunning(nats: OpenNats, service: 'accounts' | 'metering'): Promise<boolean> {
  const consumers =
    service === 'accounts'
      ? [await consumerOf(nats, AUDIT_STREAM, AUDIT_CONSUMER)]
      : (await usagePositions(nats)).map(({ consumer }) => consumer);
  return consumers.some((consumer) => (consumer?.num_waiting ?? 0) > 0);
}

function consumerOf(
  { manager }: OpenNats,
  stream: string,
  consumer: string,
): Promise<ConsumerInfo | undefined> {
  return manager.consumers.info(stream, consumer).catch(unlessMissing);
}

interface Range {
  fromSequence: number;
  toSequence: number;
}

/** Yields the usage from `fromSequence` up to `toSequence` that the stream still has, in order. */
export async function* streamUsage(
  nats: OpenNats,
  name: string,
  range: Range,
  signal: AbortSignal,
): AsyncGenerator<ReportedUsage> {
  for await (const { data, headers } of streamMessages(nats, name, range, signal))
    yield { data: Buffer.from(data), signature: headers?.get(USAGE_SIGNATURE_HEADER) || undefined };
}

/** Rejects with Fault `unavailable` if the stream does not answer. */
async function* streamMessages(
  { connection }: OpenNats,
  name: string,
  { fromSequence, toSequence }: Range,
  signal: AbortSignal,
): AsyncGenerator<JsMsg> {
  if (fromSequence > toSequence) return;
  // An ordered consumer: it leaves nothing on the server, and the client makes it again if a message is missing.
  const consumer = await jetstream(connection).consumers.get(name, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: Math.max(1, fromSequence),
  });
  let empty = 0;
  for (;;) {
    signal.throwIfAborted();
    const messages = await consumer.fetch({ max_messages: MESSAGES_AT_ONCE, expires: ANSWERED_WITHIN_MS });
    let count = 0;
    for await (const message of messages) {
      if (message.seq > toSequence) return;
      count += 1;
      yield message;
      if (message.seq === toSequence) return;
    }
    empty = count === 0 ? empty + 1 : 0;
    if (empty >= MOST_EMPTY_ANSWERS) throw new Fault('unavailable', `${name} does not answer: try again`);
  }
}

/** Copies the messages after `appliedUpTo`, up to the stream's last one now. */
export async function copyStream(
  nats: OpenNats,
  { name, created, appliedUpTo }: UsagePosition,
  { folder, signal }: { folder: string; signal: AbortSignal },
): Promise<CopiedStream> {
  const info = await nats.manager.streams.info(name);
  const range = {
    fromSequence: Math.max(appliedUpTo + 1, info.state.first_seq),
    toSequence: info.state.messages === 0 ? 0 : info.state.last_seq,
  };
  const parts = async function* () {
    for await (const { data, signature } of streamUsage(nats, name, range, signal))
      yield Buffer.from(`${JSON.stringify({ data: Buffer.from(data).toString('base64'), signature })}\n`);
  };
  const file = await writeCopied(folder, `usage/${name}.ndjson.gz`, parts(), signal);
  return { name, created, appliedUpTo, ...file };
}

export async function* copiedMessages(folder: string, stream: CopiedStream): AsyncGenerator<ReportedUsage> {
  let rest = '';
  for await (const piece of readCopied(folder, stream)) {
    const lines = (rest + piece.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { data, signature } = JSON.parse(line) as { data: string; signature?: string };
      yield { data: Buffer.from(data, 'base64'), signature };
    }
  }
}

/**
 * Reads the notices of what operators have changed in accounts since `copiedAt`, and some from shortly before it. They say what was
 * changed, and not how. `complete`: they are all notices since the copy. NATS keeps a notice for an hour, and a user of NATS can have
 * one replaced by something else. Rejects with Fault `unavailable` if NATS does not answer.
 */
export async function readAccountNotices(
  nats: OpenNats,
  copiedAt: Date,
  signal: AbortSignal,
): Promise<{ complete: boolean; notices: AccountChanged[] }> {
  const info = await nats.manager.streams.info(ACCOUNT_CHANGES_STREAM).catch(unlessMissing);
  if (info === undefined) return { complete: false, notices: [] };
  const { created, state } = info;
  const fromMs = copiedAt.getTime() - CLOCKS_APART_MS;
  let isComplete = new Date(created).getTime() <= copiedAt.getTime() && Date.now() - fromMs < NOTICES_KEPT_MS;
  const notices: AccountChanged[] = [];
  const range = { fromSequence: state.first_seq, toSequence: state.messages === 0 ? 0 : state.last_seq };
  for await (const { subject, data, time } of streamMessages(nats, ACCOUNT_CHANGES_STREAM, range, signal)) {
    // Gateways' beats are in this stream too.
    if (!subject.startsWith(CHANGES_PREFIX) || time.getTime() < fromMs) continue;
    if (notices.length === MOST_NOTICES) return { complete: false, notices };
    const notice = noticeOf(data);
    if (notice) notices.push(notice);
    else isComplete = false;
  }
  return { complete: isComplete, notices };
}

/** Returns undefined if the message is no notice. */
function noticeOf(data: Uint8Array): AccountChanged | undefined {
  try {
    const notice = AccountChanged.decode(data);
    return notice.subject && notice;
  } catch {
    return undefined;
  }
}
