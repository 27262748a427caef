import { readFile } from 'node:fs/promises';
import { getHeapStatistics } from 'node:v8';
import { Source } from '@brand-data/contracts';
import {
  type BytesRead,
  DEFAULT_MEMORY_MIB,
  FIELDS_HELP,
  type ImportOptions,
  importBrands,
  importQuotes,
  MARKET_DATA_FIELDS,
  micOfVenue,
  readCsv,
  readCurrency,
  readFinanceDatabase,
  readMapping,
  readMappingFile,
  readMarketData,
  readRates,
  readRecords,
  readSimpleIcons,
  readWikidata,
  sizeOf,
} from '@brand-data/importers';
import { problemOfSource } from '@brand-data/records';
import { Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../../connection/connection.ts';
import type { Context } from '../../terminal/context.ts';
import { missingMapping } from './propose-mapping.ts';
import { type ReportedOptions, reportedImport } from './reported-import.ts';

export function importCommand(context: Context): Command {
  const { connect, pathOf } = context;
  const command = new Command('import').description(
    'Import records into the catalogue; repeating an import changes nothing',
  );
  const ports = () => ({ catalog: connect().catalog(), images: () => connect().images() });

  /** A command for one kind of source, with the options that all imports have. */
  const sourceCommand = (name: string, source: string | undefined, description: string) => {
    const added = command.command(name).description(description);
    const about = 'give the source this name; a later import of the same source replaces its records';
    if (source === undefined) added.requiredOption('--source <name>', about, readSource);
    else added.option('--source <name>', about, readSource, source);
    return added
      .option('--dry-run', 'report what would change, without changing the catalogue')
      .option(
        '--prune',
        'remove records that earlier imports of this source brought and this import lacks; not if any record is refused',
      )
      .option(
        '--rejects <file>',
        'write refused and skipped lines to this file (default: <source>.rejects.ndjson)',
      )
      .option(
        '--conflicts <file>',
        'write conflicts between identifiers to this file (default: <source>.conflicts.ndjson)',
      );
  };

  sourceCommand(
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
      const brands = readRecords(paths.map(pathOf), { progress: bytes });
      return reportedImport(context, options, bytes, (run) => importBrands(ports(), brands, run));
    });

  sourceCommand('csv', undefined, 'Import records from a CSV or TSV file whose first line names its columns')
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
        throw await missingMapping(pathOf(file), { source, shown: file });
      const mapping = readMapping(map, set);
      const inFile =
        mapFile === undefined ? [] : readMappingFile(await readFile(pathOf(mapFile), 'utf8'), mapFile);
      const bytes = noBytes();
      const securities: Record<string, number> = {};
      const brands = readCsv(pathOf(file), {
        mapping: { ...mapping, columns: [...inFile, ...mapping.columns] },
        join: options.join === undefined ? undefined : joinOf(options.join, pathOf),
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
        (run) => importBrands(ports(), brands, run),
        () => ({ securities }),
      );
    });

  sourceCommand(
    'simple-icons',
    'simple-icons',
    'Import the brands and logos of the npm package simple-icons',
  ).action((options: ReportedOptions) =>
    reportedImport(context, options, noBytes(), (run) => importBrands(ports(), readSimpleIcons(), run)),
  );

  sourceCommand(
    'market-data',
    'market-data',
    'Import prices and market values of listed companies from a .csv or .ndjson file',
  )
    .argument('<file>', 'the file to read; it may be compressed')
    .option('--map <column=field,…>', 'fill a field from a column with another name; repeatable', collected)
    .option(
      '--rates <file>',
      'read exchange rates from a table with the columns currency and usd (the value of one unit in US dollars)',
    )
    .option(
      '--usd <EUR=1.08,…>',
      'give the value of one unit in US dollars; overrides --rates; repeatable',
      collected,
    )
    .option('--decimal-comma', 'read numbers with a decimal comma, such as 1.234,5')
    .option(...MEMORY_OPTION)
    .option('--currency <code>', 'use this currency (ISO 4217) for rows without a currency', readCurrencyCode)
    .option('--exchange <mic>', 'use this exchange (ISO 10383) for rows without an exchange', readVenue)
    .option('--origin <name>', 'state that the figures come from here (default: the name of the source)')
    .option('--url <url>', 'state the URL of the origin')
    .option('--licence <text>', 'state the licence of the origin')
    .option('--date <date>', 'use this date (YYYY-MM-DD) for rows without a date', readDate)
    .addHelpText('after', `\n${wrapped(`Fields: ${MARKET_DATA_FIELDS.join(', ')}.`)}`)
    .action(async (file: string, options: MarketDataOptions) => {
      const { source, origin = source, url = '', licence = '', date = '' } = options;
      const bytes = noBytes();
      const missingRates = new Map<string, number>();
      const quotes = readMarketData(pathOf(file), {
        map: options.map ?? [],
        rates: await readRates(
          options.usd ?? [],
          options.rates === undefined ? undefined : pathOf(options.rates),
        ),
        decimalComma: options.decimalComma ?? false,
        currency: options.currency,
        memoryMib: options.memory,
        exchange: options.exchange,
        source: Source.fromPartial({ name: origin, url, licence, date, fields: ['stock'] }),
        progress: bytes,
        onMissingRate: (currency) => missingRates.set(currency, (missingRates.get(currency) ?? 0) + 1),
      });
      await reportedImport(
        context,
        options,
        bytes,
        (run) => importQuotes(connect().catalog(), quotes, run),
        () => ({
          missing_rates: Object.fromEntries(missingRates),
        }),
      );
    });

  sourceCommand(
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
      const figures: Record<string, Record<string, number>> = {};
      const run = (put: ImportOptions) => {
        const brands = readFinanceDatabase(pathOf(folder), {
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
        return importBrands(ports(), brands, put);
      };
      return reportedImport(context, options, noBytes(), run, () => figures);
    });

  sourceCommand('wikidata', 'wikidata', 'Import companies and brands from a JSON dump of Wikidata')
    .argument('<file>', 'the file to read; it may be compressed')
    .option(
      '--work <folder>',
      'store several gigabytes of temporary files in this folder (default: the system folder for temporary files)',
    )
    .action((file: string, options: ReportedOptions & { work?: string }) => {
      const figures: Record<string, Record<string, number>> = {};
      const bytes = noBytes();
      const run = async (put: ImportOptions) => {
        bytes.total = await sizeOf([pathOf(file)]);
        const brands = readWikidata(pathOf(file), {
          ...(options.work === undefined ? {} : { workDir: pathOf(options.work) }),
          progress: bytes,
          signal: put.signal,
          onFigures({ unknownExchanges, ...dump }) {
            Object.assign(figures, { dump, unknown_exchanges: unknownExchanges });
          },
        });
        return importBrands(ports(), brands, put);
      };
      return reportedImport(context, options, bytes, run, () => figures);
    });

  return command;
}

interface MemoryOption {
  memory: number;
}

interface CsvOptions extends ReportedOptions, MemoryOption {
  map?: string[];
  mapFile?: string;
  set?: string[];
  separator: string;
  decimalComma?: boolean;
  join?: string;
  merge?: boolean;
  idPrefix: string;
  rank?: number;
  origin?: string;
  url?: string;
  licence?: string;
  date?: string;
}

interface MarketDataOptions extends ReportedOptions, MemoryOption {
  map?: string[];
  rates?: string;
  usd?: string[];
  decimalComma?: boolean;
  currency?: string;
  exchange?: string;
  origin?: string;
  url?: string;
  licence?: string;
  date?: string;
}

function noBytes(): BytesRead {
  return { read: 0, total: 0 };
}

function collected(value: string, values: string[] = []): string[] {
  return [...values, value];
}

/** An import needs a part of the heap for itself. */
const MOST_OF_HEAP = 0.6;

/** The names of files that are tables. Records are not read from such files. */
const TABLE = /\.(?:csv|tsv)(?:\.gz|\.bz2)?$/i;

function readSource(value: string): string {
  const problem = problemOfSource(value);
  if (problem !== undefined) throw new InvalidArgumentError(`The ${problem}.`);
  return value;
}

/** For sources whose rows cannot be sent before the last is read. */
const MEMORY_OPTION = [
  '--memory <MiB>',
  'keep at most so much of the source in memory, and end with an error if it needs more',
  readMemory,
  DEFAULT_MEMORY_MIB,
] as const;

function readMemory(value: string): number {
  const most = Math.floor((getHeapStatistics().heap_size_limit / (1 << 20)) * MOST_OF_HEAP);
  if (!/^[1-9]\d{0,6}$/.test(value) || Number(value) > most)
    throw new InvalidArgumentError(
      `Write a whole number from 1 to ${most}. For more, start bds with NODE_OPTIONS=--max-old-space-size=MiB, twice this number.`,
    );
  return Number(value);
}

function readRank(value: string): number {
  if (!/^\d{1,4}$/.test(value) || Number(value) > 1_000)
    throw new InvalidArgumentError('Write a whole number from 0 to 1000.');
  return Number(value);
}

function readDate(value: string): string {
  if (!/^\d{4}(-\d{2}(-\d{2})?)?$/.test(value))
    throw new InvalidArgumentError('Write YYYY, YYYY-MM or YYYY-MM-DD.');
  return value;
}

function readCurrencyCode(value: string): string {
  if (readCurrency(value) === undefined)
    throw new InvalidArgumentError('Write a currency code of three letters (ISO 4217), such as USD.');
  return value;
}

function readVenue(value: string): string {
  const mic = micOfVenue(value);
  if (mic === undefined)
    throw new InvalidArgumentError('Write a market identifier code (ISO 10383), such as XNAS.');
  return mic;
}

function joinOf(text: string, pathOf: Context['pathOf']) {
  const [, file, column, otherColumn] = /^(.+):([^:=]+)=([^:=]+)$/.exec(text) ?? [];
  if (file === undefined || column === undefined || otherColumn === undefined)
    throw new UsageError(`"${text}" is not file:column=column, such as prices.csv:Symbol=symbol`);
  return { file: pathOf(file), column: column.trim(), otherColumn: otherColumn.trim() };
}

function wrapped(text: string): string {
  return text.replace(/(.{1,98})(?: |$)/g, '$1\n').trimEnd();
}
