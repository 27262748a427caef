import { SETTABLE_FIELDS } from '@brand-data/records';
import { type CellOptions, readCell } from '../sources/csv/mapping.ts';
import { isBlank } from './cells.ts';
import { parseJson } from './json-lines.ts';
import { micOfVenue, readListing, type TickerAtVenue } from './listing.ts';

/** A value in the form that records use, not yet checked against the schema. */
type ReadValue = { value: unknown } | { problem: string };

/**
 * Reads the value of one field of a record from a text that a person writes. The text has the form of a table's cell. Lists and
 * groups may also be written as JSON. Listings are written `XNAS:AAPL; XETR:APC`, the main listing first.
 *
 * @param field one of SETTABLE_FIELDS
 */
export function readFieldText(field: string, text: string, options: CellOptions): ReadValue {
  if (isComposite(field) && /^\s*[[{]/.test(text)) return parseJson(text);
  if (isBlank(text)) return { problem: `"${text}" is no value` };
  if (field === 'listings') return readListings(text, options.separator);
  if (hasNoText(field)) return { problem: `${field} has parts: write it as JSON` };
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

/** Whether the field holds a list or a group. */
function isComposite(field: string): boolean {
  const schema = Object(SETTABLE_FIELDS.get(field));
  return 'items' in schema || 'properties' in schema;
}

/** Whether no text of a table's cell can give the field. */
function hasNoText(field: string): boolean {
  return field === 'links.social_media' || field === 'images.logo' || field === 'images.stock_logo';
}
