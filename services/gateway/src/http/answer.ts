import type { Credential } from '@brand-data/contracts';
import { encodeProblem } from '@brand-data/runtime';
import type { FastifyReply } from 'fastify';
import { PROBLEMS, type Problem } from './problem.ts';

/** An answer's status, body, and headers in addition to those that every answer has. */
export interface Content {
  status: number;
  headers: Readonly<Record<string, string>>;
  body?: Buffer;
}

/** The answer to a call. */
export type Answer = Content | Problem;

interface ProblemContext {
  /** URL of the page of error codes. A problem's `type` is this URL with the code as fragment. */
  docsUrl: string;
  requestId: string;
}

/** Returns the function that sends every answer: it writes the answer's status, headers and bytes. */
export function createSend(docsUrl: string): (reply: FastifyReply, answer: Answer) => FastifyReply {
  return (reply, answer) => {
    const { status, headers, body } =
      'code' in answer ? contentOfProblem(answer, { docsUrl, requestId: reply.request.id }) : answer;
    return reply.code(status).headers(headers).send(body);
  };
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
  return { 'Cache-Control': `${allowedOrigins.length > 0 ? 'private' : 'public'}, max-age=${seconds}` };
}
