import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

const NOT_HTTP = { status: 400, detail: 'The request is not valid HTTP.' };
/** Status and detail by Node's error code. */
const UNREADABLE: Record<string, typeof NOT_HTTP> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request took too long to arrive.' },
  HPE_HEADER_OVERFLOW: { status: 431, detail: 'The URL and headers are longer than 16 KiB together.' },
};

/**
 * Answers bytes that Node could not parse as an HTTP request, and closes the connection. If the connection waits for the answer to
 * an earlier request, or has had the answer to this one, it is closed without a further answer, which would be taken for another
 * one's, after the answers that it waits for.
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
  if (isWithinRequest(socket)) {
    closeAfterAnswers(socket);
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

/** Node has no public way to find out what a connection does when its bytes cannot be parsed. */
interface ServerSocket extends Socket {
  /** The answer that is being made. */
  _httpMessage?: ServerResponse | null;
  parser?: { incoming?: IncomingMessage | null } | null;
}

const closing = new WeakSet<Socket>();

function closeAfterAnswers(socket: ServerSocket): void {
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
