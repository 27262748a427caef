import type { FastifyReply } from 'fastify';
import { PROBLEMS, type Problem } from './problem.ts';

/** A status, headers beside those of every answer, and bytes. */
export interface Content {
  status: number;
  headers: Readonly<Record<string, string>>;
  body?: Buffer;
}

/** What a call is answered. */
export type Answer = Content | Problem;

/** Page of the error codes; a problem's `type` leads there. */
interface ProblemContext {
  docsUrl: string;
  requestId: string;
}

/** The one way out: writes an answer's status, headers and bytes. */
export function createSend(docsUrl: string): (reply: FastifyReply, answer: Answer) => FastifyReply {
  return (reply, answer) => {
    const { status, headers, body } =
      'code' in answer ? contentOfProblem(answer, { docsUrl, requestId: reply.request.id }) : answer;
    return reply.code(status).headers(headers).send(body);
  };
}

/**
 * `application/problem+json` (RFC 9457).
 *
 * @param status in place of the code's own
 */
export function contentOfProblem(
  { code, detail, headers }: Problem,
  { docsUrl, requestId }: ProblemContext,
  status: number = PROBLEMS[code].status,
): Content & { body: Buffer } {
  const { title } = PROBLEMS[code];
  const type = `${docsUrl}#${code}`;
  return {
    status,
    headers: {
      'Cache-Control': 'no-store',
      'Content-Type': 'application/problem+json',
      ...headers,
    },
    body: Buffer.from(JSON.stringify({ type, title, status, detail, code, request_id: requestId })),
  };
}
