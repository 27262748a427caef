import { cityName, SUBDIVISIONS, withCountry } from '../../formats/places.ts';
import { isLatin, withPlainSpaces } from '../../formats/texts.ts';
import { type Cells, itemsOf } from './cells.ts';
import PLACES from './places.json' with { type: 'json' };

const ADDRESS = 'Entity.HeadquartersAddress';
const OTHER_ADDRESSES = [
  'Entity.OtherAddresses.OtherAddress',
  'Entity.TransliteratedOtherAddresses.TransliteratedOtherAddress',
];
/** Lines that are those of an agent, at which thousands of companies are registered. */
const AGENT = new RegExp(`^c/o\\b|${PLACES.agents.join('|')}`, 'i');
const COUNTIES = new Set(PLACES.british_counties);
/** The number of a district, a French office, and a Danish part of a city. */
const DISTRICT = /[\s,]+(?:cedex\b.*|\d.*|[NSVØK]|NV|NØ|SV|SØ)$/i;

/**
 * Returns the headquarters, with the city in Latin letters if an address states it so. Of an agent's address only the country is
 * taken, because the company is elsewhere.
 */
export function headquartersOf(cells: Cells) {
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
    state: SUBDIVISIONS.get(cell(`${ADDRESS}.Region`)) ?? '',
    country,
    countryCode,
  };
}

/** Returns a city without its district, as a person writes it: "Paris" for "PARIS CEDEX 08". '' if the text is no city. */
function cityOf(written: string, countryCode: string): string {
  const [first = ''] = written.replace(/^\d[\d-]*\s+(?=\p{L}+$)/u, '').split(',');
  const plain = first.replace(DISTRICT, '').trim();
  if (/\d/.test(plain)) return '';
  const city = isLatin(plain) ? cityName(plain) : plain;
  return countryCode === 'GB' && (COUNTIES.has(city) || city.endsWith('shire')) ? '' : city;
}
