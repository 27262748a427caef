import { BrandType, type ListBrandsRequest, type ListedBrand } from '@brand-data/contracts';
import type { Connection } from '../../connection/connection.ts';
import { resumedStream } from '../../connection/resumed-stream.ts';

const LIST_MS = 3_600_000;

/** Yields the records in brief, in the order of their ids, as many as catalog sends at once. */
export async function* brandPages(
  catalog: ReturnType<Connection['catalog']>,
  filters: Partial<ListBrandsRequest>,
): AsyncGenerator<ListedBrand[]> {
  const request = { type: BrandType.UNSPECIFIED, source: '', text: '', fields: [], lacking: [], ...filters };
  const messages = resumedStream(
    (after) => catalog.readStream((client) => client.listBrands, { ...request, after }, LIST_MS),
    filters.after,
  );
  for await (const { brands } of messages) yield brands;
}

const TYPE_NAME: Record<BrandType, string> = {
  [BrandType.UNSPECIFIED]: 'unknown',
  [BrandType.STOCK]: 'stock',
  [BrandType.BRAND]: 'brand',
  [BrandType.SUPERINVESTOR]: 'superinvestor',
};

export const TYPES = ['stock', 'brand', 'superinvestor'] as const;

export function typeName(type: BrandType): string {
  return TYPE_NAME[type];
}

export function brandTypeOf(name: (typeof TYPES)[number]): BrandType {
  return { stock: BrandType.STOCK, brand: BrandType.BRAND, superinvestor: BrandType.SUPERINVESTOR }[name];
}
