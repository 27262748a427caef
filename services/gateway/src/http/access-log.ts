import { createHmac, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { networkOf, plainAddress, type Service } from '@brand-data/runtime';
import type { FastifyReply } from 'fastify';

export type AccessLog = ReturnType<typeof openAccessLog>;

/**
 * Writes one line for each answer, also if LOG_LEVEL suppresses other lines of the level `info`. A line has no secret values: no
 * URL, query, token or identifier.
 *
 * @param mode whether a line names the client's address, a hash of it with a key that no other process has, or neither
 */
export function openAccessLog({ log }: Pick<Service, 'log'>, mode: 'on' | 'hash' | 'address') {
  const lines = log.child({}, { level: 'info' });
  const clientOf = CLIENTS[mode]();
  return {
    answered: ({ request }: FastifyReply, route: string, status: number, tookMs: number) => {
      const durationMs = Math.round(tookMs * 10) / 10;
      const { method, id: requestId } = request;
      const caller = { keyId: request.caller?.keyId, client: clientOf(() => request.ip) };
      lines.info({ method, route, status, durationMs, requestId, ...caller }, 'answered');
    },
    /** Logs an answer to bytes that are not an HTTP request. */
    unreadable: (requestId: string, status: number, address: string) =>
      lines.info({ route: 'none', status, requestId, client: clientOf(() => address) }, 'answered'),
  };
}

/** What a line names as the client. A caller can write anything in place of an address if a trusted proxy passes it on. */
const CLIENTS: Record<'on' | 'hash' | 'address', () => (ip: () => string) => string | undefined> = {
  on: () => () => undefined,
  hash: () => {
    const key = randomBytes(32);
    return (ip) => createHmac('sha256', key).update(networkOf(ip())).digest('hex').slice(0, 16);
  },
  address: () => (ip) => {
    const address = plainAddress(ip());
    return isIP(address) === 0 ? 'unknown' : address;
  },
};
