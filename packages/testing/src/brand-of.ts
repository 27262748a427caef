import { Brand, BrandType } from '@brand-data/contracts';

/** Returns a record with all required fields, and `fields`. */
export function brandOf(id: string, fields: Parameters<typeof Brand.fromPartial>[0] = {}): Brand {
  return Brand.fromPartial({
    id,
    type: BrandType.BRAND,
    name: id,
    description: `${id} is a brand.`,
    category: 'brand',
    rank: 500,
    ...fields,
  });
}
