import { LONGEST_TTL_MS } from '@brand-data/contracts';

/** While many permits are left, a grant takes at most this share of them. */
const LARGEST_SHARE = 1 / 32;

/**
 * How many permits a grant has and how long it lives. "Left" are the permits that are not used.
 *
 * - Far from the limit a grant is a small share of the permits that are left, and all grants together hold at most half of them.
 *   While they hold at most a tenth, a grant lives ten minutes and may lie idle, so metering may be unreachable for as long.
 * - A holder whose calls would use up such a grant in a moment gets more: the permits that its calls need soon, up to its equal
 *   share of the free permits. It gets at least one for each call that waits. Therefore every holder gets some of the last
 *   permits, and needs few grants for them.
 * - The larger the share that holders have, the shorter a grant lives, so that unused permits come back soon.
 *
 * @param want permits for about a minute of the holder's calls
 * @param wantSoon the part of `want` for the next moment
 * @param waiting calls that wait for the answer
 * @param free available permits: neither used nor held by a holder; at least 1
 * @param out permits that holders have and that are not reported as used
 * @param holders number of holders with open grants, including the one that asks
 */
export function sizeGrant({
  want,
  wantSoon,
  waiting,
  free,
  out,
  holders,
}: {
  want: number;
  wantSoon: number;
  waiting: number;
  free: number;
  out: number;
  holders: number;
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
  if (held <= 0.1) return { size, ttlMs: LONGEST_TTL_MS, idleMs: 0 };
  if (held <= 0.25) return { size, ttlMs: 60_000, idleMs: 5_000 };
  return { size, ttlMs: 5_000, idleMs: 300 };
}
