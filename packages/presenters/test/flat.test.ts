import { type Brand, BrandType } from '@brand-data/contracts';
import { properName } from '@brand-data/identifiers';
import { monogramOf, monogramPath } from '@brand-data/monograms';
import {
  type FlatRecord,
  flatRecordSchema,
  presentFlat,
  presentGrouped,
  sourcesOfFlat,
} from '@brand-data/presenters';
import * as fc from 'fast-check';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { arbitraryBrand } from './arbitrary-brand.ts';
import { deepFreeze, leaves, objectsWithSchemaKeys, reverseKeys } from './walk.ts';

const options = { logoHost: 'https://logos.example', monogramKey: 'the key of the examples' };

/** Runs over the flat records of arbitrary brands. */
const forEveryRecord = (check: (record: FlatRecord, brand: Brand) => void): void =>
  fc.assert(
    fc.property(arbitraryBrand, (brand) => {
      const record = presentFlat(brand, options);
      if (record) check(record, brand);
    }),
  );

test('a flat record names the sources of its own fields', () => {
  const stated = (field: string) => {
    const source = { name: 'A', url: '', licence: '', date: '', fields: [field] };
    return sourcesOfFlat([source]).length > 0;
  };
  const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const groups = ['company', 'stock', 'links', 'images', 'ownership', 'offerings', 'history'] as const;
  for (const field of ['name', 'listings', 'stock', 'images.logo.big', 'company.headquarters.city'])
    expect(stated(field), field).toBe(true);
  for (const field of [
    'ownership.owner',
    'stock.range',
    'company.area_served',
    'company.headquarters.latitude',
  ])
    expect(stated(field), field).toBe(false);
  return fc.assert(
    fc.property(arbitraryBrand, arbitraryBrand, fc.constantFrom(...groups), (brand, other, group) => {
      const [own, others] = [brand[group] ?? {}, other[group] ?? {}];
      for (const [name, value] of Object.entries(others)) {
        const changed = { ...brand, [group]: { ...others, ...own, [name]: value } };
        const before = { ...brand, [group]: { ...others, ...own } };
        const [shownBefore, shown] = [before, changed].map((each) =>
          JSON.stringify(presentFlat(each as Brand, options)),
        );
        const field = `${group}.${snakeCase(name)}`;
        if (shown !== shownBefore) expect(stated(field), field).toBe(true);
      }
    }),
  );
});

describe('the flat record', () => {
  test('exists for every brand except a superinvestor', () =>
    fc.assert(
      fc.property(
        arbitraryBrand,
        (brand) => (presentFlat(brand, options) === undefined) === (brand.type === BrandType.SUPERINVESTOR),
      ),
    ));

  test('has every key of its schema, in its order, at every depth', () => {
    forEveryRecord((record) => {
      for (const { keys, schemaKeys } of objectsWithSchemaKeys(record, flatRecordSchema))
        expect(keys).toEqual(schemaKeys);
    });
  });

  test('is valid against its schema', () => {
    forEveryRecord((record) => {
      expect(Value.Check(flatRecordSchema, record), JSON.stringify(record)).toBe(true);
    });
  });

  test('has null, never "", [], an object of nulls or a figure that is not finite', () => {
    forEveryRecord((record) => {
      for (const leaf of leaves(record)) {
        expect(leaf).not.toBeUndefined();
        expect(leaf).not.toBeNaN();
        if (typeof leaf === 'string') expect(leaf.trim()).not.toBe('');
      }
      for (const field of Object.values(record).filter((value) => typeof value === 'object'))
        if (field !== null) expect(leaves(field).some((leaf) => leaf !== null)).toBe(true);
    });
  });

  test('has null in the stock fields of a merchant and in the merchant fields of a stock', () => {
    forEveryRecord((record, brand) => {
      const { industry, sector, ceo, exchange, isin, currency, market_cap, price } = record;
      const ofStocks = { industry, sector, ceo, exchange, isin, currency, market_cap, price };
      const { is_actively_trading, symbol, founders, key_people, social_media, wikipedia } = record;
      const foreign =
        brand.type === BrandType.STOCK
          ? { founders, key_people, social_media, wikipedia }
          : { ...ofStocks, is_actively_trading, symbol };
      expect(record.type).toBe(brand.type === BrandType.STOCK ? 'stock' : 'merchant');
      expect(new Set(Object.values(foreign))).toEqual(new Set([null]));
    });
  });

  test('has the values of the grouped record', () => {
    forEveryRecord((record, brand) => {
      const grouped = presentGrouped(brand, options);
      if (grouped.type === 'superinvestor') return;
      const said = new Set(leaves(grouped));
      const { type: _, ...facts } = record;
      for (const leaf of leaves(facts)) if (leaf !== null) expect(said).toContain(leaf);
      expect(record.founded).toBe(grouped.company?.founded ?? null);
      expect(record.website).toBe(grouped.links?.websites?.[0] ?? null);
    });
  });

  test("uses the big logo, else the small logo, else the ticker's logo, else a monogram", () => {
    forEveryRecord((record, brand) => {
      const candidates = [brand.images?.logo?.big, brand.images?.logo?.small];
      if (brand.type === BrandType.STOCK)
        candidates.push(brand.images?.stockLogo?.big, brand.images?.stockLogo?.small);
      const paths = candidates.map((image) => image?.path.replace(/^\/+/, '') ?? '');
      const known = paths.find((candidate) => candidate.trim() !== '');
      const path =
        known ??
        monogramPath(monogramOf({ id: brand.id, name: properName(brand.name) }), options.monogramKey);
      expect(record.logo).toBe(`https://logos.example/${path}`);
    });
  });

  test('has the same bytes for equal brands, and leaves them as they were', () => {
    forEveryRecord((record, brand) => {
      const shuffled = deepFreeze(reverseKeys(structuredClone(brand)));
      expect(JSON.stringify(presentFlat(shuffled, options))).toBe(JSON.stringify(record));
    });
  });
});
