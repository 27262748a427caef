import type { GrantUsage, UsageStream } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import { MESSAGES_AT_ONCE, MOST_ON_THE_WAY, type UsageMessages, type UsageStreams } from './usage-streams.ts';

const LOOK_EVERY_MS = 500;

/** Reads a stream ahead of its consumer's deliveries. */
export interface Peek {
  /** This message was delivered. */
  seen(sequence: number): void;
  stop(): void;
}

/**
 * A consumer that has lost its leader delivers nothing until another is elected, four to nine seconds later. Meanwhile the
 * stream is read, whose copies all answer, so that the bill goes on. Usage is cumulative: the later deliveries of the same
 * messages change nothing, and they are acknowledged then. So reading may fail or be behind.
 *
 * @param isBusy delivered messages are being applied: more of them need not be read
 * @param apply stores usage as far as it can be
 */
export function peekWhileSilent({
  streams,
  stream,
  messages,
  clock,
  isBusy,
  apply,
}: {
  streams: Pick<UsageStreams, 'lastSequence' | 'read'>;
  stream: UsageStream;
  messages: UsageMessages;
  clock: Clock;
  isBusy: () => boolean;
  apply: (usage: readonly GrantUsage[]) => Promise<void>;
}): Peek {
  let isOver = false;
  /** The last message that was delivered here, or that the stream had at the beginning. */
  let lastSeen = 0;
  /** Read up to here, since the last delivery. */
  let readUpTo: number | undefined;

  const readOn = async (): Promise<void> => {
    // Other replicas may not have applied their deliveries: these are read again.
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
      // Messages that cannot be read now come by the consumer, or with the next look.
      if (!isBusy()) await readOn().catch(() => {});
      await clock.sleep(LOOK_EVERY_MS);
    }
  };
  void run();
  return {
    seen: (sequence) => {
      lastSeen = Math.max(lastSeen, sequence);
      readUpTo = undefined;
    },
    stop: () => {
      isOver = true;
    },
  };
}
