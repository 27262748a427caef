import {
  compareNames,
  cusipOfIsin,
  exchangeOfMic,
  exchangesOfCountry,
  INCORPORATING,
} from '@brand-data/identifiers';
import { countryCodeOf } from '../../formats/places.ts';
import { NO_IDENTIFIERS, type Row } from './rows.ts';

/**
 * Removes identifiers that were looked up by ticker and belong to another company:
 *
 * - all of them, if the ISIN is one of another company (hasIdentifiersOfOther). The FIGIs were then looked up in the same way.
 * - the ISIN of an international security ("XS…"). For a company, that is a bond. Products of banks have no country.
 * - a CUSIP that does not fit the ISIN. A North American ISIN contains its CUSIP. Other CUSIPs begin with a letter (CINS). Most
 *   CUSIPs in rows without an ISIN belong to a company that has the same ticker in New York.
 */
export function withOwnIdentifiers(row: Row): Row {
  if (hasIdentifiersOfOther(row)) return { ...row, ...NO_IDENTIFIERS };
  const isin = row.isin.startsWith('XS') && row.country !== '' ? '' : row.isin;
  const contained = cusipOfIsin(isin);
  const isOfIsin = contained === undefined ? /^[A-Z]/.test(row.cusip) : contained === row.cusip;
  return { ...row, isin, cusip: isin !== '' && isOfIsin ? row.cusip : '' };
}

/**
 * Whether the ISIN of a listing belongs to a company elsewhere ("NCR" is NuCoal in Sydney, and NCR in New York).
 *
 * - Shares in Tokyo have Japanese ISINs, or the ISINs of their American receipts.
 * - At a home venue, it is the ISIN of a third country. Companies in Hong Kong often have ISINs of mainland China. An American ISIN
 *   may be that of receipts. It is wrong if the row has a FIGI of a share class, but none of the venue.
 * - In Germany, Mexico and under London's codes for shares from abroad, it is the ISIN of a country that is not the company's, and the
 *   row has no FIGI of the venue. American ISINs stay, because receipts have many listings abroad.
 *
 * An ISIN of a country without an exchange (tax havens) stays. A row's country without a city was looked up by ticker too, and says
 * nothing.
 */
export function hasIdentifiersOfOther(row: Row): boolean {
  const { isin, figi, mic } = row;
  if (isin === '') return false;
  const country = isin.slice(0, 2);
  if (mic === 'XTKS') return country !== 'JP' && country !== 'US';
  const home = countryCodeOf(row.country);
  const venue = exchangeOfMic(mic)?.country;
  if (home === undefined || row.city === '' || country === home || exchangesOfCountry(country).length === 0)
    return false;
  const isIncoming = mic === 'XBER' || mic === 'XMEX' || (mic === 'XLON' && row.ticker.startsWith('0'));
  if (venue === home && !isIncoming) {
    if (home === 'HK' && country === 'CN') return false;
    return country !== 'US' || (row.shareClassFigi !== '' && figi === '');
  }
  return (isIncoming || venue === 'DE') && country !== 'US' && !INCORPORATING.has(country) && figi === '';
}

/**
 * Removes the identifiers of rows whose Australian ISIN is that of another company in Sydney. The ISIN contains the code that the share
 * had there at its issue: AU000000RHC8 is on RMA Global, and RHC is Ramsay Health Care.
 */
export function withoutIsinOfOther(rows: readonly Row[]): (row: Row) => Row {
  const inSydney = new Map(rows.filter(({ mic }) => mic === 'XASX').map((row) => [row.ticker, row]));
  return (row) => {
    const [, code = ''] = /^AU000000([A-Z0-9]{3})\d$/.exec(row.isin) ?? [];
    const { issuer } = inSydney.get(code) ?? {};
    const isOfOther =
      issuer !== undefined && row.issuer !== undefined && compareNames(issuer, row.issuer) === 'other';
    return isOfOther ? { ...row, ...NO_IDENTIFIERS } : row;
  };
}
