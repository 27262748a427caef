import { boundsOfMonth, monthOf } from '@brand-data/contracts';
import type { Allowance } from '../quota/holding.ts';

/** Returns the length of the calendar month (UTC) around an instant, and the time left of it, in seconds. */
export function monthAround(nowMs: number): { lengthSeconds: number; leftSeconds: number } {
  const { startMs, endMs } = boundsOfMonth(monthOf(nowMs));
  return { lengthSeconds: (endMs - startMs) / 1000, leftSeconds: Math.ceil((endMs - nowMs) / 1000) };
}

/** Returns RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers), or no header if `remaining` is unknown. */
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
