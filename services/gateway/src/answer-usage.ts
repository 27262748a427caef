import {
  addMonths,
  isMonth,
  type MeteringServiceClient,
  MONTHS_KEPT,
  type MonthUsage,
  monthOf,
  Route,
} from '@brand-data/contracts';
import { callUnary } from '@brand-data/runtime';
import { authenticate, type Caller, checkOrigin } from './auth/caller.ts';
import type { Tokens } from './auth/tokens.ts';
import type { Content } from './http/answer.ts';
import { ProblemError } from './http/problem.ts';

const MONTHS_BEFORE = MONTHS_KEPT - 1;
const READ_WITHIN_MS = 3_000;

export interface UsageRequest extends Caller {
  /** Values of the query parameter `month`. */
  months: string[];
}

/**
 * Answers how many calls of the caller's account are billed in a month. If `complete` in the answer is true, the answer includes
 * every call that was answered before this one. Otherwise some may be missing. This call is never counted. Throws ProblemError.
 */
export async function answerUsage(
  { tokens, metering, now }: { tokens: Tokens; metering: MeteringServiceClient; now: () => number },
  request: UsageRequest,
): Promise<Content> {
  const { accountId, plan, routes, ...credential } = await authenticate(tokens, request);
  checkOrigin(credential, request);
  const month = monthAskedFor(request, now());
  const { usage } = await callUnary(
    metering,
    metering.readUsage,
    { accountId, month },
    { deadlineMs: READ_WITHIN_MS },
  );

  const billed = new Map((usage?.pools ?? []).map((pool) => [pool.pool, pool]));
  const allowances = new Map(routes.map(({ pool, allowance }) => [pool, allowance]));
  const pools = [...new Set([...allowances.keys(), ...billed.keys()])].sort().map((pool) => {
    const { used = 0, limit = 0, cells = [] } = billed.get(pool) ?? {};
    // A past month has the limit that metering last used in it. The current month has the plan's allowance.
    const allowance = (month === monthOf(now()) ? allowances.get(pool) : undefined) ?? limit;
    return {
      pool,
      allowance,
      used,
      remaining: Math.max(0, allowance - used),
      breakdown: cells.map(cellToJson),
    };
  });
  const { final = false, complete = false } = usage ?? {};
  const body = JSON.stringify({ account: accountId, plan, month, final, complete, pools });
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store', 'Content-Type': 'application/json; charset=utf-8' },
    body: Buffer.from(body),
  };
}

const ROUTE_NAME: Record<Route, string> = {
  [Route.UNSPECIFIED]: 'unknown',
  [Route.BRANDS]: 'brands',
  [Route.LOGOS]: 'logos',
};

function cellToJson({ day, keyId, route, status, count }: MonthUsage['pools'][number]['cells'][number]) {
  // Status 0: metering has billed the call, but its status is lost.
  return { day, key: keyId, route: ROUTE_NAME[route], status: status || null, count };
}

/** Returns the requested month, or the current month if the caller named none. Throws ProblemError for any other month. */
function monthAskedFor({ months }: UsageRequest, nowMs: number): string {
  const current = monthOf(nowMs);
  const [month = current, ...more] = months;
  const known = isMonth(month) && month >= addMonths(current, -MONTHS_BEFORE) && month <= current;
  if (known && more.length === 0) return month;
  const detail = `Give one month as YYYY-MM, this one or one of the ${MONTHS_BEFORE} before it.`;
  throw new ProblemError('month_invalid', detail);
}
