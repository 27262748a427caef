import type { GrantUsage } from '@brand-data/contracts';
import { activeSpanContext, type SpanContext } from '@brand-data/runtime';

/** OpenTelemetry drops the links of a span beyond this number. */
const MOST_LINKS = 128;

/** Remembers the spans of the calls whose usage one message contains. The span of the message links to them. */
export interface UsageSpanContexts {
  /** Notes that the current call waits for the next usage message. */
  wait(): void;
  /**
   * Returns the spans for a message. When this usage is first published, these are the spans of all calls that wait now. A retry
   * gets the same spans.
   */
  take(usage: readonly GrantUsage[]): readonly SpanContext[];
  /** Returns the spans that the publish of this usage took, or none if it was not published. */
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
