import { hash } from 'node:crypto';

/** Constants on which gateways and metering have to agree (services/metering/README.md, "Constants"). */

/**
 * The grace for acknowledgements, D. After a grant's lifetime is over, the gateway still accepts the stream's acknowledgement of
 * its usage for this long. Metering settles the grant only later.
 */
export const ACKNOWLEDGEMENT_GRACE_MS = 5_000;

/** The longest lifetime of a grant. */
export const LONGEST_TTL_MS = 600_000;

/**
 * How much slower than one replica's clock another's may run: a share of the time, and a constant. Each clock may be up to 1.5 % too
 * fast or too slow, so two clocks differ by at most 3.05 %.
 */
const DRIFT_SHARE = 0.035;
const DRIFT_MS = 500;

/**
 * Returns how long after metering gave out a grant no usage of it can become valid any more, by any clock: its lifetime, the grace
 * for acknowledgements and the drift of clocks.
 */
export function endsWithinMs(ttlMs: number): number {
  return (ttlMs + ACKNOWLEDGEMENT_GRACE_MS) * (1 + DRIFT_SHARE) + DRIFT_MS;
}

/**
 * A gateway assumes that metering has applied a close this long after the stream acknowledged it. By then, another replica of
 * metering has received the messages that a dead replica had taken.
 */
export const CLOSE_APPLIED_WITHIN_MS = 11_000;

/**
 * Largest number of open grants of one holder: one to spend, one requested early, and grants that are used up but still have
 * calls under way.
 */
export const GRANTS_PER_HOLDER = 16;

/** A gateway asks for the next month's permits in the last minute of this one. */
export const NEXT_MONTH_ASKED_WITHIN_MS = 60_000;
/** Metering gives out a month's permits also for this long before the month begins and after it ends, since clocks differ. */
export const MONTH_MARGIN_MS = NEXT_MONTH_ASKED_WITHIN_MS + 5_000;

/** A month's usage can be read in it and in the 24 months after it. */
export const MONTHS_KEPT = 25;

const MARK_LENGTH = 11;

/** Returns the mark of a grant in `UsedOfGrant`. */
export function markOfGrant(grantId: string): string {
  return hash('sha256', grantId, 'base64url').slice(0, MARK_LENGTH);
}

/**
 * Returns by how many calls at most the remaining calls that a caller is told may differ from the truth: 2 % of the allowance, and at
 * least ten.
 */
export function toleranceOf(limit: number): number {
  return Math.max(10, limit / 50);
}
