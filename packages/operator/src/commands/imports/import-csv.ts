import { readFile } from 'node:fs/promises';
import {
  FIELDS_HELP,
  proposeMapping,
  readConditions,
  readCsv,
  readMapping,
  readMappingFile,
  type TableLayout,
} from '@brand-data/importers';
import { UsageError } from '../../connection/failures.ts';
import { collected, wholeNumber } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { wrapped } from '../../text/tables.ts';
import { formOf, readDate, reportedRecords, tableCommand } from './reported-import.ts';

export function importCsvCommand(context: Context) {
  const description = 'Import records from a table: CSV, TSV or JSON';
  return tableCommand('csv', description)
    .option('--map <column=field,…>', 'fill a field from a column; repeatable', collected)
    .option(
      '--map-file <file>',
      'read the mapping from a file: a column=field on each line, or a JSON object',
    )
    .option(
      '--set <field=value,…>',
      'set a field in rows whose columns have no value for it; repeatable',
      collected,
    )
    .option('--skip <column=value>', 'skip the rows with this cell; repeatable', collected)
    .option(
      '--only <column=value>',
      'skip the rows without this cell; several cells of one column are alternatives; repeatable',
      collected,
    )
    .option('--separator <text>', 'split cells into the items of a list at this text', ';')
    .option(
      '--join <file:column=column>',
      'add the columns of a second table to the rows with the same value in these two columns',
    )
    .option(
      '--merge',
      'merge rows with the same id: the first row gives the facts, the others add their names and listings',
    )
    .option('--id-prefix <text>', 'put this text, such as cik-, before each id that a column gives', '')
    .option(
      '--rank <0-1000>',
      'use this rank (how well known a company is) for rows that have neither a rank nor a market value (default: 300)',
      readRank,
    )
    .option('--date <date>', 'state the date of the facts: YYYY, YYYY-MM or YYYY-MM-DD', readDate)
    .addHelpText('after', () => `\n${wrapped(FIELDS_HELP)}`)
    .action(async (file, options) => {
      const { source, map = [], mapFile, set = [], origin = source, url, licence, date, rank } = options;
      if (map.length === 0 && mapFile === undefined)
        throw await missingMapping(context.pathOf(file), source, file, options);
      const mapping = readMapping(map, set);
      const inFile =
        mapFile === undefined
          ? []
          : readMappingFile(await readFile(context.pathOf(mapFile), 'utf8'), mapFile);
      const securities: Record<string, number> = {};
      const form = {
        ...formOf(options),
        mapping: { ...mapping, columns: [...inFile, ...mapping.columns] },
        join: options.join === undefined ? undefined : joinOf(options.join, context.pathOf),
        merge: options.merge ?? false,
        skip: readConditions(options.skip ?? []),
        only: readConditions(options.only ?? []),
        separator: options.separator,
        idPrefix: options.idPrefix,
        rank,
        source,
        origin: { name: origin, ...(url && { url }), ...(licence && { licence }), ...(date && { date }) },
      };
      await reportedRecords(context, options, ({ bytes, figures }) => {
        figures.securities = securities;
        const onSecurities = (counts: object) => Object.assign(securities, counts);
        return readCsv(context.pathOf(file), { ...form, progress: bytes, onSecurities });
      });
    });
}

const readRank = wholeNumber('Write a whole number from 0 to 1000.', 0, 1_000);

function joinOf(text: string, pathOf: Context['pathOf']) {
  const [, file, column, otherColumn] = /^(.+):([^:=]+)=([^:=]+)$/.exec(text) ?? [];
  if (file === undefined || column === undefined || otherColumn === undefined)
    throw new UsageError(`"${text}" is not file:column=column, such as prices.csv:Symbol=symbol`);
  return { file: pathOf(file), column: column.trim(), otherColumn: otherColumn.trim() };
}

/** Returns the error for an import of a table without a mapping. It lists the columns and proposes a command line. */
async function missingMapping(
  file: string,
  source: string,
  shown: string,
  layout: TableLayout,
): Promise<UsageError> {
  const { columns, map, mic, date } = await proposeMapping(file, layout);
  const lines = [
    '--map or --map-file is missing: it says which column gives which field',
    `${shown} has the columns ${columns.join(', ')}`,
  ];
  const mapped = new Set(map.map(({ field }) => field));
  const sets: string[] = [];
  if (mapped.has('listings.ticker') && !mapped.has('listings.mic'))
    sets.push(`listings.mic=${mic ?? 'XNYS'}`);
  if (mapped.has('stock.price') && !mapped.has('stock.currency')) sets.push('stock.currency=USD');
  if (map.length > 0)
    lines.push(
      'Their names suggest this command. Check it before you run it:',
      '',
      [
        `  bds import csv ${quoted(shown)} --source ${source}`,
        ...map.map(({ column, field }) => `--map ${quoted(`${column}=${field}`)}`),
        ...sets.map((set) => `--set ${set}`),
        ...(layout.headingLine === undefined ? [] : [`--heading-line ${layout.headingLine}`]),
        ...(layout.encoding === undefined ? [] : [`--encoding ${layout.encoding}`]),
        ...(date === undefined ? [] : [`--date ${date}`]),
      ].join(' \\\n    '),
      '',
    );
  if (sets.length > 0) lines.push(`No column gives what --set gives here. Replace it if it is wrong.`);
  const unknown = columns.filter((column) => !map.some((each) => each.column === column));
  if (unknown.length > 0) lines.push(`These columns give no field: ${unknown.join(', ')}`);
  lines.push('bds import csv --help lists the fields');
  return new UsageError(lines.join('\n'));
}

/** Quotes a text for a shell: in single quotes, if it has other characters than letters, digits and a few signs. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
