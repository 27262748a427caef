import type { Service } from '@brand-data/runtime';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ROUTE_NAMES } from './routes.ts';

/**
 * Writes one line for each answer, also if LOG_LEVEL suppresses other lines of the level `info`. A line has only values that are
 * no secret: no URL, query, token or identifier.
 */
export interface AccessLog {
  /** Remembers the key whose token the gateway has accepted for this request. */
  authenticated(request: FastifyRequest, keyId: string): void;
  /** Logs an answer to bytes that are not an HTTP request. */
  unreadable(requestId: string, status: number): void;
}

export function openAccessLog(app: FastifyInstance, { log }: Pick<Service, 'log'>): AccessLog {
  const lines = log.child({}, { level: 'info' });
  const keyIds = new WeakMap<FastifyRequest, string>();
  // Like the metrics, the log has a line for calls whose caller has hung up: these calls may be billed.
  app.addHook('onSend', (request, reply, _body, next) => {
    const { method, id: requestId } = request;
    lines.info(
      {
        method,
        route: ROUTE_NAMES[request.routeOptions.url ?? ''] ?? 'none',
        status: reply.statusCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        requestId,
        keyId: keyIds.get(request),
      },
      'answered',
    );
    next();
  });
  return {
    authenticated: (request, keyId) => keyIds.set(request, keyId),
    unreadable: (requestId, status) => lines.info({ route: 'none', status, requestId }, 'answered'),
  };
}
