import { readFile } from 'node:fs/promises';
import { FIELDS_HELP, importBrands, readCsv, readMapping, readMappingFile } from '@brand-data/importers';
import { type Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../../connection/usage-error.ts';
import { collected } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { wrapped } from '../../text/tables.ts';
import { missingMapping } from './propose-mapping.ts';
import { type ReportedOptions, reportedImport } from './reported-import.ts';
import {
  MEMORY_OPTION,
  type MemoryOption,
  noBytes,
  portsOf,
  readDate,
  type StatedOptions,
  sourceCommand,
} from './source-command.ts';

interface CsvOptions extends ReportedOptions, MemoryOption, StatedOptions {
  map?: string[];
  mapFile?: string;
  set?: string[];
  separator: string;
  decimalComma?: boolean;
  join?: string;
  merge?: boolean;
  idPrefix: string;
  rank?: number;
}

export function addImportOfCsv(parent: Command, context: Context): void {
  sourceCommand(
    parent,
    'csv',
    undefined,
    'Import records from a CSV or TSV file whose first line names its columns',
  )
    .argument('<file>', 'the file to read; it may be compressed')
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
    .option('--separator <text>', 'split cells into the items of a list at this text', ';')
    .option('--decimal-comma', 'read numbers with a decimal comma, such as 1.234,5')
    .option(
      '--join <file:column=column>',
      'add the columns of a second table to the rows with the same value in these two columns',
    )
    .option(
      '--merge',
      'merge rows with the same id: the first row gives the facts, the others add their names and listings',
    )
    .option(...MEMORY_OPTION)
    .option('--id-prefix <text>', 'put this text, such as cik-, before each id that a column gives', '')
    .option(
      '--rank <0-1000>',
      'use this rank (how well known a company is) for rows that have neither a rank nor a market value (default: 300)',
      readRank,
    )
    .option('--origin <name>', 'state that the facts come from here (default: the name of the source)')
    .option('--url <url>', 'state the URL of the origin')
    .option('--licence <text>', 'state the licence of the origin')
    .option('--date <date>', 'state the date of the facts: YYYY, YYYY-MM or YYYY-MM-DD', readDate)
    .addHelpText('after', () => `\n${wrapped(FIELDS_HELP)}`)
    .action(async (file: string, options: CsvOptions) => {
      const { source, map = [], mapFile, set = [], origin = source, url, licence, date, rank } = options;
      if (map.length === 0 && mapFile === undefined)
        throw await missingMapping(context.pathOf(file), { source, shown: file });
      const mapping = readMapping(map, set);
      const inFile =
        mapFile === undefined
          ? []
          : readMappingFile(await readFile(context.pathOf(mapFile), 'utf8'), mapFile);
      const bytes = noBytes();
      const securities: Record<string, number> = {};
      const brands = readCsv(context.pathOf(file), {
        mapping: { ...mapping, columns: [...inFile, ...mapping.columns] },
        join: options.join === undefined ? undefined : joinOf(options.join, context.pathOf),
        merge: options.merge ?? false,
        separator: options.separator,
        decimalComma: options.decimalComma ?? false,
        idPrefix: options.idPrefix,
        memoryMib: options.memory,
        rank,
        source,
        origin: { name: origin, ...(url && { url }), ...(licence && { licence }), ...(date && { date }) },
        progress: bytes,
        onSecurities: (counts) => Object.assign(securities, counts),
      });
      await reportedImport(
        context,
        options,
        bytes,
        (run) => importBrands(portsOf(context), brands, run),
        () => ({ securities }),
      );
    });
}

function readRank(value: string): number {
  if (!/^\d{1,4}$/.test(value) || Number(value) > 1_000)
    throw new InvalidArgumentError('Write a whole number from 0 to 1000.');
  return Number(value);
}

function joinOf(text: string, pathOf: Context['pathOf']) {
  const [, file, column, otherColumn] = /^(.+):([^:=]+)=([^:=]+)$/.exec(text) ?? [];
  if (file === undefined || column === undefined || otherColumn === undefined)
    throw new UsageError(`"${text}" is not file:column=column, such as prices.csv:Symbol=symbol`);
  return { file: pathOf(file), column: column.trim(), otherColumn: otherColumn.trim() };
}
