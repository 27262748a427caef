import type { FastifyInstance, FastifyRequest } from 'fastify';
import { endSpan, extractSpanContext, type Span, startServerSpan, withSpan } from '../observe/tracing.ts';
import type { Service } from '../service/service.ts';

const KNOWN_METHODS = ['GET', 'HEAD', 'OPTIONS'];

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request arrived, on the monotonic clock. Fastify measures this only if it logs. */
    arrivedMs: number;
  }
}

type Attributes = Record<string, string | number>;

/** Returns the name of a request's span after its method, and the span's attributes. */
export type DescribeRequest = (request: FastifyRequest) => {
  name?: string | undefined;
  attributes?: Attributes;
};

/** Sets attributes of the request's span and ends it, if the request has one. */
export type EndTrace = (request: FastifyRequest, status: number, attributes?: Attributes) => void;

/** Notes when each request arrives, and opens a span for it. Spans never hold a URL, because it may contain a token. */
export function traceRequests(
  app: FastifyInstance,
  { tracer, trustsTraceOf }: Pick<Service, 'tracer' | 'trustsTraceOf'>,
  describe: DescribeRequest,
): EndTrace {
  app.decorateRequest('arrivedMs', 0);
  app.addHook('onRequest', (request, _reply, next) => {
    request.arrivedMs = performance.now();
    next();
  });
  if (!tracer) return () => {};
  const spans = new WeakMap<FastifyRequest, Span>();
  app.addHook('onRequest', (request, _reply, next) => {
    const method = KNOWN_METHODS.includes(request.method) ? request.method : '_OTHER';
    const { name, attributes } = describe(request);
    const span = startServerSpan(tracer, name === undefined ? method : `${method} ${name}`, {
      attributes: { 'http.request.method': method, ...attributes },
      caller: extractSpanContext((header) => request.headers[header]?.toString()),
      isTrusted: trustsTraceOf?.(request.ip) ?? false,
    });
    if (!span) return next();
    spans.set(request, span);
    // Spans of all later steps of the request become children of this span.
    return withSpan(span, next);
  });
  return (request, status, attributes) => {
    const span = spans.get(request);
    if (!span) return;
    span.setAttributes({ 'http.response.status_code': status, ...attributes });
    endSpan(span, status >= 500 ? String(status) : undefined);
  };
}
