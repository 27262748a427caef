import {
  addMonths,
  type Credential,
  isMonth,
  type MeteringServiceClient,
  MONTHS_KEPT,
  type MonthUsage,
  monthOf,
  Route,
} from '@brand-data/contracts';
import { type Clock, callUnary } from '@brand-data/runtime';
import { LRUCache } from 'lru-cache';
import type { Content } from '../answers/answer.ts';
import { ProblemError } from '../answers/problem.ts';
import { answerUncounted, type CallerClaims } from '../auth/caller.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { Usage } from './usage-schema.ts';

const MONTHS_BEFORE = MONTHS_KEPT - 1;
const READ_WITHIN_MS = 3_000;
/** How long an answer of metering is used. Its figures may be half a second older: callers see figures of the last 2 s. */
const USED_FOR_MS = 1_000;
const CACHE_BYTES = 32 * 1024 ** 2;

export interface UsageRequest {
  caller: CallerClaims;
  /** Values of the query parameter `month`. */
  months: string[];
}

/** Returns the answer about one account and month, which is at most a second old. */
export type UsageAnswers = (credential: Credential, month: string) => Promise<Content>;

/**
 * Answers how many calls of the caller's account are billed in a month. Never counted. Throws ProblemError. If `complete` is true,
 * the answer includes every call that was answered more than 2 s before this one.
 */
export function answerUsage(
  { tokens, usageAnswers, now }: { tokens: Tokens; usageAnswers: UsageAnswers; now: () => number },
  request: UsageRequest,
): Promise<Content & { accountId: string }> {
  return answerUncounted(tokens, request.caller, async (credential) =>
    usageAnswers(credential, monthAskedFor(request, now())),
  );
}

/** Reads usage from metering. However many calls come for one account and month, it sends one request in a second. */
export function createUsageAnswers(metering: MeteringServiceClient, clock: Pick<Clock, 'now'>): UsageAnswers {
  const cached = new LRUCache<string, { sinceMs: number; answer: Content }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ answer }) => 1_000 + (answer.body?.length ?? 0),
  });
  const reading = new Map<string, Promise<Content>>();

  const read = async (key: string, credential: Credential, month: string): Promise<Content> => {
    const { monotonicMs: sinceMs, wallMs } = clock.now();
    const { usage } = await callUnary(
      metering,
      metering.readUsage,
      { accountId: credential.accountId, month, allowance: credential.allowance },
      { deadlineMs: READ_WITHIN_MS },
    );
    const answer = presentUsage(usage, credential, { month, isCurrent: month === monthOf(wallMs) });
    cached.set(key, { sinceMs, answer });
    return answer;
  };

  return (credential, month) => {
    // The revision stands for the plan and its allowances, which are in the answer.
    const key = `${credential.accountId} ${credential.limitRevision} ${month}`;
    const known = cached.get(key);
    if (known && clock.now().monotonicMs - known.sinceMs < USED_FOR_MS) return Promise.resolve(known.answer);
    let pending = reading.get(key);
    if (!pending) {
      pending = read(key, credential, month).finally(() => reading.delete(key));
      reading.set(key, pending);
    }
    return pending;
  };
}

function presentUsage(
  usage: MonthUsage | undefined,
  { accountId, plan, routes }: Credential,
  { month, isCurrent }: { month: string; isCurrent: boolean },
): Content {
  const billed = new Map((usage?.pools ?? []).map((pool) => [pool.pool, pool]));
  const allowances = new Map(routes.map(({ pool, allowance }) => [pool, allowance]));
  const pools = [...new Set([...allowances.keys(), ...billed.keys()])].sort().map((pool) => {
    const { used = 0, limit = 0, cells = [] } = billed.get(pool) ?? {};
    // A past month has the limit that metering last used in it. The current month has the plan's allowance, which is 0 for a pool
    // that the plan does not have any more.
    const allowance = isCurrent ? (allowances.get(pool) ?? 0) : limit;
    return {
      pool,
      allowance,
      used,
      remaining: Math.max(0, allowance - used),
      breakdown: cells.map(cellToJson),
    };
  });
  const { final = false, complete = false } = usage ?? {};
  const answer: Usage = { account: accountId, plan, month, final, complete, pools };
  return {
    status: 200,
    headers: { 'Cache-Control': 'no-store', 'Content-Type': 'application/json; charset=utf-8' },
    body: Buffer.from(JSON.stringify(answer)),
  };
}

const ROUTE_NAME: Record<Route, UsageCell['route']> = {
  [Route.UNSPECIFIED]: 'unknown',
  [Route.BRANDS]: 'brands',
  [Route.LOGOS]: 'logos',
};

type UsageCell = Usage['pools'][number]['breakdown'][number];

function cellToJson(cell: MonthUsage['pools'][number]['cells'][number]): UsageCell {
  const { day, keyId, route, status, count } = cell;
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
