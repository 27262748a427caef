import { cusipOfIsin, exchangeOfMic } from '@brand-data/identifiers';
import { countryCodeOf } from '../../formats/places.ts';
import type { OwnIdentifiers } from './company.ts';
import type { Row } from './rows.ts';

/**
 * Decides which of its identifiers a listing keeps. If listings of several companies have an identifier, it belongs to the
 * company with the most of these listings. In a tie, it belongs to the company in the ISIN's country, and without such a
 * company to none. If a company kept another company's identifier, look-ups by it would find the wrong company, and the
 * catalogue would link it with the other company's records.
 *
 * A row whose FIGI belongs to another company has that company's ISIN too, unless the ISIN is of the row's country or
 * its venue's.
 *
 * Shares in Tokyo have Japanese ISINs, or the ISINs of their American receipts. Any other ISIN there belongs to a company
 * elsewhere whose ticker has the same digits.
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
    const hasFigi = row.shareClassFigi !== '' && isOwn(row, `figi:${row.shareClassFigi}`);
    const isForeign = row.mic === 'XTKS' && row.isin !== '' && !/^(?:JP|US)/.test(row.isin);
    const homes = [countryCodeOf(row.country), exchangeOfMic(row.mic)?.country];
    const cameWithFigi = row.shareClassFigi !== '' && !hasFigi && !homes.includes(row.isin.slice(0, 2));
    const hasIsin = row.isin !== '' && !isForeign && !cameWithFigi && isOwn(row, `isin:${row.isin}`);
    return {
      isin: hasIsin ? row.isin : '',
      cusip: hasIsin && isOfIsin(row) ? row.cusip : '',
      figi: hasFigi ? row.figi : '',
      compositeFigi: hasFigi ? row.compositeFigi : '',
      shareClassFigi: hasFigi && !isForeign ? row.shareClassFigi : '',
    };
  };
}

/**
 * Whether the identifier is a Canadian ISIN that belongs to none of its companies, because none is Canadian and no row has a
 * FIGI. Such an ISIN was looked up by ticker ("GEC" is General Electric elsewhere, and a miner in Toronto), or belongs to a
 * bank's receipts for the shares.
 */
function hasNoOwner(identifier: string, holders: readonly (readonly Row[])[]): boolean {
  if (!identifier.startsWith('isin:CA')) return false;
  return holders
    .flat()
    .filter(({ isin }) => identifier === `isin:${isin}`)
    .every(
      ({ shareClassFigi, city, country }) => shareClassFigi === '' && city !== '' && country !== 'Canada',
    );
}

/** Whether the CUSIP fits the ISIN. A North American ISIN contains its CUSIP. Other CUSIPs begin with a letter (CINS). */
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
