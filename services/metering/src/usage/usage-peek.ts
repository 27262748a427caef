import type { UsageStream } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import type { SentUsage } from '../ledger/senders.ts';
import { MESSAGES_AT_ONCE, MOST_ON_THE_WAY, type UsageMessages, type UsageStreams } from './usage-streams.ts';

const LOOK_EVERY_MS = 500;

/** Reads a stream directly while its consumer delivers nothing. */
export type Peek = ReturnType<typeof peekWhileSilent>;

/**
 * A consumer that has lost its leader delivers nothing until NATS has elected another, four to nine seconds later. Meanwhile this
 * reads the messages from the stream itself, so that bills stay current. Any copy of the stream can answer. The consumer delivers
 * the same messages later. Metering then acknowledges them, and they change nothing, since usage is cumulative. A read that fails
 * or returns an old state therefore does no harm.
 *
 * @param isBusy whether delivered messages are being applied; there is no need to read then
 * @param apply stores usage as far as possible
 */
export function peekWhileSilent(parts: {
  streams: Pick<UsageStreams, 'lastSequence' | 'read'>;
  stream: UsageStream;
  messages: UsageMessages;
  clock: Clock;
  isBusy: () => boolean;
  apply: (usage: readonly SentUsage[]) => Promise<unknown>;
}) {
  const { streams, stream, messages, clock, isBusy, apply } = parts;
  let isOver = false;
  /** The last message that was delivered here, or that was in the stream at the start. */
  let lastSeen = 0;
  /** The last message that was read since the last delivery. */
  let readUpTo: number | undefined;

  const readOn = async (): Promise<void> => {
    // Other replicas may not have applied their deliveries yet. Therefore reading starts MOST_ON_THE_WAY messages before
    // `lastSeen`.
    readUpTo ??= Math.max(0, lastSeen - MOST_ON_THE_WAY);
    for (let read = MESSAGES_AT_ONCE; read === MESSAGES_AT_ONCE && !isOver; ) {
      const found = await streams.read(stream, readUpTo + 1, MESSAGES_AT_ONCE);
      read = found.length;
      await apply(found.flatMap(({ usage }) => usage ?? []));
      readUpTo = found.at(-1)?.sequence ?? readUpTo;
    }
  };

  const run = async (): Promise<void> => {
    const last = await streams.lastSequence(stream).catch(() => 0);
    lastSeen = Math.max(lastSeen, last);
    for (;;) {
      await messages.untilSilent();
      if (isOver) return;
      // Messages that cannot be read now are read at the next attempt, or the consumer delivers them.
      if (!isBusy()) await readOn().catch(() => {});
      await clock.sleep(LOOK_EVERY_MS);
    }
  };
  void run();
  return {
    /** A message with this sequence was delivered. */
    seen: (sequence: number) => {
      lastSeen = Math.max(lastSeen, sequence);
      readUpTo = undefined;
    },
    stop: () => {
      isOver = true;
    },
  };
}
