import { type Brand, BrandType, type ImageVariants } from '@brand-data/contracts';
import { type GroupedRecord, groupedRecordSchema, presentGrouped } from '@brand-data/presenters';
import * as fc from 'fast-check';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { arbitraryBrand } from './arbitrary-brand.ts';
import { deepFreeze, leaves, objectsWithSchemaKeys, reverseKeys } from './walk.ts';

const options = { logoHost: 'https://logos.example', monogramKey: 'the key of the examples' };

/** Replaces each fact of the brand by a different one: texts and figures with increasing numbers. */
function withUniqueFacts(brand: Brand): Brand {
  let count = 0;
  const mark = (value: unknown): unknown => {
    if (typeof value === 'string') return value.trim() === '' ? value : `<${++count}>`;
    if (typeof value === 'number') return Number.isFinite(value) ? ++count : value;
    if (Array.isArray(value)) return value.map(mark);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, mark(field)]));
  };
  return { ...(mark(brand) as Brand), type: brand.type };
}

/** Returns the numbers of withUniqueFacts that `value` contains. */
function factsIn(value: unknown): number[] {
  return leaves(value).flatMap((leaf) => {
    if (typeof leaf === 'number') return Number.isFinite(leaf) ? [leaf] : [];
    return typeof leaf === 'string' ? (leaf.match(/(?<=<)\d+(?=>)/g) ?? []).map(Number) : [];
  });
}

/** A monogram is not a fact about the brand. */
function withoutMonogram(record: GroupedRecord): object {
  const isMonogram = (url = '') => url.startsWith(`${options.logoHost}/monograms/`);
  if (record.type === 'superinvestor')
    return isMonogram(record.logo) ? { ...record, logo: undefined } : record;
  const { logo, ...images } = record.images;
  return isMonogram(logo?.big?.url) ? { ...record, images } : record;
}

/** Keeps the facts of an image only if it has a path, as the page describes images. */
function imageFacts(variants: ImageVariants | undefined, { withSize }: { withSize: boolean }) {
  return [variants?.big, variants?.small]
    .filter((image) => image !== undefined && image.path.trim() !== '')
    .map((image) => ({ ...image, sizeKb: withSize ? image?.sizeKb : undefined }));
}

function presentedFacts(brand: Brand): unknown[] {
  const { name, description, category, company, ownership, offerings, history, transport, links } = brand;
  const common = [name, description, category];
  if (brand.type === BrandType.SUPERINVESTOR) return [...common, brand.manager];
  const logo = imageFacts(brand.images?.logo, { withSize: true });
  const past = history && { ...history, formerTickers: [] };
  const groups = [company, ownership, offerings, past, transport, links, logo, brand.images?.bannerPath];
  if (brand.type === BrandType.BRAND) return [...common, ...groups];
  const venues = brand.listings.map(({ mic }) => mic);
  const stockLogo = imageFacts(brand.images?.stockLogo, { withSize: false });
  return [...common, ...groups, brand.listings[0]?.ticker, venues, stockLogo, brand.stock];
}

describe('the grouped record', () => {
  test('never contains null, undefined, "", [], {} or a figure that is not finite, at any depth', () => {
    const isEmpty = (value: unknown): boolean =>
      value === null ||
      value === undefined ||
      (typeof value === 'string' && value.trim() === '') ||
      (typeof value === 'number' && !Number.isFinite(value)) ||
      (typeof value === 'object' && Object.keys(value).length === 0);
    const holdsEmpty = (value: unknown): boolean =>
      isEmpty(value) || (typeof value === 'object' && Object.values(value ?? {}).some(holdsEmpty));
    return fc.assert(fc.property(arbitraryBrand, (brand) => !holdsEmpty(presentGrouped(brand, options))));
  });

  test('shows each fact of its type exactly once, and no other fact', () =>
    fc.assert(
      fc.property(arbitraryBrand.map(withUniqueFacts), (brand) => {
        const shown = factsIn(withoutMonogram(presentGrouped(brand, options)));
        expect(shown.toSorted((a, b) => a - b)).toEqual(
          factsIn(presentedFacts(brand)).toSorted((a, b) => a - b),
        );
      }),
    ));

  test('lists nothing twice', () => {
    const listsTwice = (value: unknown): boolean =>
      typeof value === 'object' &&
      value !== null &&
      ((Array.isArray(value) && new Set(value.map((item) => JSON.stringify(item))).size < value.length) ||
        Object.values(value).some(listsTwice));
    return fc.assert(fc.property(arbitraryBrand, (brand) => !listsTwice(presentGrouped(brand, options))));
  });

  test('shows 0 and false as data', () =>
    fc.assert(
      fc.property(arbitraryBrand, (brand) => {
        const record = presentGrouped(brand, options);
        if (record.type !== 'stock') return;
        const { price, isActivelyTrading } = brand.stock ?? {};
        expect(record.stock?.price).toBe(Number.isFinite(price) ? price : undefined);
        expect(record.stock?.is_actively_trading).toBe(isActivelyTrading);
      }),
    ));

  test('has its keys in the order of its schema, at every depth', () =>
    fc.assert(
      fc.property(arbitraryBrand, (brand) => {
        const record = presentGrouped(brand, options);
        for (const { keys, schemaKeys } of objectsWithSchemaKeys(record, groupedRecordSchema))
          expect(keys).toEqual(schemaKeys.filter((key) => keys.includes(key)));
      }),
    ));

  test('is valid against its schema', () =>
    fc.assert(
      fc.property(arbitraryBrand, (brand) => {
        const record = presentGrouped(brand, options);
        expect(Value.Check(groupedRecordSchema, record), JSON.stringify(record)).toBe(true);
      }),
    ));

  test('has the same bytes for equal brands, whatever the order of their keys', () =>
    fc.assert(
      fc.property(arbitraryBrand, (brand) => {
        const shuffled = reverseKeys(structuredClone(brand));
        expect(JSON.stringify(presentGrouped(shuffled, options))).toBe(
          JSON.stringify(presentGrouped(brand, options)),
        );
      }),
    ));

  test('leaves the brand as it was', () =>
    fc.assert(
      fc.property(arbitraryBrand, (brand) => {
        const before = structuredClone(brand);
        presentGrouped(deepFreeze(brand), options);
        expect(brand).toEqual(before);
      }),
    ));

  test('has market data and a ticker logo only when the type is stock', () =>
    fc.assert(
      fc.property(arbitraryBrand, (brand) => {
        const record: object = presentGrouped(brand, options);
        if (brand.type === BrandType.STOCK) return;
        expect(record).not.toHaveProperty('stock');
        expect(record).not.toHaveProperty('symbol');
        expect(record).not.toHaveProperty('images.stock_logo');
      }),
    ));

  test('gives a single fate of a brand as a string, and several as a list', () =>
    fc.assert(
      fc.property(arbitraryBrand, (brand) => {
        const record = presentGrouped(brand, options);
        if (record.type === 'superinvestor') return;
        const facts = [...new Set(brand.history?.fate)].filter((fate) => fate.trim() !== '');
        expect(record.history?.fate).toEqual(facts.length > 1 ? facts : facts[0]);
      }),
    ));

  test('puts one slash between the logo host and a path, even if either already has one', () => {
    const slashes = fc.constantFrom('', '/', '//');
    return fc.assert(
      fc.property(arbitraryBrand, slashes, slashes, (brand, behindHost, beforePath) => {
        const bannered = {
          ...brand,
          type: BrandType.BRAND,
          images: { bannerPath: `${beforePath}banners/acme.svg`, logoFile: '' },
        };
        const record = presentGrouped(bannered, {
          ...options,
          logoHost: `https://logos.example${behindHost}`,
        });
        expect(record).toHaveProperty('images.banner.url', 'https://logos.example/banners/acme.svg');
      }),
    );
  });

  test('lists a website once, even if it is repeated with another case of its host or a slash at its end', () => {
    const websiteTwice = fc
      .tuple(fc.domain(), fc.constantFrom('', '/Shop', '/a/b'), fc.boolean(), fc.boolean())
      .map(([host, path, slash, upper]) => ({
        first: `https://${host}${path}${slash ? '/' : ''}`,
        second: `https://${upper ? host.toUpperCase() : host}${path}${slash ? '' : '/'}`,
      }));
    return fc.assert(
      fc.property(arbitraryBrand, websiteTwice, (brand, { first, second }) => {
        const links = { websites: [first, second, first], wikipedia: '', wikidataQid: '', socialMedia: [] };
        const record = presentGrouped({ ...brand, type: BrandType.BRAND, links }, options);
        expect(record).toHaveProperty('links.websites', [first]);
      }),
    );
  });
});
