import type { Brand } from '@brand-data/contracts';
import { brandOfField, SETTABLE_FIELDS } from '@brand-data/records';
import { isBlankCell } from '../formats/cells.ts';
import { type CellOptions, readCell } from '../formats/field-cells.ts';
import { parseJson } from '../formats/json-lines.ts';
import { micOfVenue, readListing, type TickerAtVenue } from '../formats/listing.ts';

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
  if (!SETTABLE_FIELDS.has(field))
    return {
      problem: `"${field}" is no field that can be set. Fields: ${[...SETTABLE_FIELDS.keys()].join(', ')}`,
    };
  if (field !== NEVER_EMPTY && (value === null || value === NO_VALUE)) return { field };
  if (value === undefined || value === null || value === '')
    return {
      problem: `${field} needs a value: bds unset ${field} goes back to the sources, and ${field}=${NO_VALUE} hides what they state`,
    };
  const read = typeof value === 'string' ? readText(field, value, options) : { value };
  if ('problem' in read) return read;
  const made = brandOfField(field, read.value);
  return 'problem' in made ? made : { field, value: made.brand };
}

/** A value in the form that records use, not yet checked against the schema. */
type ReadValue = { value: unknown } | { problem: string };

/** The fields that no text of a table's cell can give. */
const WITHOUT_TEXT = ['links.social_media', 'images.logo', 'images.stock_logo'];

/**
 * Reads a text that a person writes. The text has the form of a table's cell. Lists and groups may also be written as JSON. Listings
 * are written `XNAS:AAPL; XETR:APC`, the main listing first.
 */
function readText(field: string, text: string, options: CellOptions): ReadValue {
  const schema = Object(SETTABLE_FIELDS.get(field));
  const isComposite = 'items' in schema || 'properties' in schema;
  if (isComposite && /^\s*[[{]/.test(text)) return parseJson(text);
  if (isBlankCell(text)) return { problem: `"${text}" is no value` };
  if (field === 'listings') return readListings(text, options.separator);
  if (WITHOUT_TEXT.includes(field)) return { problem: `${field} has parts: write it as JSON` };
  return readCell(field, text, options);
}

function readListings(text: string, separator: string): ReadValue {
  const listings: TickerAtVenue[] = [];
  for (const item of text.split(separator)) {
    const [, venue, symbol = ''] = /^(?:([^:]*):)?([^:]*)$/.exec(item.trim()) ?? [];
    const mic = venue === undefined ? undefined : micOfVenue(venue);
    const listing =
      symbol === '' || (venue !== undefined && mic === undefined)
        ? undefined
        : readListing(symbol.trim(), mic);
    if (listing === undefined)
      return { problem: `"${item.trim().slice(0, 100)}" is no listing: write it as XNAS:AAPL` };
    listings.push(listing);
  }
  return { value: listings };
}
