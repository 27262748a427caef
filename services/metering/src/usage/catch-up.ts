import type { UsageStream } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import type { UsageConsumer } from './usage-consumer.ts';
import type { UsageStreams } from './usage-streams.ts';

const POLL_MS = 10;
const LONGEST_POLL_MS = 200;

const FLUSHED_WITHIN_MS = 1_000;
/** Longer, because messages gather for half a second before they are applied. */
const GATHERED_WITHIN_MS = 1_500;
const SHARED_FOR_MS = 500;

/**
 * Resolves to true once every message of the usage streams is applied, by any replica. Resolves to false if that takes too long or
 * the streams do not answer.
 */
export type CatchUp = ReturnType<typeof catchUpWith>;

export function catchUpWith({
  streams,
  clock,
  consumer,
}: {
  streams: Pick<UsageStreams, 'list' | 'lastSequence' | 'acknowledgedUpTo'>;
  clock: Clock;
  consumer: Pick<UsageConsumer, 'flushImmediatelyFor'>;
}) {
  const within = (withinMs: number): Promise<boolean> => {
    const isApplied = areAppliedUpTo((stream) => streams.lastSequence(stream), { streams, clock, withinMs });
    return Promise.race([isApplied.catch(() => false), clock.sleep(withinMs).then(() => false)]);
  };
  let shared: { sinceMs: number; isApplied: Promise<boolean> } | undefined;
  return {
    /**
     * Catches up with the messages of before the call. Ends the gathering of messages, which costs a write for each message.
     * Therefore only operators' calls use it.
     */
    now: () => {
      consumer.flushImmediatelyFor(FLUSHED_WITHIN_MS);
      return within(FLUSHED_WITHIN_MS);
    },
    /**
     * Catches up with the messages of a moment up to half a second before the call. Messages go on gathering, and all calls within
     * half a second share one look at the streams. Therefore callers of the public API cannot cause more work than this, however
     * many they are.
     */
    recently: () => {
      const nowMs = clock.now().monotonicMs;
      if (!shared || nowMs - shared.sinceMs >= SHARED_FOR_MS)
        shared = { sinceMs: nowMs, isApplied: within(GATHERED_WITHIN_MS) };
      return shared.isApplied;
    },
  };
}

/** Whether the messages of all streams, each up to this sequence, are applied within this time. */
export async function areAppliedUpTo(
  sequenceOf: (stream: UsageStream) => Promise<number>,
  on: { streams: Pick<UsageStreams, 'list' | 'acknowledgedUpTo'>; clock: Clock; withinMs: number },
): Promise<boolean> {
  const { streams, clock, withinMs } = on;
  const all = await streams.list();
  const sequences = await Promise.all(all.map(sequenceOf));
  const beganMs = clock.now().monotonicMs;
  const isApplied = async (stream: UsageStream, index: number): Promise<boolean> => {
    for (let pauseMs = POLL_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_POLL_MS)) {
      if ((await streams.acknowledgedUpTo(stream)) >= (sequences[index] ?? 0)) return true;
      if (clock.now().monotonicMs - beganMs + pauseMs > withinMs) return false;
      await clock.sleep(pauseMs);
    }
  };
  return (await Promise.all(all.map(isApplied))).every(Boolean);
}
