import type { BrandRecord } from '@brand-data/records';

/** The category for the first industry that is given: "industrial_conglomerates". "brand" if none is given. */
export function categoryOf(...industries: readonly (string | undefined)[]): string {
  for (const industry of industries) {
    const slug = lettersOf(industry ?? '').replaceAll(' ', '_');
    if (slug !== '') return slug;
  }
  return 'brand';
}

/** Words of ASCII letters and digits, with hyphens between them. '' if the text has no such words. */
export function slugOf(text: string): string {
  return lettersOf(text).replaceAll(' ', '-');
}

/** Letters that NFKD does not decompose into an ASCII letter and accents. */
const FOLDED: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
};

/** Ids are made from the result. So any change of this function would change ids of stored records. */
function lettersOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[ßæœøłđðþ]/g, (letter) => FOLDED[letter] ?? letter)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f'’]/g, '')
    .replaceAll('&', ' and ')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}

/** A sentence from the known facts: "3M is a listed company (Industrial Conglomerates) based in Saint Paul, Minnesota, …". */
export function describe({ type, name, company }: Pick<BrandRecord, 'type' | 'name' | 'company'>): string {
  const { industry, sector, headquarters, founded } = company ?? {};
  const what = { stock: 'a listed company', brand: 'a brand', superinvestor: 'a portfolio manager' }[type];
  const field = industry ?? sector;
  const { city, state, country } = headquarters ?? {};
  const place = [city, state, country].filter((part) => part !== undefined).join(', ');
  const sentence = [
    `${name} is ${what}`,
    ...(field === undefined ? [] : [` (${field})`]),
    ...(place === '' ? [] : [` based in ${place}`]),
  ].join('');
  const year = /^\d{4}(?=$|-)/.exec(founded ?? '')?.[0];
  return `${sentence}.${year === undefined ? '' : ` It was founded in ${year}.`}`;
}
