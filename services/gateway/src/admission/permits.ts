import { boundsOfMonth, monthOf } from '@brand-data/contracts';
import { ProblemError } from '../answers/problem.ts';
import type { Permit } from '../quota/grant-book.ts';
import type { Allowance } from '../quota/holding.ts';
import type { Admitted } from '../quota/quota.ts';

/** Returns the permit that the quota gives a call. Throws ProblemError if the allowance is used up. */
export function permitOf(admitted: Admitted, { limit }: Allowance, now: () => number): Permit {
  if (admitted.kind === 'permit') return admitted.permit;
  const detail = `The account has used its ${limit} calls of this month. The next month begins at 00:00 UTC on its first day.`;
  throw new ProblemError('quota_exceeded', detail, { 'Retry-After': String(monthAround(now()).leftSeconds) });
}

/** Returns the length of the calendar month (UTC) around an instant, and the time left of it, in seconds. */
export function monthAround(nowMs: number): { lengthSeconds: number; leftSeconds: number } {
  const { startMs, endMs } = boundsOfMonth(monthOf(nowMs));
  return { lengthSeconds: (endMs - startMs) / 1000, leftSeconds: Math.ceil((endMs - nowMs) / 1000) };
}
