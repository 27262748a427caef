import type { HttpAnswer, ProblemDetails } from '@brand-data/runtime/http';
import type { ProblemCode } from './problem.ts';

export interface Content extends HttpAnswer {
  /** Further headers, as lines that end with CRLF (head.ts). */
  head?: string;
}

/** The answer to a call. */
export type CallAnswer = Content | ProblemDetails<ProblemCode>;

/**
 * Returns the value of Cache-Control, which lets browsers and shared caches keep an answer.
 *
 * @param isPrivate whether the answer is to a key with a list of origins. The caller's cache alone may keep it: a shared cache would
 *   give it to callers from other origins, and a page of another origin could have it from the browser's cache
 */
export function cacheHeader(seconds: number, isPrivate: boolean): string {
  return `${isPrivate ? 'private' : 'public'}, max-age=${seconds}`;
}
