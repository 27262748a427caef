import { boundsOfMonth, monthOf } from '@brand-data/contracts';
import type { Allowance } from '../quota/holding.ts';

/** The calendar month (UTC) around an instant, in seconds as the RateLimit fields count them. */
export function monthAround(nowMs: number): { lengthSeconds: number; leftSeconds: number } {
  const { startMs, endMs } = boundsOfMonth(monthOf(nowMs));
  return { lengthSeconds: (endMs - startMs) / 1000, leftSeconds: Math.ceil((endMs - nowMs) / 1000) };
}

/** RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers); none while the figures are not known. */
export function rateLimitHeaders(
  { limit }: Allowance,
  remaining: number | undefined,
  nowMs: number,
): Record<string, string> {
  if (remaining === undefined) return {};
  const { lengthSeconds, leftSeconds } = monthAround(nowMs);
  return {
    'RateLimit-Policy': `"month";q=${limit};w=${lengthSeconds}`,
    RateLimit: `"month";r=${Math.max(0, Math.min(limit, remaining))};t=${leftSeconds}`,
  };
}
