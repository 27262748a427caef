import { regionNames } from '@brand-data/identifiers';

/** A place as records have it. */
export interface Place {
  city?: string;
  state?: string;
  country?: string;
  country_code?: string;
}

const STATES = new Set(
  `Alabama, Alaska, Arizona, Arkansas, California, Colorado, Connecticut, Delaware, Florida, Georgia, Hawaii, Idaho,
  Illinois, Indiana, Iowa, Kansas, Kentucky, Louisiana, Maine, Maryland, Massachusetts, Michigan, Minnesota, Mississippi,
  Missouri, Montana, Nebraska, Nevada, New Hampshire, New Jersey, New Mexico, New York, North Carolina, North Dakota,
  Ohio, Oklahoma, Oregon, Pennsylvania, Rhode Island, South Carolina, South Dakota, Tennessee, Texas, Utah, Vermont,
  Virginia, Washington, West Virginia, Wisconsin, Wyoming, D.C., DC`
    .split(',')
    .map((name) => name.trim()),
);

/**
 * Reads texts such as "Saint Paul, Minnesota", "Dublin, Ireland" and "Warmley, Bristol, United Kingdom". If the last part is
 * the name of a country, it is the country. Otherwise it is the state. The names of American states are always states, so
 * that "Atlanta, Georgia" is in the United States. If there are several places, separated by semicolons, only the first
 * is used. Footnote marks are removed.
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
  const isState = parts.length > 1 && STATES.has(last);
  if (isState || code === undefined) {
    const isNamed = parts.length > 1;
    return {
      city,
      ...(isNamed && { state: last }),
      ...(isState && { country: 'United States', country_code: 'US' }),
    };
  }
  return {
    ...(parts.length > 1 && { city }),
    ...(parts.length > 2 && { state: parts.slice(1, -1).join(', ') }),
    country: nameOfCountry(code) ?? last,
    country_code: code,
  };
}

/** English names of countries that CLDR does not have. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  usa: 'US',
  'u.s.': 'US',
  'u.s.a.': 'US',
  'united states of america': 'US',
  uk: 'GB',
  'u.k.': 'GB',
  'great britain': 'GB',
  england: 'GB',
  scotland: 'GB',
  wales: 'GB',
  'northern ireland': 'GB',
  'republic of ireland': 'IE',
  'the netherlands': 'NL',
  holland: 'NL',
  'czech republic': 'CZ',
  turkey: 'TR',
  'hong kong': 'HK',
  macau: 'MO',
  macedonia: 'MK',
  myanmar: 'MM',
  'republic of korea': 'KR',
  "people's republic of china": 'CN',
};
let names: ReadonlyMap<string, string> | undefined;
let codes: ReadonlyMap<string, string> | undefined;

/** ISO 3166-1 alpha-2 code for an English name. It does not accept codes: "CA" may be California or Canada. */
export function countryCodeOf(name: string): string | undefined {
  codes ??= new Map([...namesOfCountries(), ...Object.entries(OTHER_NAMES)]);
  return codes.get(name.trim().toLowerCase());
}

function nameOfCountry(code: string): string | undefined {
  names ??= regionNames();
  return names.get(code)?.replace(/ SAR China$/, '');
}

function namesOfCountries(): [name: string, code: string][] {
  // A withdrawn code has the name of the code that replaced it. `Locale` returns that other code.
  const isCountry = (code: string) =>
    new Intl.Locale(`und-${code}`).region === code && !NOT_COUNTRIES.has(code);
  return [...regionNames()].flatMap(([code, name]) => (isCountry(code) ? [[name.toLowerCase(), code]] : []));
}

/** Codes that have a name in CLDR but are not assigned by ISO 3166-1. */
const NOT_COUNTRIES = new Set('AC CP CQ DG EA EU EZ IC QO TA UN XA XB ZZ'.split(' '));
