import {
  Brand,
  type ListImagePathsResponse,
  type ListLogoFilesResponse,
  type LogoFile,
  OverrideSet,
} from '@brand-data/contracts';
import { imagePathsOf } from '@brand-data/records';
import { type CatalogDoc, partsOf } from '../records/catalog-doc.ts';
import { inMessages } from './company-messages.ts';

/** With how many items a message is sent. One company adds few to that. */
const ITEMS = 1_000;

type Companies = AsyncIterable<CatalogDoc>;

/** Returns the messages of ListImagePaths. */
export async function* imagePaths(companies: Companies): AsyncGenerator<ListImagePathsResponse> {
  for await (const { items, after } of inMessages(companies, imagePathsIn, { full: ITEMS }))
    yield { paths: items, after };
}

/** Returns the messages of ListLogoFiles. */
export async function* logoFiles(companies: Companies): AsyncGenerator<ListLogoFilesResponse> {
  for await (const { items, after } of inMessages(companies, logoFilesIn, { full: ITEMS }))
    yield { files: items, after };
}

/** Returns the paths that the company's source records and overrides name, also those that its record does not show. */
function imagePathsIn(company: CatalogDoc): string[] {
  const paths = brandsIn(company).flatMap(({ brand }) => imagePathsOf(brand));
  return [...new Set(paths.map(([, path]) => path.split('?', 1)[0] ?? path))];
}

function logoFilesIn(company: CatalogDoc): LogoFile[] {
  return brandsIn(company).flatMap(({ id, brand: { name, images, links } }) =>
    images?.logoFile ? [{ id, name, wikidataQid: links?.wikidataQid ?? '', file: images.logoFile }] : [],
  );
}

/**
 * Returns the brands of the source records, and one brand for each value of an override. Decodes without computing any identity.
 */
function brandsIn(company: CatalogDoc): { id: string; brand: Brand }[] {
  return partsOf(company).flatMap(({ id, quote, overrides, bytes }) => {
    if (quote) return [];
    if (!overrides) return [{ id, brand: Brand.decode(bytes) }];
    return OverrideSet.decode(bytes).overrides.flatMap(({ value }) => (value ? [{ id, brand: value }] : []));
  });
}
