import {
  MOST_USAGE_STREAMS,
  type ReportedUsage,
  USAGE_CONSUMER,
  USAGE_SIGNATURE_HEADER,
  usageStream,
} from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';
import { type ConsumerInfo, DeliverPolicy, jetstream, type StreamInfo } from '@nats-io/jetstream';
import { readCopied, writeCopied } from './copied-file.ts';
import type { CopiedStream } from './manifest.ts';
import type { OpenNats } from './servers.ts';

/** JetStream's error codes for "consumer not found" and "stream not found". */
const MISSING = [10_014, 10_059];
const MESSAGES_AT_ONCE = 500;
const ANSWERED_WITHIN_MS = 5_000;
const MOST_EMPTY_ANSWERS = 3;

/** A usage stream, and up to where metering has applied it. */
export interface UsagePosition {
  name: string;
  created: string;
  firstSequence: number;
  lastSequence: number;
  appliedUpTo: number;
}

/** Returns the usage streams that exist, and their positions now. */
export async function usagePositions({ manager }: OpenNats): Promise<UsagePosition[]> {
  const positions: UsagePosition[] = [];
  for (let number = 1; number <= MOST_USAGE_STREAMS; number++) {
    const { name } = usageStream(number);
    const info: StreamInfo | undefined = await manager.streams.info(name).catch(unlessMissing);
    if (info === undefined) continue;
    const consumer = await consumerOf({ manager }, name);
    positions.push({
      name,
      created: info.created,
      firstSequence: info.state.first_seq,
      lastSequence: info.state.last_seq,
      appliedUpTo: consumer?.ack_floor.stream_seq ?? 0,
    });
  }
  return positions;
}

/** Whether a replica of metering waits for messages of a usage stream. */
export async function meteringRuns(nats: OpenNats): Promise<boolean> {
  for (const { name } of await usagePositions(nats))
    if (((await consumerOf(nats, name))?.num_waiting ?? 0) > 0) return true;
  return false;
}

function consumerOf(
  { manager }: Pick<OpenNats, 'manager'>,
  stream: string,
): Promise<ConsumerInfo | undefined> {
  return manager.consumers.info(stream, USAGE_CONSUMER).catch(unlessMissing);
}

/** Yields the messages from `fromSequence` up to `toSequence` that the stream still has, in order. */
export async function* streamMessages(
  { connection }: OpenNats,
  name: string,
  { fromSequence, toSequence }: { fromSequence: number; toSequence: number },
  signal: AbortSignal,
): AsyncGenerator<ReportedUsage> {
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
    for await (const { seq, data, headers } of messages) {
      if (seq > toSequence) return;
      count += 1;
      yield { data: Buffer.from(data), signature: headers?.get(USAGE_SIGNATURE_HEADER) || undefined };
      if (seq === toSequence) return;
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
    for await (const { data, signature } of streamMessages(nats, name, range, signal))
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

/** Returns undefined if the stream or consumer does not exist. Throws every other error. */
export function unlessMissing(error: unknown): undefined {
  if (!MISSING.includes((error as { code?: number }).code ?? 0)) throw error;
}
