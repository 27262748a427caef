import {
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  type TextMapGetter,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';

/*
 * How the services use OpenTelemetry's API. Without a collector `Service.tracer` is undefined, and its users do nothing.
 * Spans hold neither tokens nor URLs nor the messages of errors. A span is made only below a sampled one, but for the
 * server span that a trace begins with (`startServerSpan`).
 */

export { type Span, type SpanContext, SpanKind, type Tracer };

/** The span that this code runs in, until it ends: a loop that a call has woken goes on for other calls. */
function activeSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** The span of the caller, which another process has sent with these headers (lower case). */
export function extractSpanContext(header: (name: string) => string | undefined): SpanContext | undefined {
  return trace.getSpanContext(propagation.extract(ROOT_CONTEXT, header, HEADER));
}

const HEADER: TextMapGetter<(name: string) => string | undefined> = {
  get: (header, name) => header(name),
  keys: () => [],
};

/** What a span that serves this code's call among others is linked to. */
export function activeSpanContext(): SpanContext | undefined {
  return activeSpan()?.spanContext();
}

/** The headers that carry the span to another process. */
export function headersOf(span: Span): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(trace.setSpan(ROOT_CONTEXT, span), headers);
  return headers;
}

/** The span of a request from outside. The sampler decides whether there is one, and may follow `caller`. */
export function startServerSpan(
  tracer: Tracer,
  name: string,
  { caller, ...options }: SpanOptions & { caller: SpanContext | undefined },
): Span | undefined {
  return recorded(tracer.startSpan(name, { ...options, kind: SpanKind.SERVER }, below(caller)));
}

/** A child of the active span; undefined when there is none. */
export function startChildSpan(tracer: Tracer, name: string, options: SpanOptions): Span | undefined {
  const parent = activeSpan();
  return parent && startSpanBelow(tracer, name, options, [parent.spanContext()]);
}

/** A child of the first sampled of `spanContexts`, with links to the others; undefined when none is sampled. */
export function startSpanBelow(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  spanContexts: readonly SpanContext[],
): Span | undefined {
  const [parent, ...others] = spanContexts.filter(({ traceFlags }) => traceFlags & TraceFlags.SAMPLED);
  if (!parent) return undefined;
  const links = others.map((linked) => ({ context: linked }));
  return recorded(tracer.startSpan(name, { ...options, links }, below(parent)));
}

function below(parent: SpanContext | undefined) {
  return parent ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

function recorded(span: Span): Span | undefined {
  return span.isRecording() ? span : undefined;
}

/** Runs `work` with `span`, where there is one, as the active span. */
export function withSpan<T>(span: Span | undefined, work: () => T): T {
  return span ? context.with(trace.setSpan(ROOT_CONTEXT, span), work) : work();
}

/** @param error the kind of failure, such as a code; never a message, which may hold anything */
export function endSpan(span: Span, error?: string): void {
  if (error !== undefined) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Ends the span as `work` ends. */
export async function endWith<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    endSpan(span);
    return result;
  } catch (error) {
    endSpan(span, error instanceof Error ? error.name : 'Error');
    throw error;
  }
}

/** Runs work that serves several calls at once in one span, below the first of them and linked to the others. */
export async function inBatchSpan<T>(
  tracer: Tracer | undefined,
  name: string,
  { spanContexts, ...options }: SpanOptions & { spanContexts: readonly SpanContext[] },
  work: () => Promise<T>,
): Promise<T> {
  const span = tracer && startSpanBelow(tracer, name, options, spanContexts);
  return span ? endWith(span, () => withSpan(span, work)) : work();
}
