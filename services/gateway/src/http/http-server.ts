import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { MeteringServiceClient } from '@brand-data/contracts';
import type { Service, Span } from '@brand-data/runtime';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import { type Answer, answerCall, type CallParts } from '../answer-call.ts';
import { answerUsage, readUsageRequest } from '../answer-usage.ts';
import { type Headers, splitUrl } from '../auth/caller.ts';
import { readBrandRequest } from './brand-request.ts';
import { DOCS_PATH, docsPage } from './docs-page.ts';
import { PROBLEMS, Problem, problemBody, problemOf } from './problem.ts';

const METHODS = ['GET', 'HEAD', 'OPTIONS'];
const ALLOWED_METHODS = METHODS.join(', ');

type RouteLabel = 'brands' | 'logos' | 'usage' | 'docs' | 'none';

const ROUTE_PATTERN: Partial<Record<RouteLabel, string>> = {
  brands: '/v1/brands/{identifier}',
  logos: '/api/logos/{identifier}/info',
  usage: '/v1/usage',
  docs: DOCS_PATH,
};

interface RouteCall {
  label: RouteLabel;
  answer(): Promise<Answer> | Answer;
}

const CLOSE_WITHIN_MS = 5_000;

const EXPOSED_HEADERS = [
  'Brand-Match',
  'Cache-Control',
  'ETag',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Quota-Charged',
  'X-Request-Id',
].join(', ');

/** The public API over HTTP: routes, CORS, errors. What a call means is in `answerCall`. */
export function createHttpServer(
  service: Pick<Service, 'log' | 'metrics' | 'tracing'> & { readiness: { started: boolean } },
  parts: CallParts & { metering: MeteringServiceClient },
  docsUrl: string,
): FastifyInstance {
  const { log, metrics, readiness, tracing } = service;
  const requests = new Counter({
    name: 'gateway_http_requests_total',
    help: 'Answers by route and status',
    labelNames: ['route', 'status'],
    registers: [metrics],
  });
  // There from the start, so that the first failures are an increase.
  for (const route of ['brands', 'logos', 'usage'])
    for (const status of [500, 503]) requests.inc({ route, status }, 0);
  const duration = new Histogram({
    name: 'gateway_http_request_duration_seconds',
    help: 'Time from request to answer, by route and status',
    labelNames: ['route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [metrics],
  });

  const send = (reply: FastifyReply, requestId: string, { status, headers, body }: Answer) =>
    reply
      .code(status)
      .headers({
        ...commonHeaders(requestId),
        // A caller that keeps its connection is told to open one to another replica.
        ...(readiness.started ? {} : { Connection: 'close' }),
        ...headers,
      })
      .send(body);

  const answerProblem = (
    problem: Problem,
    requestId: string,
    status: number = PROBLEMS[problem.code].status,
  ) => ({
    status,
    headers: {
      'Cache-Control': 'no-store',
      'Content-Type': 'application/problem+json',
      ...problem.headers,
    },
    body: Buffer.from(problemBody(problem, { docsUrl, requestId, status })),
  });

  const sendProblem = (reply: FastifyReply, requestId: string, problem: Problem) => {
    if (problem.code === 'internal') log.error({ err: problem.cause, requestId }, 'a call failed');
    else if (problem.code === 'upstream_unavailable')
      log.warn({ err: problem.cause, requestId }, 'a call failed');
    return send(reply, requestId, answerProblem(problem, requestId));
  };

  /** What cannot be read as HTTP never becomes a request; its answer looks like all others. */
  const refuse = (code: string, socket: Socket) => {
    if (code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const requestId = randomUUID();
    const { status, detail } = UNREADABLE[code] ?? NOT_HTTP;
    requests.inc({ route: 'none', status });
    const { headers, body } = answerProblem(new Problem('request_invalid', detail), requestId, status);
    const lines = Object.entries({
      ...commonHeaders(requestId),
      ...headers,
      Connection: 'close',
      'Content-Length': String(body.length),
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
    socket.destroySoon();
  };

  const routeNotFound = () =>
    new Problem(
      'route_not_found',
      'The routes are /v1/brands/{identifier}, /api/logos/{identifier}/info and /v1/usage.',
    );

  const routeOf = (url: string, headers: Headers): RouteCall | undefined => {
    const brandRequest = readBrandRequest(url, headers);
    if (brandRequest) {
      const label = brandRequest.variant === 'grouped' ? 'brands' : 'logos';
      return { label, answer: () => answerCall(parts, brandRequest) };
    }
    const usageRequest = readUsageRequest(url, headers);
    if (usageRequest) return { label: 'usage', answer: () => answerUsage(parts, usageRequest) };
    if (splitUrl(url).path === DOCS_PATH) return { label: 'docs', answer: docsPage };
    return undefined;
  };

  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    requestId: string,
    route: RouteCall | undefined,
  ) => {
    try {
      if (!route) throw routeNotFound();
      if (request.method === 'OPTIONS') return await send(reply, requestId, preflight);
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        throw new Problem('method_not_allowed', `Use one of ${ALLOWED_METHODS}.`, { Allow: ALLOWED_METHODS });
      }
      return await send(reply, requestId, await route.answer());
    } catch (error) {
      return await sendProblem(reply, requestId, problemOf(error));
    }
  };

  /** What it says of the request is the route's pattern: the URL holds the token. */
  const openSpan = (
    { method, headers }: FastifyRequest,
    requestId: string,
    label: RouteLabel,
  ): Span | undefined => {
    if (!tracing) return undefined;
    const known = METHODS.includes(method) ? method : '_OTHER';
    const route = ROUTE_PATTERN[label];
    return tracing.beginTrace(
      route === undefined ? known : `${known} ${route}`,
      {
        'http.request.method': known,
        ...(route === undefined ? {} : { 'http.route': route }),
        'http.response.header.x-request-id': requestId,
      },
      tracing.extract((name) => headers[name]?.toString()),
    );
  };

  /** Every request, whatever its path decodes to. */
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const requestId = randomUUID();
    const route = routeOf(request.raw.url ?? '', request.headers);
    const label = route?.label ?? 'none';
    const began = performance.now();
    const span = openSpan(request, requestId, label);
    try {
      const answering = () => answer(request, reply, requestId, route);
      return await (span ? span.within(answering) : answering());
    } finally {
      const status = reply.statusCode;
      requests.inc({ route: label, status });
      duration.observe({ route: label, status }, (performance.now() - began) / 1000);
      span?.end({
        attributes: { 'http.response.status_code': status },
        error: status >= 500 ? String(status) : undefined,
      });
    }
  };

  const app = fastify({
    // Fastify's own request log would hold the URL with its query, and so the token.
    logger: false,
    requestTimeout: 10_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    clientErrorHandler: ({ code }, socket) => refuse(code, socket),
    // A path that does not decode is a call with a bad identifier, to be judged after its token.
    frameworkErrors: (_error, request, reply) => {
      void serve(request as FastifyRequest, reply as FastifyReply);
    },
  });
  // All are answered before a body is read: nothing in it matters.
  app.addHook('onRequest', serve);
  return app;
}

/** Finishes what was accepted, then closes; connections that callers keep are closed once nothing is under way on them. */
export async function closeHttpServer(app: FastifyInstance): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), 50);
  // One that never sent a request does not count as idle.
  const late = setTimeout(() => app.server.closeAllConnections(), CLOSE_WITHIN_MS);
  await app.close().finally(() => {
    clearInterval(idle);
    clearTimeout(late);
  });
}

function commonHeaders(requestId: string): Record<string, string> {
  return {
    'Access-Control-Allow-Origin': '*',
    'Access-Control-Expose-Headers': EXPOSED_HEADERS,
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
  };
}

const NOT_HTTP = { status: 400, detail: 'The request is not valid HTTP.' };
/** By Node's code of the error. */
const UNREADABLE: Record<string, typeof NOT_HTTP> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request took too long to arrive.' },
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The URL and headers are longer than 16 KiB together.' },
};

/** CORS preflight: cached by browsers for a day. */
const preflight: Answer = {
  status: 204,
  headers: {
    'Access-Control-Allow-Methods': ALLOWED_METHODS,
    'Access-Control-Allow-Headers': 'Accept, Accept-Encoding, If-None-Match',
    'Access-Control-Max-Age': '86400',
  },
};
