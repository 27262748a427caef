import type { GrantUsage, UsageStream } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import { MESSAGES_AT_ONCE, MOST_ON_THE_WAY, type UsageMessages, type UsageStreams } from './usage-streams.ts';

const LOOK_EVERY_MS = 500;

/** What is seen ahead of a consumer's deliveries. */
export interface Peek {
  /** This message was delivered. */
  seen(sequence: number): void;
  stop(): void;
}

/**
 * A consumer that has lost its leader delivers nothing until another is elected, four to nine seconds later. The stream,
 * whose copies all answer, is read meanwhile: the bill goes on. Usage is cumulative, so what is delivered later, and is
 * acknowledged then, changes nothing; and nothing but what is stored comes of this, so that it may fail, or be behind.
 *
 * @param isBusy what was delivered is being applied: nobody waits for more
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
  /** The last that was delivered here, or that there was when this began. */
  let lastSeen = 0;
  /** Read up to here, since the last delivery. */
  let readUpTo: number | undefined;

  const readOn = async (): Promise<void> => {
    // Of what others were given, nobody knows here: it is read again.
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
      // What cannot be read now comes by the consumer, or with the next look.
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
