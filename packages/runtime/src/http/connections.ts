import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

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

/** Returns what is wrong with the request's Host (RFC 9112 3.2) or Transfer-Encoding (6.1). Undefined if nothing is. */
export function problemOfHead({ httpVersion, headers, rawHeaders }: IncomingMessage): string | undefined {
  const { 'transfer-encoding': encoding } = headers;
  if (encoding !== undefined && !/(^|,)[ \t]*chunked[ \t]*$/i.test(encoding))
    return 'The Transfer-Encoding of the request does not end in chunked.';
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

const NOT_HTTP = { status: 400, detail: 'The request is not valid HTTP.' };
/** Status and detail by Node's error code. */
const UNREADABLE: Record<string, typeof NOT_HTTP> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request took too long to arrive.' },
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The URL and headers are longer than 16 KiB together.' },
};

/**
 * Answers bytes that Node could not parse as an HTTP request, and closes the connection. A connection that waits for the answer to
 * an earlier request, or has had the answer to this one, is closed after those answers. A further one would be taken for another
 * request's.
 *
 * @param code Node's error code
 * @param answerOf makes the headers and the body of the answer
 * @returns the status, or undefined if nothing was sent
 */
export function answerUnreadable(
  code: string,
  socket: Socket,
  answerOf: (problem: typeof NOT_HTTP) => { headers: Readonly<Record<string, string>>; body: Buffer },
): number | undefined {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  if (isWithinRequest(socket)) return closeAfterAnswers(socket);
  const problem = UNREADABLE[code] ?? NOT_HTTP;
  const { headers, body } = answerOf(problem);
  const all = { ...headers, Connection: 'close', 'Content-Length': body.length };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`);
  socket.destroySoon();
  return problem.status;
}

/** Node has no public way to find out what a connection does when its bytes cannot be parsed. */
interface ServerSocket extends Socket {
  /** The answer that is being made. */
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
}

const closing = new WeakSet<Socket>();

function closeAfterAnswers(socket: ServerSocket): undefined {
  if (closing.has(socket)) return;
  closing.add(socket);
  const closeOrWait = () => {
    if (socket._httpMessage) socket._httpMessage.once('close', closeOrWait);
    else socket.destroySoon();
  };
  closeOrWait();
}

/** Checks whether an answer is being made, or the body of a request has not arrived. */
function isWithinRequest({ _httpMessage, parser }: ServerSocket): boolean {
  return Boolean(_httpMessage) || parser?.incoming?.complete === false;
}

const CLOSE_WITHIN_MS = 5_000;

/**
 * Answers all accepted requests and closes each connection as soon as it is idle. After CLOSE_WITHIN_MS it closes the remaining
 * connections too. Resolves when all are closed.
 */
export async function closeHttpServer(app: { server: Server; close(): PromiseLike<unknown> }): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), 50);
  // Node does not count a connection as idle if no request ever came on it.
  const late = setTimeout(() => app.server.closeAllConnections(), CLOSE_WITHIN_MS);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(late);
  }
}
