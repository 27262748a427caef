import type { ListedBrand } from '@brand-data/contracts';
import { SETTABLE_FIELDS } from '@brand-data/records';
import { Command, InvalidArgumentError, Option } from 'commander';
import { readCount } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { csvLines } from '../../text/csv.ts';
import { type Columns, listTable, rowsOf, time } from '../../text/tables.ts';
import { brandPages, brandTypeOf, TYPES, typeName } from './listed-brands.ts';

const IDENTIFIERS_SHOWN = 3;

interface ListOptions {
  type?: (typeof TYPES)[number];
  source?: string;
  search?: string;
  lacks?: string[];
  limit?: number;
  after?: string;
  csv?: boolean;
}

export function catalogueListCommand({ catalog, output }: Context): Command {
  return new Command('list')
    .description('List records with their type, identifiers and sources, and when they last changed')
    .addOption(new Option('--type <type>', 'only records of this type').choices(TYPES))
    .option('--source <source>', 'only records that this source has ("operator": that bds set has changed)')
    .option('--search <text>', 'only records whose id or name contains this text')
    .option(
      '--lacks <field,…>',
      'only records that lack one of these fields, such as images.logo; bds set --help lists the fields',
      readFields,
    )
    .option('--limit <count>', 'list at most this many records (default: 100; with --csv: all)', readCount)
    .option('--after <id>', 'begin after the record with this id')
    .option('--csv', 'print CSV, one line for each record')
    .action(
      async ({ type, source = '', search = '', lacks = [], csv: asCsv = false, ...page }: ListOptions) => {
        const limit = page.limit ?? (asCsv ? Number.POSITIVE_INFINITY : 100);
        const filters = {
          source,
          text: search,
          fields: lacks,
          lacking: lacks,
          after: page.after ?? '',
          ...(type && { type: brandTypeOf(type) }),
        };
        const listed: ListedBrand[] = [];
        let count = 0;
        let next: string | null = null;
        if (asCsv) await output.stream(`${csvLines([Object.keys(CSV)])}\n`);
        for await (const brands of brandPages(catalog(), filters)) {
          const shown = brands.slice(0, limit - count);
          count += shown.length;
          if (asCsv && shown.length > 0) await output.stream(`${csvLines(rowsOf(CSV, shown))}\n`);
          else listed.push(...shown);
          if (count < limit) continue;
          next = shown.at(-1)?.id ?? null;
          break;
        }
        if (asCsv) return;
        const more = next && `\nThere may be further records: raise --limit, or add --after ${next}.`;
        output.answer({ records: listed.map(listedToJson), next }, () =>
          listed.length === 0 ? 'There is no such record.' : `${listTable(TABLE, listed)}${more ?? ''}`,
        );
      },
    );
}

const CSV: Columns<ListedBrand> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  type: ({ type }) => typeName(type),
  rank: ({ rank }) => rank,
  identifiers: ({ identifiers }) => identifiers.join(' '),
  sources: ({ sources }) => sources.join(' '),
  changed_at: ({ changedAtMs }) => time(changedAtMs || undefined),
};

const TABLE: Columns<ListedBrand> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => name,
  TYPE: ({ type }) => typeName(type),
  IDENTIFIERS: ({ identifiers }) => {
    const more = identifiers.length - IDENTIFIERS_SHOWN;
    const shown = identifiers.slice(0, IDENTIFIERS_SHOWN).join(' ');
    return more > 0 ? `${shown} and ${more} more` : shown;
  },
  SOURCES: ({ sources }) => sources.join(', '),
  CHANGED: ({ changedAtMs }) => time(changedAtMs || undefined) ?? 'not known',
};

function listedToJson({ id, name, type, rank, identifiers, sources, changedAtMs }: ListedBrand) {
  return {
    id,
    name,
    type: typeName(type),
    rank,
    identifiers,
    sources,
    changed_at: time(changedAtMs || undefined) ?? null,
  };
}

/** Reads fields of records, separated by commas. */
export function readFields(value: string, before: string[] = []): string[] {
  const fields = value.split(',').map((field) => field.trim());
  const unknown = fields.find((field) => !SETTABLE_FIELDS.has(field));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`"${unknown}" is no field of a record: bds set --help lists them.`);
  return [...new Set([...before, ...fields])];
}
