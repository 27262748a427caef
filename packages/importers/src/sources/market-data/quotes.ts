import type { Stock } from '@brand-data/contracts';
import type { Rates } from './rates.ts';

/** A security's figures of one day, parsed from a table, in the table's own unit of currency. */
export interface DayFigures {
  currency?: string | undefined;
  price: number;
  priceUsd?: number | undefined;
  change?: number | undefined;
  changePercentage?: number | undefined;
  /** In the whole currency, even if the price is in hundredths. */
  marketCap?: number | undefined;
  marketCapUsd?: number | undefined;
  /** The low and high of 52 weeks. */
  low?: number | undefined;
  high?: number | undefined;
  isActivelyTrading?: boolean | undefined;
}

/** Units such as pence, cents and agorot, with their currency. A hundred units are one unit of the currency. */
const HUNDREDTHS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    GBP: 'GBp GBX',
    ZAR: 'ZAc ZAC ZAX',
    ILS: 'ILA ILa ILX',
    USD: 'USX USc',
    EUR: 'EUX',
  }).flatMap(([currency, units]) => units.split(' ').map((unit) => [unit, currency] as const)),
);

/**
 * Returns the ISO 4217 currency that a text means, and how many of the text's units make one unit of the currency. Undefined if the
 * text is not a currency.
 */
export function readCurrency(text: string): { currency: string; units: number } | undefined {
  const whole = HUNDREDTHS.get(text.trim());
  if (whole !== undefined) return { currency: whole, units: 100 };
  const currency = text.trim().toUpperCase();
  return /^[A-Z]{3}$/.test(currency) ? { currency, units: 1 } : undefined;
}

/**
 * Returns the figures as the catalogue stores them. Computes missing figures from the given ones: the change from its percentage
 * or the percentage from the change, prices in US dollars by `rates`, the range, and the distance from its low. Market values are
 * never in hundredths, even if the price is.
 */
export function stockOfFigures(figures: DayFigures, rates: Rates): Partial<Stock> {
  const { currency, units } = readCurrency(figures.currency ?? '') ?? { currency: undefined, units: 1 };
  const inUnits = (value: number | undefined) =>
    value === undefined ? undefined : rounded(value / units, 10);
  const price = inUnits(figures.price) ?? 0;
  const low = inUnits(figures.low);
  const high = inUnits(figures.high);
  const rate = currency === undefined ? undefined : rates.get(currency);
  const inUsd = (value: number | undefined) =>
    value === undefined || rate === undefined ? undefined : rounded(value * rate, 6);
  const change = inUnits(figures.change) ?? changeOf(price, figures.changePercentage);
  return {
    ...(currency !== undefined && { currency }),
    price,
    priceUsd: figures.priceUsd ?? inUsd(price),
    change,
    changePercentage: figures.changePercentage ?? percentageOf(price, change),
    marketCapUsd: figures.marketCapUsd ?? inUsd(figures.marketCap),
    ...(low !== undefined && high !== undefined && { range: `${low}-${high}` }),
    percentFrom52WeekLow: low === undefined || low <= 0 ? undefined : rounded(((price - low) / low) * 100, 3),
    isActivelyTrading: figures.isActivelyTrading,
  };
}

/** Returns the change in percent of the previous close. */
function percentageOf(price: number, change: number | undefined): number | undefined {
  if (change === undefined || price - change <= 0) return undefined;
  return rounded((change / (price - change)) * 100, 3);
}

function changeOf(price: number, percentage: number | undefined): number | undefined {
  if (percentage === undefined || percentage <= -100) return undefined;
  return rounded(price - price / (1 + percentage / 100), 4);
}

/** Removes the extra digits that binary fractions add. */
function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
