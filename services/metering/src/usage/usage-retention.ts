import type { UsageStream } from '@brand-data/contracts';
import type { Clock, Service } from '@brand-data/runtime';
import type { UsageStreams } from './usage-streams.ts';

const LOOK_EVERY_MS = 10_000;
/**
 * Metering purges a stream's applied messages when the stream is full to this share. An alert fires when a stream is half full.
 * The alert therefore fires only if messages are not applied.
 */
const FULL_ENOUGH = 0.4;

/** The log has a warning at the third failure in a row, because NATS may be unreachable for a moment. */
const TOLD_AT_FAILURE = 3;

type Streams = Pick<UsageStreams, 'list' | 'fill' | 'acknowledgedUpTo' | 'purge'>;

export interface RetentionEvents {
  purged(stream: UsageStream, messages: number): void;
  /** The streams could not be checked. `times`: how many checks in a row have failed. */
  failed(error: unknown, times: number): void;
}

/**
 * Makes room in usage streams before they are full. It purges the older half of the messages, but only applied ones. Messages
 * that are not applied stay, however full a stream is. Every replica does this, and purging twice changes nothing.
 */
export function keepRoom(
  { streams, clock }: { streams: Streams; clock: Clock },
  events: RetentionEvents,
): { stop(): Promise<void> } {
  const stopped = Promise.withResolvers<void>();
  let stopping = false;
  const lookAtAll = async (): Promise<void> => {
    for (const stream of await streams.list()) {
      if (stopping) return;
      const purged = await makeRoom(streams, stream);
      if (purged > 0) events.purged(stream, purged);
    }
  };
  const run = async (): Promise<void> => {
    for (let failures = 0; !stopping; ) {
      await Promise.race([clock.sleep(LOOK_EVERY_MS), stopped.promise]);
      try {
        await lookAtAll();
        failures = 0;
      } catch (error) {
        failures += 1;
        events.failed(error, failures);
      }
    }
  };
  const running = run();
  return {
    stop: async () => {
      stopping = true;
      stopped.resolve();
      await running;
    },
  };
}

export function retentionEvents({ log }: Service): RetentionEvents {
  return {
    purged: ({ name }, purged) => log.info({ stream: name, purged }, 'purged applied usage from the stream'),
    failed: (err, times) => {
      if (times === TOLD_AT_FAILURE) log.warn({ err }, 'cannot make room in the usage streams');
    },
  };
}

/** Returns how many messages were purged. */
export async function makeRoom(streams: Streams, stream: UsageStream): Promise<number> {
  const { firstSequence, lastSequence, bytes, maxBytes } = await streams.fill(stream);
  if (maxBytes === undefined || bytes < maxBytes * FULL_ENOUGH) return 0;
  const middle = firstSequence + Math.ceil((lastSequence - firstSequence) / 2);
  const appliedUpTo = await streams.acknowledgedUpTo(stream);
  const firstKept = Math.min(appliedUpTo + 1, middle);
  return firstKept <= firstSequence ? 0 : streams.purge(stream, firstKept);
}
