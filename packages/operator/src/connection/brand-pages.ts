import { ListBrandsRequest, type ListedBrand } from '@brand-data/contracts';
import type { Connection } from './connection.ts';
import { resumedStream } from './reading.ts';

const LIST_MS = 3_600_000;

/** Yields the records in brief, in the order of their ids, as many as catalog sends at once. */
export async function* brandPages(
  catalog: ReturnType<Connection['catalog']>,
  filters: Partial<ListBrandsRequest>,
): AsyncGenerator<ListedBrand[]> {
  const request = ListBrandsRequest.fromPartial(filters);
  const messages = resumedStream(
    (after) => catalog.readStream((client) => client.listBrands, { ...request, after }, LIST_MS),
    filters.after,
  );
  for await (const { brands } of messages) yield brands;
}
