import type { GrantUsage } from '@brand-data/contracts';
import type { SpanContext, Tracing } from '@brand-data/runtime';

/** More links than this no span keeps. */
const MOST_PLACES = 128;

/** The spans of calls by the usage that goes out for them, which is one batch for many. */
export interface CommitPlaces {
  /** The current call waits for the next batch. */
  wait(): void;
  /** Of the calls that wait for this usage; those that wait now, when it goes out for the first time. */
  take(usage: readonly GrantUsage[]): readonly SpanContext[];
  /** The same of usage that went out before. */
  of(usage: readonly GrantUsage[]): readonly SpanContext[];
}

export function createCommitPlaces(tracing: Pick<Tracing, 'activeSpanContext'>): CommitPlaces {
  let waiting: SpanContext[] = [];
  const known = new WeakMap<GrantUsage, readonly SpanContext[]>();
  const placesOf = ([first]: readonly GrantUsage[]) => first && known.get(first);
  return {
    wait: () => {
      const here = waiting.length < MOST_PLACES ? tracing.activeSpanContext() : undefined;
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
