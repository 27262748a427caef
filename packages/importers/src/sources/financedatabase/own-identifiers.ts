import { cusipOfIsin, exchangeOfMic, exchangesOfCountry } from '@brand-data/identifiers';
import { countryCodeOf } from '../../formats/places.ts';
import type { OwnIdentifiers } from './company.ts';
import { isGerman, type Row } from './rows.ts';

/** Countries with an exchange where companies from elsewhere are often incorporated. */
const INCORPORATING = new Set(['CH', 'CY', 'IE', 'NL']);

/**
 * Decides which of its identifiers a listing keeps. If listings of several companies have an identifier, it belongs to the
 * company with the most of these listings. In a tie, it belongs to the company in the ISIN's country, or to none if no company is
 * there. If a company kept another company's identifier, look-ups by it would find the wrong company, and the catalogue would
 * link it with the other company's records.
 *
 * A row whose FIGI belongs to another company has that company's ISIN too, unless the ISIN is of the row's country or
 * its venue's.
 *
 * Shares in Tokyo have Japanese ISINs, or the ISINs of their American receipts. Any other ISIN there belongs to a company
 * elsewhere whose ticker has the same digits.
 *
 * Elsewhere too, an ISIN of another country may have been looked up by ticker (isOfOther). Then the FIGIs were as well.
 */
export function ownIdentifiersOf(companies: readonly (readonly Row[])[]): OwnIdentifiers {
  const owners = new Map<string, readonly Row[] | undefined>();
  for (const [identifier, holders] of holdersOf(companies)) {
    if (hasNoOwner(identifier, holders)) owners.set(identifier, undefined);
    else if (holders.length > 1) owners.set(identifier, ownerOf(identifier, holders));
  }
  const companyOf = new Map(companies.flatMap((company) => company.map((row) => [row, company] as const)));
  const isOwn = (row: Row, identifier: string) =>
    !owners.has(identifier) || owners.get(identifier) === companyOf.get(row);

  return (row) => {
    const isForeign =
      row.isin !== '' &&
      ((row.mic === 'XTKS' && !/^(?:JP|US)/.test(row.isin)) || isOfOther(row, companyOf.get(row) ?? []));
    const hasOwnFigi = row.shareClassFigi !== '' && isOwn(row, `figi:${row.shareClassFigi}`);
    const hasFigi = hasOwnFigi && !isForeign;
    const homes = [countryCodeOf(row.country), exchangeOfMic(row.mic)?.country];
    const cameWithFigi = row.shareClassFigi !== '' && !hasOwnFigi && !homes.includes(row.isin.slice(0, 2));
    const hasIsin =
      row.isin !== '' && !isForeign && !isOfBond(row) && !cameWithFigi && isOwn(row, `isin:${row.isin}`);
    return {
      isin: hasIsin ? row.isin : '',
      cusip: hasIsin && isOfIsin(row) ? row.cusip : '',
      figi: hasFigi ? row.figi : '',
      compositeFigi: hasFigi ? row.compositeFigi : '',
      shareClassFigi: hasFigi ? row.shareClassFigi : '',
    };
  };
}

/**
 * Whether the ISIN of a listing was looked up by ticker and belongs to a company elsewhere ("NCR" is NuCoal in Sydney, and NCR
 * in New York).
 *
 * - At a home venue, it is the ISIN of a third country that no other listing of the company has. Companies in Hong Kong often
 *   have ISINs of mainland China. An American ISIN may be that of receipts. It is wrong if the row has a FIGI of a share class,
 *   but none of the venue.
 * - In Germany, Mexico and under London's codes for shares from abroad, it is the ISIN of a country where the company neither is
 *   nor has a listing, and no listing that has it has a FIGI of its venue. American ISINs stay, because receipts have many
 *   listings abroad.
 *
 * The country of a row without a city was looked up by ticker too, so this row is judged by its company's other rows. An ISIN of
 * a country without an exchange (tax havens) stays.
 */
function isOfOther(row: Row, company: readonly Row[]): boolean {
  const country = row.isin.slice(0, 2);
  const home = row.city === '' ? sureCountryOf(company) : countryCodeOf(row.country);
  const isOfHaven = exchangesOfCountry(country).length === 0;
  if (home === undefined || country === home || isOfHaven) return false;
  const holders = company.filter(({ isin }) => isin === row.isin);
  const isIncoming =
    row.mic === 'XBER' || row.mic === 'XMEX' || (row.mic === 'XLON' && row.ticker.startsWith('0'));
  if (exchangeOfMic(row.mic)?.country === home && !isIncoming) {
    if (holders.length > 1 || (home === 'HK' && country === 'CN')) return false;
    return country !== 'US' || (row.shareClassFigi !== '' && row.figi === '');
  }
  if (!(isIncoming || isGerman(row))) return false;
  if (country === 'US' || INCORPORATING.has(country)) return false;
  return (
    holders.every(({ figi }) => figi === '') &&
    !company.some(({ mic }) => exchangeOfMic(mic)?.country === country)
  );
}

/**
 * Returns the country of the company's headquarters. Undefined if no row has a city, because a country without one was looked up
 * by ticker.
 */
function sureCountryOf(company: readonly Row[]): string | undefined {
  const countries = new Set(
    company.filter(({ city }) => city !== '').map(({ country }) => countryCodeOf(country)),
  );
  const [only] = countries;
  return countries.size === 1 ? only : undefined;
}

/** Tells whether the ISIN is of an international security. For a company, that is a bond. Products of banks have no country. */
function isOfBond({ isin, country }: Row): boolean {
  return isin.startsWith('XS') && country !== '';
}

/**
 * Whether the identifier is a Canadian ISIN that belongs to none of its companies: none is Canadian or has a listing in Canada,
 * and some row with it has no FIGI. This ISIN was looked up by ticker ("GEC" is General Electric elsewhere, and a miner in
 * Toronto), or belongs to a bank's receipts for the shares.
 */
function hasNoOwner(identifier: string, holders: readonly (readonly Row[])[]): boolean {
  if (!identifier.startsWith('isin:CA')) return false;
  const rows = holders.flat().filter(({ isin }) => identifier === `isin:${isin}`);
  return (
    rows.every(({ city, country }) => city !== '' && country !== 'Canada') &&
    rows.some(({ shareClassFigi }) => shareClassFigi === '') &&
    !holders.flat().some(({ mic }) => exchangeOfMic(mic)?.country === 'CA')
  );
}

/** Tells whether the CUSIP fits the ISIN. A North American ISIN contains its CUSIP. Other CUSIPs begin with a letter (CINS). */
function isOfIsin({ isin, cusip }: Row): boolean {
  const contained = cusipOfIsin(isin);
  return contained === undefined ? /^[A-Z]/.test(cusip) : contained === cusip;
}

function holdersOf(companies: readonly (readonly Row[])[]): Map<string, (readonly Row[])[]> {
  const holders = new Map<string, (readonly Row[])[]>();
  for (const company of companies) {
    const identifiers = company.flatMap(({ isin, shareClassFigi }) => [
      `isin:${isin}`,
      `figi:${shareClassFigi}`,
    ]);
    for (const identifier of new Set(identifiers)) {
      if (identifier.endsWith(':')) continue;
      holders.set(identifier, [...(holders.get(identifier) ?? []), company]);
    }
  }
  return holders;
}

function ownerOf(identifier: string, holders: readonly (readonly Row[])[]): readonly Row[] | undefined {
  const weighed = holders
    .map((company) => ({ company, weight: weightOf(identifier, company) }))
    .toSorted((a, b) => b.weight - a.weight);
  const [first, second] = weighed;
  return first !== undefined && first.weight > (second?.weight ?? 0) ? first.company : undefined;
}

function weightOf(identifier: string, company: readonly Row[]): number {
  const holders = company.filter(
    ({ isin, shareClassFigi }) => identifier === `isin:${isin}` || identifier === `figi:${shareClassFigi}`,
  );
  const [, country] = /^isin:([A-Z]{2})/.exec(identifier) ?? [];
  const isNamed = country !== undefined && holders.some((row) => countryCodeOf(row.country) === country);
  return holders.length + (isNamed ? 0.5 : 0);
}
