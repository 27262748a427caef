import { type ServerResponse, STATUS_CODES } from 'node:http';
import { PUBLIC_SERVER } from '@brand-data/runtime';

/** Node gives a text below 16 KiB to the kernel from the stack. A head has about 1 KiB. */
const LONGEST_BODY = 12 * 1_024;
const STAYS_OPEN = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(PUBLIC_SERVER.keepAliveTimeout / 1_000)}\r\n\r\n`;

/**
 * Sends an answer in one write, with the bytes that Node's own `writeHead` and `end` would send. They check, classify and join each
 * header anew, and write head and body apart: a quarter of the processor time of a call.
 *
 * Returns false, and sends nothing, if Node has to decide more: if the connection does not stay open after this answer, if the request
 * is of HTTP/1.0, if the connection still waits for an earlier answer, or if the body is long. Headers that somebody has set on the response are not sent.
 *
 * @param head the headers without Date, Connection and Keep-Alive, each as a line that ends with CRLF. They are not checked
 */
export function sendWhole(
  response: ServerResponse,
  { status, head, body }: { status: number; head: string; body: Buffer | undefined },
): boolean {
  // Node gives a response its socket when all earlier ones of the connection are finished.
  const { socket, req } = response;
  if (!socket?.writable || !response.shouldKeepAlive || req.httpVersion !== '1.1') return false;
  if (body !== undefined && body.length > LONGEST_BODY) return false;
  const text = body === undefined || req.method === 'HEAD' ? '' : body.toString('latin1');
  const answer = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}Date: ${dateNow()}\r\n${STAYS_OPEN}${text}`;
  socket.write(answer, 'latin1', (error) => {
    // As after every answer, Node then turns to the next request of the connection.
    if (!error) response.emit('finish');
  });
  return true;
}

let second = 0;
let date = '';

/** The value of the header Date, which is made once a second. */
function dateNow(): string {
  const now = Math.floor(Date.now() / 1_000);
  if (now !== second) {
    second = now;
    date = new Date(now * 1_000).toUTCString();
  }
  return date;
}
