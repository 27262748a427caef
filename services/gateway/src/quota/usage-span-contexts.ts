import type { GrantUsage } from '@brand-data/contracts';
import { activeSpanContext, type SpanContext } from '@brand-data/runtime';

/** OpenTelemetry drops the links of a span beyond this number. */
const MOST_LINKS = 128;

/** The spans of the calls whose usage goes out in one message: the message's span is linked to them. */
export interface UsageSpanContexts {
  /** The current call waits for the next message of usage. */
  wait(): void;
  /** The calls that wait for this usage. When it goes out for the first time, these are all that wait now. */
  take(usage: readonly GrantUsage[]): readonly SpanContext[];
  /** The calls that waited for usage that went out before. */
  of(usage: readonly GrantUsage[]): readonly SpanContext[];
}

export function createUsageSpanContexts(): UsageSpanContexts {
  let waiting: SpanContext[] = [];
  const taken = new WeakMap<GrantUsage, readonly SpanContext[]>();
  const takenBefore = ([first]: readonly GrantUsage[]) => first && taken.get(first);
  return {
    wait: () => {
      const spanContext = waiting.length < MOST_LINKS ? activeSpanContext() : undefined;
      if (spanContext) waiting.push(spanContext);
    },
    take: (usage) => {
      const before = takenBefore(usage);
      if (before) return before;
      const now = waiting;
      waiting = [];
      for (const each of usage) taken.set(each, now);
      return now;
    },
    of: (usage) => takenBefore(usage) ?? [],
  };
}
