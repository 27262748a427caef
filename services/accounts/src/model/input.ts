import type { CallLimits } from '@brand-data/contracts';
import { Fault } from '@brand-data/runtime';

const MOST = 1_000_000;

/**
 * Returns the text. Throws Fault `invalid_argument` unless it is a slug. The message begins with `what`, as in "an account id".
 */
export function requireSlug(what: string, text: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,62}$/.test(text))
    throw new Fault(
      'invalid_argument',
      `${what} must have 1 to 63 lower-case letters, digits and hyphens, and must not begin with a hyphen`,
    );
  return text;
}

/** Returns the trimmed text, which may be empty. Throws Fault `invalid_argument` if it is too long or has a control character. */
export function requireText(what: string, text: string, longest: number): string {
  const trimmed = text.trim();
  if (trimmed.length > longest || /\p{Cc}/u.test(trimmed))
    throw new Fault(
      'invalid_argument',
      `${what} must have at most ${longest} characters and no control characters`,
    );
  return trimmed;
}

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
