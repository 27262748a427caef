import { readFileSync } from 'node:fs';
import { flatRecordSchema, groupedRecordSchema } from '@brand-data/presenters';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { describe, expect, test } from 'vitest';
import { type FieldSchema, fieldsOf } from './walk.ts';

describe.each([
  ['grouped', groupedRecordSchema as FieldSchema],
  ['flat', flatRecordSchema as FieldSchema],
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

/** Returns the type as the page writes it: "string", "string[]", "object". null is omitted. */
function typeOf({ type, items, anyOf, const: only }: FieldSchema): string {
  if (only !== undefined) return `"${only}"`;
  if (anyOf)
    return anyOf
      .filter((each) => each.type !== 'null')
      .map(typeOf)
      .join(' or ');
  return type === 'array' && items ? `${typeOf(items)}[]` : (type ?? 'string');
}

/** Removes the formatting of a table. */
const spaced = (text: string) => text.replaceAll(/ +/g, ' ');

const records = (groupedRecordSchema as FieldSchema).anyOf ?? [];
test.each([...records, flatRecordSchema as FieldSchema])(
  'the page names each field of the record "$title" with its type and its meaning',
  (record) => {
    const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const shown = new Set(spaced(page).split('\n'));
    const rows = fieldsOf(record).map(
      ({ path, schema }) => `| \`${path}\` | ${typeOf(schema)} | ${schema.description ?? ''} |`,
    );
    expect(rows.filter((row) => !shown.has(spaced(row)))).toEqual([]);
  },
);
