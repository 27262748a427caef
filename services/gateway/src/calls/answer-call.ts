import { type Credential, Route } from '@brand-data/contracts';
import {
  explainMiss,
  IDENTIFIER_KINDS,
  type IdentifierKind,
  isTooLongForIdentifier,
  LONGEST_IDENTIFIER,
} from '@brand-data/identifiers';
import { chooseEncoding, matchesTag } from '@brand-data/runtime/http';
import type { AdmissionParts } from '../admission/admission.ts';
import { releaseOf, type SecondPolicy } from '../admission/limits/call-limits.ts';
import type { Turn } from '../admission/turns.ts';
import { type CallAnswer, cacheHeader, encodeBody, type HeldForm } from '../answers/answer.ts';
import { ProblemError, problemErrorFrom } from '../answers/problem.ts';
import { authenticate, type CallerClaims, checkOrigin, type ParsedQuery } from '../auth/caller.ts';
import type { Tokens } from '../auth/tokens.ts';
import type { ChargedCalls } from '../quota/connect-quota.ts';
import type { Permit } from '../quota/grant-book.ts';
import type { Allowance } from '../quota/holding.ts';
import type { Admitted, Quota } from '../quota/quota.ts';
import type { CatalogAnswer, Variant } from '../records/catalog-answer.ts';
import type { Records } from '../records/records.ts';
import { imageHead, imageLocation, monthAround, quotaHeaders, recordHead } from './call-headers.ts';
import { choiceFrom, imageWishesFrom } from './parameters.ts';

/** How long caches may keep that an identifier finds nothing. */
const MISS_SECONDS = 60;
const NO_BODY = Buffer.alloc(0);

/** The two counted routes, with their names in messages to callers. */
const COUNTED_ROUTES: Record<Variant, { route: Route; name: string }> = {
  grouped: { route: Route.BRANDS, name: 'the Brand API' },
  flat: { route: Route.LOGOS, name: 'logo requests' },
};

/** A call of a counted route as the caller sent it: nothing is checked yet. */
export interface BrandRequest extends HeldForm {
  caller: CallerClaims;
  variant: Variant;
  /** Whether the answer leads to the logo of the flat record, in place of the record. */
  asImage: boolean;
  /** The path's segment, still percent-encoded. */
  segment: string;
  query: ParsedQuery;
  /** `destroyed`: the caller can get no answer any more. */
  connection: { readonly destroyed: boolean };
}

export interface CallParts extends Pick<AdmissionParts, 'limits' | 'turns'> {
  tokens: Tokens;
  quota: Quota;
  chargedCalls: ChargedCalls;
  records: Pick<Records, 'find' | 'monogramUrl'>;
  /** Wall clock, milliseconds since 1970. */
  now: () => number;
}

/**
 * Handles one call: authenticate, authorize, admit, find, record the usage, answer. If the gateway already has the token, a permit
 * and the record, the call waits only until its usage is durable. Throws ProblemError unless the answer is 200, 302, 304 or 404. A
 * 302 is billed as what was found: 200, or 404 if it leads to a monogram of the identifier.
 */
export async function answerCall(
  { tokens, limits, turns, quota, chargedCalls, records, now }: CallParts,
  request: BrandRequest,
): Promise<CallAnswer> {
  // The code awaits only promises, because each await takes time, even if the value is there already.
  const authenticated = authenticate(tokens, request.caller);
  const credential = authenticated instanceof Promise ? await authenticated : authenticated;
  const allowance = authorize(credential, request);
  let bill: 'none' | 'unsure' | 'sure' = 'none';
  let second: SecondPolicy | undefined;
  let permit: Permit | undefined;
  let releaseLimits: (() => void) | undefined;
  let turn: Turn | undefined;
  const headersOfQuota = () =>
    quotaHeaders(allowance, {
      charged: bill === 'none' ? 0 : 1,
      remaining: quota.remaining(allowance, permit),
      second,
      nowMs: now(),
    });
  try {
    checkOrigin(credential, request.caller);
    const identifier = identifierFromSegment(request);
    const kind = choiceFrom(request.query, 'kind', IDENTIFIER_KINDS);
    const image = request.asImage ? imageWishesFrom(request.query) : undefined;
    const decision = limits.admit(credential);
    second = decision?.second;
    releaseLimits = releaseOf(decision);
    const begun = turns.admit(credential.accountId);
    turn = begun instanceof Promise ? await begun : begun;
    const admitted = quota.admit(allowance);
    permit = permitOf(admitted instanceof Promise ? await admitted : admitted, allowance, now);
    const looked = foundOrReleased(records.find(request.variant, identifier, kind), permit);
    const found = looked instanceof Promise ? await looked : looked;
    const { record } = found;
    const hasIt = record && !image && matchesTag(request.ifNoneMatch, record.content.tag);
    const status = !record ? 404 : hasIt ? 304 : 200;
    if (request.connection.destroyed) {
      permit.release();
      throw new ProblemError('request_invalid', 'The caller has closed the connection.');
    }
    bill = 'unsure';
    permit.use({ keyId: credential.keyId, route: COUNTED_ROUTES[request.variant].route, status });
    await quota.commit(permit);
    bill = 'sure';
    chargedCalls.answered += 1;
    const isPrivate = credential.allowedOrigins.length > 0;
    if (image && (record || image.monogram)) {
      const url = record?.content.logo ?? records.monogramUrl(identifier);
      const headers = { Location: imageLocation(url, image.query), ...headersOfQuota() };
      return { status: 302, head: imageHead(record, isPrivate), headers, body: NO_BODY };
    }
    if (!record)
      return notFound(request.variant, identifier, kind, found, {
        ...headersOfQuota(),
        'Cache-Control': cacheHeader(MISS_SECONDS, isPrivate),
      });
    const encoding = chooseEncoding(request.acceptEncoding);
    const head = recordHead(record, { status, encoding, isPrivate });
    if (status === 304) return { status, head, headers: headersOfQuota() };
    const body = encodeBody(record.content, encoding);
    return { status, head, headers: headersOfQuota(), body: body instanceof Promise ? await body : body };
  } catch (error) {
    if (bill === 'unsure') chargedCalls.unsure += 1;
    throw problemErrorFrom(error).of(allowance.accountId, headersOfQuota());
  } finally {
    if (turn) turns.release(turn);
    releaseLimits?.();
  }
}

/** Returns the pool that the plan has for this route. Throws ProblemError if it has none. */
function authorize(credential: Credential, request: BrandRequest): Allowance {
  const { route, name } = COUNTED_ROUTES[request.variant];
  const found = credential.routes.find((allowed) => allowed.route === route);
  if (!found)
    throw new ProblemError(
      'plan_required',
      `The plan "${credential.plan}" does not include ${name}. Change to a plan that does.`,
    ).of(credential.accountId);
  const { accountId, limitRevision, allowance: signed, allowanceUntilMs: signedUntilMs } = credential;
  return { accountId, pool: found.pool, limit: found.allowance, limitRevision, signed, signedUntilMs };
}

/** Returns the decoded identifier. Throws ProblemError unless it has 1 to 256 characters, none of them a control character. */
export function identifierFromSegment({ segment }: Pick<BrandRequest, 'segment'>): string {
  let identifier: string;
  try {
    identifier = decodeURIComponent(segment);
  } catch {
    throw new ProblemError('identifier_invalid', 'The identifier is not valid percent-encoded UTF-8.');
  }
  if (identifier === '' || isTooLongForIdentifier(identifier)) {
    throw new ProblemError(
      'identifier_invalid',
      `The identifier has ${[...identifier].length} characters; give 1 to ${LONGEST_IDENTIFIER}.`,
    );
  }
  if (/\p{Cc}/u.test(identifier)) {
    throw new ProblemError('identifier_invalid', 'The identifier holds a control character.');
  }
  return identifier;
}

/** Returns the permit that the quota gives a call. Throws ProblemError if the allowance is used up. */
function permitOf(admitted: Admitted, { limit }: Allowance, now: () => number): Permit {
  if (admitted.kind === 'permit') return admitted.permit;
  const detail = `The account has used its ${limit} calls of this month. The next month begins at 00:00 UTC on its first day.`;
  throw new ProblemError('quota_exceeded', detail, { 'Retry-After': String(monthAround(now()).leftSeconds) });
}

/** Returns what is found. If that fails, the call is not counted, and another call can take its permit. */
function foundOrReleased(
  found: CatalogAnswer | Promise<CatalogAnswer>,
  permit: Permit,
): CatalogAnswer | Promise<CatalogAnswer> {
  if (!(found instanceof Promise)) return found;
  return found.catch((error) => {
    permit.release();
    throw error;
  });
}

function notFound(
  variant: Variant,
  identifier: string,
  kind: IdentifierKind | undefined,
  { suggestions, namesSuperinvestor, noCompany }: CatalogAnswer,
  headers: Record<string, string>,
): CallAnswer {
  return {
    code: 'identifier_not_found',
    detail: explainMiss(identifier, {
      superinvestors: variant === 'grouped',
      kind,
      namesSuperinvestor,
      noCompany,
    }),
    headers,
    more: {
      suggestions: suggestions.map(({ name, identifier }) => ({ name, identifier })),
      ...(noCompany && { no_company: { kind: noCompany.kind, name: noCompany.name } }),
    },
  };
}
