import type { OwnIdentifiers } from './company.ts';
import type { Row } from './rows.ts';

/**
 * What of its identifiers a listing may show. One that listings of several companies have is that company's of whose
 * listings the most have it, or else whose country the ISIN names; when that is unsettled, nobody's. The others would
 * be found by it, and be joined with what other sources have under it. Shares on Japan's exchange have Japanese ISINs;
 * those of companies elsewhere with the same figures for a ticker are not theirs (American receipts' are).
 */
export function ownIdentifiersOf(companies: readonly (readonly Row[])[]): OwnIdentifiers {
  const owners = new Map<string, readonly Row[] | undefined>();
  for (const [identifier, holders] of holdersOf(companies)) {
    if (isOfNobody(identifier, holders)) owners.set(identifier, undefined);
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
 * A Canadian ISIN without a FIGI, on no Canadian company: it was found by the ticker ("GEC", General Electric's, is a
 * miner's in Toronto), or is of a bank's receipts for the shares.
 */
function isOfNobody(identifier: string, holders: readonly (readonly Row[])[]): boolean {
  if (!identifier.startsWith('isin:CA')) return false;
  return holders
    .flat()
    .filter(({ isin }) => identifier === `isin:${isin}`)
    .every(
      ({ shareClassFigi, city, country }) => shareClassFigi === '' && city !== '' && country !== 'Canada',
    );
}

/** North American ISINs hold the CUSIP; for others' shares it begins with a letter (CINS). Without an ISIN most are wrong. */
function isOfIsin({ isin, cusip }: Row): boolean {
  return /^(?:US|CA)/.test(isin) ? isin.slice(2, 11) === cusip : /^[A-Z]/.test(cusip);
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

const REGIONS = new Intl.DisplayNames('en', { type: 'region' });

function weightOf(identifier: string, company: readonly Row[]): number {
  const holders = company.filter(
    ({ isin, shareClassFigi }) => identifier === `isin:${isin}` || identifier === `figi:${shareClassFigi}`,
  );
  const [, country] = /^isin:([A-Z]{2})/.exec(identifier) ?? [];
  const isNamed = country !== undefined && holders.some((row) => row.country === nameOf(country));
  return holders.length + (isNamed ? 0.5 : 0);
}

function nameOf(country: string): string | undefined {
  try {
    return REGIONS.of(country);
  } catch {
    return undefined;
  }
}
