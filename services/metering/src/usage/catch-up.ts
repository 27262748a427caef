import type { UsageStream } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import type { UsageConsumer } from './usage-consumer.ts';
import type { UsageStreams } from './usage-streams.ts';

const POLL_MS = 10;
const LONGEST_POLL_MS = 200;

/** @param withinMs how long to wait at most */
export type CatchUp = (withinMs: number) => Promise<boolean>;

/**
 * Resolves to true once every message that was in the streams at the call is applied, by any replica. Resolves to false if that
 * takes too long or the streams do not answer.
 */
export function catchUpWith({
  streams,
  clock,
  consumer,
}: {
  streams: Pick<UsageStreams, 'list' | 'lastSequence' | 'acknowledgedUpTo'>;
  clock: Clock;
  consumer: Pick<UsageConsumer, 'flushImmediatelyFor'>;
}): CatchUp {
  return (withinMs) => {
    consumer.flushImmediatelyFor(withinMs);
    const isApplied = async () => {
      const sequences = await sequencesOf(await streams.list(), (stream) => streams.lastSequence(stream));
      return areAppliedUpTo(sequences, { streams, clock, withinMs });
    };
    return Promise.race([isApplied().catch(() => false), clock.sleep(withinMs).then(() => false)]);
  };
}

export async function sequencesOf(
  streams: readonly UsageStream[],
  sequenceOf: (stream: UsageStream) => Promise<number>,
): Promise<Map<UsageStream, number>> {
  return new Map(
    await Promise.all(streams.map(async (stream) => [stream, await sequenceOf(stream)] as const)),
  );
}

/** Whether each stream's messages up to the given sequence are applied within this time. */
export async function areAppliedUpTo(
  sequences: ReadonlyMap<UsageStream, number>,
  {
    streams,
    clock,
    withinMs,
  }: { streams: Pick<UsageStreams, 'acknowledgedUpTo'>; clock: Clock; withinMs: number },
): Promise<boolean> {
  const beganMs = clock.now().monotonicMs;
  const isApplied = async ([stream, sequence]: [UsageStream, number]): Promise<boolean> => {
    for (let pauseMs = POLL_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_POLL_MS)) {
      if ((await streams.acknowledgedUpTo(stream)) >= sequence) return true;
      if (clock.now().monotonicMs - beganMs + pauseMs > withinMs) return false;
      await clock.sleep(pauseMs);
    }
  };
  return (await Promise.all([...sequences].map(isApplied))).every(Boolean);
}
