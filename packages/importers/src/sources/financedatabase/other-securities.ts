import { typeOfSecurity, typeOfTicker } from '@brand-data/identifiers';
import { isOtherSecurity, labelsOf } from '../../formats/listing.ts';
import type { Row } from './rows.ts';

/** No company has more kinds of shares on one exchange. If a name has more tickers, most are other securities of the company. */
export const MOST_SHARES = 5;

/** In Paris the codes of a company's shares, but for new shares (NV) and the growth and access markets (AL, ML), are shorter. */
const LONG_CODE_IN_PARIS = /^(?!AL|ML)[A-Z0-9]{5,}(?<!NV)$/;

/**
 * Returns the rows that are neither a company's share nor a product with a separate name, each with the reason. The name and the
 * form of the ticker show what a row is. If they do not, the other tickers with the same name show it.
 */
export function otherSecurities(rows: readonly Row[]): ReadonlyMap<Row, string> {
  const reasons = new Map<Row, string>();
  for (const row of rows) {
    const reason = whatItIs(row);
    if (reason !== undefined) reasons.set(row, `${row.symbol}: "${row.name}" is ${reason}`);
  }
  const shares = rows.filter((row) => row.name !== '' && !reasons.has(row));
  for (const group of Map.groupBy(shares, ({ name, mic }) => `${mic} ${name}`).values()) {
    const tickers = group.map(({ ticker }) => ticker);
    const base = baseOf(tickers);
    for (const row of group) {
      if (group.length > 1 && typeOfTicker(row.ticker, row.mic) === 'fund')
        reasons.set(row, `${row.symbol}: "${row.name}" is a fund under the name of its issuer`);
      const share = shareBehind(row, tickers, base);
      if (share !== undefined)
        reasons.set(row, `${row.symbol}: "${row.name}" has the share ${share}, and this is another security`);
    }
  }
  return reasons;
}

/** Preferred shares stay listings of their company. Funds have separate records. */
function whatItIs({ name, ticker, mic }: Row): string | undefined {
  const type = typeOfSecurity({ name, ticker, mic });
  return isOtherSecurity(type) && type !== 'preferred' && type !== 'fund' ? labelsOf(type)[0] : undefined;
}

/**
 * Returns the ticker of the company's share, if this row's ticker, by those of the other rows with its name, is none of a share.
 */
function shareBehind(
  { ticker, mic }: Row,
  tickers: readonly string[],
  base: string | undefined,
): string | undefined {
  if (mic === 'XPAR')
    return LONG_CODE_IN_PARIS.test(ticker) ? tickers.find((other) => other.length <= 4) : undefined;
  return base === undefined || ticker === base || ticker.startsWith(`${base}-`) ? undefined : base;
}

/**
 * Returns the ticker that most of many tickers lengthen, so that they are derived from it. A ticker with a sign before the mark
 * of a class does not count as derived.
 */
function baseOf(tickers: readonly string[]): string | undefined {
  const stems = tickers.map((each) => each.split('-', 1)[0] ?? '');
  if (new Set(stems).size <= MOST_SHARES) return undefined;
  return stems.find((stem) => stems.filter((other) => other.startsWith(stem)).length * 2 > stems.length);
}
