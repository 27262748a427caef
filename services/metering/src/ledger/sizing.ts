/** The share of what is left that one grant takes at most while there is plenty. */
const LARGEST_SHARE = 1 / 32;

/**
 * How large a grant is and how long it lives. Far from the limit a grant is a small share of what is left, all of them
 * together hold at most half of it, and a grant lives ten minutes and may lie idle: metering may be away for as long. A
 * holder whose calls would be through with that in a moment has more: what they use soon, within its equal share of what is
 * free, and one for each call that waits. So the way to the last permit is a few grants long, and each holder has some of
 * them. The nearer the limit, the shorter a grant lives, so that what a holder does not use comes back soon.
 *
 * @param want permits for about a minute of the holder's calls
 * @param wantSoon of them, those for the next moment
 * @param waiting calls that wait for the answer
 * @param free permits in nobody's hands, at least 1
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
