import { HttpProblem, httpProblemFrom, type ProblemKind } from '@brand-data/runtime/http';
import kinds from './problems.json' with { type: 'json' };

/** The public API's errors (services/gateway/README.md, "Answers"). `help` is for the page of errors, `example` from a true answer. */
export const PROBLEMS: Record<ProblemCode, ProblemKind & { example: ProblemExample }> = kinds;

export type ProblemCode = keyof typeof kinds;

interface ProblemExample {
  detail: string;
  suggestions?: { name: string; identifier: string }[];
}

/** Ends a call: the gateway answers with the problem. */
export class ProblemError extends HttpProblem<ProblemCode> {
  override readonly name = 'ProblemError';
  /** The account whose call this is, if that is known. */
  readonly accountId: string | undefined;

  constructor(
    code: ProblemCode,
    detail: string,
    headers: Readonly<Record<string, string>> = {},
    { accountId, ...options }: ErrorOptions & { accountId?: string | undefined } = {},
  ) {
    super(code, detail, headers, options);
    this.accountId = accountId;
  }

  /** Returns the same error for a call of this account, with these additional headers. The error's own headers take precedence. */
  of(accountId: string, headers: Record<string, string> = {}): ProblemError {
    const { code, detail, headers: own } = this.problem;
    return new ProblemError(code, detail, { ...headers, ...own }, { cause: this.cause, accountId });
  }
}

const UNAVAILABLE = {
  // Metering says `unauthenticated` if the time of accounts' word about the account is over: accounts has not answered for minutes.
  retryAfter: { unavailable: '1', unauthenticated: '1' },
  detail: 'A part of the service did not answer in time. Try again when the seconds of Retry-After are over.',
};

/** Maps any error to an error of the public API: Fault `unavailable` becomes 503, every other unexpected error 500. */
export function problemErrorFrom(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  const { problem, cause } = httpProblemFrom<ProblemCode>(error, UNAVAILABLE);
  return new ProblemError(problem.code, problem.detail, problem.headers, { cause });
}
