import {
  endSpan,
  extractSpanContext,
  type Service,
  type Span,
  startServerSpan,
  withSpan,
} from '@brand-data/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import type { Asked } from './answer.ts';

const KNOWN_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/** Counts and traces the answers of the public server. */
export interface RequestObserver {
  /** What the request asks for, for the handler to fill in. */
  askedOf(request: FastifyRequest): Asked;
  /** Counts an answer to bytes that are not an HTTP request. */
  countUnreadable(status: number): void;
}

/** Counts and times every answer, and opens a span for every request. Metrics and spans never hold a URL. */
export function observeRequests(
  app: FastifyInstance,
  { metrics, tracer }: Pick<Service, 'metrics' | 'tracer'>,
): RequestObserver {
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
  const asked = new WeakMap<FastifyRequest, Asked>();
  const spans = new WeakMap<FastifyRequest, Span>();
  const askedOf = (request: FastifyRequest): Asked => {
    const known = asked.get(request) ?? { kind: 'none', format: 'none' };
    asked.set(request, known);
    return known;
  };

  if (tracer)
    app.addHook('onRequest', (request, _reply, next) => {
      const method = KNOWN_METHODS.includes(request.method) ? request.method : '_OTHER';
      const span = startServerSpan(tracer, `${method} image`, {
        attributes: { 'http.request.method': method },
        caller: extractSpanContext((name) => request.headers[name]?.toString()),
      });
      if (!span) return next();
      spans.set(request, span);
      // Spans of all later steps of the request become children of this span.
      return withSpan(span, next);
    });

  // Fastify does not run the hook onResponse if the caller has hung up.
  app.addHook('onSend', (request, reply, _body, next) => {
    const { kind, format } = askedOf(request);
    const status = reply.statusCode;
    requests.inc({ kind, format, status });
    duration.observe({ status }, reply.elapsedTime / 1000);
    const span = spans.get(request);
    if (span) {
      span.setAttributes({ 'http.response.status_code': status, 'image.kind': kind, 'image.format': format });
      endSpan(span, status >= 500 ? String(status) : undefined);
    }
    next();
  });

  return { askedOf, countUnreadable: (status) => requests.inc({ kind: 'none', format: 'none', status }) };
}
