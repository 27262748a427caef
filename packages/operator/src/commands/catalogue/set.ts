import {
  NdjsonFile,
  NO_VALUE,
  readFieldValue,
  readOverrideFile,
  removeEarlier,
  type SetReport,
  type Setting,
  setOverrides,
} from '@brand-data/importers';
import { SETTABLE_FIELDS } from '@brand-data/records';
import { Command } from 'commander';
import { UsageError } from '../../connection/usage-error.ts';
import type { Context } from '../../terminal/context.ts';
import { PartlyFailed } from '../../terminal/failures.ts';
import { figure } from '../../text/progress.ts';
import { facts, wrapped } from '../../text/tables.ts';
import { inFile, titled } from '../imports/import-report.ts';
import { dryRunTitle, reasonOf, whoOf } from './decision.ts';
import { listOverrides } from './overrides.ts';

const MOST_SHOWN = 10;
const DEFAULT_REJECTS = 'set.rejects.ndjson';

interface SetOptions {
  reason?: string;
  by?: string;
  fromFile?: string;
  list?: boolean;
  dryRun?: boolean;
  rejects?: string;
  separator: string;
  decimalComma?: boolean;
}

export function setCommand(context: Context): Command {
  return new Command('set')
    .description('Set fields of a record to your own values, above all sources and over every import')
    .argument('[id]', "the record's id, such as apple")
    .argument('[field=value...]', `fields and their values; ${NO_VALUE} hides what the sources state`)
    .option('--reason <text>', 'why, as bds show displays it; needed')
    .option('--by <name>', 'who decided it (default: the user of the operating system)')
    .option(
      '--from-file <file>',
      'set many fields: .csv, or one JSON object a line, with id, field, value, reason',
    )
    .option('--list', 'list all fields that are set')
    .option('--dry-run', 'write nothing, and report what would change')
    .option('--rejects <file>', `write refused lines to this file (default: ${DEFAULT_REJECTS})`)
    .option('--separator <text>', 'separate the items of a list by this text', ';')
    .option('--decimal-comma', 'read numbers that are written 1.234,5')
    .addHelpText('after', () => `\n${wrapped(`Fields: ${[...SETTABLE_FIELDS.keys()].join(', ')}.`)}`)
    .action(async (id: string | undefined, assignments: string[], options: SetOptions) => {
      if (options.list) return listOverrides(context);
      if (options.fromFile !== undefined) {
        if (id !== undefined) throw new UsageError('--from-file has the ids and fields: give none beside it');
        return setFromFile(context, options.fromFile, options);
      }
      return setOne(context, id, assignments, options);
    });
}

async function setOne(
  { catalog, output }: Context,
  id: string | undefined,
  assignments: readonly string[],
  options: SetOptions,
): Promise<void> {
  if (id === undefined || assignments.length === 0)
    throw new UsageError(
      'give an id and at least one field=value, such as: bds set apple company.ceo="Tim Cook"',
    );
  const settings = assignments.map((assignment) => settingOf(id, assignment, options));
  const repeated = settings.find(
    ({ field }, index) => settings.findIndex((one) => one.field === field) !== index,
  );
  if (repeated !== undefined) throw new UsageError(`${repeated.field} is given twice`);
  const report = await setOverrides(catalog(), settings, { dryRun: options.dryRun ?? false });
  if (report.refusals.length > 0)
    throw new PartlyFailed([...new Set(report.refusals.map(({ reason }) => reason))].join('; '));
  const { dryRun, changed, unchanged } = report;
  const fields = settings.map(({ field }) => field);
  output.answer({ id, fields, dry_run: dryRun, changed, unchanged }, () =>
    [
      ...dryRunTitle(dryRun),
      `${id}: ${fields.join(', ')} ${fields.length === 1 ? 'is' : 'are'} ${changed === 0 ? 'unchanged' : 'set'}.`,
    ].join('\n'),
  );
}

function settingOf(id: string, assignment: string, options: SetOptions): Setting {
  const at = assignment.indexOf('=');
  if (at < 1) throw new UsageError(`"${assignment}" is not field=value, such as company.ceo="Tim Cook"`);
  const field = assignment.slice(0, at).trim();
  const read = readFieldValue(field, assignment.slice(at + 1).trim(), cellOptions(options));
  if ('problem' in read) throw new UsageError(read.problem);
  return { from: field, id, by: whoOf(options), reason: reasonOf(options), ...read };
}

async function setFromFile(
  { catalog, output, pathOf, shown }: Context,
  file: string,
  options: SetOptions,
): Promise<void> {
  const reason = options.reason === undefined ? undefined : reasonOf(options);
  const lines = await readOverrideFile(pathOf(file), { ...cellOptions(options), by: whoOf(options), reason });
  const report = await setOverrides(catalog(), lines, {
    dryRun: options.dryRun ?? false,
    onProgress: (done, total) => output.progress(() => `${figure(done)} of ${figure(total)}`),
  }).finally(() => output.progress());
  const refusals = report.refusals.map((refusal) => ({ ...refusal, from: shown(refusal.from) }));
  const rejects = new NdjsonFile(pathOf(options.rejects ?? DEFAULT_REJECTS));
  await removeEarlier(rejects.path, ['from']);
  for (const { from, reason, raw } of refusals) await rejects.write({ from, reason, raw });
  await rejects.close();
  const shownReport = { ...report, refusals, rejectsFile: shown(rejects.path) };
  output.answer(reportToJson(shownReport), () => reportText(shownReport));
  if (refusals.length > 0) {
    const effect = report.dryRun
      ? 'so nothing was set'
      : `and ${figure(report.changed)} ${report.changed === 1 ? 'field was' : 'fields were'} set`;
    throw new PartlyFailed(
      `${figure(refusals.length)} of ${figure(report.read)} were refused, ${effect}, see ${shown(rejects.path)}`,
    );
  }
}

interface ShownReport extends SetReport {
  rejectsFile: string;
}

function reportToJson({ dryRun, read, changed, unchanged, refusals, rejectsFile }: ShownReport) {
  const refused = refusals.length;
  return {
    dry_run: dryRun,
    read,
    changed,
    unchanged,
    refused,
    ...(refused > 0 && { rejects_file: rejectsFile, first_refusals: refusals.slice(0, MOST_SHOWN) }),
  };
}

function reportText({ dryRun, read, changed, unchanged, refusals, rejectsFile }: ShownReport): string {
  const refused = refusals.length;
  return [
    ...dryRunTitle(dryRun),
    facts([
      ['Read', figure(read)],
      ['Changed', figure(changed)],
      ['Unchanged', figure(unchanged)],
      ['Refused', `${figure(refused)}${inFile(refused > 0 ? rejectsFile : undefined)}`],
    ]),
    ...titled(
      'Refused',
      refusals.slice(0, MOST_SHOWN).map(({ from, reason }) => `  ${from}: ${reason}`),
      refused,
    ),
  ].join('\n');
}

function cellOptions({ separator, decimalComma = false }: SetOptions) {
  return { separator, decimalComma };
}
