import type { CallLimits } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';

const MOST = 1_000_000;

/** Returns the limits, or undefined if there are none. Throws Fault `invalid_argument` unless each is from 1 to a million. */
export function requireLimits(limits: CallLimits | undefined): CallLimits | undefined {
  if (!limits?.rate && limits?.concurrency === undefined) return undefined;
  const { rate, concurrency } = limits;
  const given = {
    'the calls a second': rate?.perSecond,
    'the burst': rate?.burst,
    'the concurrency': concurrency,
  };
  for (const [what, value] of Object.entries(given))
    if (value !== undefined && (!Number.isInteger(value) || value < 1 || value > MOST))
      throw new Fault('invalid_argument', `${what} must be a whole number from 1 to ${MOST}`);
  return { rate, concurrency };
}
