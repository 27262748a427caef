import { type Brand, BrandType } from '@brand-data/contracts';
import { compareTexts } from '@brand-data/identifiers';

/** A person edits these sources, strongest first. Their rank, type and order of listings override those of all other sources. */
const CURATED_SOURCES = ['hand-written', 'sample'];

/** All sources that a list of precedence does not name. They are the operator's own, in the order of their names. */
const OTHER_SOURCES = '*';

/** The default order of sources, strongest first. The fields in EXCEPTIONS have another order. The README shows both. */
const PRECEDENCE = ordered(
  'hand-written sample * sec wikidata financedatabase gleif iconify simple-icons logo-files',
);
// The SEC's industries are those of 1987.
const OF_INDUSTRIES = ordered(
  'hand-written sample * financedatabase wikidata sec gleif iconify simple-icons',
);
// The sample's logos are icons. An operator's own files go before them, and icons in colour before those of one colour.
const OF_LOGOS = ordered(
  'hand-written * logo-files sample iconify simple-icons wikidata financedatabase gleif',
);
const EXCEPTIONS = new Map([
  ...['description', 'category'].map((field) => [field, OF_INDUSTRIES] as const),
  ...['sector', 'industry', 'industries'].map((field) => [`company.${field}`, OF_INDUSTRIES] as const),
  ...['logo', 'stockLogo'].map((field) => [`images.${field}`, OF_LOGOS] as const),
]);

function ordered(sources: string): readonly string[] {
  return sources.split(' ');
}

/** Each record of these sources is one listing of a company, so that a company may have several of them. */
const SOURCES_OF_LISTINGS: ReadonlySet<string> = new Set(['financedatabase']);

export function statesListings(source: string): boolean {
  return SOURCES_OF_LISTINGS.has(source);
}

/** Checks whether a person edits the source. */
export function isCurated(source: string): boolean {
  return CURATED_SOURCES.includes(source);
}

/** Compares by the default order of sources. The result is below zero if `a` is the stronger source. */
export function compareSources(a: string, b: string): number {
  return compareBy(PRECEDENCE, a, b);
}

/** Returns the order of sources for the field, by its dotted name in a Brand. Undefined if the default order applies. */
export function precedenceOf(field: string): ((a: string, b: string) => number) | undefined {
  const precedence = EXCEPTIONS.get(field);
  return precedence && ((a, b) => compareBy(precedence, a, b));
}

function compareBy(precedence: readonly string[], a: string, b: string): number {
  const place = (source: string) => {
    const own = precedence.indexOf(source);
    return own >= 0 ? own : precedence.indexOf(OTHER_SOURCES);
  };
  return place(a) - place(b) || compareTexts(a, b);
}

/** A record's type, and why it has this type. */
export interface DecidedType {
  readonly type: BrandType;
  /** The source that states the type. Undefined if no source does, so that the type is derived. */
  readonly source: string | undefined;
  /** Whether a person decided the type, whatever listings there are. */
  readonly isByPerson: boolean;
}

/**
 * Decides the type of the record that is built from `records`, strongest source first. A person's word decides, else the listings: a
 * company is a stock as long as any source has a listing that trades or calls it a stock, and otherwise a brand.
 */
export function decideType(
  records: readonly { readonly source: string; readonly brand: Brand }[],
): DecidedType {
  const stated = records.filter(({ brand }) => brand.type !== BrandType.UNSPECIFIED);
  const byPerson =
    stated.find(({ brand }) => brand.type === BrandType.SUPERINVESTOR) ??
    stated.find(({ source }) => isCurated(source));
  if (byPerson !== undefined) return { type: byPerson.brand.type, source: byPerson.source, isByPerson: true };
  const type = records.some(({ brand }) => isListed(brand)) ? BrandType.STOCK : BrandType.BRAND;
  return { type, source: stated.find(({ brand }) => brand.type === type)?.source, isByPerson: false };
}

/** Checks whether the source has a listing that it calls a stock, or does not say that it trades no more. */
function isListed({ type, listings, stock }: Brand): boolean {
  return listings.length > 0 && (type === BrandType.STOCK || stock?.isActivelyTrading !== false);
}
