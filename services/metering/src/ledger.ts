import { sizeGrant } from './sizing.ts';

/** Which ledger: one per account, pool and calendar month (UTC). */
export interface LedgerKey {
  accountId: string;
  pool: string;
  month: string;
}

/** What one account has of one pool in one month, and who holds how much of it. */
export interface Ledger extends LedgerKey {
  limit: number;
  /** The revision of the account's plan that `limit` is from; a newer one wins. */
  limitRevision: number;
  /** Sum of the use of grants that are closed. */
  closedUsed: number;
  /** Number of the next grant: none is used twice. */
  nextGrant: number;
  grants: OpenGrant[];
  /** The last seq of each holder, so that a late duplicate of its request opens nothing. */
  holders: { holder: string; seq: number; atMs: number }[];
}

export interface OpenGrant {
  number: number;
  holder: string;
  seq: number;
  size: number;
  /** As far as it is known; grows until the grant closes. */
  used: number;
  /** Given back while it is open. */
  returned: number;
  ttlMs: number;
  idleMs: number;
  openedAtMs: number;
}

export interface Wish {
  holder: string;
  seq: number;
  limit: number;
  limitRevision: number;
  want: number;
  givenUp: readonly number[];
}

export type Decision =
  | { kind: 'grant'; grant: OpenGrant; remaining: number }
  | { kind: 'wait' }
  | { kind: 'exhausted' }
  | { kind: 'stale' };

/** Usage counts for this long after a grant's time is over: an acknowledgement under way may still bill it. */
const SETTLE_DELAY_MS = 5_000;
/** Two open grants a holder: one to spend and one taken early. */
const GRANTS_PER_HOLDER = 2;
const HOLDER_MEMORY_MS = 3_600_000;
const HOLDERS_REMEMBERED = 1_000;

export function newLedger(key: LedgerKey): Ledger {
  return { ...key, limit: 0, limitRevision: -1, closedUsed: 0, nextGrant: 1, grants: [], holders: [] };
}

/** Permits that no one has: what a new grant can be made of. */
export function remainingOf(ledger: Ledger): number {
  const committed = ledger.grants.reduce(
    (sum, grant) => sum + grant.size - grant.returned,
    ledger.closedUsed,
  );
  return Math.max(0, ledger.limit - committed);
}

/** Billed so far: closed grants, and what is known of open ones. */
export function usedOf(ledger: Ledger): number {
  return ledger.grants.reduce((sum, grant) => sum + grant.used, ledger.closedUsed);
}

/** Permits in holders' hands that may still be spent. */
export function outOf(ledger: Ledger, nowMs: number): number {
  return ledger.grants
    .filter((grant) => !isOverdue(grant, nowMs))
    .reduce((sum, grant) => sum + grant.size - grant.returned - grant.used, 0);
}

/**
 * Its holder should have closed it long ago, so the holder is gone: what it held counts as used, since its last
 * answers may never have been reported.
 */
function isOverdue(grant: OpenGrant, nowMs: number): boolean {
  return nowMs > grant.openedAtMs + grant.ttlMs + 2 * SETTLE_DELAY_MS;
}

/**
 * Decides on a wish for permits. Pure: returns the ledger as it must be stored before the decision is answered.
 * The same (holder, seq) gets its grant again while that is open; a seq that is not new otherwise opens nothing.
 */
export function acquire(before: Ledger, wish: Wish, nowMs: number): { ledger: Ledger; decision: Decision } {
  const ledger: Ledger = {
    ...before,
    grants: before.grants.filter(
      (grant) => grant.holder !== wish.holder || !wish.givenUp.includes(grant.seq),
    ),
  };
  if (wish.limitRevision >= ledger.limitRevision) {
    ledger.limit = wish.limit;
    ledger.limitRevision = wish.limitRevision;
  }
  const own = ledger.grants.filter((grant) => grant.holder === wish.holder);
  const same = own.find((grant) => grant.seq === wish.seq);
  if (same) return { ledger, decision: { kind: 'grant', grant: same, remaining: remainingOf(ledger) } };
  const lastSeq = ledger.holders.find(({ holder }) => holder === wish.holder)?.seq ?? 0;
  if (wish.seq <= lastSeq || wish.givenUp.includes(wish.seq)) return { ledger, decision: { kind: 'stale' } };

  const free = remainingOf(ledger);
  const out = outOf(ledger, nowMs);
  if (free === 0) return { ledger, decision: { kind: out > 0 ? 'wait' : 'exhausted' } };
  if (own.length >= GRANTS_PER_HOLDER) return { ledger, decision: { kind: 'wait' } };

  const grant: OpenGrant = {
    number: ledger.nextGrant,
    holder: wish.holder,
    seq: wish.seq,
    used: 0,
    returned: 0,
    openedAtMs: nowMs,
    ...sizeGrant({ want: wish.want, free, out }),
  };
  ledger.nextGrant += 1;
  ledger.grants = [...ledger.grants, grant];
  ledger.holders = rememberHolder(ledger, wish, nowMs);
  return { ledger, decision: { kind: 'grant', grant, remaining: remainingOf(ledger) } };
}

function rememberHolder(ledger: Ledger, wish: Wish, nowMs: number): Ledger['holders'] {
  const withOpenGrant = new Set(ledger.grants.map((grant) => grant.holder));
  const others = ledger.holders.filter(
    ({ holder, atMs }) =>
      holder !== wish.holder && (withOpenGrant.has(holder) || nowMs - atMs < HOLDER_MEMORY_MS),
  );
  return [...others, { holder: wish.holder, seq: wish.seq, atMs: nowMs }].slice(-HOLDERS_REMEMBERED);
}

/** "account/pool/month/number": opaque to holders. */
export function grantIdOf(key: LedgerKey, number: number): string {
  return `${ledgerIdOf(key)}/${number}`;
}

export function ledgerIdOf({ accountId, pool, month }: LedgerKey): string {
  return `${accountId}/${pool}/${month}`;
}

/** undefined: this service never gave out such an id. */
export function parseGrantId(id: string): { key: LedgerKey; number: number } | undefined {
  const parts = /^([^/]+)\/([^/]+)\/(\d{4}-\d{2})\/([1-9]\d*)$/.exec(id);
  if (!parts) return undefined;
  const [, accountId = '', pool = '', month = '', number] = parts;
  return { key: { accountId, pool, month }, number: Number(number) };
}
