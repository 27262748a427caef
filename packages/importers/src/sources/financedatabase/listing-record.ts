import { Brand, type Source } from '@brand-data/contracts';
import {
  compareNames,
  cusipOf,
  exchangeOfMic,
  isOfOnePlace,
  isShouted,
  rankOfMarketCapClass,
} from '@brand-data/identifiers';
import { countryCodeOf } from '../../formats/places.ts';
import { formerNamesOf, plainName, subjectOf, withoutSecurity } from './issuer-names.ts';
import type { Row } from './rows.ts';

const FINANCE_DATABASE: Pick<Source, 'name' | 'url' | 'licence'> = {
  name: 'FinanceDatabase',
  url: 'https://github.com/JerBouma/FinanceDatabase',
  licence: 'MIT',
};

const MOST_FORMER_NAMES = 10;
const GUESSES = /\b(?:likely|appears? to be|not readily available|no information|unclear)\b/i;

/** Words after the company's name in a description. */
const AFTER_SUBJECT = /,?\s(?:(?:commonly|now|also) known as\b.*|likely|description)$|,$/;

/** Returns the source record of one listing. Its id depends on the listing alone: "xetr-apc". */
export function recordOfListing(row: Row): Brand {
  const { ticker, mic, isin, cusip, figi, compositeFigi, shareClassFigi, delisted } = row;
  const [name = '', ...names] = namesOf(row);
  const venue = exchangeOfMic(mic);
  const countryCode = countryCodeOf(row.country) ?? '';
  const { city, state, country } = row;
  const formerly = formerNamesOf(row.summary).slice(0, MOST_FORMER_NAMES);
  return Brand.fromPartial({
    id: idOf(row),
    name,
    names,
    description: descriptionOf(row, name),
    rank: rankOfMarketCapClass(row.marketCap),
    listings: [{ ticker, mic, isin, cusip, figi, compositeFigi, shareClassFigi }],
    company: {
      sector: row.sector,
      industry: row.industry || row.industryGroup,
      companyType: delisted ? [] : ['Public'],
      ...(country !== '' && {
        headquarters: { city: countryCode === '' ? '' : city, state, country, countryCode },
      }),
    },
    ...(formerly.length > 0 && { history: { formerly } }),
    ...(/^https?:\/\/\S+$/.test(row.website) && row.domain !== '' && { links: { websites: [row.website] } }),
    stock: {
      exchange: venue?.code ?? mic,
      exchangeFullName: venue?.name ?? row.market,
      currency: /^[A-Z]{3}$/.test(row.currency) ? row.currency : '',
      isin,
      cusip: cusipOf(isin, cusip),
      isActivelyTrading: !delisted,
    },
    sources: [{ ...FINANCE_DATABASE }],
  });
}

function idOf({ mic, ticker }: Row): string {
  return `${mic}-${ticker}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/-$/, '');
}

/**
 * Returns the row's name, and the name in its description, which may be the company's name in full, or its former or newer name.
 * Names in capitals are abbreviated, so the name in full comes first.
 */
function namesOf({ name, summary, issuer, subject }: Row): string[] {
  const own = plainName(name);
  if (issuer === undefined || subject === undefined) return [own];
  const isOfParent = isOfOnePlace(issuer, subject) && subject.words.length < issuer.words.length;
  const described = withoutSecurity(subjectOf(summary).replace(AFTER_SUBJECT, ''));
  if (isOfParent || described === own) return [own];
  const isSpelling = compareNames(issuer, subject) === 'equal' && issuer.legalFamilies.length > 0;
  if (isSpelling && !isShouted(name)) return [own];
  const isInFull = isShouted(name) && !isShouted(described) && compareNames(issuer, subject) !== 'other';
  return isInFull ? [described, own] : [own, described];
}

/** '' if the row has no description of the company. */
function descriptionOf(row: Row, name: string): string {
  if (row.summary.length <= 40 || GUESSES.test(row.summary)) return '';
  return isShouted(row.name) && row.summary.startsWith(row.name)
    ? name + row.summary.slice(row.name.length)
    : row.summary;
}
