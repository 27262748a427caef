import { Route } from '@brand-data/contracts';
import { ProblemError } from '../answers/problem.ts';
import type { CallerClaims } from '../auth/caller.ts';
import type { Variant } from '../records/catalog-answer.ts';

/** The two counted routes: `route` identifies the route in usage and plans, and `name` is its name in messages to callers. */
export const COUNTED_ROUTES: Record<Variant, { route: Route; name: string }> = {
  grouped: { route: Route.BRANDS, name: 'the Brand API' },
  flat: { route: Route.LOGOS, name: 'logo requests' },
};

/** A call of a counted route as the caller sent it: nothing is checked yet. */
export interface BrandRequest {
  caller: CallerClaims;
  variant: Variant;
  /** The path's segment, still percent-encoded. */
  segment: string;
  ifNoneMatch: string | undefined;
  acceptEncoding: string | undefined;
}

const LONGEST_IDENTIFIER = 256;

/** Returns the decoded identifier. Throws ProblemError unless it has 1 to 256 characters, none of them a control character. */
export function identifierFromSegment({ segment }: Pick<BrandRequest, 'segment'>): string {
  let identifier: string;
  try {
    identifier = decodeURIComponent(segment);
  } catch {
    throw new ProblemError('identifier_invalid', 'The identifier is not valid percent-encoded UTF-8.');
  }
  // A string has at least as many code units as characters.
  const length = identifier.length <= LONGEST_IDENTIFIER ? identifier.length : [...identifier].length;
  if (length === 0 || length > LONGEST_IDENTIFIER) {
    throw new ProblemError(
      'identifier_invalid',
      `The identifier has ${length} characters; give 1 to ${LONGEST_IDENTIFIER}.`,
    );
  }
  if (/\p{Cc}/u.test(identifier)) {
    throw new ProblemError('identifier_invalid', 'The identifier holds a control character.');
  }
  return identifier;
}
