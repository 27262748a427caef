import { Brand } from '@brand-data/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { brandFromRecord, readRecord, recordFromBrand } from '../src/index.ts';
import { acme } from './acme.ts';
import { arbitraryRecord, arbitraryShape } from './arbitrary-record.ts';

test('every record of the format is read', () => {
  fc.assert(
    fc.property(arbitraryRecord, (record) => {
      expect(readRecord(record)).toEqual({ record });
    }),
  );
});

test('a record loses nothing when it is converted to a brand and back', () => {
  fc.assert(
    fc.property(arbitraryShape, (record) => {
      const carried = Brand.decode(Brand.encode(brandFromRecord(record)).finish());
      const listings = record.listings?.map(({ primary, ...listing }) =>
        primary ? { ...listing, primary } : listing,
      );
      const { rank, ...rest } = record;
      expect(recordFromBrand(carried)).toEqual({
        ...rest,
        ...(rank && { rank }),
        ...(listings && { listings }),
      });
    }),
  );
});

test.each<[object, string]>([
  [{ id: 'Acme Inc.' }, 'id must be a lower-case slug such as "berkshire-hathaway"'],
  [{ type: 'company' }, 'type must be one of stock, brand, superinvestor, other_security'],
  [{ name: '' }, 'name is empty: remove it'],
  [{ rank: 1_001 }, 'rank must be 0 to 1000'],
  [{ names: [] }, 'names is empty: remove it'],
  [{ company: {} }, 'company is empty: remove it'],
  [{ company: { CEO: 'Ada' } }, 'company.CEO is not a field: remove it'],
  [{ company: { ceo: null } }, 'company.ceo must be string'],
  [{ company: { key_people: [{ role: 'CEO' }] } }, 'company.key_people[0].name is missing'],
  [{ links: { websites: ['acme.com'] } }, 'links.websites[0] must be an http or https URL'],
  [{ sources: undefined }, 'sources is missing'],
  [{ type: 'stock' }, 'listings is missing: a record of type stock must have at least its main listing'],
  [
    { stock: { price: 1 } },
    'listings and stock are only for records of type stock: remove them or change the type',
  ],
  [
    { manager: { firm: 'Acme' } },
    'manager is only for records of type superinvestor: remove it or change the type',
  ],
])('a problem of a record names the field: %j', (fields, problem) => {
  const record = JSON.parse(JSON.stringify({ ...acme, ...fields }));
  expect(readRecord(record)).toEqual({ problems: [problem] });
});

test('a record needs an id, a name and sources, and nothing else', () => {
  const record = { id: 'acme', name: 'Acme', sources: [{ name: 'feed' }] };
  expect(readRecord(record)).toEqual({ record });
  for (const field of Object.keys(record))
    expect(readRecord({ ...record, [field]: undefined })).toEqual({
      problems: [expect.stringMatching(new RegExp(`^${field} `))],
    });
});

test('a record that states no type may have listings', () => {
  const { type, ...record } = { ...acme, listings: [{ ticker: 'ACME', mic: 'XNAS' }], stock: { price: 1 } };
  expect(readRecord(record)).toEqual({ record });
});

test.each([null, 'acme', 7, []])('%j is not a record', (value) => {
  expect(readRecord(value)).toHaveProperty('problems');
});
