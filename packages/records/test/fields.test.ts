import { Brand } from '@brand-data/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { brandFromRecord, brandOfField, fieldOf, hasData, SETTABLE_FIELDS, withField } from '../src/index.ts';
import { arbitraryRecord } from './arbitrary-record.ts';

const fields = [...SETTABLE_FIELDS.keys()];
const valueIn = (record: object, field: string) =>
  field.split('.').reduce<unknown>((at, name) => Object(at)[name], record);
/** Without groups that have no data. */
const dataOf = (brand: object) =>
  JSON.stringify(Brand.fromPartial(brand), (_, value) => (hasData(value) ? value : undefined));

test('a field that is read alone has the value that it has in the whole record', () => {
  fc.assert(
    fc.property(arbitraryRecord, (record) => {
      const brand = brandFromRecord(record);
      for (const field of fields) {
        const value = valueIn(record, field);
        const made = value === undefined ? undefined : brandOfField(field, value);
        if (made === undefined) continue;
        expect(made).not.toHaveProperty('problem');
        if ('brand' in made) expect(fieldOf(made.brand, field)).toEqual(fieldOf(brand, field));
      }
    }),
  );
});

test('a field that is removed from a brand and given back leaves the brand as it was', () => {
  fc.assert(
    fc.property(arbitraryRecord, fc.constantFrom(...fields), (record, field) => {
      const brand = brandFromRecord(record);
      const without = withField(brand, field, undefined);
      expect(hasData(fieldOf(without, field))).toBe(false);
      if (hasData(fieldOf(brand, field)))
        expect(dataOf(withField(without, field, fieldOf(brand, field)))).toEqual(dataOf(brand));
    }),
  );
});

test.each([
  ['rank', 2_000, 'rank must be 0 to 1000'],
  ['company.ceo', '', 'company.ceo is empty'],
  ['company.founders', [], 'company.founders is empty'],
  ['links.websites', ['acme'], 'links.websites[0] must be an http or https URL'],
  ['company.ceo', '\ud800', 'company.ceo holds half a character'],
])('%s of %j is a problem that names the field', (field, value, problem) => {
  expect(brandOfField(field, value)).toEqual({ problem: expect.stringContaining(problem) });
});
