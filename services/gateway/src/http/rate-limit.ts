import { boundsOfMonth, monthOf } from '@brand-data/contracts';
import type { SecondPolicy } from '../limits/call-limits.ts';
import type { Allowance } from '../quota/holding.ts';

/** Returns the length of the calendar month (UTC) around an instant, and the time left of it, in seconds. */
export function monthAround(nowMs: number): { lengthSeconds: number; leftSeconds: number } {
  const { startMs, endMs } = boundsOfMonth(monthOf(nowMs));
  return { lengthSeconds: (endMs - startMs) / 1000, leftSeconds: Math.ceil((endMs - nowMs) / 1000) };
}

/**
 * Returns RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers) with the policies "month" and "second", as far as
 * the gateway knows their figures.
 *
 * @param second undefined if neither the account nor the key has a rate, or the call was refused before its rate was looked at
 */
export function rateLimitHeaders(
  { limit }: Allowance,
  {
    remaining,
    second,
    nowMs,
  }: { remaining: number | undefined; second: SecondPolicy | undefined; nowMs: number },
): Record<string, string> {
  const policies: string[] = [];
  const rests: string[] = [];
  if (remaining !== undefined) {
    const { lengthSeconds, leftSeconds } = monthAround(nowMs);
    policies.push(`"month";q=${limit};w=${lengthSeconds}`);
    rests.push(`"month";r=${Math.max(0, Math.min(limit, remaining))};t=${leftSeconds}`);
  }
  if (second) {
    policies.push(`"second";q=${second.perSecond};w=1`);
    rests.push(`"second";r=${second.remaining};t=1`);
  }
  if (policies.length === 0) return {};
  return { 'RateLimit-Policy': policies.join(', '), RateLimit: rests.join(', ') };
}
