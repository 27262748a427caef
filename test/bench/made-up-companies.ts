import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isCusip, isFigi, isIsin, isLei } from '@brand-data/identifiers';
import type { BrandRecord } from '@brand-data/records';
import { createRandom, type Random } from '@brand-data/testing/random';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import type { TestStack } from '../stack/index.ts';

/** The kinds of identifiers that callers send. */
export const KINDS = [
  'ticker',
  'ticker with exchange',
  'domain',
  'name',
  'name, other legal form',
  'ISIN',
] as const;
export type Kind = (typeof KINDS)[number];

/** An identifier and the company that has it. */
export interface Asked {
  readonly identifier: string;
  /** The id of the only company that has the identifier. undefined: several companies may have it, and each is a right answer. */
  readonly id: string | undefined;
}

interface Home {
  readonly code: string;
  readonly country: string;
  readonly city: string;
  readonly currency: string;
  readonly topLevelDomain: string;
  /** "Limited" may stand for each of these forms. */
  readonly legalForm: string;
  readonly venue: Venue;
}

interface Venue {
  readonly mic: string;
  /** Yahoo's suffix for the venue, or none. */
  readonly suffix: string;
}

const home = (
  code: string,
  country: string,
  city: string,
  currency: string,
  topLevelDomain: string,
  legalForm: string,
  venue: Venue,
): Home => ({ code, country, city, currency, topLevelDomain, legalForm, venue });
const HOMES: readonly Home[] = [
  home('US', 'United States', 'Chicago', 'USD', 'com', 'Inc.', { mic: 'XNAS', suffix: '' }),
  home('US', 'United States', 'Boston', 'USD', 'io', 'Corporation', { mic: 'XNYS', suffix: '' }),
  home('DE', 'Germany', 'Köln', 'EUR', 'de', 'AG', { mic: 'XETR', suffix: 'DE' }),
  home('GB', 'United Kingdom', 'Leeds', 'GBP', 'co.uk', 'plc', { mic: 'XLON', suffix: 'L' }),
  home('FR', 'France', 'Orléans', 'EUR', 'fr', 'S.A.', { mic: 'XPAR', suffix: 'PA' }),
  home('SE', 'Sweden', 'Malmö', 'SEK', 'se', 'AB', { mic: 'XSTO', suffix: 'ST' }),
  home('JP', 'Japan', 'Osaka', 'JPY', 'co.jp', 'K.K.', { mic: 'XTKS', suffix: 'T' }),
];

/** One of this many companies is listed. */
const LISTED_EVERY = 4;
/** The share of the other venues at which a listed company trades, too. */
const FOREIGN_SHARE = 0.28;
const DISTINCTIVE_WORDS = 200_000;
/** The flat top of Zipf's law for distinctive words: the most frequent one is in 0.07 % of the names. */
const FLAT_TOP = 200;
const BUSINESS_WORDS =
  `Group Holdings Systems Technologies Industries Energy Capital Foods Bank Services Solutions Global Partners Resources
  Medical Pharma Motors Airlines Insurance Media Software Networks Digital Logistics Materials Chemicals Steel Mining Gold
  Power Electric Solar Water Properties Realty Construction Engineering Electronics Labs Sciences Therapeutics Health Care
  Retail Stores Fashion Luxury Sports Games Studios Music Publishing Learning Travel Hotels Restaurants Coffee Brewing
  Dairy Farms Seeds Paper Packaging Plastics Glass Textiles Furniture Design Tools Machinery Robotics Aerospace Marine
  Shipping Rail Freight Mobility Telecom Satellite Cloud Security Payments Trust Ventures Equity Consulting Marketing
  Home Garden Toys Beauty Recycling Cement Timber Tires Components Optics Sensors Batteries`.split(/\s+/);
const SYLLABLES =
  `ka ve lo mi ra no ti sa be du go fi la ne po ru se ta vi zo an el or in um ar es ol en ix al ti qua bri cal dor fen gra
  hel jun kor lum mar nor pel ros sol tan ver wes yor zan`.split(/\s+/);
/** No vowels, so that no ticker is a word. */
const CONSONANTS = 'BCDFGHJKLMNPQRSTVWXZ';
const KATAKANA = Array.from('アイウエオカキクケコサシスセソタチツテトナニヌネノ');

/** An invented company. It is the same in every run and in catalogues of every size. */
export interface Company {
  /** The company's rank. 0 is the best-known company. */
  readonly index: number;
  readonly id: string;
  readonly home: Home;
  readonly name: string;
  readonly domain: string;
  readonly cusip: string;
  readonly isin: string;
  /** The main listing comes first. Empty: the company is not listed. */
  readonly listings: readonly { readonly ticker: string; readonly venue: Venue }[];
  /** Decides all other details. */
  readonly random: Random;
}

/** Returns the company of this rank. */
export function companyAt(index: number): Company {
  const random = createRandom(index * 2 + 1);
  const home = random.pick(HOMES);
  const name = newName(random);
  const cusip = checked(inBase36(index, 8), 1, isCusip);
  const venues = HOMES.map(({ venue }) => venue);
  const foreign = venues.filter((venue) => venue !== home.venue && random.chance(FOREIGN_SHARE));
  const listed = index % LISTED_EVERY === 0 ? [home.venue, ...foreign] : [];
  return {
    index,
    id: `q${1_000 + index}`,
    home,
    name,
    domain: `${name.toLowerCase().replace(/[^a-z]/g, '')}${index.toString(36)}.${home.topLevelDomain}`,
    cusip,
    isin: checked(home.code + cusip, 1, isIsin),
    // Each ticker is unique at its venue. Other venues give it to other companies.
    listings: listed.map((venue) => ({
      venue,
      ticker: spelled((index / LISTED_EVERY) ^ venues.indexOf(venue), CONSONANTS, 5),
    })),
    random,
  };
}

/** Returns a company of the same form, which no catalogue contains. */
function absentCompanyAt(index: number): Company {
  const company = companyAt(1_000_000_000 + index);
  const listings = company.listings.map(({ ticker, venue }) => ({ ticker: `${ticker}Z`, venue }));
  return { ...company, name: `Zq${index.toString(36)}xj ${company.name}`, listings };
}

/**
 * Returns an identifier from a catalogue of `size` companies, or one of the same form that no catalogue contains. The company of
 * rank n is chosen 1 / n as often as the first (Zipf's law).
 */
export function askFor(kind: Kind, size: number, random: Random, { hit = true } = {}): Asked {
  const every = kind === 'ISIN' || kind.startsWith('ticker') ? LISTED_EVERY : 1;
  const index = zipfRank(Math.ceil(size / every), random.unit()) * every;
  const { id, name, domain, isin, listings } = hit ? companyAt(index) : absentCompanyAt(index);
  const { ticker = '', venue } = listings.at(-1) ?? {};
  switch (kind) {
    case 'ticker':
      return { identifier: listings[0]?.ticker ?? '', id: undefined };
    case 'ticker with exchange':
      return { identifier: venue?.suffix ? `${ticker}.${venue.suffix}` : `${venue?.mic}:${ticker}`, id };
    case 'domain':
      return { identifier: domain, id };
    case 'name':
      return { identifier: name, id: undefined };
    case 'name, other legal form':
      return { identifier: `${name} Limited`, id: undefined };
    case 'ISIN':
      return { identifier: isin, id };
  }
}

/**
 * Turns a number from 0 to 1 into a rank from 0 to `count` - 1. The probability of a rank is proportional to 1 / (rank + 1 + flat)
 * (Zipf and Mandelbrot).
 */
export function zipfRank(count: number, unit: number, flat = 0): number {
  return Math.min(count - 1, Math.floor((flat + 1) * ((count + flat + 1) / (flat + 1)) ** unit - flat - 1));
}

/**
 * Writes the first `records` companies to a file. `importInto` resolves to the summary of its import.
 *
 * @param edition ends each description, so that another edition changes each record
 */
export async function writeMadeUp(records: number, edition = '') {
  const folder = await temporaryFolder();
  const file = join(folder, 'catalogue.ndjson');
  await pipeline(Readable.from(linesOf(records, edition)), createWriteStream(file));
  return {
    importInto: (stack: TestStack) => stack.bds('import', 'records', file, '--source', 'made-up'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

export async function importMadeUp(stack: TestStack, records: number): Promise<void> {
  await using written = await writeMadeUp(records);
  await written.importInto(stack);
}

/** Yields the records of `size` companies, one on each line. */
function* linesOf(size: number, edition: string): Generator<string> {
  for (let position = 0; position < size; position++) {
    // A prime that divides no size: well-known and little-known companies are mixed, as in a dump.
    const company = companyAt((position * 611_953 + 7) % size);
    yield `${JSON.stringify(recordOf(company, edition))}\n`;
  }
}

function recordOf(company: Company, edition: string): BrandRecord {
  const { index, id, home, name, domain, cusip, isin, listings, random } = company;
  const isListed = listings.length > 0;
  const industry = random.pick(BUSINESS_WORDS);
  const [ceo, founder] = [newName(random), newName(random)];
  const words = Array.from({ length: 25 }, () => random.pick(BUSINESS_WORDS)).join(' ');
  const native = home.code === 'JP' ? [spelled(index, KATAKANA, 6)] : [];
  const shareClass = figiAt(index * 16 + 15);
  return {
    id,
    type: isListed ? 'stock' : 'brand',
    name,
    description: `${name} is a company of ${home.country} for ${words}. ${edition}`.trim(),
    category: industry.toLowerCase(),
    rank: Math.max(0, Math.round(1_000 - 120 * Math.log10(1 + index))),
    names: [`${name} ${home.legalForm}`, ...native],
    ...(random.chance(0.3) && { lei: checked(inBase36(index, 18), 2, isLei) }),
    ...(isListed && {
      listings: listings.map(({ ticker, venue: { mic } }, place) => ({
        ticker,
        mic,
        isin,
        figi: figiAt(index * 16 + place),
        share_class_figi: shareClass,
      })),
      stock: { currency: home.currency, isin, ...(home.code === 'US' && { cusip }) },
    }),
    company: {
      industry,
      company_type: [isListed ? 'Public' : 'Private'],
      founded: String(random.whole(1850, 2024)),
      founders: [founder],
      ceo,
      key_people: [{ name: ceo, role: 'Chief Executive Officer' }],
      employees: `${random.whole(3, 90_000).toLocaleString('en')} (2025)`,
      headquarters: { city: home.city, country: home.country, country_code: home.code },
    },
    offerings: { products: [random.pick(BUSINESS_WORDS), random.pick(BUSINESS_WORDS)] },
    ...(random.chance(0.06) && { history: { formerly: [`${newName(random)} (1990–2015)`] } }),
    links: {
      websites: [`https://www.${domain}/`],
      wikipedia: `https://en.wikipedia.org/wiki/${name.replace(/\W+/g, '_')}`,
      wikidata_qid: `Q${1_000 + index}`,
    },
    sources: [{ name: 'made up', url: 'https://example.com/made-up', licence: 'CC0', date: '2026-11' }],
  };
}

/** Returns a distinctive word, mostly with a business word or with a second distinctive one. */
function newName(random: Random): string {
  const business = BUSINESS_WORDS[zipfRank(BUSINESS_WORDS.length, random.unit(), 10)];
  const kind = random.unit();
  if (kind < 0.1) return distinctiveWord(random);
  return `${distinctiveWord(random)} ${kind < 0.6 ? business : distinctiveWord(random)}`;
}

function distinctiveWord(random: Random): string {
  const word = spelled(zipfRank(DISTINCTIVE_WORDS, random.unit(), FLAT_TOP), SYLLABLES, 4);
  return word.charAt(0).toUpperCase() + word.slice(1);
}

const figiAt = (number: number) => checked(`BBG${spelled(number, `0123456789${CONSONANTS}`, 8)}`, 1, isFigi);
const inBase36 = (number: number, length: number) => number.toString(36).toUpperCase().padStart(length, '0');

/** Spells a number with these letters as digits. */
function spelled(number: number, letters: ArrayLike<string>, length: number): string {
  const digit = (place: number) => letters[Math.floor(number / letters.length ** place) % letters.length];
  return Array.from({ length }, (_, index) => digit(length - 1 - index)).join('');
}

/** Appends the check digits with which an identifier is valid. */
function checked(body: string, digits: number, isValid: (identifier: string) => boolean): string {
  for (let number = 0; number < 10 ** digits; number++) {
    const identifier = body + String(number).padStart(digits, '0');
    if (isValid(identifier)) return identifier;
  }
  throw new Error(`${body} has no check digits`);
}

/** The number of records with which benches compare larger catalogues. */
const REFERENCE = 10_000;

/** Parses sizes such as "10000,1000000". The result starts with the reference. */
export function sizesOf(text = ''): number[] {
  const given = text
    .split(',')
    .filter((size) => size !== '')
    .map(Number);
  if (!given.every((size) => Number.isInteger(size) && size >= REFERENCE))
    throw new Error(`BENCH_SIZES: whole numbers from ${REFERENCE} on, with commas between, not "${text}"`);
  return [...new Set([REFERENCE, ...given])].sort((a, b) => a - b);
}

/** The most letters that somebody types of a name. */
export const LONGEST_TYPED = 12;

/** Returns the beginning of a company's name from any word on. The better known a company is, the likelier is its name. */
export function typed(size: number, random: Random): string {
  const words = askFor('name', size, random).identifier.split(' ');
  const text = words.slice(random.whole(0, words.length - 1)).join(' ');
  return text.slice(0, random.whole(1, LONGEST_TYPED));
}
