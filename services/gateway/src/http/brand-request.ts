import { Route } from '@brand-data/contracts';
import { type Caller, callerOf, type Headers, splitUrl } from '../auth/caller.ts';
import type { Variant } from '../records/records.ts';
import { Problem } from './problem.ts';

/** The two counted routes: how their paths look, which record they answer, what their calls are billed as. */
export const ROUTES: Record<Variant, { pattern: RegExp; route: Route; name: string }> = {
  grouped: {
    pattern: /^\/v1\/brands\/([^/]*)$/,
    route: Route.BRANDS,
    name: 'the Brand API',
  },
  flat: {
    pattern: /^\/api\/logos\/([^/]*)\/info$/,
    route: Route.LOGOS,
    name: 'logo requests',
  },
};

/** What a caller asked, as it came; nothing in it is checked yet. */
export interface BrandRequest extends Caller {
  variant: Variant;
  /** The path's segment, still percent-encoded. */
  segment: string;
  ifNoneMatch: string | undefined;
  acceptEncoding: string | undefined;
}

/**
 * Reads a request's raw URL: the path is split before it is decoded, so that `%2F` is data. undefined: no counted route.
 */
export function readBrandRequest(url: string, headers: Headers): BrandRequest | undefined {
  const { path, query } = splitUrl(url);
  for (const variant of ['grouped', 'flat'] as const) {
    const segment = ROUTES[variant].pattern.exec(path)?.[1];
    if (segment === undefined) continue;
    return {
      variant,
      segment,
      ifNoneMatch: headers['if-none-match']?.toString(),
      acceptEncoding: headers['accept-encoding']?.toString(),
      ...callerOf(query, headers),
    };
  }
  return undefined;
}

const LONGEST_IDENTIFIER = 256;

/** The identifier: 1 to 256 characters after percent-decoding, none of them a control character. */
export function identifierOf({ segment }: BrandRequest): string {
  let identifier: string;
  try {
    identifier = decodeURIComponent(segment);
  } catch {
    throw new Problem('identifier_invalid', 'The identifier is not valid percent-encoded UTF-8.');
  }
  const { length } = [...identifier];
  if (length === 0 || length > LONGEST_IDENTIFIER) {
    throw new Problem(
      'identifier_invalid',
      `The identifier has ${length} characters; give 1 to ${LONGEST_IDENTIFIER}.`,
    );
  }
  if (/\p{Cc}/u.test(identifier)) {
    throw new Problem('identifier_invalid', 'The identifier holds a control character.');
  }
  return identifier;
}
