import { flatRecordSchema, groupedRecordSchema } from '@brand-data/presenters';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { fieldsOf } from './schema-fields.ts';

describe.each([
  ['grouped', groupedRecordSchema as TSchema],
  ['flat', flatRecordSchema as TSchema],
])('each field of the %s record', (_, record) => {
  const fields = fieldsOf(record);

  test('has a meaning', () => {
    expect(fields.filter(({ schema }) => !schema.description).map(({ path }) => path)).toEqual([]);
    expect(fields.length).toBeGreaterThan(20);
  });

  test('that holds no other field has an example, which is valid', () => {
    const leaves = fields.filter(({ holdsFields }) => !holdsFields);
    const withoutExample = leaves.filter(({ schema }) => schema.examples === undefined);
    expect(withoutExample.map(({ path }) => path)).toEqual([]);
    const invalid = leaves.filter(({ schema }) =>
      schema.examples?.some((example) => !Value.Check(schema as TSchema, example)),
    );
    expect(invalid.map(({ path }) => path)).toEqual([]);
  });
});
