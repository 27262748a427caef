import {
  type ImportOptions,
  importBrands,
  readFinanceDatabase,
  readRecords,
  readSimpleIcons,
  readWikidata,
  sizeOf,
} from '@brand-data/importers';
import { Command } from 'commander';
import { UsageError } from '../../connection/usage-error.ts';
import type { Context } from '../../terminal/context.ts';
import { addImportOfCsv } from './import-csv.ts';
import { addImportOfMarketData } from './import-market-data.ts';
import type { ImportFigures } from './import-report.ts';
import { type ReportedOptions, reportedImport } from './reported-import.ts';
import { MEMORY_OPTION, type MemoryOption, noBytes, portsOf, sourceCommand } from './source-command.ts';

export function importCommand(context: Context): Command {
  const command = new Command('import').description(
    'Import records into the catalogue; repeating an import changes nothing',
  );
  addImportOfRecords(command, context);
  addImportOfCsv(command, context);
  addImportOfSimpleIcons(command, context);
  addImportOfMarketData(command, context);
  addImportOfFinanceDatabase(command, context);
  addImportOfWikidata(command, context);
  return command;
}

/** Matches the names of files that are tables. Records are not read from tables. */
const TABLE = /\.(?:csv|tsv)(?:\.gz|\.bz2)?$/i;

function addImportOfRecords(parent: Command, context: Context): void {
  sourceCommand(
    parent,
    'records',
    'records',
    'Import records in the record format (see bds schema) from .ndjson files, .json files and folders',
  )
    .argument('<path...>', 'files and folders to read; files may be compressed')
    .action((paths: string[], options: ReportedOptions) => {
      const table = paths.find((path) => TABLE.test(path));
      if (table !== undefined)
        throw new UsageError(
          `${table} is a table, not a file of records: bds import csv ${table} --source NAME --map column=field,…`,
        );
      const bytes = noBytes();
      const brands = readRecords(paths.map(context.pathOf), { progress: bytes });
      return reportedImport(context, options, bytes, (run) => importBrands(portsOf(context), brands, run));
    });
}

function addImportOfSimpleIcons(parent: Command, context: Context): void {
  sourceCommand(
    parent,
    'simple-icons',
    'simple-icons',
    'Import the brands and logos of the npm package simple-icons',
  ).action((options: ReportedOptions) =>
    reportedImport(context, options, noBytes(), (run) =>
      importBrands(portsOf(context), readSimpleIcons(), run),
    ),
  );
}

function addImportOfFinanceDatabase(parent: Command, context: Context): void {
  sourceCommand(
    parent,
    'financedatabase',
    'financedatabase',
    'Import the equities of FinanceDatabase from a folder of its CSV files',
  )
    .argument('<folder>', 'the folder with one CSV file for each exchange')
    .option(...MEMORY_OPTION)
    .addHelpText(
      'after',
      '\nThe --conflicts file also lists listings of FinanceDatabase whose identifiers contradict each other.',
    )
    .action((folder: string, options: ReportedOptions & MemoryOption) => {
      const figures: ImportFigures = {};
      const run = (put: ImportOptions) => {
        const brands = readFinanceDatabase(context.pathOf(folder), {
          memoryMib: options.memory,
          onConflict: (conflict) => put.journal.noteOwnConflict(conflict),
          onJoined({ rows, companies, skipped, merges, conflicts }) {
            Object.assign(figures, {
              listings: { rows, skipped, companies },
              merges,
              conflicts_within: conflicts,
            });
          },
        });
        return importBrands(portsOf(context), brands, put);
      };
      return reportedImport(context, options, noBytes(), run, () => figures);
    });
}

function addImportOfWikidata(parent: Command, context: Context): void {
  sourceCommand(parent, 'wikidata', 'wikidata', 'Import companies and brands from a JSON dump of Wikidata')
    .argument('<file>', 'the file to read; it may be compressed')
    .option(
      '--work <folder>',
      'store several gigabytes of temporary files in this folder (default: the system folder for temporary files)',
    )
    .action((file: string, options: ReportedOptions & { work?: string }) => {
      const figures: ImportFigures = {};
      const bytes = noBytes();
      const run = async (put: ImportOptions) => {
        bytes.total = await sizeOf([context.pathOf(file)]);
        const brands = readWikidata(context.pathOf(file), {
          ...(options.work === undefined ? {} : { workDir: context.pathOf(options.work) }),
          progress: bytes,
          signal: put.signal,
          onFigures({ unknownExchanges, ...dump }) {
            Object.assign(figures, { dump, unknown_exchanges: unknownExchanges });
          },
        });
        return importBrands(portsOf(context), brands, put);
      };
      return reportedImport(context, options, bytes, run, () => figures);
    });
}
