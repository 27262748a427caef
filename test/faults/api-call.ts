import { Agent, type IncomingHttpHeaders, request } from 'node:http';

/** How a call ended for its caller. */
export type CallOutcome =
  | { kind: 'answered'; status: number; headers: IncomingHttpHeaders; body: Buffer }
  /** The connection was refused, so the call reached no gateway. */
  | { kind: 'refused' }
  /** The connection ended before the answer was whole. */
  | { kind: 'lost' }
  /** There was no answer in time. */
  | { kind: 'late' };

/** Longer than the service may take for any answer (see README.md). */
const WITHIN_MS = 5_000;

/** Returns a client of the gateways that keeps its connections, as callers do. */
export function createApiClient() {
  const agent = new Agent({ keepAlive: true, maxSockets: 500, timeout: 30_000 });
  return {
    /** Never rejects. */
    get: (url: string, headers: Record<string, string> = {}) =>
      new Promise<CallOutcome>((resolve) => {
        const call = request(url, { agent, headers });
        const end = (outcome: CallOutcome) => {
          clearTimeout(late);
          resolve(outcome);
          if (outcome.kind !== 'answered') call.destroy();
        };
        const late = setTimeout(() => end({ kind: 'late' }), WITHIN_MS);
        call.on('error', (error: NodeJS.ErrnoException) =>
          end({ kind: error.code === 'ECONNREFUSED' ? 'refused' : 'lost' }),
        );
        call.on('response', (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', () => end({ kind: 'lost' }));
          response.on('close', () => {
            if (!response.complete) return end({ kind: 'lost' });
            const { statusCode: status = 0, headers: answered } = response;
            end({ kind: 'answered', status, headers: answered, body: Buffer.concat(parts) });
          });
        });
        call.end();
      }),
    close: () => agent.destroy(),
  };
}

/** "503", "lost"… */
export function nameOf(outcome: CallOutcome): string {
  return outcome.kind === 'answered' ? String(outcome.status) : outcome.kind;
}

export function isCounted(outcome: CallOutcome): boolean {
  return outcome.kind === 'answered' && [200, 304, 404].includes(outcome.status);
}

/** Whether the service may have billed the call though its caller saw a failure. */
export function isUnsure(outcome: CallOutcome): boolean {
  if (outcome.kind === 'lost' || outcome.kind === 'late') return true;
  return outcome.kind === 'answered' && outcome.status >= 500 && outcome.headers['x-quota-charged'] !== '0';
}

/** Whether this is a failure of the service. A caller with a correct request and remaining allowance should never see one. */
export function isFailure(outcome: CallOutcome): boolean {
  return outcome.kind !== 'answered' || outcome.status >= 500;
}
