import type { Clock } from '@brand-data/runtime';
import { areAppliedUpTo, sequencesOf } from '../usage/catch-up.ts';
import type { UsageStreams } from '../usage/usage-streams.ts';
import type { Barrier } from './settler.ts';

const APPLIED_WITHIN_MS = 10_000;

/** Puts a marker into each usage stream, and waits until every message before the markers is applied. */
export function usageBarrier({
  streams,
  clock,
  holder,
  withinMs = APPLIED_WITHIN_MS,
}: {
  streams: Pick<UsageStreams, 'list' | 'mark' | 'acknowledgedUpTo'>;
  clock: Clock;
  /** The name of the sender of the markers. */
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
