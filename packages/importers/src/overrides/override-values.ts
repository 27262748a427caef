import type { Brand } from '@brand-data/contracts';
import { brandOfField, SETTABLE_FIELDS } from '@brand-data/records';
import { readFieldText } from '../formats/field-values.ts';
import type { CellOptions } from '../sources/csv/mapping.ts';

/** The operator's decision that a field has no value, whatever the sources state. */
export const NO_VALUE = 'none';
/** A record always has a name, so here `none` is a text like any other. */
const NEVER_EMPTY = 'name';

/** One field that the operator sets. Without `value`, the field has no value, whatever the sources state. */
export interface FieldValue {
  field: string;
  value?: Brand;
}

/**
 * Reads a field and its value. A text is read as a cell of a table, and `none` or null means that the field has no value. Any
 * other JSON value is taken as it is in records.
 */
export function readFieldValue(
  field: string,
  value: unknown,
  options: CellOptions,
): FieldValue | { problem: string } {
  if (!SETTABLE_FIELDS.has(field)) return { problem: unknownField(field) };
  if (field !== NEVER_EMPTY && (value === null || value === NO_VALUE)) return { field };
  if (value === undefined || value === null || value === '')
    return {
      problem: `${field} needs a value: bds unset ${field} goes back to the sources, and ${field}=${NO_VALUE} hides what they state`,
    };
  const read = typeof value === 'string' ? readFieldText(field, value, options) : { value };
  if ('problem' in read) return read;
  const made = brandOfField(field, read.value);
  return 'problem' in made ? made : { field, value: made.brand };
}

function unknownField(field: string): string {
  return `"${field}" is no field that can be set. Fields: ${[...SETTABLE_FIELDS.keys()].join(', ')}`;
}
