import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

const CLOSE_WITHIN_MS = 5_000;

/**
 * Answers all accepted requests and closes each connection as soon as it is idle. After CLOSE_WITHIN_MS it closes the others too.
 * Resolves when all are closed.
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

const NOT_HTTP = { status: 400, detail: 'The request is not valid HTTP.' };
/** Status and detail by Node's error code. */
const UNREADABLE: Record<string, typeof NOT_HTTP> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request took too long to arrive.' },
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The URL and headers are longer than 16 KiB together.' },
};

/**
 * Answers bytes that Node could not parse as an HTTP request, and closes the connection.
 *
 * @param code Node's error code
 * @param answerOf makes the headers and the body of the answer
 * @returns the status, or undefined if the connection has broken and nothing was sent
 */
export function answerUnreadable(
  code: string,
  socket: Socket,
  answerOf: (problem: { status: number; detail: string }) => {
    headers: Readonly<Record<string, string>>;
    body: Buffer;
  },
): number | undefined {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const problem = UNREADABLE[code] ?? NOT_HTTP;
  const { headers, body } = answerOf(problem);
  const lines = Object.entries({
    ...headers,
    Connection: 'close',
    'Content-Length': String(body.length),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`);
  socket.destroySoon();
  return problem.status;
}
