import { randomUUID } from 'node:crypto';
import type { MeteringServiceClient } from '@brand-data/contracts';
import type { Service } from '@brand-data/runtime';
import { type FastifyInstance, fastify } from 'fastify';
import type { CallParts } from '../answer-call.ts';
import { createSend } from './answer.ts';
import { commonHeaders } from './cors.ts';
import { observeRequests } from './observe-requests.ts';
import { problemErrorFrom } from './problem.ts';
import { addRoutes } from './routes.ts';
import { answerUnreadable } from './unreadable.ts';

const CLOSE_WITHIN_MS = 5_000;

/** Longer than what is left of any URL that Node takes (16 KiB), with each `%` escaped. */
const LONGEST_SEGMENT = 64 * 1024;

/** The public API over HTTP. What a call means is in `answerCall`. */
export function createHttpServer(
  service: Pick<Service, 'log' | 'metrics' | 'tracer'> & { readiness: { started: boolean } },
  parts: CallParts & { metering: MeteringServiceClient },
  docsUrl: string,
): FastifyInstance {
  const { log, readiness } = service;
  const app = fastify({
    // Fastify's own request log would hold the URL with its query, and so the token.
    logger: false,
    genReqId: () => randomUUID(),
    requestTimeout: 10_000,
    connectionTimeout: 60_000,
    keepAliveTimeout: 65_000,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    exposeHeadRoutes: false,
    rewriteUrl: ({ url = '' }) => escapePath(url),
    routerOptions: {
      maxParamLength: LONGEST_SEGMENT,
      querystringParser: (query) => new URLSearchParams(query) as never,
    },
    clientErrorHandler: ({ code }, socket) => {
      const status = answerUnreadable(code, socket, docsUrl);
      if (status !== undefined) countUnreadable(status);
    },
  });
  const countUnreadable = observeRequests(app, service);
  app.addHook('onRequest', (request, reply, next) => {
    reply.headers(commonHeaders(request.id));
    // A caller that keeps its connection is told to open one to another replica.
    if (!readiness.started) reply.header('Connection', 'close');
    next();
  });
  // Schemas describe the routes. A call is checked in the order that the API promises, by `answerCall`.
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (body) => body as string);

  const send = createSend(docsUrl);
  app.setErrorHandler((error, request, reply) => {
    const { problem, cause } = problemErrorFrom(error);
    const logged = { err: cause, requestId: request.id };
    if (problem.code === 'internal') log.error(logged, 'a call failed');
    else if (problem.code === 'upstream_unavailable') log.warn(logged, 'a call failed');
    return send(reply, problem);
  });
  addRoutes(app, parts, send);
  return app;
}

/**
 * So that Fastify, which decodes a path before it looks for its route, hands a route its segment as the caller wrote it: `%2F`
 * stays data, and one that cannot be decoded is judged by `answerCall`, after its token.
 */
function escapePath(url: string): string {
  if (url.startsWith('/') && !/[%#]/.test(url)) return url;
  const [path = ''] = url.split('?', 1);
  const escaped = path.replaceAll('%', '%25').replaceAll('#', '%23');
  // A URL with a scheme and a host is no path of ours.
  return `${path.startsWith('/') ? '' : '/'}${escaped}${url.slice(path.length)}`;
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
