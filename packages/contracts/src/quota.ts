/** What gateways and metering have to agree on (services/metering/README.md, "Constants"). */

/**
 * D: a gateway believes the stream's acknowledgement for this long after its grant's time is over, and settling waits as
 * long.
 */
export const ACKNOWLEDGEMENT_GRACE_MS = 5_000;

/**
 * A gateway takes a close for applied this long after the stream acknowledged it: by then metering has given what a dead
 * replica had taken to another.
 */
export const CLOSE_APPLIED_WITHIN_MS = 11_000;

/** Open grants of one holder: one to spend, one asked for early, and the rest used up with calls under way. */
export const GRANTS_PER_HOLDER = 16;

/** A gateway asks for the next month's permits in the last minute of this one. */
export const NEXT_MONTH_ASKED_WITHIN_MS = 60_000;
/** Metering gives out a month's permits for this long before it and after it, since clocks differ. */
export const MONTH_MARGIN_MS = NEXT_MONTH_ASKED_WITHIN_MS + 5_000;

/** A month's usage can be read in it and in the 24 months after it. */
export const MONTHS_KEPT = 25;
