import { Brand, BrandType } from '@brand-data/contracts';
import { isIsin, typeOfSecurity } from '@brand-data/identifiers';
import { isOtherSecurity, type OtherSecurityType, otherSecurity } from '../../formats/listing.ts';
import { subjectOf } from './issuer-names.ts';
import type { Row } from './rows.ts';

/** No company has more kinds of shares on one exchange. If a name has more tickers, most are other securities of the company. */
export const MOST_SHARES = 5;

/** In Paris the codes of a company's shares, but for new shares (NV) and the growth and access markets (AL, ML), are shorter. */
const LONG_CODE_IN_PARIS = /^(?!AL|ML)[A-Z0-9]{5,}(?<!NV)$/;

/**
 * Returns the rows that are neither a company's share nor its preferred share, each with its record. The name and the form of the
 * ticker show what a row is. If they do not, the other tickers with the same name show that it is some security of the company.
 */
export function otherSecurities(rows: readonly Row[]): ReadonlyMap<Row, Brand | undefined> {
  const others = new Map<Row, Brand | undefined>();
  for (const row of rows) {
    const { name, ticker, mic, summary } = row;
    const type = typeOfSecurity({ name, ticker, mic }) ?? (isFund(summary) ? 'fund' : undefined);
    if (isOtherSecurity(type) && type !== 'preferred') others.set(row, recordOf(row, type));
  }
  const shares = rows.filter((row) => row.name !== '' && !others.has(row));
  for (const group of Map.groupBy(shares, ({ name, mic }) => `${mic} ${name}`).values()) {
    const tickers = group.map(({ ticker }) => ticker);
    const base = baseOf(tickers);
    for (const row of group)
      if (hasShareBehind(row, tickers, base)) others.set(row, recordOf(row, 'security'));
  }
  return others;
}

/** "Gold Bullion Securities ETC is an exchange-traded commodity" describes what a row calls "GOLD BULLION SECURITIES LIMITED". */
function isFund(summary: string): boolean {
  return typeOfSecurity({ name: subjectOf(summary) }) === 'fund';
}

/** Undefined if the row has no name. Identifiers that are likely to be those of the company's share are left out. */
function recordOf(row: Row, type: OtherSecurityType | 'security'): Brand | undefined {
  const { ticker, isin, figi } = row;
  const other = otherSecurity(type, row.name, row);
  if (other === undefined) return undefined;
  const listings = other.listings.map((each) => ({ ...each, figi, isin: isIsin(ticker) ? ticker : isin }));
  return Brand.fromPartial({ ...other, type: BrandType.OTHER_SECURITY, listings });
}

/** Checks whether the company has a share, and this row's ticker, by those of the other rows with its name, is none of a share. */
function hasShareBehind({ ticker, mic }: Row, tickers: readonly string[], base: string | undefined): boolean {
  if (mic === 'XPAR') return LONG_CODE_IN_PARIS.test(ticker) && tickers.some((other) => other.length <= 4);
  return base !== undefined && ticker !== base && !ticker.startsWith(`${base}-`);
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
