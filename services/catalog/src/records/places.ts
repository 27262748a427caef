import { Headquarters } from '@brand-data/contracts';
import { normalName } from '@brand-data/identifiers';

/** A place as one source gives it. */
export interface SourcedPlace {
  readonly source: string;
  readonly value: Headquarters;
}

/**
 * Returns the place of the strongest source, which comes first, with the facts that it lacks from weaker sources that mean the same
 * place. A source that gives only a country does not hide the city, and a city never gets another city's coordinates.
 */
export function mergePlaces(places: readonly SourcedPlace[]): { place: Headquarters; sources: string[] } {
  let place = Headquarters.create();
  const sources: string[] = [];
  for (const { source, value } of places) {
    if (sources.length > 0 && !isSamePlace(place, value)) continue;
    const filled = fillGaps(place, value);
    if (filled === place) continue;
    place = filled;
    sources.push(source);
  }
  return { place, sources };
}

/** Checks whether the places have a city or a country in common, and no fact of one contradicts the other. */
function isSamePlace(a: Headquarters, b: Headquarters): boolean {
  const city = compare(a.city, b.city);
  const country = compare(a.countryCode, b.countryCode) ?? compare(a.country, b.country);
  if (city === false || country === false) return false;
  const state = city ? undefined : compare(a.state, b.state);
  return state !== false && (city === true || country === true);
}

/** Checks whether two names are equal. Undefined if one of them is not known. */
function compare(a: string, b: string): boolean | undefined {
  if (isBlank(a) || isBlank(b)) return undefined;
  return normalName(a) === normalName(b);
}

const COUNTRY_FIELDS = ['country', 'countryCode', 'countryNative'] as const;
const FIELDS = [
  ...COUNTRY_FIELDS,
  ...(['city', 'state', 'latitude', 'longitude', 'cityNative', 'stateNative'] as const),
] as const;

/** Returns the stronger place itself if the weaker one adds nothing. A place without a city gives only its country to a city. */
function fillGaps(stronger: Headquarters, weaker: Headquarters): Headquarters {
  const isOfCity = isBlank(stronger.city) || !isBlank(weaker.city);
  const missing = (isOfCity ? FIELDS : COUNTRY_FIELDS).filter(
    (field) => isBlank(stronger[field]) && !isBlank(weaker[field]),
  );
  if (missing.length === 0) return stronger;
  return { ...stronger, ...Object.fromEntries(missing.map((field) => [field, weaker[field]])) };
}

function isBlank(value: string | number | undefined): boolean {
  return value === undefined || (typeof value === 'string' && value.trim() === '');
}
