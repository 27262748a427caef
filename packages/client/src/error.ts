import { type AnswerFacts, answerFacts, retryAfterOf } from './answer.ts';
import type { NoCompany, Problem, ProblemCode, Suggestion } from './gen/types.ts';

/**
 * The service's codes, and those of the client:
 * - `timed_out`: the call was not answered within `timeoutMs`
 * - `network_failed`: no answer arrived. In a browser this may also be a content security policy
 * - `answer_unreadable`: the answer is not from the service, such as a proxy's page
 */
export type ErrorCode = ProblemCode | 'timed_out' | 'network_failed' | 'answer_unreadable';

interface ErrorFields extends Partial<AnswerFacts> {
  status?: number;
  suggestions?: Suggestion[];
  noCompany?: NoCompany | undefined;
  retryAfter?: number | undefined;
}

/** A call that brought no data. It never holds the token. */
export class BrandDataError extends Error implements AnswerFacts {
  override readonly name = 'BrandDataError';
  /** Later versions of the service may have further codes. Treat a code that you do not know by its status. */
  readonly code: ErrorCode | (string & {});
  /** HTTP status of the answer. undefined if there is none. */
  readonly status: number | undefined;
  /** What went wrong with this call, and what to do. For people: the text may change. */
  readonly detail: string;
  /** Records that may be meant. Only `identifier_not_found` has them. */
  readonly suggestions: readonly Suggestion[] = [];
  /** What the identifier means, if that is a fund, a currency or the like. Only `identifier_not_found` has it. */
  readonly noCompany: NoCompany | undefined;
  /** Seconds to wait before the next call. */
  readonly retryAfter: number | undefined;
  readonly requestId: string | undefined;
  readonly charged: boolean | undefined;
  readonly quota: AnswerFacts['quota'];
  readonly rate: AnswerFacts['rate'];

  constructor(code: ErrorCode | (string & {}), detail: string, fields: ErrorFields = {}) {
    super(detail);
    this.code = code;
    this.detail = detail;
    Object.assign(this, fields);
  }
}

/** Returns the error that an answer reports. Reads its body. */
export async function errorFrom(response: Response): Promise<BrandDataError> {
  const { status, headers } = response;
  const fields = { ...answerFacts(headers), status, retryAfter: retryAfterOf(headers) };
  const problem = problemIn(await response.text());
  if (problem === undefined) return unreadable(fields);
  const { code, detail, suggestions = [], no_company: noCompany, request_id: requestId } = problem;
  return new BrandDataError(code, detail, {
    ...fields,
    requestId: fields.requestId ?? requestId,
    suggestions,
    noCompany,
  });
}

export function unreadable(fields: ErrorFields): BrandDataError {
  const detail = `The answer with status ${fields.status} is not one of the Brand Data Service. Check the option "api".`;
  return new BrandDataError('answer_unreadable', detail, fields);
}

function problemIn(body: string): Problem | undefined {
  try {
    const value = JSON.parse(body);
    return typeof value?.code === 'string' && typeof value.detail === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
