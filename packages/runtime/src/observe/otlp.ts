import { context, DiagLogLevel, diag, propagation, type Tracer } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
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

const SEND_EVERY_MS = 1_000;
const SEND_WITHIN_MS = 5_000;
const LONGEST_QUEUE = 4_096;

/**
 * Sends traces to a collector over OTLP/HTTP, and makes OpenTelemetry's API follow spans through this process. The exporter reads
 * everything about the connection from OpenTelemetry's environment variables (OTEL_EXPORTER_OTLP_…, OTEL_RESOURCE_ATTRIBUTES). It
 * drops spans that it cannot send.
 */
export function startOtlp(
  service: string,
  { log, build, sampler, ratio }: { log: Logger; build: Build; sampler: string; ratio: number },
): { tracer: Tracer; stop(): Promise<void> } {
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
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return { tracer: provider.getTracer('brand-data', build.version), stop: () => provider.shutdown() };
}

/** Returns the values of OTEL_TRACES_SAMPLER. */
function samplerOf(name: string, ratio: number): Sampler {
  const parent = 'parentbased_';
  if (name.startsWith(parent))
    return new ParentBasedSampler({ root: samplerOf(name.slice(parent.length), ratio) });
  if (name === 'traceidratio') return new TraceIdRatioBasedSampler(ratio);
  return name === 'always_off' ? new AlwaysOffSampler() : new AlwaysOnSampler();
}
