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
import { countAnswers } from './answer-counts.ts';
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
  const answers = countAnswers({ metrics });
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
      answers.add(route, status, tookMs);
      const span = spans.get(request);
      if (!span) return;
      span.setAttribute('http.response.status_code', status);
      endSpan(span, status >= 500 ? String(status) : undefined);
    },
    unreadable: (status) => answers.add('none', status),
  };
}
