import { BrandType, ListBrandsRequest, type ListedBrand } from '@brand-data/contracts';
import { OPERATOR, SETTABLE_FIELDS } from '@brand-data/records';
import { Fault } from '@brand-data/runtime';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { Connection } from '../../connection/connection.ts';
import { readCount, readTime } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { type Columns, csvLines, listTable, rowsOf, time } from '../../text/tables.ts';
import { valueNamed, wordOf } from '../../text/words.ts';

/** Counting reads the whole catalogue. */
export const STATISTICS_MS = 60_000;
const IDENTIFIERS_SHOWN = 3;
const TYPES = ['stock', 'brand', 'superinvestor'];

export function catalogueListCommand({ catalog, output }: Context) {
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
    .option(
      '--changed-since <time>',
      'only records that have changed since: YYYY-MM-DD (00:00 UTC) or YYYY-MM-DDTHH:MM:SSZ',
      readTime,
    )
    .option('--limit <count>', 'list at most this many records (default: 100; with --csv: all)', readCount)
    .option('--after <id>', 'begin after the record with this id')
    .option('--csv', 'print CSV, one line for each record')
    .action(
      async ({ type, source = '', search = '', lacks = [], changedSince, csv, after = '', ...options }) => {
        const limit = options.limit ?? (csv ? Number.POSITIVE_INFINITY : 100);
        const filters = ListBrandsRequest.fromPartial({
          ...{ source, text: search, fields: lacks, lacking: lacks, after },
          type: valueNamed(BrandType, type) ?? BrandType.UNSPECIFIED,
          changedSinceMs: changedSince ?? 0,
        });
        const listed: ListedBrand[] = [];
        let count = 0;
        let next: string | null = null;
        if (csv) await output.stream(`${csvLines([Object.keys(CSV)])}\n`);
        for await (const { brands } of catalog().readStream((client) => client.listBrands, filters)) {
          const shown = brands.slice(0, limit - count);
          count += shown.length;
          if (csv && shown.length > 0) await output.stream(`${csvLines(rowsOf(CSV, shown))}\n`);
          else listed.push(...shown);
          if (count < limit) continue;
          next = shown.at(-1)?.id ?? null;
          break;
        }
        if (count === 0 && after === '') await requireSource(catalog(), source);
        if (csv) return;
        const more = next ? `\nThere may be further records: raise --limit, or add --after ${next}.` : '';
        output.answer(
          { records: listed.map(listedToJson), next },
          () => `${listTable(TABLE, listed, 'There is no such record.')}${more}`,
        );
      },
    );
}

/** Rejects with a Fault unless the source is known. A typo must not look like a source without such records. */
async function requireSource(catalog: ReturnType<Connection['catalog']>, source: string): Promise<void> {
  if (source === '' || source === OPERATOR) return;
  const { sources } = await catalog.call((client) => client.getStatistics, {}, STATISTICS_MS);
  if (!sources.some((known) => known.source === source))
    throw new Fault(
      'not_found',
      `there is no source ${JSON.stringify(source)}: bds catalogue stats shows all`,
    );
}

const CSV: Columns<ListedBrand> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  type: ({ type }) => wordOf(BrandType, type),
  rank: ({ rank }) => rank,
  identifiers: ({ identifiers }) => identifiers.join(' '),
  sources: ({ sources }) => sources.join(' '),
  changed_at: ({ changedAtMs }) => time(changedAtMs || undefined),
};

const TABLE: Columns<ListedBrand> = {
  ID: ({ id }) => id,
  NAME: ({ name }) => name,
  TYPE: ({ type }) => wordOf(BrandType, type),
  IDENTIFIERS: ({ identifiers }) => {
    const more = identifiers.length - IDENTIFIERS_SHOWN;
    const shown = identifiers.slice(0, IDENTIFIERS_SHOWN).join(' ');
    return more > 0 ? `${shown} and ${more} more` : shown;
  },
  SOURCES: ({ sources }) => sources.join(', '),
  CHANGED: ({ changedAtMs }) => time(changedAtMs || undefined) ?? 'not known',
};

function listedToJson({ changedAtMs, type, id, name, rank, identifiers, sources }: ListedBrand) {
  const changed_at = time(changedAtMs || undefined) ?? null;
  return { id, name, type: wordOf(BrandType, type), rank, identifiers, sources, changed_at };
}

/** Reads fields of records, separated by commas. */
export function readFields(value: string, before: string[] = []): string[] {
  const fields = value.split(',').map((field) => field.trim());
  const unknown = fields.find((field) => !SETTABLE_FIELDS.has(field));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`"${unknown}" is no field of a record: bds set --help lists them.`);
  return [...new Set([...before, ...fields])];
}
