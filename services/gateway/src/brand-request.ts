import { Route } from '@brand-data/contracts';
import { Problem } from './problem.ts';
import type { Variant } from './records.ts';

/** The two counted routes: how their paths look, which record they answer, what their calls are billed as. */
export const ROUTES: Record<Variant, { path: string; pattern: RegExp; route: Route; name: string }> = {
  grouped: {
    path: '/v1/brands/:identifier',
    pattern: /^\/v1\/brands\/([^/]*)$/,
    route: Route.BRANDS,
    name: 'the Brand API',
  },
  flat: {
    path: '/api/logos/:identifier/info',
    pattern: /^\/api\/logos\/([^/]*)\/info$/,
    route: Route.LOGOS,
    name: 'logo requests',
  },
};

/** What a caller asked, as it came; nothing in it is checked yet. */
export interface BrandRequest {
  variant: Variant;
  /** The path's segment, still percent-encoded. */
  segment: string;
  /** Values of the query parameter `token`. */
  tokens: string[];
  origin: string | undefined;
  referer: string | undefined;
  ifNoneMatch: string | undefined;
  acceptEncoding: string | undefined;
}

/**
 * Reads a request's raw URL: the path is split before it is decoded, so that `%2F` is data. undefined: no counted route.
 */
export function readBrandRequest(
  url: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): BrandRequest | undefined {
  const [path = '', ...query] = url.split('?');
  const text = (name: string) => headers[name]?.toString();
  for (const variant of ['grouped', 'flat'] as const) {
    const segment = ROUTES[variant].pattern.exec(path)?.[1];
    if (segment === undefined) continue;
    return {
      variant,
      segment,
      tokens: new URLSearchParams(query.join('?')).getAll('token'),
      origin: text('origin'),
      referer: text('referer'),
      ifNoneMatch: text('if-none-match'),
      acceptEncoding: text('accept-encoding'),
    };
  }
  return undefined;
}

/** The one token of the query. */
export function tokenOf({ tokens }: BrandRequest): string {
  const [token, ...more] = tokens;
  if (more.length > 0) throw new Problem('token_invalid', 'Give the query parameter `token` once.');
  if (!token) {
    const detail =
      'Give your publishable token in the query parameter `token`, as in ?token=pk_…; tokens in headers and bodies are not read.';
    throw new Problem('token_missing', detail);
  }
  return token;
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

/** Whether a key with this allow-list may be used here: by the request's Origin or, without one, its Referer. */
export function isOriginAllowed({ origin, referer }: BrandRequest, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  const given =
    origin ?? (referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : undefined);
  return given !== undefined && allowed.includes(given.toLowerCase());
}
