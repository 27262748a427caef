import type { SpanContext } from '@opentelemetry/api';

export type { SpanContext };

/**
 * Traces, as the rest of the code sees them. Nothing of OpenTelemetry is loaded, and nothing is done, unless a collector
 * is given: then `Service.tracing` is there. Spans hold neither tokens nor URLs nor what an error says.
 */

/** Names and numbers, by OpenTelemetry's semantic conventions. */
export type SpanAttributes = Record<string, string | number | boolean>;

/** By who waits for whom: a server is called, a client calls; a producer leaves a message, a consumer takes it up. */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/** One that is recorded. */
export interface Span {
  /** Runs `work` so that what it begins, here and in other processes, is below this span until it ends. */
  within<T>(work: () => T): T;
  /** The headers of W3C Trace Context that carry it to another process. */
  headers(): Record<string, string>;
  /** @param error what kind of failure it was, such as a code; never a message, which may hold anything */
  end(outcome?: { attributes?: SpanAttributes; error?: string | undefined }): void;
}

export interface Tracing {
  /** The span that this code runs in, while that span is recorded. */
  activeSpanContext(): SpanContext | undefined;
  /** The caller's span, which another process has sent with these headers (lower case). */
  extract(header: (name: string) => string | undefined): SpanContext | undefined;
  /** The first span of a process that calls begin in: the sampler decides, as `caller` has where there is one. */
  beginTrace(name: string, attributes: SpanAttributes, caller: SpanContext | undefined): Span | undefined;
  /** A child of the first of `spanContexts` with links to the others; undefined when none of them is sampled. */
  begin(
    kind: SpanKind,
    name: string,
    attributes: SpanAttributes,
    spanContexts: readonly SpanContext[],
  ): Span | undefined;
  /** What a log line says of the span that it is written in. */
  logFields(): { trace_id: string; span_id: string } | undefined;
}

/**
 * Runs work that serves several calls at once in one span: a child of the first sampled span in `spanContexts`, with links
 * to the other sampled ones.
 */
export async function inBatchSpan<T>(
  tracing: Tracing | undefined,
  name: string,
  { spanContexts, kind = 'internal' }: { spanContexts: readonly SpanContext[]; kind?: SpanKind },
  work: () => Promise<T>,
): Promise<T> {
  const span = spanContexts.length > 0 ? tracing?.begin(kind, name, {}, spanContexts) : undefined;
  return span ? endWith(span, () => span.within(work)) : work();
}

/** Ends the span as `work` ends. */
export async function endWith<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    span.end();
    return result;
  } catch (error) {
    span.end({ error: error instanceof Error ? error.name : 'Error' });
    throw error;
  }
}
