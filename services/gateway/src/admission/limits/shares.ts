/**
 * Returns this gateway's share of the limits of an account or key, 0 to 1. If the gateways together need less than the whole
 * limit, each gets its need and an equal part of the rest. Otherwise each gets a share in proportion to its need, so that a call
 * has about the same chance at each gateway. No need counts for more than the whole limit. Therefore shares hardly change while
 * all gateways are flooded, although the gateways measure different demands. All gateways with the same news get the same result,
 * and the shares add up to 1.
 *
 * @param own this gateway's demand, as a part of the limits
 * @param others the other gateways' demand; undefined for a gateway without news, which keeps an equal share
 */
export function fairShare(own: number, others: readonly (number | undefined)[]): number {
  const gateways = others.length + 1;
  const known = others.filter((demand) => demand !== undefined);
  const total = (known.length + 1) / gateways;
  const need = Math.min(1, own);
  const sum = known.reduce((all, demand) => all + Math.min(1, demand), need);
  return sum > total ? (need * total) / sum : need + (total - sum) / (known.length + 1);
}
