import { Source } from '@brand-data/contracts';
import {
  type BytesRead,
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
  readMarketData,
  readRates,
  readRecords,
  readSimpleIcons,
  readWikidata,
  sizeOf,
} from '@brand-data/importers';
import { Command, InvalidArgumentError } from 'commander';
import { UsageError } from '../connection.ts';
import type { Context } from '../context.ts';
import { type ReportedOptions, reportedImport } from './reported-import.ts';

export function importCommand(context: Context): Command {
  const { connect, pathOf } = context;
  const command = new Command('import').description('Import records into the catalogue; may be run again');
  const catalog = () => connect().catalog();

  /** A command for one kind of source, with the options that all imports have. */
  const sourceCommand = (name: string, source: string | undefined, description: string) => {
    const added = command.command(name).description(description);
    const about = 'the name of the source; another import of the same source replaces its records';
    if (source === undefined) added.requiredOption('--source <name>', about);
    else added.option('--source <name>', about, source);
    return added
      .option('--dry-run', 'write nothing into the catalogue, and report what would change')
      .option('--prune', 'remove records of this source that it no longer has, if nothing is refused')
      .option('--rejects <file>', 'write refused lines to this file (default: <source>.rejects.ndjson)')
      .option('--conflicts <file>', 'write conflicts to this file (default: <source>.conflicts.ndjson)');
  };

  sourceCommand('records', 'records', 'Import records (see bds schema): .ndjson, .json and folders of these')
    .argument('<path...>')
    .option('--images <folder>', 'write stock logos into this folder, which the logo host serves')
    .action((paths: string[], options: ReportedOptions & { images?: string }) => {
      const bytes = noBytes();
      const imagesDir = options.images === undefined ? undefined : pathOf(options.images);
      const brands = readRecords(paths.map(pathOf), { imagesDir, progress: bytes });
      return reportedImport(context, options, bytes, (run) => importBrands(catalog(), brands, run));
    });

  sourceCommand('csv', undefined, 'Import any table with a heading: .csv or .tsv')
    .argument('<file>')
    .requiredOption('--map <column=field,…>', 'take a field from a column; repeatable', collected)
    .option('--set <field=value,…>', 'set a field where no column gives it; repeatable', collected)
    .option('--separator <text>', 'separate the items of a list by this text', ';')
    .option('--decimal-comma', 'read numbers that are written 1.234,5')
    .option('--join <file:column=column>', 'add the columns of a second table to rows with an equal value')
    .option('--merge', 'merge rows of one id: the first gives the facts, others add names and listings')
    .option('--id-prefix <text>', 'put this before each id that a column gives, such as cik-', '')
    .option('--rank <0-1000>', 'rank of rows without rank and market value (how well known)', readRank)
    .option('--origin <name>', 'name where the facts come from (default: the name of the source)')
    .option('--url <url>', 'URL of the origin')
    .option('--licence <text>', 'licence of the origin')
    .option('--date <date>', 'date of the facts: YYYY, YYYY-MM or YYYY-MM-DD', readDate)
    .addHelpText('after', () => `\n${wrapped(FIELDS_HELP)}`)
    .action((file: string, options: CsvOptions) => {
      const { source, map, set = [], origin = source, url, licence, date, rank } = options;
      const bytes = noBytes();
      const brands = readCsv(pathOf(file), {
        mapping: readMapping(map, set),
        join: options.join === undefined ? undefined : joinOf(options.join, pathOf),
        merge: options.merge ?? false,
        separator: options.separator,
        decimalComma: options.decimalComma ?? false,
        idPrefix: options.idPrefix,
        rank,
        source,
        origin: { name: origin, ...(url && { url }), ...(licence && { licence }), ...(date && { date }) },
        progress: bytes,
      });
      return reportedImport(context, options, bytes, (run) => importBrands(catalog(), brands, run));
    });

  sourceCommand('simple-icons', 'simple-icons', 'Import the brands and logos of the package simple-icons')
    .option('--images <folder>', 'write the logos into this folder, which the logo host serves')
    .action((options: ReportedOptions & { images?: string }) => {
      if (options.images === undefined)
        throw new UsageError('the folder for the logos is missing: --images <folder>');
      const brands = readSimpleIcons(pathOf(options.images));
      return reportedImport(context, options, noBytes(), (run) => importBrands(catalog(), brands, run));
    });

  sourceCommand('market-data', 'market-data', 'Import figures of listed companies: .csv or .ndjson')
    .argument('<file>')
    .option('--map <column=field,…>', 'take a field from a column of another name; repeatable', collected)
    .option('--rates <file>', 'read exchange rates from a table with the columns currency and usd')
    .option(
      '--usd <EUR=1.08,…>',
      'set rates in US dollars, which go before the rates of --rates; repeatable',
      collected,
    )
    .option('--decimal-comma', 'read numbers that are written 1.234,5')
    .option('--currency <code>', 'currency of rows without one', readCurrencyCode)
    .option('--exchange <mic>', 'exchange of rows without one', readVenue)
    .option('--origin <name>', 'name where the figures come from (default: the name of the source)')
    .option('--url <url>', 'URL of the origin')
    .option('--licence <text>', 'licence of the origin')
    .option('--date <date>', 'date of rows without one: YYYY-MM-DD', readDate)
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
        exchange: options.exchange,
        source: Source.fromPartial({ name: origin, url, licence, date, fields: ['stock'] }),
        progress: bytes,
        onMissingRate: (currency) => missingRates.set(currency, (missingRates.get(currency) ?? 0) + 1),
      });
      await reportedImport(
        context,
        options,
        bytes,
        (run) => importQuotes(catalog(), quotes, run),
        () => ({
          missing_rates: Object.fromEntries(missingRates),
        }),
      );
    });

  sourceCommand(
    'financedatabase',
    'financedatabase',
    'Import the equities of FinanceDatabase from its folder',
  )
    .argument('<folder>')
    .addHelpText('after', '\nThe file of --conflicts has the conflicts within FinanceDatabase too.')
    .action((folder: string, options: ReportedOptions) => {
      const figures: Record<string, Record<string, number>> = {};
      const run = (put: ImportOptions, note: (conflict: object) => Promise<void>) => {
        const brands = readFinanceDatabase(pathOf(folder), {
          onConflict: note,
          onJoined({ rows, companies, skipped, merges, conflicts }) {
            Object.assign(figures, {
              listings: { rows, skipped, companies },
              merges,
              conflicts_within: conflicts,
            });
          },
        });
        return importBrands(catalog(), brands, put);
      };
      return reportedImport(context, options, noBytes(), run, () => figures);
    });

  sourceCommand('wikidata', 'wikidata', "Import the companies and brands of Wikidata's JSON dump")
    .argument('<file>')
    .option('--work <folder>', 'use gigabytes of disk here for a while (default: the temporary folder)')
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
        return importBrands(catalog(), brands, put);
      };
      return reportedImport(context, options, bytes, run, () => figures);
    });

  return command;
}

interface CsvOptions extends ReportedOptions {
  map: string[];
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

interface MarketDataOptions extends ReportedOptions {
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

function readRank(value: string): number {
  if (!/^\d{1,4}$/.test(value) || Number(value) > 1_000)
    throw new InvalidArgumentError('write a whole number from 0 to 1000.');
  return Number(value);
}

function readDate(value: string): string {
  if (!/^\d{4}(-\d{2}(-\d{2})?)?$/.test(value)) throw new InvalidArgumentError('write YYYY-MM-DD.');
  return value;
}

function readCurrencyCode(value: string): string {
  if (readCurrency(value) === undefined) throw new InvalidArgumentError('write three letters (ISO 4217).');
  return value;
}

function readVenue(value: string): string {
  const mic = micOfVenue(value);
  if (mic === undefined) throw new InvalidArgumentError('write a market identifier code (ISO 10383).');
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
