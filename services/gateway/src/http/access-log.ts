import type { Service } from '@brand-data/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

/**
 * Writes one line for each answer, also if LOG_LEVEL suppresses other lines of the level `info`. A line has no secret values: no
 * URL, query, token or identifier.
 */
export interface AccessLog {
  /** Remembers the key whose token the gateway has accepted for this request. */
  authenticated(request: FastifyRequest, keyId: string): void;
  answered(reply: FastifyReply, route: string, status: number, tookMs: number): void;
  /** Logs an answer to bytes that are not an HTTP request. */
  unreadable(requestId: string, status: number): void;
}

export function openAccessLog({ log }: Pick<Service, 'log'>): AccessLog {
  const lines = log.child({}, { level: 'info' });
  const keyIds = new WeakMap<FastifyRequest, string>();
  return {
    answered: ({ request }, route, status, tookMs) => {
      const durationMs = Math.round(tookMs * 10) / 10;
      const { method, id: requestId } = request;
      lines.info({ method, route, status, durationMs, requestId, keyId: keyIds.get(request) }, 'answered');
    },
    authenticated: (request, keyId) => keyIds.set(request, keyId),
    unreadable: (requestId, status) => lines.info({ route: 'none', status, requestId }, 'answered'),
  };
}
