/**
 * Rank: how well known a company is, 0 to 1000, on one scale for all sources and for ranks that are set by hand. Rank
 * decides which of two companies an identifier means.
 */

/** The rank of a company without any of the figures below. */
export const RANK_OF_UNKNOWN = 300;

/** Figures with their ranks. Between two the rank grows with the figure's logarithm; beyond the last it stays. */
type Scale = readonly (readonly [figure: number, rank: number])[];

/** US dollars. The figures between the first and the last begin the usual classes of market value. */
const MARKET_VALUE: Scale = [
  [1e6, 400],
  [50e6, 500],
  [300e6, 580],
  [2e9, 660],
  [10e9, 740],
  [200e9, 900],
  [5e12, 1000],
];

/** Language editions of Wikipedia with an article on the company. */
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

/** The rank of a market value in US dollars. */
export function rankOfMarketValue(usd: number): number {
  return rankOn(MARKET_VALUE, usd);
}

/** The rank of a number of language editions of Wikipedia. */
export function rankOfSitelinks(editions: number): number {
  return rankOn(SITELINKS, editions);
}

/**
 * The rank of a class of market value ("Mega Cap", in any case): that of the class's lower bound, so that a known market
 * value never ranks below its class. Any other text ranks as unknown.
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
