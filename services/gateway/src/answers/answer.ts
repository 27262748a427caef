import { encodeProblem } from '@brand-data/runtime';
import { PROBLEMS, type Problem } from './problem.ts';

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
 * Returns the value of Cache-Control, which lets browsers and shared caches keep an answer.
 *
 * @param isPrivate whether the answer is to a key with a list of origins. The caller's cache alone may keep it: a shared cache would
 *   give it to callers from other origins, and a page of another origin could have it from the browser's cache
 */
export function cacheHeader(seconds: number, isPrivate: boolean): string {
  return `${isPrivate ? 'private' : 'public'}, max-age=${seconds}`;
}
