import { ListBrandsRequest } from '@brand-data/contracts';
import {
  haveDeltasOnly,
  readFinanceDatabase,
  readGleif,
  readIconify,
  readRecords,
  readSec,
  readSimpleIcons,
  readWikidata,
  sizeOf,
} from '@brand-data/importers';
import { UsageError } from '../../connection/failures.ts';
import { type Context, commandGroup } from '../../terminal/context.ts';
import { importCsvCommand } from './import-csv.ts';
import { importMarketDataCommand } from './import-market-data.ts';
import { importListCommand, importShowCommand, importUndoCommand } from './import-runs.ts';
import { MEMORY_OPTION, reportedRecords, sourceCommand } from './reported-import.ts';

export function importCommand(context: Context) {
  const description = 'Import records into the catalogue, and show or undo what imports have changed';
  return commandGroup(context, 'import', description, [
    importRecordsCommand,
    importCsvCommand,
    importSimpleIconsCommand,
    importIconifyCommand,
    importMarketDataCommand,
    importFinanceDatabaseCommand,
    importSecCommand,
    importGleifCommand,
    importWikidataCommand,
    importListCommand,
    importShowCommand,
    importUndoCommand,
  ]);
}

const WORK_OPTION = [
  '--work <folder>',
  'store several gigabytes of temporary files in this folder (default: the system folder for temporary files)',
] as const;

/** Matches the names of files that are tables. Records are not read from tables. */
const TABLE = /\.(?:csv|tsv)(?:\.gz|\.bz2)?$/i;

function importRecordsCommand(context: Context) {
  const description =
    'Import records in the record format (see bds schema) from .ndjson files, .json files and folders';
  return sourceCommand('records', description, 'records')
    .argument('<path...>', 'files and folders to read; files may be compressed')
    .action((paths, options) => {
      const table = paths.find((path) => TABLE.test(path));
      if (table !== undefined)
        throw new UsageError(
          `${table} is a table, not a file of records: bds import csv ${table} --source NAME --map column=field,…`,
        );
      return reportedRecords(context, options, ({ bytes }) =>
        readRecords(paths.map(context.pathOf), { progress: bytes }),
      );
    });
}

function importSimpleIconsCommand(context: Context) {
  const description = 'Import the brands and logos of the npm package simple-icons';
  return sourceCommand('simple-icons', description, 'simple-icons').action((options) =>
    reportedRecords(context, options, () => readSimpleIcons()),
  );
}

function importIconifyCommand(context: Context) {
  const description = "Import the companies and logos of Iconify's sets logos and cib";
  return sourceCommand('iconify', description, 'iconify').action((options) =>
    reportedRecords(context, options, () => readIconify()),
  );
}

function importFinanceDatabaseCommand(context: Context) {
  const description = 'Import the equities of FinanceDatabase from a folder of its CSV files';
  return sourceCommand('financedatabase', description, 'financedatabase')
    .argument('<folder>', 'the folder with one CSV file for each exchange')
    .option(...MEMORY_OPTION)
    .action((folder, options) =>
      reportedRecords(context, options, ({ bytes }) =>
        readFinanceDatabase(context.pathOf(folder), { memoryMib: options.memory, progress: bytes }),
      ),
    );
}

function importSecCommand(context: Context) {
  const description = 'Import the companies that file reports with the SEC, from its own files';
  return sourceCommand('sec', description, 'sec')
    .argument('<path...>', 'company_tickers_exchange.json, submissions.zip, files of it, or folders of these')
    .option('--unlisted', 'also take operating companies whose shares no exchange lists')
    .option(...MEMORY_OPTION)
    .action((paths, { unlisted, memory, ...options }) =>
      reportedRecords(context, options, ({ bytes, figures }) =>
        readSec(paths.map(context.pathOf), {
          unlisted,
          memoryMib: memory,
          progress: bytes,
          onFigures: (counted) => Object.assign(figures, counted),
        }),
      ),
    );
}

function importGleifCommand(context: Context) {
  const description = 'Import companies with their LEIs, parents and subsidiaries from the files of GLEIF';
  return sourceCommand('gleif', description, 'gleif')
    .argument('<file...>', 'entities, relationships and the map of ISINs; the files may be compressed')
    .option('--only-known', 'skip companies of which no other source has a record')
    .option(...WORK_OPTION)
    .action(async (files, { work, onlyKnown, ...options }) => {
      const paths = files.map(context.pathOf);
      if (options.prune && (await haveDeltasOnly(paths)))
        throw new UsageError(
          'the files have only entities that have changed: add a golden copy, or leave out --prune',
        );
      return reportedRecords(context, { ...options, onlyJoining: onlyKnown }, ({ bytes }, signal) =>
        readGleif(paths, {
          onlyJoining: onlyKnown ?? false,
          known: identifiersIn(context),
          ...(work !== undefined && { workDir: context.pathOf(work) }),
          progress: bytes,
          signal,
        }),
      );
    });
}

/** Yields the identifiers of the catalogue's companies. */
async function* identifiersIn({ catalog }: Context): AsyncGenerator<string> {
  const request = ListBrandsRequest.create();
  for await (const { brands } of catalog().readStream((client) => client.listBrands, request))
    for (const { identifiers } of brands) yield* identifiers;
}

function importWikidataCommand(context: Context) {
  const description = 'Import companies and brands from a JSON dump of Wikidata';
  return sourceCommand('wikidata', description, 'wikidata')
    .argument('<file>', 'the file to read; it may be compressed')
    .option(...WORK_OPTION)
    .action(async (file, options) => {
      const path = context.pathOf(file);
      const total = await sizeOf([path]);
      return reportedRecords(context, options, ({ bytes, figures }, signal) =>
        readWikidata(path, {
          ...(options.work !== undefined && { workDir: context.pathOf(options.work) }),
          progress: Object.assign(bytes, { total }),
          signal,
          onFigures: ({ unknownExchanges, ...dump }) =>
            Object.assign(figures, { dump, unknown_exchanges: unknownExchanges }),
        }),
      );
    });
}
