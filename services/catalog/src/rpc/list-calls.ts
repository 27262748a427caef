import {
  Brand,
  BrandType,
  type CatalogAdminServiceServer,
  type ListBrandsRequest,
  type ListBrandsResponse,
  type ListedBrand,
  type LogoFile,
  OverrideSet,
} from '@brand-data/contracts';
import { readWebHost } from '@brand-data/identifiers';
import { fieldOf, hasData, imagePathsOf, recordFieldName, SETTABLE_FIELDS } from '@brand-data/records';
import { Fault, serverStream } from '@brand-data/runtime';
import {
  type CatalogDoc,
  isOtherSecurity,
  isSuppressed,
  isWaiting,
  partsOf,
  sizeOfDoc,
} from '../records/catalog-doc.ts';
import { recordFromBytes } from '../records/merge.ts';
import { inMessages } from './company-messages.ts';
import type { AdminParts } from './operator-calls.ts';

const IN_MESSAGE = 500;
const MOST_FIELDS = 32;
const MOST_IDENTIFIERS = 20;
/** With how many items a message is sent. One company adds few to that. */
const ITEMS = 1_000;

type Companies = AsyncIterable<CatalogDoc>;

/** Returns the calls that stream what the catalogue has. */
export function listCalls({
  service,
  store,
}: AdminParts): Pick<CatalogAdminServiceServer, 'listBrands' | 'listImagePaths' | 'listLogoFiles'> {
  return {
    listBrands: serverStream(service, (request, signal) =>
      briefRecords(store.scan(request.after, signal), request),
    ),
    listImagePaths: serverStream(service, ({ after }, signal) => imagePaths(store.scan(after, signal))),
    listLogoFiles: serverStream(service, ({ after }, signal) => logoFiles(store.scan(after, signal))),
  };
}

/** Returns the messages of ListBrands. Throws Fault `invalid_argument` before the first one if the request is wrong. */
function briefRecords(companies: Companies, request: ListBrandsRequest): AsyncGenerator<ListBrandsResponse> {
  const { fields, lacking } = request;
  if (fields.length > MOST_FIELDS)
    throw new Fault('invalid_argument', `a list can have at most ${MOST_FIELDS} fields`);
  const unknown = fields.find((field) => !SETTABLE_FIELDS.has(field));
  if (unknown !== undefined)
    throw new Fault('invalid_argument', `"${unknown}" is no field of a record: bds set --help lists them`);
  const needed = lacking.map((field) => fields.indexOf(field));
  if (needed.includes(-1))
    throw new Fault('invalid_argument', 'the fields that are lacking are among the fields');
  const text = request.text.toLowerCase();

  const read = (doc: CatalogDoc): ListedBrand[] => {
    if (isWaiting(doc) || isOtherSecurity(doc._id) || isSuppressed(doc)) return [];
    const changedAtMs = doc.changedAt?.getTime() ?? 0;
    if (changedAtMs < request.changedSinceMs) return [];
    const sources = [...new Set(doc.contributions.map(({ source }) => source))];
    if (request.source !== '' && !sources.includes(request.source)) return [];
    const brand = recordFromBytes(doc.brand);
    if (request.type !== BrandType.UNSPECIFIED && request.type !== brand.type) return [];
    const names = [doc._id, brand.name];
    if (text !== '' && !names.some((name) => name.toLowerCase().includes(text))) return [];
    const has = fields.flatMap((field, index) => (hasStated(brand, field) ? [index] : []));
    if (needed.length > 0 && needed.every((index) => has.includes(index))) return [];
    const { name, type, rank } = brand;
    const identifiers = identifiersOf(brand);
    return [{ id: doc._id, name, type, rank, identifiers, sources, changedAtMs, has, bytes: sizeOfDoc(doc) }];
  };
  return inMessages(companies, read, (brands, after) => ({ brands, after }), { full: IN_MESSAGE });
}

function hasStated(brand: Brand, field: string): boolean {
  return hasData(fieldOf(brand, field)) && !brand.derivedFields.map(recordFieldName).includes(field);
}

function identifiersOf({ listings, stock, lei, links, domains }: Brand): string[] {
  // A host without a public suffix, such as one of a company's own network, finds no record.
  const hosts = [...(links?.websites ?? []), ...domains].flatMap(
    (address) => readWebHost(address)?.host ?? [],
  );
  const all = [
    ...listings.map(({ mic, ticker }) => `${mic}:${ticker}`),
    stock?.isin,
    ...listings.map(({ isin }) => isin),
    lei,
    links?.wikidataQid,
    ...hosts,
  ];
  return [...new Set(all.filter((each) => each))].slice(0, MOST_IDENTIFIERS) as string[];
}

/** Returns the messages of ListImagePaths. */
export function imagePaths(companies: Companies) {
  return inMessages(companies, imagePathsIn, (paths, after) => ({ paths, after }), { full: ITEMS });
}

/** Returns the messages of ListLogoFiles. */
export function logoFiles(companies: Companies) {
  return inMessages(companies, logoFilesIn, (files, after) => ({ files, after }), { full: ITEMS });
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
 * Returns the brands of the source records, and one for each value of an override, without computing identities. None of a suppressed
 * company, so that its pictures are swept.
 */
function brandsIn(company: CatalogDoc): { id: string; brand: Brand }[] {
  if (isSuppressed(company)) return [];
  return partsOf(company).flatMap(({ id, quote, overrides, bytes }) => {
    if (quote) return [];
    if (!overrides) return [{ id, brand: Brand.decode(bytes) }];
    return OverrideSet.decode(bytes).overrides.flatMap(({ value }) => (value ? [{ id, brand: value }] : []));
  });
}
