import { type ServerResponse, STATUS_CODES } from 'node:http';
import { encodeProblem, PUBLIC_SERVER } from '@brand-data/runtime/http';
import type { FastifyReply } from 'fastify';
import { type CallAnswer, COMMON_HEADERS, type Content, headersIn, headText } from '../answers/answer.ts';
import { PROBLEMS } from '../answers/problem.ts';

const COMMON_LINES = Object.entries(COMMON_HEADERS).flat();
const COMMON_HEAD = headText(COMMON_HEADERS);

/**
 * Returns the function that sends every answer. It writes an answer with a record as a whole, and gives Node the headers of other
 * answers in one array: Fastify sets each header by itself, which takes a fifth of the processor time of a call.
 *
 * @param isDraining whether this replica drains, so that callers have to open new connections, at other replicas
 * @param answered called for each answer with the milliseconds since the request; also if the caller has hung up
 */
export function createSend({
  docsUrl,
  isDraining,
  answered,
}: {
  docsUrl: string;
  isDraining: () => boolean;
  answered: (reply: FastifyReply, status: number, tookMs: number) => void;
}): (reply: FastifyReply, answer: CallAnswer) => FastifyReply {
  return (reply, answer) => {
    const requestId = reply.request.id;
    const content = 'code' in answer ? encodeProblem(answer, PROBLEMS, { docsUrl, requestId }) : answer;
    const isLast = isDraining();
    if (isLast || !sendRecord(reply.raw, content, requestId)) {
      // If this throws, Fastify's error handler still answers.
      reply.raw.writeHead(content.status, linesOf(content, { requestId, isLast }));
      reply.raw.end(content.body);
    }
    reply.hijack();
    answered(reply, content.status, performance.now() - reply.request.arrivedMs);
    return reply;
  };
}

/** Sends an answer with a record, if that is possible without Node's work for each header. */
function sendRecord(response: ServerResponse, content: Content, requestId: string): boolean {
  const { status, headers, body } = content;
  if (content.head === undefined) return false;
  let head = `${COMMON_HEAD}X-Request-Id: ${requestId}\r\n${content.head}`;
  for (const name in headers) head += `${name}: ${headers[name] ?? ''}\r\n`;
  if (body) head += `Content-Length: ${body.length}\r\n`;
  return sendWhole(response, { status, head, body });
}

/** Returns the names and values of an answer's headers in turn, as Node's `writeHead` takes them. */
function linesOf(
  { headers, head = '', body }: Content,
  { requestId, isLast }: { requestId: string; isLast: boolean },
): string[] {
  const lines = [...COMMON_LINES, 'X-Request-Id', requestId, ...headersIn(head).flat()];
  for (const name in headers) lines.push(name, headers[name] ?? '');
  if (isLast && headers.Connection === undefined) lines.push('Connection', 'close');
  if (body) lines.push('Content-Length', String(body.length));
  return lines;
}

/**
 * `sendWhole` puts each answer together in this buffer. The kernel takes its bytes at once, unless the receiver is slow: then the
 * connection keeps them, and the next answer gets a new buffer. A text of head and body for each call would be a third of all
 * that a call allocates.
 */
let answer = Buffer.allocUnsafeSlow(16 * 1_024);
const STAYS_OPEN = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(PUBLIC_SERVER.keepAliveTimeout / 1_000)}\r\n\r\n`;

/**
 * Sends an answer in one write, with the bytes that Node's own `writeHead` and `end` would send. Those functions check, classify
 * and join each header anew, and write head and body separately, which takes a quarter of the processor time of a call.
 *
 * Returns false, and sends nothing, if Node has to decide more: if the connection does not stay open after this answer, if the
 * request is of HTTP/1.0, if the connection still waits for an earlier answer, or if the answer is long. Headers that other code
 * has set on the response are not sent.
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
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}Date: ${dateNow()}\r\n${STAYS_OPEN}`;
  const sentBody = body === undefined || req.method === 'HEAD' ? undefined : body;
  if (text.length + (sentBody?.length ?? 0) > answer.length) return false;
  let length = answer.write(text, 'latin1');
  if (sentBody) length += sentBody.copy(answer, length);
  socket.write(answer.subarray(0, length), (error) => {
    // As after every answer, Node then turns to the next request of the connection.
    if (!error) response.emit('finish');
  });
  if (socket.writableLength > 0) answer = Buffer.allocUnsafeSlow(answer.length);
  return true;
}

let second = 0;
let date = '';

/** Returns the value of the header Date, which is made once a second. */
function dateNow(): string {
  const now = Math.floor(Date.now() / 1_000);
  if (now !== second) {
    second = now;
    date = new Date(now * 1_000).toUTCString();
  }
  return date;
}
