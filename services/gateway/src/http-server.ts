import { randomUUID } from 'node:crypto';
import type { MeteringServiceClient } from '@brand-data/contracts';
import type { Service } from '@brand-data/runtime';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify';
import { Counter, Histogram } from 'prom-client';
import { type Answer, answerCall, type CallParts } from './answer-call.ts';
import { answerUsage, readUsageRequest, USAGE_PATH } from './answer-usage.ts';
import { ROUTES, readBrandRequest } from './brand-request.ts';
import { type Headers, splitUrl } from './caller.ts';
import { DOCS_PATH, docsPage } from './docs-page.ts';
import { PROBLEMS, Problem, problemBody, problemOf } from './problem.ts';

const ALLOWED_METHODS = 'GET, HEAD, OPTIONS';
const OTHER_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'];

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
  service: Service,
  parts: CallParts & { metering: MeteringServiceClient },
  docsUrl: string,
): FastifyInstance {
  const { log, metrics } = service;
  const requests = new Counter({
    name: 'gateway_http_requests_total',
    help: 'Answers by route and status',
    labelNames: ['route', 'status'],
    registers: [metrics],
  });
  const duration = new Histogram({
    name: 'gateway_http_request_duration_seconds',
    help: 'Time from request to answer, by route',
    labelNames: ['route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [metrics],
  });

  const send = (reply: FastifyReply, requestId: string, { status, headers, body }: Answer) =>
    reply
      .code(status)
      .headers({
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Expose-Headers': EXPOSED_HEADERS,
        'X-Content-Type-Options': 'nosniff',
        'X-Request-Id': requestId,
        // A caller that keeps its connection is told to open one to another replica.
        ...(service.readiness.started ? {} : { Connection: 'close' }),
        ...headers,
      })
      .send(body);

  const sendProblem = (reply: FastifyReply, requestId: string, problem: Problem) => {
    if (problem.code === 'internal') log.error({ err: problem.cause, requestId }, 'a call failed');
    else if (problem.code === 'upstream_unavailable')
      log.warn({ err: problem.cause, requestId }, 'a call failed');
    const headers = {
      'Cache-Control': 'no-store',
      'Content-Type': 'application/problem+json',
      ...problem.headers,
    };
    const body = Buffer.from(problemBody(problem, { docsUrl, requestId }));
    return send(reply, requestId, { status: PROBLEMS[problem.code].status, headers, body });
  };

  const routeNotFound = () =>
    new Problem(
      'route_not_found',
      'The routes are /v1/brands/{identifier}, /api/logos/{identifier}/info and /v1/usage.',
    );

  const routeOf = (url: string, headers: Headers) => {
    const brandRequest = readBrandRequest(url, headers);
    if (brandRequest) return { name: brandRequest.variant, answer: () => answerCall(parts, brandRequest) };
    const usageRequest = readUsageRequest(url, headers);
    if (usageRequest) return { name: 'usage', answer: () => answerUsage(parts, usageRequest) };
    if (splitUrl(url).path === DOCS_PATH) return { name: 'docs', answer: docsPage };
    return undefined;
  };

  /** Every request, whatever its path decodes to. */
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const requestId = randomUUID();
    const route = routeOf(request.raw.url ?? '', request.headers);
    const began = performance.now();
    try {
      if (!route) throw routeNotFound();
      if (request.method === 'OPTIONS') return await send(reply, requestId, preflight);
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        throw new Problem('method_not_allowed', `Use one of ${ALLOWED_METHODS}.`, { Allow: ALLOWED_METHODS });
      }
      return await send(reply, requestId, await route.answer());
    } catch (error) {
      return await sendProblem(reply, requestId, problemOf(error));
    } finally {
      const name = route?.name ?? 'none';
      requests.inc({ route: name, status: reply.statusCode });
      duration.observe({ route: name }, (performance.now() - began) / 1000);
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
    routerOptions: { maxParamLength: 65_536 },
    // A path that does not decode is a call with a bad identifier, to be judged after its token.
    frameworkErrors: (_error, request, reply) => {
      void serve(request as FastifyRequest, reply as FastifyReply);
    },
  });
  for (const path of [...Object.values(ROUTES).map((route) => route.path), USAGE_PATH, DOCS_PATH]) {
    app.route({ method: ['GET', 'HEAD', 'OPTIONS'], url: path, handler: serve });
    // Answered before the body is read: nothing in it matters.
    app.route({ method: OTHER_METHODS, url: path, onRequest: serve, handler: serve });
  }
  app.setNotFoundHandler({ preHandler: serve }, serve);
  app.setErrorHandler((error, _request, reply) => sendProblem(reply, randomUUID(), problemOf(error)));
  return app;
}

/** Finishes what was accepted, then closes; connections that callers keep are closed once nothing is under way on them. */
export async function closeHttpServer(app: FastifyInstance): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), 50);
  await app.close().finally(() => clearInterval(idle));
}

/** CORS preflight: cached by browsers for a day. */
const preflight: Answer = {
  status: 204,
  headers: {
    'Access-Control-Allow-Methods': ALLOWED_METHODS,
    'Access-Control-Allow-Headers': 'Accept, Accept-Encoding, If-None-Match',
    'Access-Control-Max-Age': '86400',
  },
};
