import { type Credential, TokenRefusal } from '@brand-data/contracts';
import { ProblemError, problemErrorFrom } from '../answers/problem.ts';
import type { Tokens } from './tokens.ts';

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The token and the origin as the caller sent them: nothing is checked yet. */
export interface CallerClaims {
  /** Values of the query parameter `token`. */
  tokens: string[];
  origin: string | undefined;
  referer: string | undefined;
  /** The key whose token the gateway has accepted. */
  keyId: string | undefined;
  /** Returns the client's IP address, which a trusted proxy may name. */
  address: () => string;
}

/** The query as Fastify parses it. */
export type ParsedQuery = Readonly<Record<string, string | string[] | undefined>>;

export function queryValues(query: ParsedQuery, name: string): string[] {
  const value = query[name];
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

export function readCaller(
  query: ParsedQuery,
  headers: Headers,
  address: CallerClaims['address'],
): CallerClaims {
  return {
    address,
    tokens: queryValues(query, 'token'),
    origin: headers.origin?.toString(),
    referer: headers.referer?.toString(),
    keyId: undefined,
  };
}

/** Returns the credential of the call's token, or a promise if accounts has to be asked. Throws or rejects with ProblemError. */
export function authenticate(
  tokens: Pick<Tokens, 'verify'>,
  caller: CallerClaims,
): Credential | Promise<Credential> {
  const verified = tokens.verify(tokenOf(caller), caller.address);
  return verified instanceof Promise
    ? verified.then((later) => credentialOf(later, caller))
    : credentialOf(verified, caller);
}

function credentialOf(verified: Awaited<ReturnType<Tokens['verify']>>, caller: CallerClaims): Credential {
  if ('credential' in verified) {
    caller.keyId = verified.credential.keyId;
    return verified.credential;
  }
  if ('unasked' in verified) {
    const detail =
      'Too many tokens that are not known are being tried, from your address or in all. Try again in a second.';
    throw new ProblemError('rate_limited', detail, { 'Retry-After': '1' });
  }
  throw new ProblemError('token_invalid', REFUSAL_DETAIL[verified.refusal]);
}

const REFUSAL_DETAIL: Record<TokenRefusal, string> = {
  // A reason that this gateway does not know yet.
  [TokenRefusal.UNSPECIFIED]: 'The token is refused. Ask the operator of this API why.',
  [TokenRefusal.UNKNOWN]: 'The token is not known. Check that it was copied whole.',
  [TokenRefusal.REVOKED]: 'The key of this token was revoked. Use another key of the account.',
  [TokenRefusal.EXPIRED]: 'The key of this token has expired. Use another key of the account.',
  [TokenRefusal.ACCOUNT_CLOSED]: 'The account of this token is closed.',
};

function tokenOf({ tokens }: CallerClaims): string {
  const [token, ...more] = tokens;
  if (more.length > 0) throw new ProblemError('token_invalid', 'Give the query parameter `token` once.');
  if (!token) {
    const detail =
      'Give your publishable token in the query parameter `token`, as in ?token=pk_…; tokens in headers and bodies are not read.';
    throw new ProblemError('token_missing', detail);
  }
  return token;
}

/** Throws ProblemError if the key has a list of origins without the request's Origin (or, without one, the origin of its Referer). */
export function checkOrigin(
  { allowedOrigins }: Pick<Credential, 'allowedOrigins'>,
  { origin, referer }: CallerClaims,
): void {
  if (allowedOrigins.length === 0) return;
  const given =
    origin ?? (referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : undefined);
  if (given !== undefined && isListed(given, allowedOrigins)) return;
  const detail = 'The key has a list of allowed origins, and the origin of this request is not on it.';
  throw new ProblemError('origin_not_allowed', detail);
}

/** Makes an answer that is not counted. Rejects with ProblemError, which names the account if that is known. */
export async function answerUncounted<Answer>(
  tokens: Pick<Tokens, 'verify'>,
  caller: CallerClaims,
  answer: (credential: Credential) => Promise<Answer>,
): Promise<Answer & { accountId: string }> {
  const credential = await authenticate(tokens, caller);
  const { accountId } = credential;
  try {
    checkOrigin(credential, caller);
    return { ...(await answer(credential)), accountId };
  } catch (error) {
    throw problemErrorFrom(error).of(accountId);
  }
}

/** Begins the host of a listed origin that stands for all subdomains: "https://*.example.com". */
const WILDCARD = '*.';
/** Labels of a host, joined by dots: "www", "a.b". Without this check, "https://evil.test?.example.com" would be a subdomain. */
const LABELS = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * Whether the origin is on the list. `https://*.example.com` lists all subdomains at any depth, but not `https://example.com`
 * itself. Scheme and port must be equal.
 *
 * @param listed as accounts stores them, in lower case
 */
function isListed(origin: string, listed: readonly string[]): boolean {
  const given = origin.toLowerCase();
  return listed.some((each) => {
    const at = each.indexOf(`//${WILDCARD}`);
    return at < 0 ? each === given : isSubdomain(given, each, at);
  });
}

/** @param at where `//*.` begins in the listed origin */
function isSubdomain(given: string, listed: string, at: number): boolean {
  const [scheme, parent] = [listed.slice(0, at + 2), listed.slice(at + 3)];
  return (
    given.startsWith(scheme) &&
    given.endsWith(parent) &&
    LABELS.test(given.slice(scheme.length, given.length - parent.length))
  );
}
