import { AsyncLocalStorage } from 'node:async_hooks';
import {
  DiagLogLevel,
  defaultTextMapGetter,
  defaultTextMapSetter,
  diag,
  type Span as OtelSpan,
  SpanKind as OtelSpanKind,
  ROOT_CONTEXT,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from './log.ts';
import type { Build } from './metrics.ts';
import type { Span, SpanAttributes, SpanKind, Tracing } from './tracing.ts';

const SEND_EVERY_MS = 1_000;
const SEND_WITHIN_MS = 5_000;
const LONGEST_QUEUE = 4_096;

const KINDS: Record<SpanKind, OtelSpanKind> = {
  server: OtelSpanKind.SERVER,
  client: OtelSpanKind.CLIENT,
  producer: OtelSpanKind.PRODUCER,
  consumer: OtelSpanKind.CONSUMER,
  internal: OtelSpanKind.INTERNAL,
};

/**
 * Traces to a collector over OTLP/HTTP. Where it is, and all about the way to it, the exporter reads from the
 * environment, by OpenTelemetry's names (OTEL_EXPORTER_OTLP_…, OTEL_RESOURCE_ATTRIBUTES). What cannot be sent is dropped.
 */
export function startOtlp(
  service: string,
  { log, build, sampler, ratio }: { log: Logger; build: Build; sampler: string; ratio: number },
): Tracing & { stop(): Promise<void> } {
  const complain = (what: unknown) => log.warn({ err: { message: String(what) } }, 'traces were not sent');
  diag.setLogger(
    { error: complain, warn: () => {}, info: () => {}, debug: () => {}, verbose: () => {} },
    DiagLogLevel.ERROR,
  );
  const provider = new TracerProvider({
    sampler: samplerOf(sampler, ratio),
    resource: defaultResource()
      .merge(
        resourceFromAttributes({
          'service.namespace': 'brand-data',
          'service.name': service,
          'service.version': build.version,
        }),
      )
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter({ timeoutMillis: SEND_WITHIN_MS }),
        scheduledDelayMillis: SEND_EVERY_MS,
        exportTimeoutMillis: SEND_WITHIN_MS,
        maxQueueSize: LONGEST_QUEUE,
      }),
    ],
  });
  const tracer = provider.getTracer('brand-data', build.version);
  const w3c = new W3CTraceContextPropagator();
  const running = new AsyncLocalStorage<OtelSpan>();

  /** What is begun after a span's end does not belong to it: a loop that a call has woken goes on for others. */
  const recorded = () => {
    const span = running.getStore();
    return span?.isRecording() ? span : undefined;
  };

  const open = (span: OtelSpan): Span => ({
    within: (work) => running.run(span, work),
    headers: () => {
      const headers: Record<string, string> = {};
      w3c.inject(trace.setSpan(ROOT_CONTEXT, span), headers, defaultTextMapSetter);
      return headers;
    },
    end: ({ attributes, error } = {}) => {
      if (attributes) span.setAttributes(attributes);
      if (error !== undefined) {
        span.setAttribute('error.type', error);
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  });

  return {
    activeSpanContext: () => recorded()?.spanContext(),
    extract: (header) => {
      const traceparent = header('traceparent');
      if (traceparent === undefined) return undefined;
      const carrier = { traceparent, tracestate: header('tracestate') };
      return trace.getSpanContext(w3c.extract(ROOT_CONTEXT, carrier, defaultTextMapGetter));
    },
    beginTrace: (name, attributes, caller) => {
      const span = tracer.startSpan(
        name,
        { kind: OtelSpanKind.SERVER, attributes },
        caller ? trace.setSpanContext(ROOT_CONTEXT, caller) : ROOT_CONTEXT,
      );
      return span.isRecording() ? open(span) : undefined;
    },
    begin: (kind, name, attributes: SpanAttributes, spanContexts) => {
      const [parent, ...others] = spanContexts.filter(isSampled);
      if (!parent) return undefined;
      const span = tracer.startSpan(
        name,
        { kind: KINDS[kind], attributes, links: others.map((context) => ({ context })) },
        trace.setSpanContext(ROOT_CONTEXT, parent),
      );
      return span.isRecording() ? open(span) : undefined;
    },
    logFields: () => {
      const context = recorded()?.spanContext();
      return context && { trace_id: context.traceId, span_id: context.spanId };
    },
    stop: () => provider.shutdown(),
  };
}

/** The values of OTEL_TRACES_SAMPLER. */
function samplerOf(name: string, ratio: number): Sampler {
  const [, parentBased, root] = /^(parentbased_)?(.*)$/.exec(name) ?? [];
  const sampler =
    root === 'traceidratio'
      ? new TraceIdRatioBasedSampler(ratio)
      : root === 'always_off'
        ? new AlwaysOffSampler()
        : new AlwaysOnSampler();
  return parentBased ? new ParentBasedSampler({ root: sampler }) : sampler;
}

function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
}
