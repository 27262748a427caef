import type { Brand, Source } from '@brand-data/contracts';
import type { FlatRecord } from './flat-schema.ts';
import { type PresentOptions, presentGrouped } from './grouped.ts';
import type { CompanyRecord, StockRecord } from './grouped-schema.ts';

/**
 * Returns the flat record (packages/presenters/README.md). It has every key. A value is null if the field does not apply or is
 * not known. The values are those of the grouped record, so the brand must meet presentGrouped's requirements. Returns undefined
 * for a superinvestor, because superinvestors have no flat record.
 */
export function presentFlat(brand: Brand, options: PresentOptions): FlatRecord | undefined {
  const record = presentGrouped(brand, options);
  if (record.type === 'superinvestor') return undefined;
  const stock = record.type === 'stock' ? record : undefined;
  const merchant = record.type === 'brand' ? record : undefined;
  return {
    name: record.name,
    type: stock ? 'stock' : 'merchant',
    logo: logoUrlOf(record),
    description: record.description,
    website: record.links?.websites?.[0] ?? null,
    headquarters: headquartersOf(record.company),
    employees: record.company?.employees ?? null,
    industry: stock?.company?.industry ?? null,
    sector: stock?.company?.sector ?? null,
    ceo: stock?.company?.ceo ?? null,
    exchange: stock?.stock?.exchange ?? null,
    isin: stock?.stock?.isin ?? null,
    currency: stock?.stock?.currency ?? null,
    market_cap: stock?.stock?.market_cap_usd ?? null,
    price: stock?.stock?.price ?? null,
    is_actively_trading: stock?.stock?.is_actively_trading ?? null,
    symbol: stock?.symbol ?? null,
    founded: record.company?.founded ?? null,
    founders: merchant?.company?.founders ?? null,
    key_people:
      merchant?.company?.key_people?.map(({ name, role }) => ({ name: name ?? null, role: role ?? null })) ??
      null,
    social_media:
      merchant?.links?.social_media?.map(({ name, url }) => ({ name: name ?? null, url: url ?? null })) ??
      null,
    wikipedia: merchant?.links?.wikipedia ?? null,
  };
}

/** What flat records show, by the dotted names of fields in the record format. */
const FLAT_FIELDS = [
  ...['type', 'name', 'description', 'listings', 'images.logo', 'images.stock_logo'],
  ...['links.websites', 'links.social_media', 'links.wikipedia'],
  ...['founded', 'founders', 'ceo', 'key_people', 'employees', 'industry', 'sector'].map(
    (name) => `company.${name}`,
  ),
  ...['city', 'state', 'country'].map((name) => `company.headquarters.${name}`),
  ...['exchange', 'isin', 'currency', 'market_cap_usd', 'price', 'is_actively_trading'].map(
    (name) => `stock.${name}`,
  ),
];

/** Returns the sources that state a field of flat records, or that do not say which fields they state. */
export function sourcesOfFlat(sources: readonly Source[]): Source[] {
  const isWithin = (field: string, group: string) => `${field}.`.startsWith(`${group}.`);
  return sources.filter(
    ({ fields }) =>
      fields.length === 0 ||
      fields.some((field) => FLAT_FIELDS.some((shown) => isWithin(shown, field) || isWithin(field, shown))),
  );
}

function logoUrlOf({ images }: StockRecord | CompanyRecord): string {
  const stockLogo = 'stock_logo' in images ? images.stock_logo : undefined;
  const shown = images.logo?.big ?? images.logo?.small ?? stockLogo?.big ?? stockLogo?.small;
  if (shown === undefined) throw new Error('a grouped record has no logo');
  return shown.url;
}

function headquartersOf(company: StockRecord['company']): FlatRecord['headquarters'] {
  const { city = null, state = null, country = null } = company?.headquarters ?? {};
  return city === null && state === null && country === null ? null : { city, state, country };
}
