import { LONGEST_TTL_MS } from '@brand-data/contracts';

/** While many permits are left, a grant takes at most this share of them. */
const LARGEST_SHARE = 1 / 32;
const SHORTEST_TTL_MS = 5_000;
/** A grant ends within this part of the time in which calls may use up the free permits, because calls may come faster later. */
const LARGEST_PART_OF_TIME = 1 / 4;
/** What a permit for the next moment adds to the calls of the next minute: most of its pace. */
const MINUTE_OF_SOON = 300;

/** Estimates how many calls a holder will make in the next minute. See AcquireRequest for `want` and `wantSoon`. */
export function callsAMinute({ want, wantSoon = 0 }: { want: number; wantSoon?: number }): number {
  return Math.max(want, wantSoon * MINUTE_OF_SOON);
}

/**
 * How many permits a grant has and how long it lives. "Left" are the permits that are not used.
 *
 * - Far from the limit a grant is a small share of the permits that are left, and all grants together hold at most half of them.
 *   While they hold at most a tenth, a grant lives ten minutes and may lie idle, so metering may be unreachable for as long.
 * - A holder whose calls would use up such a grant in a moment gets more: the permits that its calls need soon, up to its equal
 *   share of the free permits. It gets at least one for each call that waits. Therefore every holder gets some of the last
 *   permits, and needs few grants for them.
 * - The larger the share that holders have, the shorter a grant lives, so that unused permits come back soon.
 * - If calls may use up the free permits soon, a grant lives even shorter. When no permit is free any more, the permits of a holder
 *   that has crashed are therefore back, or come back within 15 s.
 *
 * @param want permits for about a minute of the holder's calls
 * @param wantSoon the part of `want` for the next moment
 * @param waiting calls that wait for the answer
 * @param free available permits: neither used nor held by a holder; at least 1
 * @param out permits that holders have and that are not reported as used
 * @param holders number of holders with open grants, including the one that asks
 * @param perMinute calls of all these holders in the next minute (`callsAMinute`)
 */
export function sizeGrant({
  want,
  wantSoon,
  waiting,
  free,
  out,
  holders,
  perMinute,
}: {
  want: number;
  wantSoon: number;
  waiting: number;
  free: number;
  out: number;
  holders: number;
  perMinute: number;
}): {
  size: number;
  ttlMs: number;
  idleMs: number;
} {
  const left = free + out;
  const inStock = Math.min(want, Math.ceil(left * LARGEST_SHARE), Math.floor(left / 2) - out);
  const soon = Math.min(wantSoon, Math.ceil(free / holders));
  const size = Math.min(free, Math.max(1, inStock, soon, waiting));
  const held = (out + size) / left;
  const usedUpInMs = ((free - size) / perMinute) * 60_000;
  const mostMs = Math.max(SHORTEST_TTL_MS, Math.floor(usedUpInMs * LARGEST_PART_OF_TIME));
  if (held <= 0.1) return { size, ttlMs: Math.min(mostMs, LONGEST_TTL_MS), idleMs: 0 };
  if (held <= 0.25) return { size, ttlMs: Math.min(mostMs, 60_000), idleMs: 5_000 };
  return { size, ttlMs: SHORTEST_TTL_MS, idleMs: 300 };
}
