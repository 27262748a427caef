import type { BrandDoc } from './catalog-doc.ts';

/**
 * Whose word counts, strongest first: what a person wrote, then the sample, then every other source by its name, then
 * collections of logos, which know little else about a company.
 */
const STRONGEST = ['hand-written', 'sample'];
const WEAKEST = ['simple-icons'];

/**
 * Taken whole from the strongest source that has any of it, because its fields mean something only together: a picture
 * and its size, a place and its coordinates.
 */
const UNITS = new Set(['images.logo', 'images.stockLogo', 'company.headquarters']);

/** For the same reason, these come from the strongest source that has a price, when one has. */
const QUOTE = [
  'currency',
  'price',
  'priceUsd',
  'change',
  'changePercentage',
  'range',
  'percentFrom52WeekLow',
] as const;

/**
 * One brand of what several sources contribute, by source. Each field has the value of the strongest source that has
 * data; lists are not mixed, but for names, domains, listings and sources, which are united, strongest first. Pure,
 * and the order in which sources contributed has no influence.
 */
export function mergeContributions(contributions: Readonly<Record<string, BrandDoc>>): BrandDoc {
  const brands = Object.entries(contributions)
    .sort(([a], [b]) => compareSources(a, b))
    .map(([, brand]) => brand);
  const merged = strongest('', withOneQuote(brands)) as BrandDoc;
  const names = [...new Set(brands.flatMap((brand) => [brand.name ?? '', ...(brand.names ?? [])]))].filter(
    (name) => name !== '' && name !== merged.name,
  );
  const domains = [...new Set(brands.flatMap((brand) => brand.domains ?? []))];
  const listings = uniqueBy(
    brands.flatMap((brand) => brand.listings ?? []),
    ({ ticker, mic }) => `${mic}:${ticker}`,
  );
  const sources = uniqueBy(
    brands.flatMap((brand) => brand.sources ?? []),
    ({ name, url, licence, date, fields }) => JSON.stringify([name, url, licence, date, fields]),
  );
  return nonEmpty({ ...merged, names, domains, listings, sources });
}

function compareSources(a: string, b: string): number {
  return place(a) - place(b) || (a < b ? -1 : 1);
}

function place(source: string): number {
  const weak = WEAKEST.indexOf(source);
  if (weak >= 0) return STRONGEST.length + 1 + weak;
  const strong = STRONGEST.indexOf(source);
  return strong >= 0 ? strong : STRONGEST.length;
}

function withOneQuote(brands: readonly BrandDoc[]): BrandDoc[] {
  const quoting = brands.find(({ stock }) => stock?.price !== undefined);
  return brands.map((brand) => {
    if (quoting === undefined || brand === quoting || brand.stock === undefined) return brand;
    const stock = { ...brand.stock };
    for (const field of QUOTE) delete stock[field];
    return { ...brand, stock };
  });
}

/** `values` are of the same field, none empty, strongest first; `path` is the field's dotted name. */
function strongest(path: string, values: readonly object[]): object {
  const merged: Record<string, unknown> = {};
  for (const field of new Set(values.flatMap((value) => Object.keys(value)))) {
    const found = values.map((value) => (value as Record<string, unknown>)[field]).filter(hasData);
    const fieldPath = path === '' ? field : `${path}.${field}`;
    merged[field] = found.every(isMessage) && !UNITS.has(fieldPath) ? strongest(fieldPath, found) : found[0];
  }
  return merged;
}

function hasData(value: unknown): value is NonNullable<unknown> {
  return value !== undefined && value !== null;
}

function isMessage(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function uniqueBy<T>(items: readonly T[], identityOf: (item: T) => string): T[] {
  const unique = new Map<string, T>();
  for (const item of items) {
    const identity = identityOf(item);
    if (!unique.has(identity)) unique.set(identity, item);
  }
  return [...unique.values()];
}

function nonEmpty(brand: BrandDoc): BrandDoc {
  return Object.fromEntries(
    Object.entries(brand).filter(([, value]) => !Array.isArray(value) || value.length > 0),
  );
}
