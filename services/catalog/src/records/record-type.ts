import { type Brand, BrandType } from '@brand-data/contracts';
import { isCurated } from './precedence.ts';

/** A record's type, and why it has this type. */
export interface DecidedType {
  readonly type: BrandType;
  /** The source that states the type. Undefined if no source does, so that the type is derived. */
  readonly source: string | undefined;
  /** Whether a person decided the type, whatever listings there are. */
  readonly isByPerson: boolean;
}

/**
 * Decides the type of the record that is built from `records`, strongest source first. A person's word decides. Without one,
 * listings decide: a company is a stock as long as any source has a listing of it that trades or calls it a stock, and a brand
 * otherwise. Therefore the record of a source without listings never changes the type.
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

/**
 * Checks whether the source has a listing of the company, and does not say that the main listing trades no more. A source may
 * state that a company is a stock although its trade is suspended.
 */
function isListed({ type, listings, stock }: Brand): boolean {
  return listings.length > 0 && (type === BrandType.STOCK || stock?.isActivelyTrading !== false);
}
