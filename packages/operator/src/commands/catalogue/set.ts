import {
  NdjsonFile,
  NO_VALUE,
  readFieldValue,
  readOverrideFile,
  removeEarlier,
  type Setting,
  setOverrides,
} from '@brand-data/importers';
import { SETTABLE_FIELDS } from '@brand-data/records';
import { Command } from '@commander-js/extra-typings';
import { PartlyFailed, UsageError } from '../../connection/failures.ts';
import type { Context } from '../../terminal/context.ts';
import { dryRunTitle, figure, inFile, refusedLines } from '../../text/reports.ts';
import { facts, wrapped } from '../../text/tables.ts';
import {
  decidingCommand,
  listOverrides,
  namesAre,
  overrideToJson,
  reasonOf,
  requireAlone,
  unsetOverrides,
} from './overrides.ts';

const MOST_SHOWN = 10;
const DEFAULT_REJECTS = 'set.rejects.ndjson';

interface SetOptions {
  reason?: string | undefined;
  by?: string | undefined;
  dryRun?: true | undefined;
  rejects?: string | undefined;
  separator: string;
  decimalComma?: boolean | undefined;
}

export function setCommand(context: Context) {
  const description = 'Set fields of a record to your own values, above all sources and over every import';
  const why = 'why, as bds show displays it; needed';
  return decidingCommand('set', description, { why, list: 'list all fields that are set' })
    .argument('[id]', "the record's id, such as apple")
    .argument('[field=value...]', `fields and their values; ${NO_VALUE} hides what the sources state`)
    .option(
      '--from-file <file>',
      'set many fields: .csv, or one JSON object a line, with id, field, value, reason',
    )
    .option('--rejects <file>', `write refused lines to this file (default: ${DEFAULT_REJECTS})`)
    .option('--separator <text>', 'separate the items of a list by this text', ';')
    .option('--decimal-comma', 'read numbers that are written 1.234,5')
    .addHelpText('after', () => `\n${wrapped(`Fields: ${[...SETTABLE_FIELDS.keys()].join(', ')}.`)}`)
    .action(async (id, assignments, options) => {
      if (options.list) {
        requireAlone(id === undefined && options.fromFile === undefined);
        return listOverrides(context, 'No field is set.', ({ id, override }) =>
          SETTABLE_FIELDS.has(override.field) ? { id, ...overrideToJson(override) } : undefined,
        );
      }
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
  output.answer({ id, fields, dry_run: dryRun, changed, unchanged }, () => [
    dryRunTitle(dryRun),
    `${id}: ${namesAre(fields)} ${changed === 0 ? 'unchanged' : 'set'}.`,
  ]);
}

function settingOf(id: string, assignment: string, options: SetOptions): Setting {
  const at = assignment.indexOf('=');
  if (at < 1) throw new UsageError(`"${assignment}" is not field=value, such as company.ceo="Tim Cook"`);
  const field = assignment.slice(0, at).trim();
  const read = readFieldValue(field, assignment.slice(at + 1).trim(), cellOptions(options));
  if ('problem' in read) throw new UsageError(read.problem);
  return { from: field, id, by: options.by?.trim() ?? '', reason: reasonOf(options.reason), ...read };
}

async function setFromFile(
  { catalog, output, pathOf, shown }: Context,
  file: string,
  options: SetOptions,
): Promise<void> {
  const reason = options.reason === undefined ? undefined : reasonOf(options.reason);
  const lines = await readOverrideFile(pathOf(file), {
    ...cellOptions(options),
    by: options.by?.trim() ?? '',
    reason,
  });
  const report = await setOverrides(catalog(), lines, {
    dryRun: options.dryRun ?? false,
    onProgress: (done, total) => output.progress(() => `${figure(done)} of ${figure(total)}`),
  }).finally(() => output.progress());
  const refusals = report.refusals.map((refusal) => ({ ...refusal, from: shown(refusal.from) }));
  const rejects = new NdjsonFile(pathOf(options.rejects ?? DEFAULT_REJECTS));
  await removeEarlier(rejects.path, ['from']);
  for (const { from, reason, raw } of refusals) await rejects.write({ from, reason, raw });
  await rejects.close();
  const { dryRun, read, changed, unchanged } = report;
  const [refused, rejectsFile] = [refusals.length, shown(rejects.path)];
  const first = refusals.slice(0, MOST_SHOWN);
  const shownRefusals = refused > 0 && { rejects_file: rejectsFile, first_refusals: first };
  output.answer({ dry_run: dryRun, read, changed, unchanged, refused, ...shownRefusals }, () => [
    dryRunTitle(dryRun),
    facts([
      ['Read', figure(read)],
      ['Changed', figure(changed)],
      ['Unchanged', figure(unchanged)],
      ['Refused', `${figure(refused)}${inFile(refused > 0 ? rejectsFile : undefined)}`],
    ]),
    refusedLines(first, refused),
  ]);
  if (refused === 0) return;
  const set = `and ${figure(changed)} ${changed === 1 ? 'field was' : 'fields were'} set`;
  throw new PartlyFailed(
    `${figure(refused)} of ${figure(read)} were refused, ${dryRun ? 'so nothing was set' : set}, see ${rejectsFile}`,
  );
}

function cellOptions({ separator, decimalComma = false }: SetOptions) {
  return { separator, decimalComma };
}

export function unsetCommand({ catalog, output }: Context) {
  return new Command('unset')
    .description('Remove what bds set has set, so that the sources decide about the fields again')
    .argument('<id>', "the record's id, such as apple")
    .argument('<field...>', 'the fields, such as company.ceo')
    .option('--dry-run', 'write nothing, and report what would change')
    .action(async (id, fields, { dryRun = false }) => {
      const unknown = fields.find((field) => !SETTABLE_FIELDS.has(field));
      if (unknown !== undefined)
        throw new UsageError(
          `"${unknown}" is no field that can be set. Fields: ${[...SETTABLE_FIELDS.keys()].join(', ')}`,
        );
      const pairs = fields.map((field) => ({ id, field }));
      const { done, notDone } = await unsetOverrides({ catalog }, pairs, dryRun);
      const [unset = [], notSet = []] = [done, notDone].map((those) => those.map(({ field }) => field));
      output.answer({ id, dry_run: dryRun, unset, not_set: notSet }, () => [
        dryRunTitle(dryRun),
        unset.length > 0 ? `${id}: ${namesAre(unset)} now as the sources state it.` : undefined,
        notSet.length > 0 ? `${id}: ${notSet.join(', ')} was not set.` : undefined,
      ]);
    });
}
