import type { CellOptions } from '../formats/field-cells.ts';
import { type JsonValue, readJsonLines } from '../formats/json-lines.ts';
import { openTable } from '../formats/table.ts';
import { OptionError, readEach, type Unreadable } from '../framework/source-items.ts';
import { type FieldValue, readFieldValue } from './override-values.ts';

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
  /** Who sets the fields of lines that do not say it. */
  by: string;
  /** Why, for lines that do not say it. */
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
  for (const [name, text] of Object.entries({ id, field, by, reason }))
    if (typeof text !== 'string' || text.trim() === '') return refused(`${name} is missing`);
  const read = readFieldValue(String(field), line.value, options);
  if ('problem' in read) return refused(read.problem);
  return { from, raw, id: String(id), by: String(by), reason: String(reason), ...read };
}
