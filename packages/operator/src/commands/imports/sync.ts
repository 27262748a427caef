import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ImportOutcome, type NoteImportRequest } from '@brand-data/contracts';
import { newImportId, noteRun, PassingProblem } from '@brand-data/importers';
import { Fault } from '@brand-data/runtime';
import { Command, CommanderError } from '@commander-js/extra-typings';
import { Interrupted, PartlyFailed, PassingFailure, UsageError } from '../../connection/failures.ts';
import {
  type Declarations,
  type DeclaredSource,
  nextTick,
  readDeclarations,
} from '../../sync/declarations.ts';
import { fetchSource } from '../../sync/fetch-source.ts';
import { broughtBy, guardReasons } from '../../sync/guards.ts';
import { SourceFolder, type SyncState } from '../../sync/source-folder.ts';
import type { Context } from '../../terminal/context.ts';
import type { Text } from '../../terminal/output.ts';
import { figure } from '../../text/reports.ts';
import { time } from '../../text/tables.ts';
import { importCommand } from './import.ts';
import { reportText, reportToJson, type TimedReport } from './import-report.ts';
import type { ImportContext } from './reported-import.ts';

/** The clock of this machine may be behind that of the timer by this time. */
const EARLY_MS = 10 * 60_000;

const SETTLED: readonly ImportOutcome[] = [
  ImportOutcome.FINISHED,
  ImportOutcome.UNDOING,
  ImportOutcome.UNDONE,
];

type Outcome = 'imported' | 'planned' | 'unchanged' | 'not due' | 'stopped' | 'failed';

/** What a sync did with one source. */
interface SyncedSource {
  source: string;
  outcome: Outcome;
  /** Why it was stopped, or failed. */
  reasons: string[];
  /** Whether another try may succeed. */
  isPassing: boolean;
  nextDue: number;
  /** Of the import or, if there was none, of its dry run. */
  report?: TimedReport | undefined;
}

interface SyncOptions {
  now?: true | undefined;
  accept?: true | undefined;
  dryRun?: true | undefined;
}

export function syncCommand(context: Context) {
  return new Command('sync')
    .description('Fetch and import the sources of a file that are due; stop where a guard says so')
    .argument('[source...]', 'sources of the file (default: all)')
    .option('--sources <file>', 'read the declarations of the sources from this file', 'sources.yaml')
    .option('--folder <folder>', 'keep what is fetched, and what was done, in this folder', 'fetched')
    .option('--now', 'sync sources that are not due, and import what has not changed')
    .option('--accept', 'import the named sources though a guard would stop them')
    .option('--dry-run', 'fetch, and report what would change, without changing the catalogue')
    .action(async (names, { sources: file, folder, ...options }) => {
      if (options.accept && names.length === 0) throw new UsageError('--accept needs the names of sources');
      const path = context.pathOf(file);
      const yaml = await readFile(path, 'utf8');
      const checks = { problemOfImport: problemOfImport(context), env: context.env };
      const { contact, ...declarations } = readDeclarations(yaml, file, checks);
      const interruption = context.interruption();
      const within = {
        context: { ...context, interruption: () => interruption },
        contact,
        declaredIn: dirname(path),
        options,
      };
      const done: SyncedSource[] = [];
      try {
        for (const source of wantedSources(declarations, names))
          done.push(
            await new SourceSync(source, new SourceFolder(context.pathOf(folder), source.name), within).run(),
          );
      } finally {
        // An operator who stops the sync learns what is done.
        if (done.length > 0)
          context.output.answer({ sources: done.map(syncedToJson) }, () => done.map(syncedText));
      }
      const bad = done.filter(
        ({ outcome, report }) => ['stopped', 'failed'].includes(outcome) || refused(report),
      );
      const Failure = bad.every(({ isPassing }) => isPassing) ? PassingFailure : PartlyFailed;
      if (bad.length > 0)
        throw new Failure(
          `${figure(bad.length)} of ${figure(done.length)} sources were stopped, failed or had records refused: ${bad.map(({ source }) => source).join(', ')}`,
        );
    });
}

function wantedSources(
  { sources }: Pick<Declarations, 'sources'>,
  names: readonly string[],
): DeclaredSource[] {
  const unknown = names.find((name) => !sources.some((source) => source.name === name));
  if (unknown !== undefined)
    throw new UsageError(
      `the source ${unknown} is not declared: ${sources.map(({ name }) => name).join(', ')} are`,
    );
  return names.length === 0 ? sources : sources.filter(({ name }) => names.includes(name));
}

/** What the syncs of one run share. */
interface SyncRun {
  context: Context;
  contact: string;
  /** The folder of the file of sources, in which relative paths begin. */
  declaredIn: string;
  options: SyncOptions;
}

/** Brings one source up to date: fetches it, asks what an import would do, and imports it if no guard objects. */
class SourceSync {
  readonly #source: DeclaredSource;
  readonly #folder: SourceFolder;
  readonly #within: SyncRun;
  readonly #context: Context;
  readonly #options: SyncOptions;
  /** The time of the schedule for which it runs, or ran before, if that is not past. Otherwise when it began. */
  #atMs = Date.now();
  /** The import that has failed before its end. */
  #failedImport: string | undefined;

  constructor(source: DeclaredSource, folder: SourceFolder, within: SyncRun) {
    this.#source = source;
    this.#folder = folder;
    this.#within = within;
    this.#context = within.context;
    this.#options = within.options;
  }

  async run(): Promise<SyncedSource> {
    try {
      await using lock = await this.#folder.lock();
      if (lock === undefined)
        return this.#ended('failed', {
          reasons: ['another sync of this source is running'],
          isPassing: true,
        });
      return (await this.#isDue()) ? await this.#bringUpToDate() : await this.#ended('not due');
    } catch (error) {
      if (error instanceof Interrupted || this.#context.interruption().aborted)
        throw new Interrupted(`the sync of ${this.#source.name} was stopped: run it again to finish it`);
      return this.#fail(error as Error);
    }
  }

  async #isDue(): Promise<boolean> {
    const { now, accept } = this.#options;
    const { doneAt = 0 } = await this.#folder.state();
    const dueMs = nextTick(this.#source.schedule, doneAt);
    const isDue = dueMs <= Date.now() + EARLY_MS;
    this.#atMs = Math.max(isDue ? dueMs : doneAt, Date.now());
    return Boolean(now || accept) || isDue;
  }

  async #bringUpToDate(): Promise<SyncedSource> {
    const { output, interruption } = this.#context;
    const { contact, declaredIn } = this.#within;
    const progress = { read: 0, total: 0 };
    const { name } = this.#source;
    const show = () =>
      output.progress(() => `${name}: ${figure(progress.read)} of ${figure(progress.total)} bytes`);
    const timer = setInterval(show, 1_000).unref();
    const fetching = { contact, declaredIn, signal: interruption(), progress };
    const fetched = await fetchSource(this.#source, this.#folder.files, fetching).finally(() => {
      clearInterval(timer);
      output.progress();
    });
    const version = JSON.stringify([
      fetched.version,
      this.#source.kind,
      this.#source.options,
      this.#source.prune,
    ]);
    const before = await this.#folder.state();
    if (before.version === version && !this.#options.now && (await this.#isSettled(before.importId)))
      return this.#ended('unchanged', {}, {});

    const plan = await this.#import(fetched.paths, true);
    const { importId, difference } = plan.journal;
    const planned = { ...plan.summary, removed: plan.removals?.count ?? 0, difference };
    const reasons = guardReasons(this.#source.guards, planned, before.brought);
    if (this.#options.dryRun) return this.#ended('planned', { reasons, report: plan });
    if (reasons.length > 0 && !this.#options.accept) {
      await this.#note({ importId, outcome: ImportOutcome.STOPPED, reasons, difference });
      return this.#ended('stopped', { reasons, report: plan }, {});
    }
    const report = await this.#import(fetched.paths, false);
    const { importId: imported } = report.journal;
    await this.#note({ importId: imported });
    const done = { version, importId: imported, brought: broughtBy(report.summary) };
    return this.#ended('imported', { report }, done);
  }

  /** Runs `bds import` with the declared options. Rejects if it fails before its end. */
  async #import(paths: readonly string[], dryRun: boolean): Promise<TimedReport> {
    let report: TimedReport | undefined;
    const context: ImportContext = {
      ...this.#context,
      pathOf: (path) => resolve(this.#folder.path, path),
      takeReport: (taken) => {
        report = taken;
        if (taken.failure) this.#failedImport = taken.journal.importId;
      },
    };
    const command = importOf(context, this.#source.kind);
    if (command === undefined) throw new UsageError(`there is no kind ${this.#source.kind}`);
    const flags = [...(dryRun ? ['--dry-run'] : []), ...(this.#source.prune ? ['--prune'] : [])];
    try {
      await command.parseAsync([...wordsOf(this.#source, command, paths), ...flags], { from: 'user' });
    } catch (error) {
      // What was refused is in the report, and is no reason not to import the rest.
      if (!(error instanceof PartlyFailed)) throw error;
    }
    if (report === undefined) throw new Error(`bds import ${this.#source.kind} has made no report`);
    return report;
  }

  async #fail(error: Error): Promise<SyncedSource> {
    // A message names a URL by its path, in which a secret may stand.
    const { secrets } = this.#source;
    const reasons = [secrets.reduce((text, secret) => text.replaceAll(secret, '…'), error.message)];
    const importId = this.#failedImport ?? newImportId();
    if (!this.#options.dryRun) await this.#note({ importId, outcome: ImportOutcome.FAILED, reasons });
    const isPassing =
      error instanceof PassingProblem || (error instanceof Fault && error.kind === 'unavailable');
    return this.#ended('failed', { reasons, isPassing });
  }

  /** Tells catalog how a run ended and when the next one is due. The sync goes on if catalog does not take it. */
  async #note(run: Partial<NoteImportRequest>): Promise<void> {
    const known = { source: this.#source.name, nextDueAtMs: this.#nextDue() };
    try {
      await noteRun(this.#context.catalog(), { ...known, ...run });
    } catch (error) {
      this.#context.output.notice(
        `${this.#source.name}: catalog does not note the run: ${(error as Error).message}`,
      );
    }
  }

  /** Tells catalog when the next run is due, and resolves to whether it knows how the last import ended. */
  async #isSettled(importId: string | undefined): Promise<boolean> {
    if (importId === undefined) return false;
    const { catalog } = this.#context;
    const { name: source } = this.#source;
    const { runs } = await catalog().call((client) => client.listImports, { source, importId });
    // What an operator has undone does not come back before the source has something else.
    const isDone = runs.some(({ outcome }) => SETTLED.includes(outcome));
    if (!isDone) return false;
    if (!this.#options.dryRun) await this.#note({ importId });
    return true;
  }

  /** @param done what to remember, if the sync is not to be repeated before the next time of the schedule */
  async #ended(
    outcome: Outcome,
    { reasons = [], isPassing = false, report }: Partial<SyncedSource> = {},
    done?: Partial<SyncState>,
  ): Promise<SyncedSource> {
    const doneAt = Math.max(this.#atMs, Date.now());
    if (done !== undefined && !this.#options.dryRun) await this.#folder.note({ ...done, doneAt });
    return { source: this.#source.name, outcome, reasons, isPassing, nextDue: this.#nextDue(), report };
  }

  #nextDue(): number {
    return nextTick(this.#source.schedule, Math.max(this.#atMs, Date.now()));
  }
}

/** Creates the command `bds import KIND`. Undefined if there is no such kind. */
function importOf(context: ImportContext, kind: string) {
  const command = importCommand(context).commands.find((each) => each.name() === kind);
  return command?.exitOverride().configureOutput({ outputError: () => undefined });
}

type ImportKind = NonNullable<ReturnType<typeof importOf>>;

/** Returns the words after `bds import KIND`. A command that takes a folder gets the only file, if that is one, or the folder of all. */
function wordsOf({ name, options }: DeclaredSource, command: ImportKind, paths: readonly string[]): string[] {
  const [argument] = command.registeredArguments;
  const [first = ''] = paths;
  const all = argument?.variadic
    ? paths
    : [argument?.name() === 'folder' && paths.length > 1 ? dirname(first) : first];
  return [...(argument === undefined ? [] : all), `--source=${name}`, ...options];
}

/** Returns a check of what a source declares for `bds import`: its kind, its options, and whether it needs files. */
function problemOfImport(context: Context) {
  return (source: DeclaredSource): string | undefined => {
    const command = importOf(context, source.kind);
    if (command === undefined) {
      const kinds = importCommand(context).commands.map((each) => each.name());
      return `the kind must be one of ${kinds.join(', ')}`;
    }
    const isFed = source.files.length > 0;
    if (isFed !== command.registeredArguments.length > 0)
      return isFed ? `the kind ${source.kind} reads no files` : 'files are missing';
    try {
      command.action(() => undefined).parse(wordsOf(source, command, ['file']), { from: 'user' });
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error;
      return error.message.replace(/^error: /, '');
    }
    return undefined;
  };
}

function refused(report: TimedReport | undefined): boolean {
  return report !== undefined && report.summary.refused + report.summary.refusedPictures > 0;
}

function syncedToJson({ source, outcome, reasons, nextDue, report }: SyncedSource) {
  return {
    source,
    outcome: outcome.replace(' ', '_'),
    ...(reasons.length > 0 && { reasons }),
    next_due: time(nextDue),
    ...(report && { import: reportToJson(report) }),
  };
}

function syncedText({ source, outcome, reasons, nextDue, report }: SyncedSource): Text {
  const advice: Partial<Record<Outcome, string>> = {
    stopped: `  Nothing was written. If this is right, run bds sync ${source} --accept. If not, the catalogue stays as it is until the source is mended.`,
    ...(reasons.length > 0 && { planned: '  A guard would stop this import.' }),
  };
  return [
    `${source}: ${outcome}; next due ${time(nextDue)}`,
    ...reasons.map((reason) => `  ${reason}`),
    advice[outcome],
    report && reportText(report),
    '',
  ];
}
