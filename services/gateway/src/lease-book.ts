import type { Grant, GrantUsage, Route, UsageCell } from '@brand-data/contracts';
import { elapsedMs, type Instant } from './clock.ts';

/** Whose permits: one account's in one pool, with its allowance a month and the revision that this is from. */
export interface Allowance {
  accountId: string;
  pool: string;
  limit: number;
  limitRevision: number;
}

/** One permit, reserved for one call. Exactly one of `use` and `release` is called, once. */
export interface Permit {
  grant: HeldGrant;
  /** The call ends in an answer that is counted. */
  use(answer: { keyId: string; route: Route; status: number; day: string }): void;
  /** The call fails without an answer that is counted. */
  release(): void;
}

export type Admission =
  | { kind: 'permit'; permit: Permit }
  /** The month's allowance is used up; said by metering. */
  | { kind: 'exhausted'; periodEndMs: number }
  /** Metering is to be asked first. */
  | { kind: 'empty' };

/** A grant in this gateway's hands. */
export interface HeldGrant {
  readonly id: string;
  readonly size: number;
  readonly ttlMs: number;
  readonly idleMs: number;
  readonly periodStartMs: number;
  readonly periodEndMs: number;
  /** When its seq was first sent: its time runs from here. */
  readonly since: Instant;
  reserved: number;
  used: number;
  lastUse: Instant;
  /** Nothing more is admitted on it. */
  retired: boolean;
  /** Retired with nothing in flight: what it used is final. */
  closed: boolean;
  cells: Map<string, UsageCell>;
}

/** What this gateway has of one account and pool. */
export interface Lease {
  readonly accountId: string;
  readonly pool: string;
  limit: number;
  limitRevision: number;
  grants: HeldGrant[];
  /** The wish that is with metering: retried under its seq, timed from its first send. */
  wish: { seq: number; since: Instant } | undefined;
  givenUp: number[];
  exhausted: { at: Instant; periodEndMs: number } | undefined;
  /** Permits of the month in nobody's hands, by metering's last answer. */
  remaining: number | undefined;
  /** Admissions, halved every ten seconds: how much to ask for. */
  demand: { count: number; at: Instant };
}

const EXHAUSTED_TRUSTED_MS = 3_000;
const WISH_KEPT_MS = 2_000;
const LEASE_KEPT_MS = 60_000;
const DEMAND_HALF_LIFE_MS = 10_000;
const LEAST_WANT = 16;
const MOST_WANT = 1_000_000;
const SEQS_GIVEN_UP_KEPT = 16;
const GRANTS_HELD = 2;

/**
 * The quota's decisions of one gateway: which permits it holds, when to ask for more, when a grant is over. It does no
 * I/O and reads no clock.
 */
export class LeaseBook {
  readonly #leases = new Map<string, Lease>();
  #lastSeq = 0;

  /** Takes a permit from what is in hand. */
  admit(allowance: Allowance, now: Instant): Admission {
    const lease = this.lease(allowance, now);
    countDemand(lease, now);
    for (const grant of lease.grants) {
      if (!isSpendable(grant, now)) continue;
      grant.reserved += 1;
      grant.lastUse = now;
      return { kind: 'permit', permit: permitOf(grant) };
    }
    if (lease.exhausted) return { kind: 'exhausted', periodEndMs: lease.exhausted.periodEndMs };
    return { kind: 'empty' };
  }

  /** The lease of an account and pool; what is out of date in it is forgotten first. */
  lease({ accountId, pool, limit, limitRevision }: Allowance, now: Instant): Lease {
    const key = `${accountId}/${pool}`;
    let lease = this.#leases.get(key);
    if (!lease) {
      lease = {
        accountId,
        pool,
        limit,
        limitRevision,
        grants: [],
        wish: undefined,
        givenUp: [],
        exhausted: undefined,
        remaining: undefined,
        demand: { count: 0, at: now },
      };
      this.#leases.set(key, lease);
    }
    if (limitRevision > lease.limitRevision) {
      Object.assign(lease, { limit, limitRevision, exhausted: undefined, remaining: undefined });
    }
    const { exhausted } = lease;
    if (
      exhausted &&
      (elapsedMs(exhausted.at, now) >= EXHAUSTED_TRUSTED_MS || now.wallMs >= exhausted.periodEndMs)
    ) {
      lease.exhausted = undefined;
      if (now.wallMs >= exhausted.periodEndMs) lease.remaining = undefined;
    }
    return lease;
  }

  /** Whether to ask early: half of the newest grant is gone, or its time soon is, and calls still come. */
  wantsRenewal(lease: Lease, now: Instant): boolean {
    const live = lease.grants.filter((grant) => isSpendable(grant, now));
    const [newest] = live.toReversed();
    if (!newest || live.length >= GRANTS_HELD || newest.size === 1 || lease.wish) return false;
    const spent = newest.used + newest.reserved;
    return spent * 2 >= newest.size || elapsedMs(newest.since, now) > newest.ttlMs * 0.9;
  }

  /** The next request to metering: the wish that is still unanswered, or a new one. */
  wish(
    lease: Lease,
    waiting: number,
    now: Instant,
  ): { seq: number; want: number; givenUp: number[]; usage: GrantUsage[] } {
    if (lease.wish && elapsedMs(lease.wish.since, now) >= WISH_KEPT_MS) {
      lease.givenUp = [...lease.givenUp, lease.wish.seq].slice(-SEQS_GIVEN_UP_KEPT);
      lease.wish = undefined;
    }
    if (!lease.wish) {
      this.#lastSeq += 1;
      lease.wish = { seq: this.#lastSeq, since: now };
    }
    const perMinute = (lease.demand.count * 60_000) / DEMAND_HALF_LIFE_MS;
    return {
      seq: lease.wish.seq,
      want: Math.min(MOST_WANT, Math.max(LEAST_WANT, Math.ceil(perMinute) + waiting)),
      givenUp: lease.givenUp,
      usage: lease.grants.filter((grant) => grant.closed).map(usageOf),
    };
  }

  /** Metering granted the wish. A reply to a seq that was given up changes nothing. */
  granted(lease: Lease, seq: number, grant: Grant, now: Instant): void {
    if (lease.wish?.seq !== seq) return;
    const { since } = lease.wish;
    const { id, size, ttlMs, idleMs, periodStartMs, periodEndMs } = grant;
    lease.grants.push({
      ...{ id, size, ttlMs, idleMs, periodStartMs, periodEndMs, since },
      ...{ reserved: 0, used: 0, lastUse: now, retired: false, closed: false, cells: new Map() },
    });
    Object.assign(lease, { wish: undefined, givenUp: [], exhausted: undefined, remaining: grant.remaining });
  }

  /** Nothing remains and nothing is out: said of the allowance that the wish named. */
  exhausted(lease: Lease, seq: number, periodEndMs: number, now: Instant): void {
    if (lease.wish?.seq !== seq) return;
    Object.assign(lease, { wish: undefined, givenUp: [], exhausted: { at: now, periodEndMs }, remaining: 0 });
  }

  /** Metering has no grant for this seq and will have none: the next wish has a new one. */
  refused(lease: Lease, seq: number): void {
    if (lease.wish?.seq === seq) lease.wish = undefined;
  }

  /** Retires what is over, spent or idle of one lease, and answers the grants that have become final by it. */
  retire(lease: Lease, now: Instant): HeldGrant[] {
    const open = lease.grants.filter((grant) => !grant.closed);
    for (const grant of open) retireIfOver(grant, now);
    return open.filter((grant) => grant.closed);
  }

  /** The same for every lease; forgets those that nobody uses. */
  sweep(now: Instant): HeldGrant[] {
    const final: HeldGrant[] = [];
    for (const [key, lease] of this.#leases) {
      final.push(...this.retire(lease, now));
      const unused = lease.grants.length === 0 && !lease.wish;
      if (unused && elapsedMs(lease.demand.at, now) > LEASE_KEPT_MS) this.#leases.delete(key);
    }
    return final;
  }

  /** At the stop: every grant is to be closed, as soon as nothing of it is in flight. */
  retireAll(): void {
    for (const lease of this.#leases.values()) {
      lease.wish = undefined;
      for (const grant of lease.grants) grant.retired = true;
    }
  }

  /** The close of these grants is durable. */
  forget(grants: ReadonlySet<HeldGrant>): void {
    for (const lease of this.#leases.values()) {
      if (lease.grants.some((grant) => grants.has(grant))) {
        lease.grants = lease.grants.filter((grant) => !grants.has(grant));
      }
    }
  }

  /** Permits left this month as far as this gateway knows; never more than there were at metering's last answer. */
  estimateRemaining(lease: Lease, now: Instant): number | undefined {
    if (lease.remaining === undefined) return undefined;
    return lease.grants.reduce(
      (sum, grant) =>
        isOver(grant, now) || grant.retired ? sum : sum + grant.size - grant.used - grant.reserved,
      lease.remaining,
    );
  }

  get size(): { leases: number; grants: number } {
    return {
      leases: this.#leases.size,
      grants: [...this.#leases.values()].reduce((sum, { grants }) => sum + grants.length, 0),
    };
  }
}

/** The whole use of a grant so far, as it goes to metering. */
export function usageOf(grant: HeldGrant): GrantUsage {
  return {
    grantId: grant.id,
    used: grant.used,
    returned: 0,
    closed: grant.closed,
    cells: [...grant.cells.values()].map((cell) => ({ ...cell })),
  };
}

function permitOf(grant: HeldGrant): Permit {
  return {
    grant,
    use: ({ keyId, route, status, day }) => {
      grant.reserved -= 1;
      grant.used += 1;
      const name = `${keyId} ${route} ${status} ${day}`;
      const cell = grant.cells.get(name);
      if (cell) cell.count += 1;
      else grant.cells.set(name, { keyId, route, status, day, count: 1 });
    },
    release: () => {
      grant.reserved -= 1;
    },
  };
}

function isSpendable(grant: HeldGrant, now: Instant): boolean {
  return !grant.retired && !isOver(grant, now) && grant.used + grant.reserved < grant.size;
}

function isOver(grant: HeldGrant, now: Instant): boolean {
  return (
    elapsedMs(grant.since, now) >= grant.ttlMs ||
    now.wallMs >= grant.periodEndMs ||
    now.wallMs < grant.periodStartMs
  );
}

function retireIfOver(grant: HeldGrant, now: Instant): void {
  const idle = grant.idleMs > 0 && grant.reserved === 0 && elapsedMs(grant.lastUse, now) >= grant.idleMs;
  if (grant.used >= grant.size || idle || isOver(grant, now)) grant.retired = true;
  if (grant.retired && grant.reserved === 0) grant.closed = true;
}

function countDemand(lease: Lease, now: Instant): void {
  const { count, at } = lease.demand;
  lease.demand = { count: count * 0.5 ** (elapsedMs(at, now) / DEMAND_HALF_LIFE_MS) + 1, at: now };
}
