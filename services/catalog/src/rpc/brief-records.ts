import type { Brand, ListBrandsRequest, ListBrandsResponse, ListedBrand } from '@brand-data/contracts';
import { BrandType } from '@brand-data/contracts';
import { fieldOf, hasData, recordFieldName, SETTABLE_FIELDS } from '@brand-data/records';
import { Fault } from '@brand-data/runtime';
import { type CatalogDoc, isWaiting, sizeOfDoc } from '../records/catalog-doc.ts';
import { recordFromBytes } from '../records/merge.ts';
import { inMessages } from './company-messages.ts';

const IN_MESSAGE = 500;
const MOST_FIELDS = 32;
const MOST_IDENTIFIERS = 20;

/** Returns the messages of ListBrands. Throws Fault `invalid_argument` before the first one if the request is wrong. */
export async function* briefRecords(
  companies: AsyncIterable<CatalogDoc>,
  request: ListBrandsRequest,
): AsyncGenerator<ListBrandsResponse> {
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
    if (isWaiting(doc)) return [];
    const sources = [...new Set(doc.contributions.map(({ source }) => source))];
    if (request.source !== '' && !sources.includes(request.source)) return [];
    const brand = recordFromBytes(doc.brand);
    if (request.type !== BrandType.UNSPECIFIED && request.type !== brand.type) return [];
    const names = [doc._id, brand.name];
    if (text !== '' && !names.some((name) => name.toLowerCase().includes(text))) return [];
    const has = fields.flatMap((field, index) => (hasStated(brand, field) ? [index] : []));
    if (needed.length > 0 && needed.every((index) => has.includes(index))) return [];
    const { name, type, rank } = brand;
    const changedAtMs = doc.changedAt?.getTime() ?? 0;
    const identifiers = identifiersOf(brand);
    return [{ id: doc._id, name, type, rank, identifiers, sources, changedAtMs, has, bytes: sizeOfDoc(doc) }];
  };
  for await (const { items, after } of inMessages(companies, read, { full: IN_MESSAGE }))
    yield { brands: items, after };
}

function hasStated(brand: Brand, field: string): boolean {
  return hasData(fieldOf(brand, field)) && !brand.derivedFields.map(recordFieldName).includes(field);
}

function identifiersOf({ listings, stock, lei, links, domains }: Brand): string[] {
  const hosts = (links?.websites ?? []).flatMap(
    (url) => URL.parse(url)?.hostname.replace(/^www\./, '') ?? [],
  );
  const all = [
    ...listings.map(({ mic, ticker }) => `${mic}:${ticker}`),
    stock?.isin,
    ...listings.map(({ isin }) => isin),
    lei,
    links?.wikidataQid,
    ...hosts,
    ...domains,
  ];
  return [...new Set(all.filter((each) => each))].slice(0, MOST_IDENTIFIERS) as string[];
}
