import { nameOfSubdivision, withCountry } from '../../formats/places.ts';
import { withPlainSpaces } from '../../formats/texts.ts';
import { type Cells, itemsOf } from './cells.ts';
import { isLatin } from './latin.ts';
import PLACES from './places.json' with { type: 'json' };

export interface Headquarters {
  city: string;
  cityNative: string;
  state: string;
  country: string;
  countryCode: string;
}

const ADDRESS = 'Entity.HeadquartersAddress';
const OTHER_ADDRESSES = [
  'Entity.OtherAddresses.OtherAddress',
  'Entity.TransliteratedOtherAddresses.TransliteratedOtherAddress',
];
/** Lines that are those of an agent, at which thousands of companies are registered. */
const AGENT = new RegExp(`^c/o\\b|${PLACES.agents.join('|')}`, 'i');
const COUNTIES = new Set(PLACES.british_counties);
/** Words that have no capital inside the name of a city. */
const SMALL_WORDS = new Set(PLACES.small_words);
/** The number of a district, a French office, and a Danish part of a city. */
const DISTRICT = /[\s,]+(?:cedex\b.*|\d.*|[NSVØK]|NV|NØ|SV|SØ)$/i;

/**
 * Returns the headquarters, with the city in Latin letters if an address states it so. Of an agent's address only the country is
 * taken, because the company is elsewhere.
 */
export function headquartersOf(cells: Cells): Headquarters {
  const cell = (name: string) => withPlainSpaces(cells.get(name) ?? '');
  const { country = '', country_code: countryCode = '' } = withCountry({
    country: cell(`${ADDRESS}.Country`),
  });
  const lines = [
    `${ADDRESS}.FirstAddressLine`,
    `${ADDRESS}.MailRouting`,
    ...itemsOf(cells, `${ADDRESS}.AdditionalAddressLine`),
  ];
  if (lines.some((line) => AGENT.test(cell(line))))
    return { city: '', cityNative: '', state: '', country, countryCode };
  const cityIn = (address: string) => cityOf(cell(`${address}.City`), countryCode);
  const city = cityIn(ADDRESS);
  const others = OTHER_ADDRESSES.flatMap((list) =>
    [...itemsOf(cells, list, ['.City'])].filter((item) => cell(`${item}.type`).includes('HEADQUARTERS')),
  );
  return {
    city: isLatin(city) ? city : (others.map(cityIn).find(isLatin) ?? ''),
    cityNative: isLatin(city) ? '' : city,
    state: nameOfSubdivision(cell(`${ADDRESS}.Region`)) ?? '',
    country,
    countryCode,
  };
}

/** Returns a city without its district, in capital and small letters: "Paris" for "PARIS CEDEX 08". '' if the text is no city. */
function cityOf(written: string, countryCode: string): string {
  const [first = ''] = written.replace(/^\d[\d-]*\s+(?=\p{L}+$)/u, '').split(',');
  const plain = first.replace(DISTRICT, '').trim();
  if (/\d/.test(plain)) return '';
  const isSpelled = !isLatin(plain) || (/\p{Ll}/u.test(plain) && /\p{Lu}/u.test(plain));
  const city = isSpelled ? plain : titled(plain.toLowerCase());
  return countryCode === 'GB' && (COUNTIES.has(city) || city.endsWith('shire')) ? '' : city;
}

function titled(city: string): string {
  return city.replace(/\p{L}[\p{L}\p{M}]*/gu, (word, at: number) =>
    at > 0 && SMALL_WORDS.has(word) ? word : word.charAt(0).toUpperCase() + word.slice(1),
  );
}
