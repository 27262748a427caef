import type { UsageStream } from '@brand-data/contracts';
import type { Clock } from '@brand-data/runtime';
import type { UsageStreams } from '../usage/usage-streams.ts';
import type { Barrier } from './settler.ts';

const APPLIED_WITHIN_MS = 10_000;
const POLL_MS = 10;
const LONGEST_POLL_MS = 200;

/** The usage streams as settling needs them: all that stands before markers that are put into each is applied. */
export function usageBarrier({
  streams,
  clock,
  holder,
  withinMs = APPLIED_WITHIN_MS,
}: {
  streams: Pick<UsageStreams, 'list' | 'mark' | 'acknowledgedUpTo'>;
  clock: Clock;
  /** Under whose name the markers are put. */
  holder: string;
  withinMs?: number;
}): Barrier {
  return {
    pass: async () => {
      const sequences = await sequencesOf(await streams.list(), (stream) => streams.mark(stream, holder));
      return areAppliedUpTo(sequences, { streams, clock, withinMs });
    },
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

/** Whether all that is in each stream up to its sequence is applied within this time. */
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
