import { normalName } from './names.ts';

/** Countries and continents as companies write them in the names of subsidiaries, besides their English names. */
const OTHER_NAMES = [
  'america',
  'asia',
  'europe',
  'usa',
  'us',
  'uk',
  'brasil',
  'deutschland',
  'espana',
  'italia',
  'polska',
];
let places: ReadonlySet<string> | undefined;

/** Checks whether the text, in normal form, is the name of a country or a continent. */
export function isPlace(normal: string): boolean {
  places ??= new Set([...OTHER_NAMES, ...countryNames()]);
  return places.has(normal);
}

function* countryNames(): Generator<string> {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  for (const first of letters)
    for (const second of letters) {
      const name = names.of(first + second);
      if (name !== undefined) yield normalName(name);
    }
}
