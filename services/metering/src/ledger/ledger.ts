import { randomBytes } from 'node:crypto';
import {
  type AcquireRequest,
  endsWithinMs,
  GRANTS_PER_HOLDER,
  markOfGrant,
  type UsageCell,
  type UsedPermits,
} from '@brand-data/contracts';
import { callsAMinute, sizeGrant } from './sizing.ts';

/** Identifies a ledger. There is one for each account, pool and calendar month (UTC). */
export interface LedgerKey {
  accountId: string;
  pool: string;
  month: string;
}

/** One account's permits of one pool in one month, and the grants that hold them. */
export interface Ledger extends LedgerKey {
  limit: number;
  /** The revision of the account's plan that set `limit`. A newer revision replaces the limit. */
  limitRevision: number;
  /** Used permits of all closed grants. */
  closedUsed: number;
  /** Number of the next grant. No number is used twice, so a grant with a lower number is closed if it is not open. */
  nextGrant: number;
  grants: OpenGrant[];
  /** The grants that were closed last, and every closed grant whose breakdown is not merged into the days yet. */
  closed: ClosedGrant[];
  /** The last seq of each holder, so that a late copy of its request opens nothing. */
  holders: { holder: string; seq: number; atMs: number }[];
}

type ChangingField = Exclude<keyof Ledger, keyof LedgerKey>;
/** A field that is missing here does not compile. A change of it would otherwise not be stored. */
const CHANGING: Record<ChangingField, true> = {
  limit: true,
  limitRevision: true,
  closedUsed: true,
  nextGrant: true,
  grants: true,
  closed: true,
  holders: true,
};

/** The fields of a ledger that change. */
export const CHANGING_FIELDS = Object.keys(CHANGING) as ChangingField[];

export interface OpenGrant {
  number: number;
  /** 128 random bits in the grant's id, which make the id impossible to guess. */
  secret: string;
  holder: string;
  seq: number;
  size: number;
  /** Used permits that the holder has reported so far. Only grows. */
  used: number;
  /** Permits that the holder has returned while the grant is open. Only grows. */
  returned: number;
  ttlMs: number;
  idleMs: number;
  openedAtMs: number;
  /** The calls a minute that the holder expected. Absent: an earlier version gave out the grant. */
  perMinute?: number;
}

/** The part of a ledger that says how many of its permits are used and held. */
export interface LedgerFigures extends Pick<Ledger, 'closedUsed'> {
  grants: readonly Pick<OpenGrant, 'size' | 'used' | 'returned'>[];
}

export interface ClosedGrant {
  number: number;
  /** The beginning of the holder's key. Absent: the holder has none, or an earlier version closed the grant. */
  holder?: string | undefined;
  /** Used permits, billed for good. */
  used: number;
  /** The grant's breakdown, which sums to `used`. undefined: it is merged into the days, or no permit was used. */
  cells: UsageCell[] | undefined;
}

/** See AcquireRequest in proto/brand_data/v1/metering.proto. `secret`: that of the grant's id, if the request opens one. */
export type GrantRequest = Pick<
  AcquireRequest,
  'holder' | 'seq' | 'limit' | 'limitRevision' | 'want' | 'ignoredFromSeq'
> &
  Partial<Pick<AcquireRequest, 'wantSoon' | 'waiting'>> & { secret: string };

export type Decision =
  | { kind: 'grant'; grant: OpenGrant; remaining: number; used: UsedPermits }
  /**
   * `recall`: other holders have permits that they could return. `backInMs`: if none of them returns any, the first permits come back
   * when a grant is settled, which this is the earliest time for.
   */
  | { kind: 'wait'; recall: boolean; backInMs: number }
  | { kind: 'exhausted' }
  | { kind: 'stale' };

const HOLDER_MEMORY_MS = 3_600_000;
const HOLDERS_REMEMBERED = 1_000;

export function newLedger(key: LedgerKey): Ledger {
  return {
    ...key,
    limit: 0,
    limitRevision: -1,
    closedUsed: 0,
    nextGrant: 1,
    grants: [],
    closed: [],
    holders: [],
  };
}

/** Available permits: those that are not billed and that no holder has. New grants are made of them. */
export function remainingOf(ledger: Ledger): number {
  const committed = ledger.grants.reduce(
    (sum, grant) => sum + grant.size - grant.returned,
    ledger.closedUsed,
  );
  return Math.max(0, ledger.limit - committed);
}

/** Billed calls: the used permits of closed grants, and the reported ones of open grants. */
export function usedOf(ledger: LedgerFigures): number {
  return ledger.grants.reduce((sum, grant) => sum + grant.used, ledger.closedUsed);
}

/** Returns what gateways are told about the used permits of a ledger. */
export function usedPermitsOf(ledger: Ledger): UsedPermits {
  const grants = ledger.grants.map((grant) => ({
    mark: markOfGrant(grantIdOf(ledger, grant)),
    used: grant.used,
  }));
  return { used: usedOf(ledger), grants };
}

/** Permits that holders have and have not reported as used. */
export function outOf(ledger: LedgerFigures): number {
  return ledger.grants.reduce((sum, grant) => sum + grant.size - grant.returned - grant.used, 0);
}

/**
 * Decides on a request for permits. Pure. Returns the ledger that must be stored before the decision is answered: the same
 * object as the input if nothing changes. While a grant is open, the same (holder, seq) gets it again. Any other seq that is
 * not newer than the holder's last one opens nothing.
 */
export function acquire(
  before: Ledger,
  request: GrantRequest,
  nowMs: number,
): { ledger: Ledger; decision: Decision } {
  const ledger = withLimitOf(withoutIgnored(before, request), request);
  const own = ledger.grants.filter((grant) => grant.holder === request.holder);
  const same = own.find((grant) => grant.seq === request.seq);
  if (same) return { ledger, decision: granted(ledger, same) };
  const lastSeq = ledger.holders.find(({ holder }) => holder === request.holder)?.seq ?? 0;
  if (request.seq <= lastSeq) return { ledger, decision: { kind: 'stale' } };

  const free = remainingOf(ledger);
  const out = outOf(ledger);
  if (free === 0 && out === 0) return { ledger, decision: { kind: 'exhausted' } };
  if (free === 0)
    return { ledger, decision: { kind: 'wait', recall: true, backInMs: backInMs(ledger, request, nowMs) } };
  if (own.length >= GRANTS_PER_HOLDER)
    return { ledger, decision: { kind: 'wait', recall: false, backInMs: 0 } };
  const perMinuteOf = new Map(ledger.grants.map(({ holder, perMinute = 0 }) => [holder, perMinute]));
  const perMinute = callsAMinute(request);
  perMinuteOf.set(request.holder, perMinute);
  const ofAll = perMinuteOf.values().reduce((sum, calls) => sum + calls, 0);

  const grant: OpenGrant = {
    number: ledger.nextGrant,
    holder: request.holder,
    seq: request.seq,
    secret: request.secret,
    used: 0,
    returned: 0,
    openedAtMs: nowMs,
    perMinute,
    ...sizeGrant({
      wantSoon: 0,
      waiting: 0,
      ...request,
      free,
      out,
      holders: perMinuteOf.size,
      perMinute: ofAll,
    }),
  };
  const after: Ledger = {
    ...ledger,
    nextGrant: ledger.nextGrant + 1,
    grants: [...ledger.grants, grant],
  };
  after.holders = rememberHolder(after, request, nowMs);
  return { ledger: after, decision: granted(after, grant) };
}

function granted(ledger: Ledger, grant: OpenGrant): Decision {
  return { kind: 'grant', grant, remaining: remainingOf(ledger), used: usedPermitsOf(ledger) };
}

/**
 * Removes the unused grants whose answers the holder will ignore for good, so that their permits become available. A grant with
 * usage stays, since its holder did get it, and a bill never decreases.
 */
function withoutIgnored(ledger: Ledger, { holder, seq, ignoredFromSeq }: GrantRequest): Ledger {
  const isIgnored = (grant: OpenGrant) =>
    grant.holder === holder &&
    grant.used === 0 &&
    ignoredFromSeq > 0 &&
    grant.seq >= ignoredFromSeq &&
    grant.seq < seq;
  if (!ledger.grants.some(isIgnored)) return ledger;
  return { ...ledger, grants: ledger.grants.filter((grant) => !isIgnored(grant)) };
}

/** Returns how soon the grant of another holder can be settled whose permits are not used up, in milliseconds. 0: there is none. */
function backInMs({ grants }: Ledger, { holder }: GrantRequest, nowMs: number): number {
  const inMs = grants
    .filter((grant) => grant.holder !== holder && grant.used + grant.returned < grant.size)
    .map(({ openedAtMs, ttlMs }) => openedAtMs + endsWithinMs(ttlMs) - nowMs);
  return inMs.length > 0 ? Math.max(1, Math.ceil(Math.min(...inMs))) : 0;
}

function withLimitOf(ledger: Ledger, { limit, limitRevision }: GrantRequest): Ledger {
  return limitRevision > ledger.limitRevision ? { ...ledger, limit, limitRevision } : ledger;
}

function rememberHolder(ledger: Ledger, request: GrantRequest, nowMs: number): Ledger['holders'] {
  const withOpenGrant = new Set(ledger.grants.map((grant) => grant.holder));
  const others = ledger.holders.filter(
    ({ holder, atMs }) =>
      holder !== request.holder && (withOpenGrant.has(holder) || nowMs - atMs < HOLDER_MEMORY_MS),
  );
  return [...others, { holder: request.holder, seq: request.seq, atMs: nowMs }].slice(-HOLDERS_REMEMBERED);
}

/** "account/pool/month/number.secret". Holders do not interpret it. */
export function grantIdOf(key: LedgerKey, { number, secret }: Pick<OpenGrant, 'number' | 'secret'>): string {
  return `${ledgerIdOf(key)}/${number}.${secret}`;
}

export function ledgerIdOf({ accountId, pool, month }: LedgerKey): string {
  return `${accountId}/${pool}/${month}`;
}

/** Returns undefined if the text does not have the form of a ledger's id. */
export function parseLedgerId(id: string): LedgerKey | undefined {
  const parts = /^([^/]+)\/([^/]+)\/(\d{4}-\d{2})$/.exec(id);
  if (!parts) return undefined;
  const [, accountId = '', pool = '', month = ''] = parts;
  return { accountId, pool, month };
}

export interface ParsedGrantId extends Pick<OpenGrant, 'number' | 'secret'> {
  key: LedgerKey;
}

/** Returns undefined if the text does not have the form of a grant's id. */
export function parseGrantId(id: string): ParsedGrantId | undefined {
  const parts = /^([\w-]{1,64})\/([\w-]{1,64})\/(\d{4}-\d{2})\/([1-9]\d*)\.([\w-]{22})$/.exec(id);
  if (!parts) return undefined;
  const [, accountId = '', pool = '', month = '', number, secret = ''] = parts;
  return { key: { accountId, pool, month }, number: Number(number), secret };
}

export function newGrantSecret(): string {
  return randomBytes(16).toString('base64url');
}
