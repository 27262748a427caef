import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BrandRecord } from '@brand-data/records';
import type { Random } from '@brand-data/testing/random';
import { withCusipDigit, withLeiDigits } from './check-digits.ts';
import { type Company, companyAt, indexAtPosition } from './company.ts';
import { BUSINESS_WORDS, distinctiveWord, PLAIN_WORDS } from './words.ts';

const LINES_AT_ONCE = 200;
const FIGI_LETTERS = '0123456789BCDFGHJKLMNPQRSTVWXYZ';

/** Writes the records of `size` companies, one on each line, without keeping them in memory. */
export async function writeCatalogue(file: string, size: number): Promise<void> {
  await pipeline(Readable.from(linesOf(size)), createWriteStream(file));
}

function* linesOf(size: number): Generator<string> {
  for (let start = 0; start < size; start += LINES_AT_ONCE) {
    let lines = '';
    for (let position = start; position < Math.min(size, start + LINES_AT_ONCE); position++) {
      lines += `${JSON.stringify(recordOf(companyAt(indexAtPosition(position, size))))}\n`;
    }
    yield lines;
  }
}

/** Returns the company's record, in the project's own format. */
function recordOf(company: Company): BrandRecord {
  const { index, home, random, isin, cusip, formerName } = company;
  const industry = random.pick(BUSINESS_WORDS as [string, ...string[]]);
  const founders = Array.from({ length: random.whole(1, 2) }, () => personName(random));
  const ceo = personName(random);
  const city = random.pick(home.cities as [string, ...string[]]);
  const isListed = company.listings.length > 0;
  return {
    id: company.id,
    type: isListed ? 'stock' : 'brand',
    name: company.name,
    description: describe(company, random, `${city}, ${home.country}`),
    category: industry.toLowerCase(),
    rank: Math.max(0, Math.round(1_000 - 120 * Math.log10(1 + index))),
    names: [company.legalName, ...(company.nativeName === undefined ? [] : [company.nativeName])],
    ...(random.chance(0.3) ? { lei: withLeiDigits(index.toString(36).toUpperCase().padStart(18, '0')) } : {}),
    ...(isListed ? { listings: listingsOf(company) } : {}),
    company: {
      industry,
      sector: random.pick(BUSINESS_WORDS as [string, ...string[]]),
      company_type: [isListed ? 'Public' : 'Private'],
      founded: String(random.whole(1850, 2024)),
      founders,
      ceo,
      key_people: [{ name: ceo, role: 'Chief Executive Officer' }],
      employees: `${random.whole(3, 90_000).toLocaleString('en')} (2025)`,
      headquarters: { city, country: home.country, country_code: home.code },
    },
    offerings: {
      products: Array.from({ length: random.whole(1, 4) }, () =>
        random.pick(BUSINESS_WORDS as [string, ...string[]]),
      ),
    },
    ...(formerName === undefined ? {} : { history: { formerly: [`${formerName} (1990–2015)`] } }),
    links: {
      websites: [`https://www.${company.domain}/`],
      ...(random.chance(0.5)
        ? { wikipedia: `https://en.wikipedia.org/wiki/${company.name.replace(/\W+/g, '_')}` }
        : {}),
      wikidata_qid: `Q${1_000 + index}`,
      social_media: [
        { name: 'LinkedIn', url: `https://www.linkedin.com/company/${company.domain.replace(/\..*/, '')}` },
      ],
    },
    ...(isListed
      ? { stock: { currency: home.currency, ...(isin && { isin }), ...(cusip && { cusip }) } }
      : {}),
    sources: [{ name: 'made up', url: 'https://example.com/made-up', licence: 'CC0', date: '2026-11' }],
  };
}

function listingsOf({ index, isin, cusip, listings }: Company): NonNullable<BrandRecord['listings']> {
  return listings.map(({ ticker, venue }, place) => ({
    ticker,
    mic: venue.mic,
    ...(isin && { isin }),
    ...(cusip && { cusip }),
    figi: figiAt(index * 16 + place),
    share_class_figi: figiAt(index * 16 + 15),
  }));
}

function figiAt(number: number): string {
  let text = '';
  for (let rest = number; rest > 0; rest = Math.floor(rest / FIGI_LETTERS.length)) {
    text = FIGI_LETTERS.charAt(rest % FIGI_LETTERS.length) + text;
  }
  return withCusipDigit(`BBG${text.padStart(8, '0')}`);
}

/** Returns a description of about 300 characters. */
function describe({ name, home }: Company, random: Random, seat: string): string {
  let text = `${name} is a company of ${home.country} that`;
  while (text.length < 260) text += ` ${random.pick(PLAIN_WORDS as [string, ...string[]])}`;
  return `${text}. It has its seat in ${seat}.`;
}

function personName(random: Random): string {
  const word = () => distinctiveWord(random.whole(0, 2_000));
  const [first, last] = [word(), word()];
  return `${first.charAt(0).toUpperCase()}${first.slice(1)} ${last.charAt(0).toUpperCase()}${last.slice(1)}`;
}
