/** The share of what is left that one grant takes at most while there is plenty. */
const LARGEST_SHARE = 1 / 32;

/**
 * How large a grant is and how long it lives. All open grants together hold at most half of what is left, so that the
 * others always find some. Far from the limit a grant lives ten minutes and may lie idle: metering may be away for as
 * long. The nearer the limit, the smaller and the shorter, so that what a holder does not use comes back soon.
 *
 * @param free permits in nobody's hands, at least 1
 * @param out permits in holders' hands and not known to be used
 */
export function sizeGrant({ want, free, out }: { want: number; free: number; out: number }): {
  size: number;
  ttlMs: number;
  idleMs: number;
} {
  const left = free + out;
  const largest = Math.min(Math.ceil(left * LARGEST_SHARE), Math.floor(left / 2) - out);
  const size = Math.min(free, Math.max(1, Math.min(want, largest)));
  const held = (out + size) / left;
  if (held <= 0.1) return { size, ttlMs: 600_000, idleMs: 0 };
  if (held <= 0.25) return { size, ttlMs: 60_000, idleMs: 5_000 };
  return { size, ttlMs: 5_000, idleMs: 300 };
}
