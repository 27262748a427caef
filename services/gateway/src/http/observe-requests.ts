import {
  endSpan,
  extractSpanContext,
  type Service,
  type Span,
  startServerSpan,
  type Tracer,
  withSpan,
} from '@brand-data/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import { ROUTE_NAMES } from './routes.ts';

const KNOWN_METHODS = ['GET', 'HEAD', 'OPTIONS'];

/**
 * Counts and times every answer, and opens a span for every request. Metrics and spans name only the route and never the whole
 * URL, because the URL contains the token.
 *
 * @returns a function that counts an answer to bytes that are not an HTTP request
 */
export function observeRequests(
  app: FastifyInstance,
  { metrics, tracer, trustsTraceOf }: Pick<Service, 'metrics' | 'tracer' | 'trustsTraceOf'>,
): (status: number) => void {
  const requests = new Counter({
    name: 'gateway_http_requests_total',
    help: 'Answers to callers, by route and status',
    labelNames: ['route', 'status'],
    registers: [metrics],
  });
  // These series start at zero. Without them Prometheus would not see the first failure as an increase.
  for (const route of ['brands', 'logos', 'usage'])
    for (const status of [500, 503]) requests.inc({ route, status }, 0);
  const duration = new Histogram({
    name: 'gateway_http_request_duration_seconds',
    help: 'Seconds from a request to its answer, by route and status',
    labelNames: ['route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [metrics],
  });
  const spans = new WeakMap<FastifyRequest, Span>();

  const openSpan = (tracer: Tracer, request: FastifyRequest): Span | undefined => {
    const method = KNOWN_METHODS.includes(request.method) ? request.method : '_OTHER';
    const route = request.routeOptions.url?.replace(/:(\w+)/g, '{$1}');
    return startServerSpan(tracer, route === undefined ? method : `${method} ${route}`, {
      attributes: {
        'http.request.method': method,
        ...(route === undefined ? {} : { 'http.route': route }),
        'http.response.header.x-request-id': request.id,
      },
      caller: extractSpanContext((name) => request.headers[name]?.toString()),
      isTrusted: trustsTraceOf?.(request.ip) ?? false,
    });
  };

  if (tracer)
    app.addHook('onRequest', (request, _reply, next) => {
      const span = openSpan(tracer, request);
      if (!span) return next();
      spans.set(request, span);
      // Spans of all later steps of the request become children of this span.
      return withSpan(span, next);
    });

  // Fastify does not run the hook onResponse if the caller has hung up. The hook onSend also counts those calls, which may be
  // billed.
  app.addHook('onSend', (request, reply, _body, next) => {
    const route = ROUTE_NAMES[request.routeOptions.url ?? ''] ?? 'none';
    const status = reply.statusCode;
    requests.inc({ route, status });
    duration.observe({ route, status }, reply.elapsedTime / 1000);
    const span = spans.get(request);
    if (span) {
      span.setAttribute('http.response.status_code', status);
      endSpan(span, status >= 500 ? String(status) : undefined);
    }
    next();
  });

  return (status) => requests.inc({ route: 'none', status });
}
