/**
 * Rank: how well known a company is, 0 to 1000. One scale for all sources, so that companies that know nothing of each
 * other compare; hand-set ranks are set on it too. It settles which of two companies an identifier means.
 */

/** Of a company of which nothing is known that tells how well known it is. */
export const RANK_OF_UNKNOWN = 300;

/** A figure and its rank. Between two, the rank grows by the figure's logarithm; beyond them it stays. */
type Scale = readonly (readonly [figure: number, rank: number])[];

/** US dollars. Those between are where the usual classes of market value begin. */
const MARKET_VALUE: Scale = [
  [1e6, 400],
  [50e6, 500],
  [300e6, 580],
  [2e9, 660],
  [10e9, 740],
  [200e9, 900],
  [5e12, 1000],
];

/** Language editions of Wikipedia with an article on it. */
const SITELINKS: Scale = [
  [1, 400],
  [3, 500],
  [10, 620],
  [30, 760],
  [100, 900],
  [250, 1000],
];

/** Where each class begins, as databases of companies name them. US dollars. */
const MARKET_CAP_CLASSES: ReadonlyMap<string, number> = new Map([
  ['nano cap', 1e6],
  ['micro cap', 50e6],
  ['small cap', 300e6],
  ['mid cap', 2e9],
  ['large cap', 10e9],
  ['mega cap', 200e9],
]);

/** Of a market value in US dollars. */
export function rankOfMarketValue(usd: number): number {
  return rankOn(MARKET_VALUE, usd);
}

/** Of the number of Wikipedia's language editions that have an article on it. */
export function rankOfSitelinks(editions: number): number {
  return rankOn(SITELINKS, editions);
}

/**
 * Of a class of market value ("Mega Cap", in any case): the rank where the class begins, so that a known market value
 * never ranks below its class. Any other text: unknown.
 */
export function rankOfMarketCapClass(name: string): number {
  return rankOfMarketValue(MARKET_CAP_CLASSES.get(name.trim().toLowerCase()) ?? 0);
}

function rankOn(scale: Scale, figure: number): number {
  if (!(figure > 0)) return RANK_OF_UNKNOWN;
  const above = scale.findIndex(([end]) => figure < end);
  const [high, highRank] = scale.at(above) ?? [1, RANK_OF_UNKNOWN];
  const [low, lowRank] = scale[above - 1] ?? [high, highRank];
  if (above <= 0) return highRank;
  return Math.round(lowRank + ((highRank - lowRank) * Math.log(figure / low)) / Math.log(high / low));
}
