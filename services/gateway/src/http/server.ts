import { networkOf } from '@brand-data/runtime';
import { createPublicServer, encodeProblem, originForm, type PublicService } from '@brand-data/runtime/http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Pacing, TooManyHeld } from '../admission/pacing.ts';
import { COMMON_HEADERS } from '../answers/answer.ts';
import { PROBLEMS, problemErrorFrom } from '../answers/problem.ts';
import { openAccessLog } from './access-log.ts';
import { countAnswers } from './answer-counts.ts';
import { type AnswerSenders, addRoutes, type RouteParts, routeName } from './routes.ts';
import { createSend } from './send.ts';

/** Longer than the longest segment of any URL that Node accepts (16 KiB), even after each `%` has become `%25`. */
const LONGEST_SEGMENT = 64 * 1024;

/** Creates the HTTP server of the public API. `answerCall` decides how a call is answered. */
export function createHttpServer(
  service: PublicService,
  parts: RouteParts & {
    /** Paces errors and other answers that are not counted. */
    pacing: Pacing;
  },
  {
    docsUrl,
    trustedProxies,
    accessLog: mode,
  }: {
    docsUrl: string;
    trustedProxies: readonly string[];
    accessLog: 'off' | Parameters<typeof openAccessLog>[1];
  },
): FastifyInstance {
  const counts = countAnswers(service);
  const accessLog = mode === 'off' ? undefined : openAccessLog(service, mode);
  const { app, endTrace } = createPublicServer(service, {
    options: {
      rewriteUrl: ({ url = '' }) => escapePath(url),
      routerOptions: { maxParamLength: LONGEST_SEGMENT },
    },
    trustedProxies,
    describe: describeRequest,
    problemFrom: problemErrorFrom,
    sendProblem: (reply, { problem, isFailure, accountId }) =>
      isFailure ? send(reply, problem) : sendUncounted(reply, problem, { accountId }),
    unreadable: (problem, { requestId, status }) => {
      const { headers, body } = encodeProblem(problem, PROBLEMS, { docsUrl, requestId, status });
      return { status, headers: { ...COMMON_HEADERS, 'X-Request-Id': requestId, ...headers }, body };
    },
    answeredUnreadable: (status, requestId, address) => {
      counts.add('none', status);
      accessLog?.unreadable(requestId, status, address);
    },
  });
  const send = createSend({
    docsUrl,
    isDraining: () => !service.readiness.started,
    answered: (reply, status, tookMs) => {
      const route = routeName(reply.request.routeOptions.url);
      counts.add(route, status, tookMs);
      endTrace(reply.request, status);
      accessLog?.answered(reply, route, status, tookMs);
    },
  });
  const sendUncounted: AnswerSenders['sendUncounted'] = async (reply, answer, { accountId, cost } = {}) => {
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
  addRoutes(app, parts, { send, sendUncounted });
  return app;
}

/**
 * Escapes the path, so that a route gets its segment as the caller wrote it although Fastify decodes paths before routing: `%2F` does
 * not separate segments, and `answerCall` checks the token before it rejects a segment that cannot be decoded.
 */
function escapePath(target: string): string {
  const url = originForm(target);
  if (!/[%#]/.test(url)) return url;
  const [path = ''] = url.split('?', 1);
  return path.replaceAll('%', '%25').replaceAll('#', '%23') + url.slice(path.length);
}

/** Names a request's span after its route, and never after the URL. */
function describeRequest({ id, routeOptions }: FastifyRequest) {
  const name = routeOptions.url?.replace(/:(\w+)/g, '{$1}');
  const attributes = { 'http.response.header.x-request-id': id, ...(name && { 'http.route': name }) };
  return { name, attributes };
}
