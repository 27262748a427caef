/** A kind of error of a public HTTP API. `help` is its text on the page of errors. */
export interface ProblemKind {
  status: number;
  title: string;
  help: string;
}

/**
 * Encodes an error as `application/problem+json` (RFC 9457).
 *
 * @param problem.type URL of the error's entry on the page of errors
 * @param problem.code the name of the error, for programs
 * @param problem.more further members of the body
 */
export function encodeProblem(problem: {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  requestId: string;
  more?: Readonly<Record<string, unknown>>;
}): { headers: Record<string, string>; body: Buffer } {
  const { type, title, status, detail, code, requestId, more } = problem;
  return {
    headers: { 'Cache-Control': 'no-store', 'Content-Type': 'application/problem+json' },
    body: Buffer.from(JSON.stringify({ type, title, status, detail, code, request_id: requestId, ...more })),
  };
}
