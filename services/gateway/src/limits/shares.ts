/** Room for calls that come unevenly. */
const HEADROOM = 1.1;

/**
 * Returns this gateway's share of the limits of an account or key, 0 to 1. If the gateways need less than everything, each gets
 * what it needs and an equal part of the rest. Otherwise a gateway that needs little gets that, and the others get equal parts of
 * the rest. All gateways with the same news get the same result, and the shares add up to 1.
 *
 * @param own this gateway's demand, as a part of the limits
 * @param others the other gateways' demand; undefined for a gateway without news, which keeps an equal share
 */
export function shareOf(own: number, others: readonly (number | undefined)[]): number {
  const gateways = others.length + 1;
  const known = others.filter((demand) => demand !== undefined).map((demand) => demand * HEADROOM);
  const needed = own * HEADROOM;
  const total = 1 - (others.length - known.length) / gateways;
  const sum = known.reduce((all, demand) => all + demand, needed);
  if (sum <= total) return needed + (total - sum) / (known.length + 1);
  return Math.min(needed, levelOf([...known, needed], total));
}

/** The level at which the demands, each cut at the level, add up to `total`, which is less than their sum. */
function levelOf(demands: readonly number[], total: number): number {
  let left = total;
  const sorted = demands.toSorted((a, b) => a - b);
  for (const [index, demand] of sorted.entries()) {
    const level = left / (sorted.length - index);
    if (demand > level) return level;
    left -= demand;
  }
  return left;
}
