import type { Service } from '@brand-data/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';

export type AccessLog = ReturnType<typeof openAccessLog>;

/**
 * Writes one line for each answer, also if LOG_LEVEL suppresses other lines of the level `info`. A line has no secret values: no
 * URL, query, token or identifier.
 */
export function openAccessLog({ log }: Pick<Service, 'log'>) {
  const lines = log.child({}, { level: 'info' });
  const keyIds = new WeakMap<FastifyRequest, string>();
  return {
    /** Remembers the key whose token the gateway has accepted for this request. */
    authenticated: (request: FastifyRequest, keyId: string) => keyIds.set(request, keyId),
    answered: ({ request }: FastifyReply, route: string, status: number, tookMs: number) => {
      const durationMs = Math.round(tookMs * 10) / 10;
      const { method, id: requestId } = request;
      lines.info({ method, route, status, durationMs, requestId, keyId: keyIds.get(request) }, 'answered');
    },
    /** Logs an answer to bytes that are not an HTTP request. */
    unreadable: (requestId: string, status: number) =>
      lines.info({ route: 'none', status, requestId }, 'answered'),
  };
}
