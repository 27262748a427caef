import type { IncomingMessage } from 'node:http';

const BODY_WITHIN_MS = 10_000;

/**
 * Cuts the connection if the request has a body that has not arrived in time. No answer waits for a body, and Node's own limit
 * does not apply to a request that is answered.
 */
export function limitBody(request: IncomingMessage): void {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  if (length === '0' && encoding === undefined) return;
  const late = setTimeout(() => request.destroy(), BODY_WITHIN_MS);
  late.unref();
  request.once('close', () => clearTimeout(late));
}

/** Returns what is wrong with the request's Host (RFC 9112 3.2). Undefined if nothing is. */
export function problemOfHost({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) return 'The request has the header Host more than once.';
  return hosts === 0 && httpVersion === '1.1' ? 'The request lacks the header Host.' : undefined;
}

/** Returns the path and query of a request's target, which may be a whole URL (RFC 9112 3.2.2). */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}
