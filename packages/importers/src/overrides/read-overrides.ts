import type { Brand } from '@brand-data/contracts';
import { brandOfField, SETTABLE_FIELDS } from '@brand-data/records';
import { type CellOptions, readCell } from '../formats/cells.ts';
import { type JsonValue, parseJson, readJsonLines } from '../formats/json.ts';
import { readEach } from '../formats/lines.ts';
import { readListing, readVenue, type TickerAtVenue } from '../formats/listing.ts';
import { openTable } from '../formats/table.ts';
import { isBlankName } from '../formats/texts.ts';
import { OptionError, type Unreadable } from '../framework/source-items.ts';

/** The operator's decision that a field has no value, whatever the sources state. */
export const NO_VALUE = 'none';
/** A record always has a name, so here `none` is a text like any other. */
const NEVER_EMPTY = 'name';

/** One field that the operator sets. Without `value`, the field has no value, whatever the sources state. */
interface FieldValue {
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

const WITHOUT_TEXT = ['links.social_media', 'images.logo', 'images.stock_logo'];

/**
 * Reads a text that a person writes. The text has the form of a table's cell. Lists and groups may also be written as JSON. Listings
 * are written `XNAS:AAPL; XETR:APC`, the main listing first.
 */
function readText(field: string, text: string, options: CellOptions): ReadValue {
  const schema = Object(SETTABLE_FIELDS.get(field));
  const isComposite = 'items' in schema || 'properties' in schema;
  if (isComposite && /^\s*[[{]/.test(text)) return parseJson(text);
  if (isBlankName(text)) return { problem: `"${text}" is no value` };
  if (field === 'listings') return readListings(text, options.separator);
  if (WITHOUT_TEXT.includes(field)) return { problem: `${field} has parts: write it as JSON` };
  return readCell(field, text, options);
}

function readListings(text: string, separator: string): ReadValue {
  const listings: TickerAtVenue[] = [];
  for (const item of text.split(separator)) {
    const [, venue, symbol = ''] = /^(?:([^:]*):)?([^:]*)$/.exec(item.trim()) ?? [];
    const mic = venue && readVenue(venue);
    if (typeof mic === 'object') return mic;
    const isReadable = symbol !== '' && (venue === undefined || mic);
    const listing = isReadable ? readListing(symbol.trim(), mic) : undefined;
    if (listing === undefined)
      return { problem: `"${item.trim().slice(0, 100)}" is no listing: write it as XNAS:AAPL` };
    listings.push(listing);
  }
  return { value: listings };
}

const TABLE = /\.(csv|tsv)(\.gz|\.bz2)?$/i;
const NEEDED_COLUMNS = ['id', 'field', 'value', 'reason'];
/** All lines are kept in memory, because all are checked before the first is written. */
const MAX_LINES = 100_000;
const MAX_CHARACTERS = 32 * 1024 * 1024;

/** One field of one record to set, with its place in a file or on the command line. */
export interface Setting extends FieldValue {
  from: string;
  raw?: string | undefined;
  id: string;
  by: string;
  reason: string;
}

export interface OverrideFileOptions extends CellOptions {
  /** Who sets the fields and why, for lines that do not say it. An empty `by` is the operator whose credential is used. */
  by: string;
  reason: string | undefined;
}

/**
 * Returns the lines of a file that sets fields: a table with the columns id, field, value, reason and perhaps by, or else one
 * JSON object a line with these fields. Throws an OptionError if the file is too long, or if the table lacks a column.
 */
export async function readOverrideFile(
  file: string,
  options: OverrideFileOptions,
): Promise<(Setting | Unreadable)[]> {
  const settings: (Setting | Unreadable)[] = [];
  const places = new Map<string, string>();
  let characters = 0;
  for await (const line of TABLE.test(file) ? tableLines(file, options) : readJsonLines(file)) {
    if (settings.length === MAX_LINES)
      throw new OptionError(`${file} has more than ${MAX_LINES} lines: divide it`);
    characters += line.raw?.length ?? 0;
    if (characters > MAX_CHARACTERS)
      throw new OptionError(`${file} has more than ${MAX_CHARACTERS} characters: divide it`);
    const setting = 'problem' in line ? line : settingOf(line, options);
    const key = 'problem' in setting ? undefined : `${setting.id} ${setting.field}`;
    const before = key === undefined ? undefined : places.get(key);
    if (before !== undefined) {
      const problem = `the same field of the same record is set at ${before}: leave one of the two out`;
      settings.push({ from: line.from, problem, raw: line.raw });
      continue;
    }
    if (key !== undefined) places.set(key, line.from);
    settings.push(setting);
  }
  return settings;
}

async function* tableLines(
  file: string,
  { reason }: OverrideFileOptions,
): AsyncGenerator<JsonValue | Unreadable> {
  await using table = await openTable(file);
  const needed = NEEDED_COLUMNS.filter((column) => column !== 'reason' || reason === undefined);
  const missing = needed.find((column) => !table.columns.includes(column));
  if (missing !== undefined)
    throw new OptionError(`${file} has no column "${missing}": it has ${table.columns.join(', ')}`);
  yield* readEach(table.rows, ({ from, raw, cells }) => ({
    from,
    raw,
    value: Object.fromEntries(
      [...cells].filter(([column, cell]) => column === 'value' || cell.trim() !== ''),
    ),
  }));
}

function settingOf({ from, raw, value }: JsonValue, options: OverrideFileOptions): Setting | Unreadable {
  const refused = (problem: string) => ({ from, problem, raw });
  const line = Object(value) as Record<string, unknown>;
  const { id, field, by = options.by, reason = options.reason } = line;
  for (const [name, text] of Object.entries({ id, field, reason }))
    if (typeof text !== 'string' || text.trim() === '') return refused(`${name} is missing`);
  if (typeof by !== 'string') return refused('by is no text');
  const read = readFieldValue(String(field), line.value, options);
  if ('problem' in read) return refused(read.problem);
  return { from, raw, id: String(id), by, reason: String(reason), ...read };
}
