import { getHeapStatistics } from 'node:v8';
import {
  type BytesRead,
  DEFAULT_MEMORY_MIB,
  IdSet,
  ImportJournal,
  type ImportOptions,
  importBrands,
  reportImport,
} from '@brand-data/importers';
import { problemOfSource } from '@brand-data/records';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { Interrupted, PartlyFailed } from '../../connection/failures.ts';
import { readCount, reader } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { figure, progressLine } from '../../text/reports.ts';
import {
  type ImportFigures,
  type Removals,
  reportText,
  reportToJson,
  type TimedReport,
} from './import-report.ts';

const PROGRESS_MS = 100;
/** An import needs a part of the heap for itself. */
const MOST_OF_HEAP = 0.6;

/**
 * Creates a command for one kind of source, with the options that all imports have.
 *
 * @param source its name, if the option --source gives no other
 */
export function sourceCommand(name: string, description: string, source?: string) {
  const about = 'give the source this name; a later import of the same source replaces its records';
  const command = new Command(name).description(description);
  const named =
    source === undefined
      ? command.requiredOption('--source <name>', about, readSource)
      : command.option('--source <name>', about, readSource, source);
  return named
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
}

function readSource(value: string): string {
  const problem = problemOfSource(value);
  if (problem !== undefined) throw new InvalidArgumentError(`The ${problem}.`);
  return value;
}

/** For sources whose rows cannot be sent before the last is read. */
export const MEMORY_OPTION = [
  '--memory <MiB>',
  'keep at most so much of the source in memory, and end with an error if it needs more',
  readMemory,
  DEFAULT_MEMORY_MIB,
] as const;

/** Creates a command for a source that is a table, with the options for its form and its origin. */
export function tableCommand(name: string, description: string, source?: string) {
  return sourceCommand(name, description, source)
    .argument('<file>', 'the file to read; it may be compressed')
    .option('--heading-line <number>', 'read the names of the columns from this line', readCount)
    .option('--encoding <name>', 'read a file that is not UTF-8, such as windows-1252', readEncoding)
    .option('--decimal-comma', 'read numbers with a decimal comma, such as 1.234,5')
    .addOption(
      new Option('--date-order <order>', 'read 3/4/2026 as 3 April (dmy) or as 4 March (mdy)').choices([
        'dmy',
        'mdy',
      ] as const),
    )
    .option(...MEMORY_OPTION)
    .option('--origin <name>', 'state that the facts come from here (default: the name of the source)')
    .option('--url <url>', 'state the URL of the origin')
    .option('--licence <text>', 'state the licence of the origin');
}

type TableOptions = ReturnType<ReturnType<typeof tableCommand>['opts']>;

/** Returns the form of a table, as its readers take it. */
export function formOf({ headingLine, encoding, decimalComma, dateOrder, memory }: TableOptions) {
  return { headingLine, encoding, decimalComma: decimalComma ?? false, dateOrder, memoryMib: memory };
}

const readEncoding = reader('Write the name of an encoding, such as windows-1252 or shift_jis.', (label) => {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
});

function readMemory(value: string): number {
  const most = Math.floor((getHeapStatistics().heap_size_limit / (1 << 20)) * MOST_OF_HEAP);
  if (!/^[1-9]\d{0,6}$/.test(value) || Number(value) > most)
    throw new InvalidArgumentError(
      `Write a whole number from 1 to ${most}. For more, start bds with NODE_OPTIONS=--max-old-space-size=MiB, twice this number.`,
    );
  return Number(value);
}

export const readDate = reader('Write YYYY, YYYY-MM or YYYY-MM-DD.', (text) =>
  /^\d{4}(-\d{2}(-\d{2})?)?$/.test(text) ? text : undefined,
);

/** What the reader of a source fills: how far it has read, and figures of the source for the report. */
export interface Reading {
  bytes: BytesRead;
  figures: ImportFigures;
}

/** The options that every import has. */
interface ReportedOptions {
  source: string;
  dryRun?: boolean | undefined;
  prune?: boolean | undefined;
  onlyJoining?: boolean | undefined;
  rejects?: string | undefined;
  conflicts?: string | undefined;
}

/** The environment of an import that another command may run. */
export interface ImportContext extends Context {
  /** Takes the report. If it is absent, the report is the command's answer. */
  takeReport?: (report: TimedReport) => void;
}

/** Runs an import, shows its progress, and writes its report. Throws if the import failed, was interrupted, or refused something. */
export async function reportedImport(
  { output, pathOf, shown, interruption, catalog, takeReport }: ImportContext,
  { source, dryRun = false, prune = false, onlyJoining = false, ...files }: ReportedOptions,
  run: (put: ImportOptions, reading: Reading) => ReturnType<Parameters<typeof reportImport>[1]>,
): Promise<void> {
  const reading: Reading = { bytes: { read: 0, total: 0 }, figures: {} };
  const startedAt = performance.now();
  const secondsSince = () => (performance.now() - startedAt) / 1_000;
  const journal = new ImportJournal({
    rejectsPath: pathOf(files.rejects ?? `${source}.rejects.ndjson`),
    conflictsPath: pathOf(files.conflicts ?? `${source}.conflicts.ndjson`),
    shown,
  });
  // A timer shows the progress, because reading a source may take long before its first record.
  const showProgress = () =>
    output.progress(() => progressLine(journal.counts, reading.bytes, secondsSince()));
  const timer = setInterval(showProgress, PROGRESS_MS).unref();
  const kept = dryRun && prune ? new IdSet() : undefined;
  const options = { source, dryRun, prune, onlyJoining, signal: interruption(), journal, kept };
  const report = await reportImport(options, (put) => run(put, reading)).finally(() => {
    clearInterval(timer);
    output.progress();
  });

  const { failure, summary } = report;
  const isWhole = failure === undefined && summary.unpruned === undefined;
  const removals = kept && isWhole ? await findRemovals(catalog(), source, kept) : undefined;
  const timed = { ...report, seconds: secondsSince(), figures: reading.figures, removals };
  if (takeReport) takeReport(timed);
  else output.answer(reportToJson(timed), () => reportText(timed));
  const { rejectsFile } = journal;
  if (failure !== undefined) throw failure;
  if (summary.stopped)
    throw new Interrupted(
      `the import was stopped after it had read ${figure(summary.read)} records: run it again to finish it`,
    );
  if (summary.refused > 0)
    throw new PartlyFailed(
      `${figure(summary.refused)} of ${figure(summary.read)} records were refused (see ${rejectsFile}): correct them and import again`,
    );
  if (summary.refusedPictures > 0)
    throw new PartlyFailed(
      `${figure(summary.refusedPictures)} pictures were refused, and their records imported without them (see ${rejectsFile})`,
    );
}

const MOST_NAMED = 10;

/** Finds the source's records that the import would remove, because it does not keep them. */
async function findRemovals(
  catalog: ReturnType<Context['catalog']>,
  source: string,
  kept: IdSet,
): Promise<Removals> {
  const found = new IdSet();
  const removals: Removals = { count: 0, first: [] };
  const messages = catalog.readStream((client) => client.listSourceRecords, { source, after: '' });
  for await (const { records } of messages) {
    const missing = records.filter(({ id }) => !kept.has(id) && found.add(id));
    removals.count += missing.length;
    removals.first = [...removals.first, ...missing].sort((a, b) => b.rank - a.rank).slice(0, MOST_NAMED);
  }
  return removals;
}

/** Runs an import of the records that `read` yields. */
export function reportedRecords(
  context: Context,
  options: ReportedOptions,
  read: (reading: Reading, signal: AbortSignal | undefined) => Parameters<typeof importBrands>[1],
): Promise<void> {
  const { catalog, images } = context;
  return reportedImport(context, options, (put, reading) =>
    importBrands({ catalog: catalog(), images }, read(reading, put.signal), put),
  );
}
