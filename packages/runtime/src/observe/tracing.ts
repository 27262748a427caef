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
 * How the services use OpenTelemetry's API. Without a collector, `Service.tracer` is undefined and nothing is traced. Spans
 * hold no tokens, no URLs and no messages of errors. A trace begins with a server span (`startServerSpan`). Every other span is
 * created only below a sampled span.
 */

export { type Span, type SpanContext, SpanKind, type Tracer };

/**
 * Returns the span in which this code runs. Undefined once the span has ended, because a loop that a call has started may
 * continue for other calls.
 */
function activeSpan(): Span | undefined {
  const span = trace.getActiveSpan();
  return span?.isRecording() ? span : undefined;
}

/** Returns the caller's span in another process, read from the headers of its request. Header names are in lower case. */
export function extractSpanContext(header: (name: string) => string | undefined): SpanContext | undefined {
  return trace.getSpanContext(propagation.extract(ROOT_CONTEXT, header, HEADER));
}

const HEADER: TextMapGetter<(name: string) => string | undefined> = {
  get: (header, name) => header(name),
  keys: () => [],
};

/** Returns the active span's context. The span of work for several calls at once links to the contexts of these calls. */
export function activeSpanContext(): SpanContext | undefined {
  return activeSpan()?.spanContext();
}

/** Returns the headers that tell another process about the span. */
export function traceHeadersOf(span: Span): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(trace.setSpan(ROOT_CONTEXT, span), headers);
  return headers;
}

/**
 * Starts the span of a request from outside. The sampler decides whether to trace the request, and may follow `caller`'s
 * decision. If a caller that is not trusted demands a trace, the sampler decides as if the request had no caller, and the span
 * links to the caller's.
 */
export function startServerSpan(
  tracer: Tracer,
  name: string,
  { caller, isTrusted, ...options }: SpanOptions & { caller: SpanContext | undefined; isTrusted: boolean },
): Span | undefined {
  const isDemand = caller !== undefined && (caller.traceFlags & TraceFlags.SAMPLED) !== 0;
  const [parent, links] = isDemand && !isTrusted ? [undefined, [{ context: caller }]] : [caller, []];
  return recorded(tracer.startSpan(name, { ...options, kind: SpanKind.SERVER, links }, below(parent)));
}

/** Starts a child of the active span. Undefined if there is no active span. */
export function startChildSpan(tracer: Tracer, name: string, options: SpanOptions): Span | undefined {
  const parent = activeSpan();
  return parent && startSpanBelow(tracer, name, options, [parent.spanContext()]);
}

/** Starts a child of the first sampled one of `spanContexts`, with links to the other sampled ones. Undefined if none is. */
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

/** Runs `work` with `span` as the active span, if there is a span. */
export function withSpan<T>(span: Span | undefined, work: () => T): T {
  return span ? context.with(trace.setSpan(ROOT_CONTEXT, span), work) : work();
}

/** @param error the kind of failure, such as a code. Never a message, because a message may hold secrets. */
export function endSpan(span: Span, error?: string): void {
  if (error !== undefined) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** Runs `work` and then ends the span, with an error if `work` failed. */
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

/** Runs work for several calls in one span, a child of the first traced call's span with links to the other calls' spans. */
export async function inBatchSpan<T>(
  tracer: Tracer | undefined,
  name: string,
  { spanContexts, ...options }: SpanOptions & { spanContexts: readonly SpanContext[] },
  work: () => Promise<T>,
): Promise<T> {
  const span = tracer && startSpanBelow(tracer, name, options, spanContexts);
  return span ? endWith(span, () => withSpan(span, work)) : work();
}
