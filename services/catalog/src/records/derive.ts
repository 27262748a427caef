import { type Brand, BrandType } from '@brand-data/contracts';
import { RANK_OF_UNKNOWN, readWebHost } from '@brand-data/identifiers';
import { categorySlug } from '@brand-data/records';

/** The fields that every answered record has, in the order in which `derivedFields` lists them. */
type DerivableField = 'type' | 'description' | 'category' | 'rank';

/**
 * Returns the brand with a value for each field that every answered record has and that the sources leave open. `derivedFields`
 * names these fields, with `isTypeDerived` also the type, which the brand already has.
 */
export function withDerivedFields(brand: Brand, { isTypeDerived }: { isTypeDerived: boolean }): Brand {
  const derivedFields: DerivableField[] = isTypeDerived ? ['type'] : [];
  const derive = <Value>(field: DerivableField, stated: Value, value: () => Value): Value => {
    if (stated) return stated;
    derivedFields.push(field);
    return value();
  };
  return {
    ...brand,
    description: derive('description', brand.description, () => describe(brand)),
    category: derive('category', brand.category, () => categoryOf(brand)),
    rank: derive('rank', brand.rank, () => RANK_OF_UNKNOWN),
    derivedFields,
  };
}

/** Returns the brand as its source states it. The inverse of `withDerivedFields` for the brand of a single source. */
export function withoutDerivedFields(brand: Brand): Brand {
  if (brand.derivedFields.length === 0) return brand;
  const stated: Brand = { ...brand, derivedFields: [] };
  for (const field of brand.derivedFields) {
    if (field === 'type') stated.type = BrandType.UNSPECIFIED;
    if (field === 'description' || field === 'category') stated[field] = '';
    if (field === 'rank') stated.rank = 0;
  }
  return stated;
}

/** Returns the category that follows from the industry, else from the sector, else from the type. */
function categoryOf({ type, company }: Brand): string {
  if (type === BrandType.SUPERINVESTOR) return 'superinvestor';
  return categorySlug(company?.industry ?? '') || categorySlug(company?.sector ?? '') || 'brand';
}

/** Returns a sentence such as "3M is a listed company (Conglomerates) based in Saint Paul. It was founded in 1902." */
function describe(brand: Brand): string {
  const { name, company, history, links } = brand;
  const verb = (history?.defunct ?? []).length > 0 ? 'was' : 'is';
  const field = fieldOf(brand);
  const place = placeOf(company?.headquarters);
  const site = readWebHost(links?.websites[0] ?? '')?.host.replace(/^www\./, '') ?? '';
  const facts = [
    ...(field === '' ? [] : [` (${field})`]),
    ...(place === '' ? [] : [` based in ${place}`]),
    ...(field === '' && place === '' && site !== '' ? [` with a website at ${site}`] : []),
  ];
  const year = /^\d{4}(?=$|-)/.exec(company?.founded ?? '')?.[0];
  const isCompany = field !== '' || place !== '' || year !== undefined;
  const founded = year === undefined ? '' : ` It was founded in ${year}.`;
  return `${name} ${verb} ${kindOf(brand, isCompany)}${facts.join('')}.${founded}`;
}

function kindOf({ type, category, manager }: Brand, isCompany: boolean): string {
  if (type === BrandType.SUPERINVESTOR) {
    const firm = manager?.firm ?? '';
    return firm === '' ? 'a portfolio manager' : `a portfolio manager at ${firm}`;
  }
  if (category === 'exchange_traded_product') return 'an exchange-traded product';
  if (type === BrandType.STOCK) return 'a listed company';
  return isCompany ? 'a company' : 'a brand';
}

/** Returns what the company does: its industry, else the category that a source states, else its sector. '' if nothing is known. */
function fieldOf({ type, category, company }: Brand): string {
  if (type === BrandType.SUPERINVESTOR || category === 'exchange_traded_product') return '';
  const stated = category === 'brand' ? '' : category.replaceAll('_', ' ');
  return company?.industry || stated || company?.sector || '';
}

const WITH_ARTICLE =
  /\b(States|Kingdom|Emirates|Republic|Islands|Netherlands|Philippines|Bahamas|Maldives|Gambia)\b/;

function placeOf(headquarters: NonNullable<Brand['company']>['headquarters']): string {
  const { city = '', state = '', country = '' } = headquarters ?? {};
  const places = [city, state].filter((place) => place !== '');
  const nation = places.length === 0 && WITH_ARTICLE.test(country) ? `the ${country}` : country;
  return [...new Set([...places, nation])].filter((place) => place !== '').join(', ');
}
