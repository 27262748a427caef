import {
  endSpan,
  extractSpanContext,
  type Service,
  type Span,
  startServerSpan,
  type Tracer,
  withSpan,
} from '@brand-data/runtime';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import { routeName } from './routes.ts';

const KNOWN_METHODS = ['GET', 'HEAD', 'OPTIONS'];

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request arrived, on the monotonic clock. Fastify measures this only if it logs. */
    arrivedMs: number;
  }
}

export interface RequestObserver {
  /** Counts and times an answer, and ends the request's span. */
  answered(reply: FastifyReply, status: number, tookMs: number): void;
  /** Counts an answer to bytes that are not an HTTP request. */
  unreadable(status: number): void;
}

/**
 * Registers the metrics of answers, and opens a span for every request. Metrics and spans name only the route and never the whole
 * URL, because the URL contains the token.
 */
export function observeRequests(
  app: FastifyInstance,
  { metrics, tracer, trustsTraceOf }: Pick<Service, 'metrics' | 'tracer' | 'trustsTraceOf'>,
): RequestObserver {
  /** By route, and then by status. */
  const answers = new Map<string, Map<number, number>>();
  const count = (route: string, status: number, more = 1): void => {
    let ofRoute = answers.get(route);
    if (!ofRoute) {
      ofRoute = new Map();
      answers.set(route, ofRoute);
    }
    ofRoute.set(status, (ofRoute.get(status) ?? 0) + more);
  };
  // These series start at zero. Without them Prometheus would not see the first failure as an increase.
  for (const route of ['brands', 'logos', 'usage']) for (const status of [500, 503]) count(route, status, 0);
  new Counter({
    name: 'gateway_http_requests_total',
    help: 'Answers to callers, by route and status',
    labelNames: ['route', 'status'],
    registers: [metrics],
    // The counter is set at each scrape, so that a call only increments a number.
    collect() {
      this.reset();
      for (const [route, ofRoute] of answers)
        for (const [status, answered] of ofRoute) this.inc({ route, status }, answered);
    },
  });
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

  app.decorateRequest('arrivedMs', 0);
  app.addHook('onRequest', (request, _reply, next) => {
    request.arrivedMs = performance.now();
    next();
  });
  if (tracer)
    app.addHook('onRequest', (request, _reply, next) => {
      const span = openSpan(tracer, request);
      if (!span) return next();
      spans.set(request, span);
      // Spans of all later steps of the request become children of this span.
      return withSpan(span, next);
    });

  return {
    answered: ({ request }, status, tookMs) => {
      const route = routeName(request.routeOptions.url);
      count(route, status);
      duration.observe({ route, status }, tookMs / 1000);
      const span = spans.get(request);
      if (!span) return;
      span.setAttribute('http.response.status_code', status);
      endSpan(span, status >= 500 ? String(status) : undefined);
    },
    unreadable: (status) => count('none', status),
  };
}
