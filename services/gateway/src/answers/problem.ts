import { HttpProblem, httpProblemFrom, type ProblemKind } from '@brand-data/runtime/http';

/** The public API's errors (services/gateway/README.md, "Answers"). `help` is the code's text on the page of errors. */
export const PROBLEMS = {
  identifier_invalid: {
    status: 400,
    title: 'The identifier is not valid',
    help: 'Give 1 to 256 characters, percent-encoded as UTF-8, without control characters. Not counted.',
  },
  month_invalid: {
    status: 400,
    title: 'The month is not valid',
    help: 'Give this month or one of the 24 before it, as YYYY-MM. Not counted.',
  },
  request_invalid: {
    status: 400,
    title: 'The request could not be read',
    help: 'It is not valid HTTP (400), took too long to arrive (408), or its URL and headers are too long (431). Not counted.',
  },
  token_missing: {
    status: 401,
    title: 'No token was given',
    help: 'Give the publishable token in the query parameter `token`. It is not read from headers or bodies. Not counted.',
  },
  token_invalid: {
    status: 401,
    title: 'The token is not valid',
    help: 'The token is mistyped, unknown, given twice, revoked or expired, or its account is closed. Not counted.',
  },
  plan_required: {
    status: 403,
    title: 'The plan does not include this route',
    help: "The account's plan has no allowance for this route. Change to a plan that does. Not counted.",
  },
  origin_not_allowed: {
    status: 403,
    title: 'The key may not be used from this origin',
    help: "The key has a list of origins, and the request's Origin (or, without one, its Referer) is not on it. Not counted.",
  },
  route_not_found: {
    status: 404,
    title: 'There is no such route',
    help: 'The routes are /v1/brands/{identifier}, /api/logos/{identifier}/info and /v1/usage. Not counted.',
  },
  identifier_not_found: {
    status: 404,
    title: 'Nothing is known by this identifier',
    help: 'No company is known by it. `detail` says how it was read and, where that is known, what is wrong with it. `suggestions` holds at most three companies that may be meant. The answer may be cached for a minute. Counted.',
  },
  method_not_allowed: {
    status: 405,
    title: 'The method is not allowed here',
    help: 'Use GET, HEAD or OPTIONS. Not counted.',
  },
  quota_exceeded: {
    status: 429,
    title: "The month's quota is used up",
    help: 'All further calls are refused until the next month begins, at 00:00 UTC: see Retry-After. Not counted.',
  },
  rate_limited: {
    status: 429,
    title: 'Too many calls at once',
    help: 'The account or the key makes more calls a second, or has more under way at once, than it may. Or too many tokens that are not known are being tried. Try again after Retry-After seconds. Not counted.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong on our side',
    help: 'A defect. Report the request id. Whether it was counted is in X-Quota-Charged.',
  },
  overloaded: {
    status: 503,
    title: 'The service has too much to do',
    help: 'Calls of accounts with many calls at once are refused first. Try again after Retry-After seconds. Not counted.',
  },
  upstream_unavailable: {
    status: 503,
    title: 'A part of the service did not answer in time',
    help: 'Try again after Retry-After seconds. Whether it was counted is in X-Quota-Charged.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof PROBLEMS;

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
  retryAfter: { unavailable: '1' },
  detail: 'A part of the service did not answer in time. Try again in a second.',
};

/** Maps any error to an error of the public API: Fault `unavailable` becomes 503, every other unexpected error 500. */
export function problemErrorFrom(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  const { problem, cause } = httpProblemFrom<ProblemCode>(error, UNAVAILABLE);
  return new ProblemError(problem.code, problem.detail, problem.headers, { cause });
}
