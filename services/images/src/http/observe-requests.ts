import {
  endSpan,
  extractSpanContext,
  type Service,
  type Span,
  startServerSpan,
  withSpan,
} from '@brand-data/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import type { Asked } from './answer.ts';

const KNOWN_METHODS = ['GET', 'HEAD', 'OPTIONS'];

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request arrived, on the monotonic clock. Fastify measures this only if it logs. */
    arrivedMs: number;
  }
}

/**
 * Opens a span for every request. Metrics and spans never hold a URL.
 *
 * @returns a function that counts and times an answer, and ends its span. It must be called once for each request
 */
export function observeRequests(
  app: FastifyInstance,
  { metrics, tracer, trustsTraceOf }: Pick<Service, 'metrics' | 'tracer' | 'trustsTraceOf'>,
): {
  observe(reply: FastifyReply, status: number, asked: Asked): void;
  /** Counts an answer to bytes that are not an HTTP request. */
  countUnreadable(status: number): void;
} {
  const requests = new Counter({
    name: 'images_http_requests_total',
    help: 'Answers to callers, by kind of image, format of the answer and status',
    labelNames: ['kind', 'format', 'status'],
    registers: [metrics],
  });
  // These series start at zero. Without them Prometheus would not see the first failure as an increase.
  for (const status of [500, 503]) requests.inc({ kind: 'logo', format: 'none', status }, 0);
  const duration = new Histogram({
    name: 'images_http_request_duration_seconds',
    help: 'Seconds from a request to its answer, by status',
    labelNames: ['status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [metrics],
  });
  const spans = new WeakMap<FastifyRequest, Span>();

  app.decorateRequest('arrivedMs', 0);
  app.addHook('onRequest', (request, _reply, next) => {
    request.arrivedMs = performance.now();
    next();
  });
  if (tracer)
    app.addHook('onRequest', (request, _reply, next) => {
      const method = KNOWN_METHODS.includes(request.method) ? request.method : '_OTHER';
      const span = startServerSpan(tracer, `${method} image`, {
        attributes: { 'http.request.method': method },
        caller: extractSpanContext((name) => request.headers[name]?.toString()),
        isTrusted: trustsTraceOf?.(request.ip) ?? false,
      });
      if (!span) return next();
      spans.set(request, span);
      // Spans of all later steps of the request become children of this span.
      return withSpan(span, next);
    });

  return {
    observe: ({ request }, status, { kind, format }) => {
      requests.inc({ kind, format, status });
      duration.observe({ status }, (performance.now() - request.arrivedMs) / 1000);
      const span = tracer && spans.get(request);
      if (!span) return;
      span.setAttributes({ 'http.response.status_code': status, 'image.kind': kind, 'image.format': format });
      endSpan(span, status >= 500 ? String(status) : undefined);
    },
    countUnreadable: (status) => requests.inc({ kind: 'none', format: 'none', status }),
  };
}
