import type { SecondPolicy } from '../admission/limits/call-limits.ts';
import { monthAround } from '../admission/permits.ts';
import type { Allowance } from '../quota/holding.ts';

/**
 * Returns X-Quota-Charged, and RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers) with the policies "month" and
 * "second", as far as the gateway knows their figures.
 *
 * @param charged whether the call is or may be billed
 * @param second undefined if neither the account nor the key has a rate, or the call was refused before its rate was looked at
 */
export function quotaHeaders(
  { limit }: Allowance,
  {
    charged,
    remaining,
    second,
    nowMs,
  }: {
    charged: 0 | 1;
    remaining: number | undefined;
    second: SecondPolicy | undefined;
    nowMs: number;
  },
): Record<string, string> {
  let policies = '';
  let rests = '';
  if (remaining !== undefined) {
    const { lengthSeconds, leftSeconds } = monthAround(nowMs);
    policies = `"month";q=${limit};w=${lengthSeconds}`;
    rests = `"month";r=${Math.max(0, Math.min(limit, remaining))};t=${leftSeconds}`;
  }
  if (second) {
    const comma = policies && ', ';
    policies += `${comma}"second";q=${second.perSecond};w=1`;
    rests += `${comma}"second";r=${second.remaining};t=1`;
  }
  const headers = { 'X-Quota-Charged': String(charged) };
  return policies ? { ...headers, 'RateLimit-Policy': policies, RateLimit: rests } : headers;
}
