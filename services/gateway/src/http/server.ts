import { randomUUID } from 'node:crypto';
import {
  answerUnreadable,
  ignoreExpectations,
  limitBody,
  originForm,
  PUBLIC_SERVER,
  problemOfHost,
  type Service,
} from '@brand-data/runtime';
import { type FastifyInstance, fastify } from 'fastify';
import { type Pacing, TooManyHeld } from '../admission/pacing.ts';
import { networkOf } from '../admission/unknown-tokens.ts';
import { contentOfProblem } from '../answers/answer.ts';
import { COMMON_HEADERS } from '../answers/cors.ts';
import { ProblemError, problemErrorFrom } from '../answers/problem.ts';
import { openAccessLog } from './access-log.ts';
import { observeRequests } from './observe-requests.ts';
import { addRoutes, type RouteParts, type Senders } from './routes.ts';
import { createSend } from './send.ts';

/** Longer than the longest segment of any URL that Node accepts (16 KiB), even after each `%` has become `%25`. */
const LONGEST_SEGMENT = 64 * 1024;

/** Creates the HTTP server of the public API. `answerCall` decides how a call is answered. */
export function createHttpServer(
  service: Pick<Service, 'log' | 'metrics' | 'tracer' | 'trustsTraceOf'> & {
    readiness: { started: boolean };
  },
  parts: RouteParts & {
    /** Paces errors and other answers that are not counted. */
    pacing: Pacing;
  },
  {
    docsUrl,
    trustedProxies,
    accessLog: isAccessLogged,
  }: { docsUrl: string; trustedProxies: readonly string[]; accessLog: boolean },
): FastifyInstance {
  const { log, readiness } = service;
  const app = fastify({
    // Fastify's own request log would contain the URL with its query, and so the token.
    logger: false,
    genReqId: () => randomUUID(),
    ...PUBLIC_SERVER,
    exposeHeadRoutes: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    rewriteUrl: ({ url = '' }) => escapePath(url),
    routerOptions: { maxParamLength: LONGEST_SEGMENT },
    clientErrorHandler: ({ code }, socket) => {
      const requestId = randomUUID();
      const status = answerUnreadable(code, socket, ({ status, detail }) => {
        const problem = { code: 'request_invalid', detail, headers: {} } as const;
        const { headers, body } = contentOfProblem(problem, { docsUrl, requestId }, status);
        return { headers: { ...COMMON_HEADERS, 'X-Request-Id': requestId, ...headers }, body };
      });
      if (status === undefined) return;
      observer.unreadable(status);
      accessLog?.unreadable(requestId, status);
    },
  });
  ignoreExpectations(app.server);
  const observer = observeRequests(app, service);
  const accessLog = isAccessLogged ? openAccessLog(service) : undefined;
  app.addHook('onRequest', (request, _reply, next) => {
    limitBody(request.raw);
    const problem = problemOfHost(request.raw);
    if (problem === undefined) return next();
    next(new ProblemError('request_invalid', problem, { Connection: 'close' }));
  });
  const send = createSend({
    docsUrl,
    isDraining: () => !readiness.started,
    answered: (reply, status, tookMs) => {
      observer.answered(reply, status, tookMs);
      accessLog?.answered(reply, status, tookMs);
    },
  });
  const sendUncounted: Senders['sendUncounted'] = async (reply, answer, { accountId, cost } = {}) => {
    try {
      await parts.pacing.admit(accountId ?? networkOf(reply.request.ip), cost);
    } catch (error) {
      if (!(error instanceof TooManyHeld)) throw error;
      reply.hijack();
      reply.raw.destroy();
      return reply;
    }
    return send(reply, answer);
  };
  app.setErrorHandler((error, request, reply) => {
    const { problem, cause, accountId } = problemErrorFrom(error);
    const logged = { err: cause, requestId: request.id };
    if (problem.code === 'internal') log.error(logged, 'a call failed');
    else if (problem.code === 'upstream_unavailable') log.warn(logged, 'a call failed');
    else return sendUncounted(reply, problem, { accountId });
    return send(reply, problem);
  });
  addRoutes(app, parts, { send, sendUncounted }, accessLog);
  return app;
}

/**
 * Escapes the path so that a route gets its segment as the caller wrote it, although Fastify decodes paths before routing. So
 * `%2F` does not separate segments, and `answerCall` checks the token before it rejects a segment that cannot be decoded.
 */
function escapePath(target: string): string {
  const url = originForm(target);
  if (!/[%#]/.test(url)) return url;
  const [path = ''] = url.split('?', 1);
  return path.replaceAll('%', '%25').replaceAll('#', '%23') + url.slice(path.length);
}
