import type { ServerResponse } from 'node:http';
import type { Credential } from '@brand-data/contracts';
import { encodeProblem } from '@brand-data/runtime';
import type { FastifyReply } from 'fastify';
import { COMMON_HEADERS } from './cors.ts';
import { headText, namesAndValues } from './head.ts';
import { PROBLEMS, type Problem } from './problem.ts';
import { sendWhole } from './whole-answer.ts';

/** An answer's status, body, and headers in addition to those that every answer has. */
export interface Content {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** Further headers, as lines that end with CRLF (head.ts). */
  head?: string;
  body?: Buffer;
}

/** The answer to a call. */
export type Answer = Content | Problem;

interface ProblemContext {
  /** URL of the page of error codes. A problem's `type` is this URL with the code as fragment. */
  docsUrl: string;
  requestId: string;
}

const COMMON_LINES = Object.entries(COMMON_HEADERS).flat();
const COMMON_HEAD = headText(COMMON_HEADERS);

/**
 * Returns the function that sends every answer. It writes an answer with a record as a whole, and gives Node the headers of others in
 * one array: Fastify sets each header by itself, which takes a fifth of the processor time of a call.
 *
 * @param isDraining whether this replica drains. Callers then have to open new connections, which load balancers send to others
 * @param answered called for each answer with the time since the request, in milliseconds; also if the caller has hung up: the call may be billed
 */
export function createSend({
  docsUrl,
  isDraining,
  answered,
}: {
  docsUrl: string;
  isDraining: () => boolean;
  answered: (reply: FastifyReply, status: number, tookMs: number) => void;
}): (reply: FastifyReply, answer: Answer) => FastifyReply {
  return (reply, answer) => {
    const requestId = reply.request.id;
    const content = 'code' in answer ? contentOfProblem(answer, { docsUrl, requestId }) : answer;
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

/** The names and values of an answer's headers in turn, as Node's `writeHead` takes them. */
function linesOf(
  { headers, head = '', body }: Content,
  { requestId, isLast }: { requestId: string; isLast: boolean },
): string[] {
  const lines = [...COMMON_LINES, 'X-Request-Id', requestId, ...namesAndValues(head)];
  for (const name in headers) lines.push(name, headers[name] ?? '');
  if (isLast && headers.Connection === undefined) lines.push('Connection', 'close');
  if (body) lines.push('Content-Length', String(body.length));
  return lines;
}

/**
 * Encodes a problem as `application/problem+json` (RFC 9457).
 *
 * @param status replaces the status that belongs to the problem's code
 */
export function contentOfProblem(
  { code, detail, suggestions, headers }: Problem,
  { docsUrl, requestId }: ProblemContext,
  status: number = PROBLEMS[code].status,
): Content & { body: Buffer } {
  const { title } = PROBLEMS[code];
  const type = `${docsUrl}#${code}`;
  const encoded = encodeProblem({ type, title, status, detail, code, requestId, more: { suggestions } });
  return { status, headers: { ...encoded.headers, ...headers }, body: encoded.body };
}

/**
 * The header that lets browsers and shared caches keep the answer. An answer to a key with a list of origins is for the caller's
 * own cache alone: a shared cache would give it to callers from other origins, and a page of another origin could have it from the
 * browser's cache.
 */
export function cacheHeaders(seconds: number, { allowedOrigins }: Pick<Credential, 'allowedOrigins'>) {
  return { 'Cache-Control': cacheHeader(seconds, allowedOrigins.length > 0) };
}

/** @param isPrivate whether the answer is to a key with a list of origins */
export function cacheHeader(seconds: number, isPrivate: boolean): string {
  return `${isPrivate ? 'private' : 'public'}, max-age=${seconds}`;
}
