import type { GrantUsage, ReportRequest, ReportResponse, UsageEvent } from '@brand-data/contracts';
import {
  activeSpanContext,
  inBatchSpan,
  type ReplicaChoice,
  type SpanContext,
  type Tracer,
} from '@brand-data/runtime';
import type { UsagePaths } from './usage-journal.ts';

/** OpenTelemetry drops the links of a span beyond this number. */
const MOST_LINKS = 128;

/** Sends each usage message in a span that links to the spans of the calls whose usage the message contains. */
export class TracedUsagePaths implements UsagePaths {
  readonly #paths: UsagePaths;
  readonly #tracer: Tracer;
  #waiting: SpanContext[] = [];
  readonly #published = new WeakMap<GrantUsage, readonly SpanContext[]>();

  constructor(paths: UsagePaths, tracer: Tracer) {
    this.#paths = paths;
    this.#tracer = tracer;
  }

  /** Notes that the current call waits for the next usage message. */
  wait(): void {
    const spanContext = this.#waiting.length < MOST_LINKS ? activeSpanContext() : undefined;
    if (spanContext) this.#waiting.push(spanContext);
  }

  publish(event: UsageEvent, messageId: string, withinMs: number): Promise<void> {
    const spanContexts = this.#publishedBefore(event) ?? this.#takeWaiting(event);
    return inBatchSpan(this.#tracer, 'record usage', { spanContexts }, () =>
      this.#paths.publish(event, messageId, withinMs),
    );
  }

  report(request: ReportRequest, withinMs: number, replica: ReplicaChoice): Promise<ReportResponse> {
    const spanContexts = this.#publishedBefore(request) ?? [];
    return inBatchSpan(this.#tracer, 'report usage', { spanContexts }, () =>
      this.#paths.report(request, withinMs, replica),
    );
  }

  /** Returns the spans that the first publish of this usage took. */
  #publishedBefore({ usage: [first] }: { usage: readonly GrantUsage[] }): readonly SpanContext[] | undefined {
    return first && this.#published.get(first);
  }

  #takeWaiting({ usage }: UsageEvent): readonly SpanContext[] {
    const spanContexts = this.#waiting;
    this.#waiting = [];
    for (const each of usage) this.#published.set(each, spanContexts);
    return spanContexts;
  }
}
