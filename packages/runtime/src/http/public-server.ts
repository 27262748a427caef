import { randomUUID } from 'node:crypto';
import { type IncomingMessage, METHODS, type Server } from 'node:http';
import {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  type RouteHandlerMethod,
  type RouteOptions,
} from 'fastify';
import { inNetworks } from '../config/networks.ts';
import { endSpan, extractSpanContext, type Span, startServerSpan, withSpan } from '../observe/tracing.ts';
import type { Service } from '../service/service.ts';
import { answerUnreadable, limitBody, problemOfHead } from './connections.ts';
import { HttpProblem, type ProblemDetails } from './problem.ts';

/** Fastify's options for a public server. A request that has not arrived after `requestTimeout` is cut within a second. */
export const PUBLIC_SERVER = {
  requestTimeout: 10_000,
  connectionTimeout: 60_000,
  keepAliveTimeout: 65_000,
  forceCloseConnections: 'idle',
  return503OnClosing: false,
  http: {
    // By default Node looks for late requests only every 30 seconds.
    connectionsCheckingInterval: 1_000,
    // Node's own answer to a request without Host has no body and no CORS headers. `problemOfHead` makes a better one.
    requireHostHeader: false,
    // A request without a body needs none of the events of a stream. They take a tenth of the processor time of a call. If the
    // caller hangs up, Node emits "close" on the response and on the socket, but not on a request without a body.
    optimizeEmptyRequests: true,
  },
} as const;

/** The parts of a service that a public server needs. */
export type PublicService = Pick<Service, 'log' | 'metrics' | 'tracer' | 'trustsTraceOf'> & {
  readiness: { started: boolean };
};

/** An answer's status, body, and headers in addition to those that every answer of the server has. */
export interface HttpAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  body?: Buffer;
}

/** The parts in which public servers differ. */
interface PublicServerParts<RequestProblem extends HttpProblem<string>> {
  options: Pick<FastifyHttpOptions<Server>, 'routerOptions'> & {
    rewriteUrl(request: IncomingMessage): string;
  };
  /** The proxies whose X-Forwarded-For names the client's address. */
  trustedProxies: readonly string[];
  /** Returns the name of a request's span after its method, and the span's attributes. */
  describe(request: FastifyRequest): { name?: string | undefined; attributes?: Attributes };
  /** Maps any error to the server's errors. */
  problemFrom(error: unknown): RequestProblem;
  sendProblem(reply: FastifyReply, problem: RequestProblem): unknown;
  /** Returns the answer to bytes that are not an HTTP request, with all its headers. */
  unreadable(problem: ProblemDetails, context: { requestId: string; status: number }): Required<HttpAnswer>;
  /** Counts an answer to bytes that are not an HTTP request. `address` is that of the connection. */
  answeredUnreadable(status: number, requestId: string, address: string): void;
}

/**
 * Creates a public HTTP server without routes (`routesOf` adds them). It refuses requests without a valid Host or with a body
 * whose end cannot be known, answers bytes that are not HTTP, traces requests, and logs failures of the service. Call the returned
 * `endTrace` for each answer.
 */
export function createPublicServer<RequestProblem extends HttpProblem<string>>(
  service: PublicService,
  parts: PublicServerParts<RequestProblem>,
): { app: FastifyInstance; endTrace: EndTrace } {
  const app = fastify({
    // Fastify's own request log would contain the URL with its query, which may hold a token.
    logger: false,
    genReqId: () => randomUUID(),
    ...PUBLIC_SERVER,
    exposeHeadRoutes: false,
    ...parts.options,
    rewriteUrl: (request) => {
      if (!READ_METHODS.has(request.method ?? '')) request.method = 'TRACE';
      return parts.options.rewriteUrl(request);
    },
    trustProxy: parts.trustedProxies.length > 0 && inNetworks(parts.trustedProxies),
    clientErrorHandler: ({ code }, socket) => {
      const requestId = randomUUID();
      const status = answerUnreadable(code, socket, ({ status, detail }) =>
        parts.unreadable({ code: 'request_invalid', detail, headers: {} }, { requestId, status }),
      );
      if (status !== undefined) parts.answeredUnreadable(status, requestId, socket.remoteAddress ?? '');
    },
  });
  // A caller may close its sending side after the request (RFC 9112 9.6). Node then closes the connection after the answers.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  // An expectation other than 100-continue is ignored (RFC 9110 10.1.1). Node would answer it with a bare 417.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  const endTrace = traceRequests(app, service, parts.describe);
  app.addHook('onRequest', (request, _reply, next) => {
    limitBody(request.raw);
    const detail = problemOfHead(request.raw);
    if (detail === undefined) return next();
    next(new HttpProblem('request_invalid', detail, { Connection: 'close' }));
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = parts.problemFrom(error);
    const logged = { err: problem.cause, requestId: request.id };
    if (problem.problem.code === 'internal') service.log.error(logged, 'a request failed');
    else if (problem.isFailure) service.log.warn(logged, 'a request failed');
    return parts.sendProblem(reply, problem);
  });
  return { app, endTrace };
}

/**
 * Node reads requests with further methods, such as those of RTSP. Fastify cannot have routes for them, and would answer them as
 * defects. They are answered as TRACE is.
 */
const READ_METHODS: ReadonlySet<string> = new Set(METHODS);
const KNOWN_METHODS = ['GET', 'HEAD', 'OPTIONS'];

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request arrived, on the monotonic clock. Fastify measures this only if it logs. */
    arrivedMs: number;
  }
}

type Attributes = Record<string, string | number>;

/** Sets attributes of the request's span and ends it, if the request has one. */
type EndTrace = (request: FastifyRequest, status: number, attributes?: Attributes) => void;

/** Notes when each request arrives, and opens a span for it. Spans never hold a URL, because it may contain a token. */
function traceRequests(
  app: FastifyInstance,
  { tracer, trustsTraceOf }: Pick<Service, 'tracer' | 'trustsTraceOf'>,
  describe: PublicServerParts<HttpProblem<string>>['describe'],
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

/** The methods that Node parses, and passes to the request handler. */
const PARSED_METHODS = METHODS.filter((method) => method !== 'CONNECT');

/** Adds a route. It serves GET and HEAD unless the options say otherwise. */
export type AddRoute = (url: string, handler: RouteHandlerMethod, options?: Partial<RouteOptions>) => void;

/**
 * Returns the function that adds a route. The hook onRequest answers OPTIONS and other methods before Fastify reads a body, so a
 * body of any Content-Type may come.
 */
export function routesOf(
  app: FastifyInstance,
  sendPreflight: (reply: FastifyReply, answer: ReturnType<typeof preflight>) => unknown,
): AddRoute {
  for (const method of PARSED_METHODS)
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method, { hasBody: true });
  return (url, handler, options = {}) => {
    const methods = [options.method ?? ['GET', 'HEAD']].flat();
    const allowed = [...methods, 'OPTIONS'].join(', ');
    const answerPreflight = async ({ headers }: FastifyRequest, reply: FastifyReply) =>
      sendPreflight(reply, preflight(allowed, headers['access-control-request-headers']));
    const refuse = async () => {
      throw new HttpProblem('method_not_allowed', `Use one of ${allowed}.`, { Allow: allowed });
    };
    app.route({ ...options, method: methods, url, handler });
    app.route({ method: 'OPTIONS', url, onRequest: answerPreflight, handler: answerPreflight });
    const others = PARSED_METHODS.filter((method) => method !== 'OPTIONS' && !methods.includes(method));
    app.route({ method: others, url, onRequest: refuse, handler: refuse });
  };
}

/** Names of headers with commas and spaces between them. Anything else is not repeated. */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~, -]+$/;

/**
 * Returns the answer to an OPTIONS request. It allows every header that the browser asks for: a page that sends its token in a
 * header gets a 401 that says where the token belongs, and could not read it if the preflight were refused. `*` does not allow
 * Authorization. Browsers cache the answer for a day.
 *
 * @param allowed the methods of the route
 * @param requested the request's Access-Control-Request-Headers
 */
function preflight(allowed: string, requested: string | undefined) {
  const isRepeated = requested !== undefined && HEADER_NAMES.test(requested);
  return {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': allowed,
      'Access-Control-Allow-Headers': isRepeated ? requested : '*',
      'Access-Control-Max-Age': '86400',
      Vary: 'Access-Control-Request-Headers',
    },
  };
}
