import { Fault, type FaultKind } from '../base/fault.ts';

/** A kind of error of a public HTTP API. `help` is its text on the page of errors. */
export interface ProblemKind {
  status: number;
  title: string;
  help: string;
}

/** The codes of errors that every public server answers with. The server's table of kinds has these codes and further ones. */
export type CommonCode = 'request_invalid' | 'method_not_allowed' | 'internal' | 'upstream_unavailable';

/** An answer that reports an error. Callers see `detail`: it says what they can do, and holds no token and no internal address. */
export interface ProblemDetails<Code extends string = CommonCode> {
  code: Code;
  detail: string;
  /** Further headers than those of every problem. */
  headers: Readonly<Record<string, string>>;
  /** Further members of the body. */
  more?: Readonly<Record<string, unknown>>;
}

/** Ends a request: the server answers with the problem. */
export class HttpProblem<Code extends string = CommonCode> extends Error {
  override readonly name: string = 'HttpProblem';
  readonly problem: ProblemDetails<Code>;

  constructor(
    code: NoInfer<Code>,
    detail: string,
    headers: Readonly<Record<string, string>> = {},
    options?: ErrorOptions,
  ) {
    super(code, options);
    this.problem = { code, detail, headers };
  }

  /** Whether the service has failed, and not the caller. */
  get isFailure(): boolean {
    return ['internal', 'upstream_unavailable'].includes(this.problem.code);
  }
}

/**
 * Maps any error to a problem. A Fault of a kind in `retryAfter` becomes 503 `upstream_unavailable`, every other error 500.
 *
 * @param retryAfter when to try again, in seconds, by the kind of Fault. A Fault that says when takes precedence
 * @param detail tells the caller of a 503 what to do
 */
export function httpProblemFrom<Code extends string>(
  error: unknown,
  { retryAfter, detail }: { retryAfter: Partial<Record<FaultKind, string>>; detail: string },
): HttpProblem<Code | CommonCode> {
  if (error instanceof HttpProblem) return error;
  const seconds = error instanceof Fault ? retryAfter[error.kind] : undefined;
  if (error instanceof Fault && seconds !== undefined) {
    const headers = { 'Retry-After': String(error.retryAfterSeconds ?? seconds) };
    return new HttpProblem('upstream_unavailable', detail, headers, { cause: error });
  }
  const failed = 'The service failed. Try again, and report the request id if it stays.';
  return new HttpProblem('internal', failed, {}, { cause: error });
}

/**
 * Encodes a problem as `application/problem+json` (RFC 9457).
 *
 * @param kinds the server's table of errors
 * @param context.docsUrl URL of the page of errors. A problem's `type` is this URL with the code as fragment
 * @param context.status replaces the status that belongs to the problem's code
 */
export function encodeProblem<Code extends string>(
  { code, detail, headers, more }: ProblemDetails<Code>,
  kinds: Readonly<Record<Code, ProblemKind>>,
  context: { docsUrl: string; requestId: string; status?: number },
): { status: number; headers: Record<string, string>; body: Buffer } {
  const { docsUrl, requestId, status = kinds[code].status } = context;
  const { title } = kinds[code];
  const type = `${docsUrl}#${code}`;
  return {
    status,
    headers: { 'Cache-Control': 'no-store', 'Content-Type': 'application/problem+json', ...headers },
    body: Buffer.from(JSON.stringify({ type, title, status, detail, code, request_id: requestId, ...more })),
  };
}
