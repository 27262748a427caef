import type { Stock } from '@brand-data/contracts';
import type { Rates } from './rates.ts';

/** A security's figures of one day as a table has them, read, in the table's own unit of currency. */
export interface Figures {
  currency?: string | undefined;
  price: number;
  priceUsd?: number | undefined;
  change?: number | undefined;
  changePercentage?: number | undefined;
  /** In the currency; and in US dollars. */
  marketCap?: number | undefined;
  marketCapUsd?: number | undefined;
  /** Of 52 weeks. */
  low?: number | undefined;
  high?: number | undefined;
  isActivelyTrading?: boolean | undefined;
}

/** Units that quotes are given in, of which a hundred are one of the currency: pence, cents, agorot. */
const HUNDREDTHS: ReadonlyMap<string, string> = new Map([
  ['GBp', 'GBP'],
  ['GBX', 'GBP'],
  ['ZAc', 'ZAR'],
  ['ZAC', 'ZAR'],
  ['ZAX', 'ZAR'],
  ['ILA', 'ILS'],
  ['ILa', 'ILS'],
  ['ILX', 'ILS'],
  ['USX', 'USD'],
  ['USc', 'USD'],
  ['EUX', 'EUR'],
]);

/** The currency that a text means, by ISO 4217, and how many of the text's units are one of it; undefined: none. */
export function readCurrency(text: string): { currency: string; units: number } | undefined {
  const whole = HUNDREDTHS.get(text.trim());
  if (whole !== undefined) return { currency: whole, units: 100 };
  const currency = text.trim().toUpperCase();
  return /^[A-Z]{3}$/.test(currency) ? { currency, units: 1 } : undefined;
}

/**
 * The figures as the catalogue has them, with the figures that follow from others: change and its percentage from one
 * another, prices in US dollars by `rates`, the range and the distance from its low. Market values are never in
 * hundredths, whatever the price is in.
 */
export function stockOf(figures: Figures, rates: Rates): Partial<Stock> {
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

/** Of the close before, in percent. */
function percentageOf(price: number, change: number | undefined): number | undefined {
  if (change === undefined || price - change <= 0) return undefined;
  return rounded((change / (price - change)) * 100, 3);
}

function changeOf(price: number, percentage: number | undefined): number | undefined {
  if (percentage === undefined || percentage <= -100) return undefined;
  return rounded(price - price / (1 + percentage / 100), 4);
}

/** Without the digits that binary fractions add. */
function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
