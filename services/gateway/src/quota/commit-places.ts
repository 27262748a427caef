import type { GrantUsage } from '@brand-data/contracts';
import type { SpanPlace, Tracing } from '@brand-data/runtime';

/** More links than this no span keeps. */
const MOST_PLACES = 128;

/** The spans of calls by the usage that goes out for them, which is one batch for many. */
export interface CommitPlaces {
  /** The current call waits for the next batch. */
  wait(): void;
  /** Of the calls that wait for this usage; those that wait now, when it goes out for the first time. */
  take(usage: readonly GrantUsage[]): readonly SpanPlace[];
  /** The same of usage that went out before. */
  of(usage: readonly GrantUsage[]): readonly SpanPlace[];
}

export function createCommitPlaces(tracing: Pick<Tracing, 'current'>): CommitPlaces {
  let waiting: SpanPlace[] = [];
  const known = new WeakMap<GrantUsage, readonly SpanPlace[]>();
  const placesOf = ([first]: readonly GrantUsage[]) => first && known.get(first);
  return {
    wait: () => {
      const here = waiting.length < MOST_PLACES ? tracing.current() : undefined;
      if (here) waiting.push(here);
    },
    take: (usage) => {
      const before = placesOf(usage);
      if (before) return before;
      const taken = waiting;
      waiting = [];
      for (const each of usage) known.set(each, taken);
      return taken;
    },
    of: (usage) => placesOf(usage) ?? [],
  };
}
