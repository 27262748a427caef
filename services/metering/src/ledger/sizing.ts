/** The largest share of the remaining allowance that one grant takes while there is plenty. */
const LARGEST_SHARE = 1 / 32;

/**
 * How large a grant is and how long it lives. Far from the limit a grant is a small share of the remaining allowance, and all
 * grants together hold at most half of it. Such a grant lives ten minutes and may lie idle: metering may be away for as long.
 * A holder whose calls would use it up in a moment gets more: the permits that they use soon, up to its equal share of the
 * free permits, and one for each call that waits. So each holder has some of the last permits, in few grants. The nearer the
 * limit, the shorter a grant lives, so that unused permits come back soon.
 *
 * @param want permits for about a minute of the holder's calls
 * @param wantSoon of them, those for the next moment
 * @param waiting calls that wait for the answer
 * @param free permits that no holder has, at least 1
 * @param out permits in holders' hands and not known to be used
 * @param holders how many have open grants, the one that asks included
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
  if (held <= 0.1) return { size, ttlMs: 600_000, idleMs: 0 };
  if (held <= 0.25) return { size, ttlMs: 60_000, idleMs: 5_000 };
  return { size, ttlMs: 5_000, idleMs: 300 };
}
