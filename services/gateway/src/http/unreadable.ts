import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { contentOfProblem } from './answer.ts';
import { commonHeaders } from './cors.ts';

const NOT_HTTP = { status: 400, detail: 'The request is not valid HTTP.' };
/** Status and detail by Node's error code. */
const UNREADABLE: Record<string, typeof NOT_HTTP> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request took too long to arrive.' },
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The URL and headers are longer than 16 KiB together.' },
};

/**
 * Answers bytes that Node could not parse as an HTTP request. The answer is a problem with the same headers as other problems.
 *
 * @param code Node's error code
 * @returns the status, or undefined if the connection has broken and nothing was sent
 */
export function answerUnreadable(code: string, socket: Socket, docsUrl: string): number | undefined {
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return undefined;
  }
  const requestId = randomUUID();
  const { status, detail } = UNREADABLE[code] ?? NOT_HTTP;
  const problem = { code: 'request_invalid', detail, headers: {} } as const;
  const { headers, body } = contentOfProblem(problem, { docsUrl, requestId }, status);
  const lines = Object.entries({
    ...commonHeaders(requestId),
    ...headers,
    Connection: 'close',
    'Content-Length': String(body.length),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  socket.destroySoon();
  return status;
}
