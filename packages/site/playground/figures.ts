/** Figures and words as a reader of English writes them. */

const PLAIN = new Intl.NumberFormat('en', { maximumFractionDigits: 4 });
const TWO_DIGITS = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const SHORT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 });

export const numberText = (value: number): string => PLAIN.format(value);

/** Returns an amount in short form, such as "4.51T USD". */
export const money = (value: number, currency: string | null | undefined): string =>
  [Math.abs(value) < 1e6 ? PLAIN.format(value) : SHORT.format(value), currency ?? ''].join(' ').trim();

export const percent = (value: number): string => `${TWO_DIGITS.format(value)}%`;

const DATE_PARTS = [{ year: 'numeric' }, { month: 'long' }, { day: 'numeric' }] as const;

/** Returns a date YYYY, YYYY-MM or YYYY-MM-DD as people write it, such as "21 August 2026". */
export function dateText(date: string): string {
  const time = Date.parse(date);
  const parts = Object.assign({ timeZone: 'UTC' }, ...DATE_PARTS.slice(0, date.split('-').length));
  return Number.isNaN(time) ? date : new Intl.DateTimeFormat('en-GB', parts).format(time);
}

/** "index_memberships" becomes "Index memberships", and "countryCode" "Country code". */
export function labelOf(key: string): string {
  const known = KNOWN[key];
  if (known !== undefined) return known;
  const words = key
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const KNOWN: Readonly<Record<string, string>> = {
  ceo: 'CEO',
  isin: 'ISIN',
  cusip: 'CUSIP',
  ipo_date: 'IPO date',
  wikidata_qid: 'Wikidata',
  portfolio_manager_source: 'Source',
  exchange_full_name: 'Exchange name',
  change_percentage: 'Change in percent',
  market_cap_usd: 'Market cap',
  market_cap: 'Market cap',
  price_usd: 'Price in USD',
  range: '52-week range',
  percent_from_52_week_low: 'Above 52-week low',
  is_actively_trading: 'Actively trading',
};

export const TYPES: Readonly<Record<string, string>> = {
  stock: 'Listed company',
  brand: 'Company',
  merchant: 'Company',
  superinvestor: 'Superinvestor',
};
