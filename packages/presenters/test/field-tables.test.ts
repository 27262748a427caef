import { readFileSync } from 'node:fs';
import { flatRecordSchema, groupedRecordSchema } from '@brand-data/presenters';
import { expect, test } from 'vitest';
import type { FieldSchema } from './schema-fields.ts';

const page = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

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

/** Returns a row for each field, followed by rows for the fields of its object: "headquarters.city". */
function rowsOf({ properties = {} }: FieldSchema, within = ''): string[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const row = `| \`${within}${name}\` | ${typeOf(schema)} | ${schema.description ?? ''} |`;
    const objects = [schema, ...(schema.anyOf ?? [])].map((each) => each.items ?? each);
    return [row, ...objects.flatMap((each) => rowsOf(each, `${within}${name}.`))];
  });
}

/** Removes the formatting of a table. */
const spaced = (text: string) => text.replaceAll(/ +/g, ' ');

const records = (groupedRecordSchema as FieldSchema).anyOf ?? [];
test.each([...records, flatRecordSchema as FieldSchema])(
  'the page names each field of the record "$title" with its type and its meaning',
  (schema) => {
    const shown = new Set(spaced(page).split('\n'));
    expect(rowsOf(schema).filter((row) => !shown.has(spaced(row)))).toEqual([]);
  },
);
