import { createRandom, type Random } from '@brand-data/testing/random';
import { withCusipDigit, withIsinDigit } from './check-digits.ts';
import { BUSINESS_WORDS, distinctiveWord, nativeWord, type Script } from './words.ts';
import { zipfMandelbrotRank } from './zipf.ts';

/** An invented company: its names, identifiers and listings. */
export interface Company {
  /** The company's rank. 0 is the best-known company. */
  readonly index: number;
  readonly id: string;
  readonly home: Home;
  /** The displayed name, mostly without the legal form. */
  readonly name: string;
  readonly legalName: string;
  readonly nativeName: string | undefined;
  readonly formerName: string | undefined;
  readonly domain: string;
  readonly isin: string | undefined;
  readonly cusip: string | undefined;
  /** The main listing comes first. Empty: the company is not listed. */
  readonly listings: readonly Listing[];
  /** Decides all other details. It gives the same numbers for the same company in every run. */
  readonly random: Random;
}

interface Listing {
  readonly ticker: string;
  readonly venue: Venue;
}

interface Venue {
  readonly mic: string;
  /** Yahoo's suffix for the venue, or none. */
  readonly suffix: string;
  /** The least number of digits of the venue's tickers. undefined: its tickers are letters. */
  readonly digits: number | undefined;
}

interface Home {
  readonly code: string;
  readonly country: string;
  readonly currency: string;
  readonly venue: Venue;
  readonly domains: readonly string[];
  readonly legalForms: readonly string[];
  readonly cities: readonly string[];
  readonly script?: Script;
}

/** One of this many companies is listed. */
export const LISTED_EVERY = 4;

const VOCABULARY = 200_000;
/** The flat top of Zipf's law for distinctive words: the most frequent one is in 0.07 % of the names. */
const FLAT_TOP = 200;
/** The first rank of companies that no catalogue contains. */
const NOWHERE = 1_000_000_000;

const venue = (mic: string, suffix: string, digits?: number): Venue => ({ mic, suffix, digits });
const XNAS = venue('XNAS', '');
const XETR = venue('XETR', 'DE');
const XLON = venue('XLON', 'L');
const XTKS = venue('XTKS', 'T', 4);
const XHKG = venue('XHKG', 'HK', 5);
const XPAR = venue('XPAR', 'PA');
const XTSE = venue('XTSE', 'TO');
const XKRX = venue('XKRX', 'KS', 6);
const XSTO = venue('XSTO', 'ST');
const XSWX = venue('XSWX', 'SW');
const VENUES = [XNAS, XETR, XLON, XTKS, XHKG, XPAR, XTSE, XKRX, XSTO, XSWX];
/** Venues where shares of foreign companies trade. */
const FOREIGN = [XETR, XNAS, XLON, XSWX, XSTO];

const HOMES: readonly [Home, ...Home[]] = [
  {
    code: 'US',
    country: 'United States',
    currency: 'USD',
    venue: XNAS,
    domains: ['com', 'io', 'net'],
    legalForms: ['Inc.', 'Corporation', 'LLC'],
    cities: ['New York', 'Chicago', 'Austin', 'Seattle'],
  },
  {
    code: 'US',
    country: 'United States',
    currency: 'USD',
    venue: XNAS,
    domains: ['com', 'co', 'org'],
    legalForms: ['Corp.', 'Inc.', 'L.P.'],
    cities: ['Denver', 'Boston', 'Dallas', 'Portland'],
  },
  {
    code: 'DE',
    country: 'Germany',
    currency: 'EUR',
    venue: XETR,
    domains: ['de', 'com', 'eu'],
    legalForms: ['AG', 'GmbH', 'SE'],
    cities: ['München', 'Köln', 'Hamburg', 'Düsseldorf'],
  },
  {
    code: 'GB',
    country: 'United Kingdom',
    currency: 'GBP',
    venue: XLON,
    domains: ['co.uk', 'com'],
    legalForms: ['plc', 'Limited', 'Ltd'],
    cities: ['London', 'Leeds', 'Bristol', 'Edinburgh'],
  },
  {
    code: 'JP',
    country: 'Japan',
    currency: 'JPY',
    venue: XTKS,
    domains: ['co.jp', 'jp', 'com'],
    legalForms: ['Co., Ltd.', 'K.K.', 'Corporation'],
    cities: ['Tokyo', 'Osaka', 'Nagoya', 'Kyoto'],
    script: 'katakana',
  },
  {
    code: 'HK',
    country: 'Hong Kong',
    currency: 'HKD',
    venue: XHKG,
    domains: ['com.hk', 'com', 'cn'],
    legalForms: ['Limited', 'Co., Ltd.', 'Ltd'],
    cities: ['Hong Kong', 'Kowloon', 'Shenzhen'],
    script: 'han',
  },
  {
    code: 'FR',
    country: 'France',
    currency: 'EUR',
    venue: XPAR,
    domains: ['fr', 'com'],
    legalForms: ['S.A.', 'SAS', 'SARL'],
    cities: ['Paris', 'Lyon', 'Besançon', 'Orléans'],
  },
  {
    code: 'CA',
    country: 'Canada',
    currency: 'CAD',
    venue: XTSE,
    domains: ['ca', 'com'],
    legalForms: ['Inc.', 'Ltd.', 'Corp.'],
    cities: ['Toronto', 'Montréal', 'Calgary'],
  },
  {
    code: 'KR',
    country: 'South Korea',
    currency: 'KRW',
    venue: XKRX,
    domains: ['co.kr', 'kr', 'com'],
    legalForms: ['Co., Ltd.', 'Corporation', 'Inc.'],
    cities: ['Seoul', 'Busan', 'Incheon'],
    script: 'hangul',
  },
  {
    code: 'SE',
    country: 'Sweden',
    currency: 'SEK',
    venue: XSTO,
    domains: ['se', 'com', 'eu'],
    legalForms: ['AB', 'Aktiebolag', 'AB (publ)'],
    cities: ['Stockholm', 'Göteborg', 'Malmö'],
  },
];

/** Returns the company of this rank: the same in every run and in catalogues of every size. */
export function companyAt(index: number): Company {
  const random = createRandom(index * 2 + 1);
  const home = random.pick(HOMES);
  const name = newName(random, home);
  const legalName = `${name} ${random.pick(home.legalForms as [string, ...string[]])}`;
  const nativeName =
    home.script !== undefined && random.chance(0.8)
      ? nativeWord(home.script, Math.floor(random.unit() * 40_000_000))
      : undefined;
  const formerName = random.chance(0.06) ? newName(random, home) : undefined;
  const domain = `${labelOf(name)}${index.toString(36)}.${random.pick(home.domains as [string, ...string[]])}`;
  const isListed = index % LISTED_EVERY === 0;
  const cusip = isListed && (home.code === 'US' || home.code === 'CA') ? cusipAt(index) : undefined;
  return {
    index,
    home,
    name,
    legalName,
    nativeName,
    formerName,
    domain,
    cusip,
    random,
    id: `q${1_000 + index}`,
    isin: isListed ? isinAt(home, index, cusip) : undefined,
    listings: isListed ? listingsAt(index / LISTED_EVERY, home, random) : [],
  };
}

/** Returns a company that no catalogue contains. */
export function absentCompanyAt(index: number): Company {
  const company = companyAt(NOWHERE + index * LISTED_EVERY);
  const mark = `Zq${index.toString(36)}xj`;
  return {
    ...company,
    name: `${mark} ${company.name}`,
    legalName: `${mark} ${company.legalName}`,
    listings: company.listings.map(({ venue }) => ({ ticker: absentTicker(venue, index), venue })),
  };
}

/** Mixes well-known and little-known companies, as in a dump. */
export function indexAtPosition(position: number, size: number): number {
  // A prime that divides no size, so this is a permutation.
  return (position * 611_953 + 7) % size;
}

function newName(random: Random, home: Home): string {
  const distinctive = () =>
    capitalized(distinctiveWord(zipfMandelbrotRank(VOCABULARY, FLAT_TOP, random.unit())));
  const business = () =>
    BUSINESS_WORDS[zipfMandelbrotRank(BUSINESS_WORDS.length, 10, random.unit())] ?? 'Group';
  const kind = random.unit();
  if (kind < 0.45) return `${distinctive()} ${business()}`;
  if (kind < 0.6) return `${distinctive()} ${business()} ${business()}`;
  if (kind < 0.7) return distinctive();
  if (kind < 0.85) return `${distinctive()} ${distinctive()}`;
  if (kind < 0.95) return `${distinctive()} & ${distinctive()}`;
  return `${random.pick(home.cities as [string, ...string[]])} ${distinctive()} ${business()}`;
}

function listingsAt(ordinal: number, home: Home, random: Random): Listing[] {
  const foreign = FOREIGN.filter((venue) => venue !== home.venue && random.chance(0.38));
  return [home.venue, ...foreign].map((venue) => ({ ticker: tickerAt(ordinal, venue), venue }));
}

/** Returns a ticker that is unique at its venue. Better-known companies have shorter tickers. */
function tickerAt(ordinal: number, venue: Venue): string {
  const letters = venue.digits === undefined ? 26 : 10;
  let length = venue.digits ?? 3;
  let before = 0;
  while (ordinal - before >= letters ** length) {
    before += letters ** length;
    length++;
  }
  // The factor makes venues give the same tickers to different companies.
  const factor = 7 + VENUES.indexOf(venue) * 130;
  return spelled(((ordinal - before) * factor + factor * 1_009) % letters ** length, letters, length);
}

/** Returns a ticker that is longer than those of all companies. */
function absentTicker(venue: Venue, index: number): string {
  return venue.digits === undefined
    ? spelled(index % 26 ** 7, 26, 7)
    : spelled(index % 10 ** 9, 10, 9).replace(/^0/, '9');
}

function spelled(number: number, letters: number, length: number): string {
  let text = '';
  for (let rest = number, at = 0; at < length; at++, rest = Math.floor(rest / letters)) {
    text = (letters === 10 ? String(rest % 10) : String.fromCharCode(65 + (rest % 26))) + text;
  }
  return text;
}

function cusipAt(index: number): string {
  return withCusipDigit(index.toString(36).toUpperCase().padStart(8, '0'));
}

function isinAt(home: Home, index: number, cusip: string | undefined): string {
  return withIsinDigit(home.code + (cusip ?? `0${index.toString(36).toUpperCase().padStart(8, '0')}`));
}

function labelOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z]/g, '');
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
