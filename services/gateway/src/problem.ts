import { Fault } from '@brand-data/runtime';

/** The public API's errors (`api-decisions.md`, "Answers"): each code has one status and one title. */
export const PROBLEMS = {
  identifier_invalid: { status: 400, title: 'The identifier is not valid' },
  month_invalid: { status: 400, title: 'The month is not valid' },
  token_missing: { status: 401, title: 'No token was given' },
  token_invalid: { status: 401, title: 'The token is not valid' },
  plan_required: { status: 403, title: 'The plan does not include this route' },
  origin_not_allowed: { status: 403, title: 'The key may not be used from this origin' },
  route_not_found: { status: 404, title: 'There is no such route' },
  identifier_not_found: { status: 404, title: 'Nothing is known by this identifier' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  quota_exceeded: { status: 429, title: "The month's quota is used up" },
  internal: { status: 500, title: 'Something went wrong on our side' },
  upstream_unavailable: { status: 503, title: 'A part of the service did not answer in time' },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** An answer other than a record. The detail is public: it says what to do, and holds no token and no inner address. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly detail: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ProblemCode,
    detail: string,
    headers: Record<string, string> = {},
    options?: ErrorOptions,
  ) {
    super(code, options);
    this.code = code;
    this.detail = detail;
    this.headers = headers;
  }
}

/** The body, `application/problem+json` (RFC 9457). */
export function problemBody(
  { code, detail }: Problem,
  { docsUrl, requestId }: { docsUrl: string; requestId: string },
): string {
  const { status, title } = PROBLEMS[code];
  return JSON.stringify({ type: `${docsUrl}#${code}`, title, status, detail, code, request_id: requestId });
}

/** The one mapping of the services' faults to the public API's errors. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Fault && error.kind === 'unavailable') {
    const detail = 'A part of the service did not answer in time. Try again in a second.';
    return new Problem('upstream_unavailable', detail, { 'Retry-After': '1' }, { cause: error });
  }
  return new Problem(
    'internal',
    'The service failed. Try again, and report the request id if it stays.',
    {},
    { cause: error },
  );
}
