import { cusipOfIsin } from '@brand-data/identifiers';
import { countryCodeOf } from '../../formats/places.ts';
import type { OwnIdentifiers } from './company.ts';
import type { Row } from './rows.ts';

/**
 * Decides which of its identifiers a listing keeps. An identifier on listings of several companies belongs to the company
 * with the most of these listings, in a tie to the company of the ISIN's country, and otherwise to none of them: a company
 * that kept another's identifier would be found by it, and be joined with the other's records from other sources. Shares
 * on Japan's exchange have Japanese ISINs (or their American receipts' ISINs): another country's ISIN there belongs to a
 * company whose ticker has the same digits.
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
    const hasIsin = row.isin !== '' && !isForeign && isOwn(row, `isin:${row.isin}`);
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
 * A Canadian ISIN without a FIGI belongs to none of its companies when none is Canadian: it was matched by the ticker
 * ("GEC" is General Electric's in one place and a miner's in Toronto), or is that of a bank's receipts for the shares.
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

/** A North American ISIN contains the CUSIP; the CUSIP of other shares begins with a letter (CINS). */
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
