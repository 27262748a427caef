import type { GrantUsage } from '@brand-data/contracts';
import type { SpanContext, Tracing } from '@brand-data/runtime';

/** More links than this no span keeps. */
const MOST_LINKS = 128;

/** The spans of calls by the usage that goes out for them, which is one batch for many. */
export interface UsageSpanContexts {
  /** The current call waits for the next batch. */
  wait(): void;
  /** Of the calls that wait for this usage; those that wait now, when it goes out for the first time. */
  take(usage: readonly GrantUsage[]): readonly SpanContext[];
  /** The same of usage that went out before. */
  of(usage: readonly GrantUsage[]): readonly SpanContext[];
}

export function createUsageSpanContexts(tracing: Pick<Tracing, 'activeSpanContext'>): UsageSpanContexts {
  let waiting: SpanContext[] = [];
  const known = new WeakMap<GrantUsage, readonly SpanContext[]>();
  const spanContextsOf = ([first]: readonly GrantUsage[]) => first && known.get(first);
  return {
    wait: () => {
      const here = waiting.length < MOST_LINKS ? tracing.activeSpanContext() : undefined;
      if (here) waiting.push(here);
    },
    take: (usage) => {
      const before = spanContextsOf(usage);
      if (before) return before;
      const taken = waiting;
      waiting = [];
      for (const each of usage) known.set(each, taken);
      return taken;
    },
    of: (usage) => spanContextsOf(usage) ?? [],
  };
}
