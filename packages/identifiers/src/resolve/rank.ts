import { type Brand, BrandType } from '@brand-data/contracts';
import type { BrandKey } from '../keys/brand-key.ts';
import { compareTexts } from '../names/texts.ts';
import { exchangeOfMic } from '../securities/exchanges.ts';

/** Rank says how well known a company is, from 0 to 1000. All sources, and people who set ranks, use the same scale. */

/** The rank of a company of which nothing tells how well known it is. The catalogue gives it; a source must not state it. */
export const RANK_OF_UNKNOWN = 300;
/** The rank by which look-ups order such a company if its main listing is in New York or on Nasdaq, where few are smaller. */
export const RANK_OF_LISTED = 600;
const LARGE_VENUES = /^(?:XNYS|XNAS)$/;

/** More than the greatest rank, so that every bare record goes after every fuller one. */
const BARE_BELOW = 2000;

/** The rank of another security with a ticker in the United States. Companies of this rank are known internationally. */
export const RANK_OF_OTHER_SECURITY = 700;

type Point = readonly [figure: number, rank: number];
/** Figures with their ranks. Between two figures the rank grows with the logarithm. Above the last figure it stays the same. */
type Scale = readonly Point[];

/** The lower bound of each class of market values in US dollars, by the name that company databases use. */
const MARKET_CAP_CLASSES: ReadonlyMap<string, Point> = new Map([
  ['nano cap', [1e6, 400]],
  ['micro cap', [50e6, 500]],
  ['small cap', [300e6, 580]],
  ['mid cap', [2e9, 660]],
  ['large cap', [10e9, 740]],
  ['mega cap', [200e9, 900]],
]);
const MARKET_VALUE: Scale = [...MARKET_CAP_CLASSES.values(), [5e12, 1000]];

/** The number of language editions of Wikipedia that have an article about the company. */
const SITELINKS: Scale = [
  [1, 400],
  [3, 500],
  [10, 620],
  [30, 760],
  [100, 900],
  [250, 1000],
];

/** Returns the rank of a market value in US dollars. 0 if the value is not known: zero, negative or no number. */
export function rankOfMarketValue(usd: number): number {
  return rankOn(MARKET_VALUE, usd);
}

/** Returns the rank of a number of language editions of Wikipedia. 0 if there are none. */
export function rankOfSitelinks(editions: number): number {
  return rankOn(SITELINKS, editions);
}

/** Returns the rank of the lower bound of a market-value class such as "Mega Cap", in any case. 0 for any other text. */
export function rankOfMarketCapClass(name: string): number {
  return MARKET_CAP_CLASSES.get(name.trim().toLowerCase())?.[1] ?? 0;
}

/**
 * Returns the rank by which look-ups order records: the record's rank, or a figure below 0 if the record is bare. If nothing tells how
 * well known a company is, its main listing in New York or on Nasdaq does. Other securities come after all companies, but those with
 * a ticker in the United States only after well-known companies.
 */
export function lookupRank(brand: Brand): number {
  if (brand.type === BrandType.OTHER_SECURITY)
    return brand.listings.some(({ mic }) => isAmerican(mic)) ? RANK_OF_OTHER_SECURITY : -BARE_BELOW;
  if (isBare(brand)) return brand.rank - BARE_BELOW;
  const mic = exchangeOfMic(brand.listings[0]?.mic ?? '')?.mic ?? '';
  return brand.rank === RANK_OF_UNKNOWN && LARGE_VENUES.test(mic) ? RANK_OF_LISTED : brand.rank;
}

export function isBareRank(rank: number): boolean {
  return rank < 0;
}

/** Checks whether the venue is in the United States, where all securities have different tickers. */
export function isAmerican(mic: string): boolean {
  return exchangeOfMic(mic)?.country === 'US';
}

/** What decides between two records that an identifier fits equally well. */
export interface Ranked {
  readonly id: string;
  /** How well known the brand is: the whole part of its `lookupRank`. */
  readonly rank: number;
  /** From 0 to below 1. Decides between equal ranks, because ids depend on the order of imports. */
  readonly tieBreak?: number | undefined;
}

/** A brand that an identifier may mean. */
export interface Candidate extends Ranked {
  readonly keys: readonly BrandKey[];
}

/** Orders by rank, then tie-break, then id: the highest rank and tie-break first, then the smallest id. */
export function compareRanked(a: Ranked, b: Ranked): number {
  return b.rank - a.rank || (b.tieBreak ?? 0) - (a.tieBreak ?? 0) || compareTexts(a.id, b.id);
}

/**
 * Checks whether only names, a logo and addresses are known of a company, as of an icon, or what a register of all companies states
 * beside its LEI: headquarters, parents, successors. Derived fields do not count.
 */
function isBare(brand: Brand): boolean {
  if (brand.type === BrandType.SUPERINVESTOR) return false;
  const { lei, listings, company, ownership, offerings, history, transport, links, stock } = brand;
  const { headquarters, ...business } = { ...company };
  const { formerly: _names, formerTickers: _tickers, ...events } = { ...history };
  const { websites: _addresses, ...pages } = { ...links };
  const description = brand.derivedFields.includes('description') ? '' : brand.description;
  const category =
    brand.derivedFields.includes('category') || brand.category === 'brand' ? '' : brand.category;
  const facts = { listings, business, offerings, transport, pages, stock, description, category };
  return !hasData(facts) && (lei !== '' || !hasData({ headquarters, ownership, events }));
}

function hasData(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasData);
  return value !== undefined && value !== '';
}

function rankOn(scale: Scale, figure: number): number {
  if (!(figure > 0)) return 0;
  const above = scale.findIndex(([end]) => figure < end);
  const [high, highRank] = scale.at(above) ?? [1, 0];
  const [low, lowRank] = scale[above - 1] ?? [high, highRank];
  if (above <= 0) return highRank;
  return Math.round(lowRank + ((highRank - lowRank) * Math.log(figure / low)) / Math.log(high / low));
}
