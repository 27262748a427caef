import { once, regionNames } from '@brand-data/identifiers';
import PLACES from './places.json' with { type: 'json' };

/** A place as records have it. */
export interface Place {
  city?: string;
  state?: string;
  country?: string;
  country_code?: string;
}

/** The English names of the states and provinces of the United States and Canada, by ISO 3166-2 code: "US-CA". */
export const SUBDIVISIONS: ReadonlyMap<string, string> = new Map(Object.entries(PLACES.subdivisions));
const STATES = new Set([
  ...PLACES.other_names_of_american_states,
  ...[...SUBDIVISIONS].flatMap(([code, name]) => (code.startsWith('US-') ? [name] : [])),
]);

/**
 * Reads texts such as "Saint Paul, Minnesota", "Dublin, Ireland" and "Warmley, Bristol, United Kingdom". If the last part is
 * the name of a country, it is the country. Otherwise it is the state. The names of American states are always states, so
 * that "Atlanta, Georgia" is in the United States. If there are several places, separated by semicolons, only the first
 * is used. Footnote marks are removed. Of an address with the number of a house or a postcode, only
 * the country and an American state are read.
 */
export function readPlace(text: string): Place {
  const [first = ''] = text.split(';');
  const parts = first
    .split(',')
    .map((part) => part.replace(/\[\w+\]/g, '').trim())
    .filter((part) => part !== '');
  const last = parts.at(-1);
  const [city] = parts;
  if (last === undefined || city === undefined) return {};
  const code = countryCodeOf(last);
  const isAddress = parts.some((part) => /\d/.test(part));
  if (parts.length > 1 && STATES.has(last))
    return { ...(!isAddress && { city }), state: last, country: 'United States', country_code: 'US' };
  if (isAddress)
    return code === undefined ? {} : { country: nameOfCountry(code) ?? last, country_code: code };
  if (code === undefined) return { city, ...(parts.length > 1 && { state: last }) };
  return {
    ...(parts.length > 1 && { city }),
    ...(parts.length > 2 && { state: parts.slice(1, -1).join(', ') }),
    country: nameOfCountry(code) ?? last,
    country_code: code,
  };
}

/**
 * Returns the place with both the English name and the code of its country, if it has one of them. A country may be written as its
 * code in capitals, because no part of a whole address is taken for it.
 */
export function withCountry(place: Place): Place {
  const { country = '', country_code } = place;
  const code = country_code ?? countryCodeOf(country) ?? (isCountryCode(country) ? country : undefined);
  if (code === undefined) return place;
  const isNamed = country !== '' && country !== code && countryCodeOf(country) !== code;
  return { ...place, country: isNamed ? country : (nameOfCountry(code) ?? code), country_code: code };
}

/** Words that have no capital inside the name of a city. */
const SMALL_WORDS = new Set(PLACES.small_words.split(' '));

/** Returns a city as a person writes it, if it is in capitals or small letters only: "King of Prussia" for "KING OF PRUSSIA". */
export function cityName(written: string): string {
  if (/\p{Ll}/u.test(written) && /\p{Lu}/u.test(written)) return written;
  return written.toLowerCase().replace(/['’]?\p{L}[\p{L}\p{M}]*/gu, (word, at: number) => {
    const isSmall = at > 0 && (SMALL_WORDS.has(word) || /^['’].$/u.test(word));
    return isSmall
      ? word
      : word.replace(/^['’]?\p{L}|(?<=^['’]?mc)\p{L}(?=\p{L}{2})/gu, (start) => start.toUpperCase());
  });
}

/** The codes of countries by their English names, and by foreign ones that mean one country only. Null for names of cities. */
const countryCodes = once(() => {
  const english = new Map<string, string | null>(Object.entries(PLACES.other_names_of_countries));
  const others = new Map<string, string | null>();
  const languages = PLACES.languages.map((each) => new Intl.DisplayNames(each, { type: 'region' }));
  for (const [code, inEnglish] of [...regionNames()].filter(([code]) => isCountryCode(code))) {
    english.set(inEnglish.toLowerCase(), code);
    for (const name of languages.map((names) => names.of(code)?.toLowerCase() ?? ''))
      others.set(name, others.has(name) && others.get(name) !== code ? null : code);
  }
  return new Map([...others, ...english]);
});

/** ISO 3166-1 alpha-2 code for a name in English or a major language. It does not accept codes: "CA" may be California or Canada. */
export function countryCodeOf(name: string): string | undefined {
  return countryCodes().get(name.trim().toLowerCase()) ?? undefined;
}

function nameOfCountry(code: string): string | undefined {
  const name = regionNames().get(code);
  return name?.replace(/ SAR China$| \(.*\)$/, '');
}

function isCountryCode(code: string): boolean {
  if (!/^[A-Z]{2}$/.test(code) || NOT_COUNTRIES.has(code)) return false;
  // A withdrawn code has the name of the code that replaced it. `Locale` returns that other code.
  return new Intl.Locale(`und-${code}`).region === code && nameOfCountry(code) !== undefined;
}

/** Codes that have a name in CLDR but are not assigned by ISO 3166-1. */
const NOT_COUNTRIES = new Set('AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ'.split(' '));
