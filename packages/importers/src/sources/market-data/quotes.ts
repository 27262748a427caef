import type { Stock } from '@brand-data/contracts';
import { readNumber } from '../../formats/cells.ts';
import { inWhole, readCurrency } from '../../formats/currencies.ts';
import { openTable } from '../../formats/table.ts';
import { OptionError } from '../../framework/source-items.ts';

/** The value of one unit of each currency in US dollars, by the currency's code. */
export type Rates = ReadonlyMap<string, number>;

/** A security's figures of one day, parsed from a table, in the table's own unit of currency. */
export interface DayFigures extends OtherFigures {
  currency?: string | undefined;
  price: number;
  isActivelyTrading?: boolean | undefined;
}

/** The market value is in the whole currency, even if the price is in hundredths. Low and high are those of 52 weeks. */
type OtherFigures = Partial<
  Record<
    'priceUsd' | 'change' | 'changePercentage' | 'marketCap' | 'marketCapUsd' | 'low' | 'high',
    number | undefined
  >
>;

/**
 * Returns the figures as the catalogue stores them. Computes missing figures from the given ones: the change from its percentage
 * or the percentage from the change, prices in US dollars by `rates`, the range, and the distance from its low.
 */
export function stockOfFigures(figures: DayFigures, rates: Rates): Partial<Stock> {
  const { currency, units } = readCurrency(figures.currency ?? '') ?? { currency: undefined, units: 1 };
  const inUnits = (value: number | undefined) => (value === undefined ? undefined : inWhole(value, units));
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

const CODE_COLUMNS = ['currency', 'code', 'symbol'];
const RATE_COLUMNS = ['usd', 'rate'];

/**
 * Returns the rates in texts such as "EUR=1.08,GBP=1.27", and in a table with the columns `currency` and `usd`. A text's rate
 * replaces that of the table. Throws an OptionError if a rate is malformed.
 */
export async function readRates(given: readonly string[], file: string | undefined): Promise<Rates> {
  const rates = new Map([['USD', 1]]);
  if (file !== undefined) for await (const [code, usd] of ratesOfTable(file)) set(rates, code, usd);
  for (const part of given.flatMap((text) => text.split(','))) {
    const [code = '', usd = ''] = part.split('=');
    set(rates, code, usd);
  }
  return rates;
}

function set(rates: Map<string, number>, code: string, usd: string): void {
  const currency = code.trim().toUpperCase();
  const rate = readNumber(usd);
  if (!/^[A-Z]{3}$/.test(currency) || rate === undefined || rate <= 0)
    throw new OptionError(
      `"${code}=${usd}" is not an exchange rate: write the value of one unit in US dollars, such as EUR=1.08`,
    );
  rates.set(currency, rate);
}

async function* ratesOfTable(file: string): AsyncGenerator<[code: string, usd: string]> {
  await using table = await openTable(file);
  const { columns, rows } = table;
  const [code, rate] = [CODE_COLUMNS, RATE_COLUMNS].map((names) =>
    columns.find((column) => names.includes(column.toLowerCase())),
  );
  if (code === undefined || rate === undefined)
    throw new OptionError(
      `${file} must have the columns "currency" and "usd": its columns are ${columns.join(', ')}`,
    );
  for await (const row of rows) {
    if ('problem' in row) throw new OptionError(`${row.from}: ${row.problem}`);
    yield [row.cells.get(code) ?? '', row.cells.get(rate) ?? ''];
  }
}
