import {
  ImportOutcome,
  type ImportRun,
  type KeptRecord,
  type SourceRecordChange,
  type UndoImportResponse,
} from '@brand-data/contracts';
import { retryWhileUnavailable } from '@brand-data/importers';
import { changedFields, recordValueOf } from '@brand-data/records';
import { Command } from '@commander-js/extra-typings';
import { readCount } from '../../options/readers.ts';
import type { Context } from '../../terminal/context.ts';
import { differenceText, differenceToJson } from '../../text/difference.ts';
import { dryRunTitle, figure, titled } from '../../text/reports.ts';
import { type Columns, facts, listTable, time } from '../../text/tables.ts';
import { wordOf } from '../../text/words.ts';

const UNDO_MS = 90_000;
const MOST_KEPT_SHOWN = 20;
const SOURCE_OPTION = [
  '--source <source>',
  'the source of the run, if several have an import with this id',
] as const;

export function importListCommand({ catalog, output }: Context) {
  return new Command('list')
    .description('List the import runs that the catalogue remembers, the newest first')
    .option('--source <source>', 'only runs of this source', '')
    .action(async ({ source }) => {
      const { runs } = await catalog().call((client) => client.listImports, { source, importId: '' });
      output.answer({ runs: runs.map(runToJson) }, () =>
        listTable(RUN_COLUMNS, runs, 'There is no such run.'),
      );
    });
}

export function importShowCommand({ catalog, output }: Context) {
  return new Command('show')
    .description('Show what an import run has changed: each source record before and after it')
    .argument('<run>', 'the id of the import, as bds import list shows it')
    .option(...SOURCE_OPTION, '')
    .option('--company <id>', 'only source records of this company, before the run or after it', '')
    .option('--limit <count>', 'show at most this many records', readCount, 100)
    .option('--after <record>', 'begin after this source record, such as wikidata/q312', '')
    .action(async (importId, { source, company: companyId, limit, after }) => {
      const { runs } = await catalog().call((client) => client.listImports, { source, importId });
      const request = { source, importId, companyId, after };
      const changes: SourceRecordChange[] = [];
      let next: string | null = null;
      for await (const read of catalog().readStream((client) => client.listImportChanges, request)) {
        changes.push(...read.changes.slice(0, limit - changes.length));
        if (changes.length < limit) continue;
        next = referenceOf(changes.at(-1)) ?? null;
        break;
      }
      const [run] = runs;
      const more = next ? `There may be further records: raise --limit, or add --after ${next}.` : undefined;
      output.answer({ run: run && runToJson(run), changes: changes.map(changeToJson), next }, () => [
        run && runText(run),
        run?.difference && differenceText(run.difference),
        changes.length === 0
          ? 'It has changed no such record.'
          : ['Records', ...changes.flatMap(changeLines)],
        more,
      ]);
    });
}

export function importUndoCommand({ catalog, output }: Context) {
  return new Command('undo')
    .description(
      'Take an import run back: every record as if the run had not been, but for what later imports changed',
    )
    .argument('<run>', 'the id of the import, as bds import list shows it')
    .option(...SOURCE_OPTION, '')
    .option('--dry-run', 'change nothing, and report what would go back')
    .action(async (importId, { source, dryRun = false }) => {
      const total = { removed: 0, reverted: 0, restored: 0, kept: 0 };
      const firstKept: KeptRecord[] = [];
      let answer: UndoImportResponse | undefined;
      do {
        const request = { source, importId, dryRun, after: answer?.after ?? '' };
        answer = await retryWhileUnavailable(() =>
          catalog().call((client) => client.undoImport, request, UNDO_MS),
        );
        for (const name of ['removed', 'reverted', 'restored', 'kept'] as const) total[name] += answer[name];
        firstKept.push(...answer.firstKept.slice(0, MOST_KEPT_SHOWN - firstKept.length));
        const done = total.removed + total.reverted + total.restored;
        output.progress(() => `${figure(done)} records are as before, ${figure(total.kept)} stay`);
      } while (answer.more);
      output.progress();
      output.answer({ import_id: importId, dry_run: dryRun, ...total, first_kept: firstKept }, () => [
        dryRunTitle(dryRun),
        facts([
          ['Removed', `${figure(total.removed)} that the run had created`],
          ['Reverted', `${figure(total.reverted)} that it had changed`],
          ['Restored', `${figure(total.restored)} that it had removed`],
          ['Kept', figure(total.kept)],
        ]),
        titled(
          'Kept',
          firstKept.map(({ source, id, reason }) => `  ${source}/${id}: ${reason}`),
          total.kept,
        ),
      ]);
    });
}

function referenceOf(change: SourceRecordChange | undefined): string | undefined {
  return change && `${change.source}/${change.id}`;
}

const RUN_COLUMNS: Columns<ImportRun> = {
  IMPORT: ({ importId }) => importId,
  SOURCE: ({ source }) => source,
  OUTCOME: ({ outcome }) => wordOf(ImportOutcome, outcome),
  BY: ({ operator }) => operator,
  'LAST AT': ({ lastAtMs }) => time(lastAtMs),
  CREATED: ({ created }) => created,
  CHANGED: ({ changed }) => changed,
  UNCHANGED: ({ unchanged }) => unchanged,
  REFUSED: ({ refused }) => refused,
  REMOVED: ({ difference }) => difference?.recordsRemoved ?? 0,
};

function runToJson(run: ImportRun) {
  const { importId, source, operator, outcome, reasons, created, changed, unchanged, refused, pruned } = run;
  return {
    import_id: importId,
    source,
    operator,
    begun_at: time(run.begunAtMs),
    last_at: time(run.lastAtMs),
    outcome: wordOf(ImportOutcome, outcome),
    reasons,
    next_due_at: time(run.nextDueAtMs) ?? null,
    ...{ created, changed, unchanged, refused, pruned },
    difference: run.difference ? differenceToJson(run.difference) : null,
    ...(run.undoneAtMs > 0 && { undone_by: run.undoneBy, undone_at: time(run.undoneAtMs) }),
  };
}

function runText(run: ImportRun): string {
  const { importId, source, operator, outcome, reasons, begunAtMs, lastAtMs, undoneBy, undoneAtMs } = run;
  return facts([
    ['Import', importId],
    ['Source', source],
    ['Run by', operator],
    ['Begun', time(begunAtMs)],
    ['Last at', time(lastAtMs)],
    ['Outcome', wordOf(ImportOutcome, outcome)],
    ...reasons.map((reason) => ['Reason', reason] as const),
    ['Next due', time(run.nextDueAtMs)],
    ['Created', figure(run.created)],
    ['Changed', figure(run.changed)],
    ['Unchanged', figure(run.unchanged)],
    ['Refused', figure(run.refused)],
    ['Undone', undoneAtMs > 0 ? `by ${undoneBy} at ${time(undoneAtMs)}` : undefined],
  ]);
}

/** Returns what happened to the record, in a word, and the fields in which it differs. */
function readChange({ before, after, companyBefore, companyAfter }: SourceRecordChange) {
  const fields = before && after ? changedFields(before, after) : [];
  const values = fields.map((field) => {
    return { field, before: recordValueOf(before, field), after: recordValueOf(after, field) };
  });
  if (companyBefore === '') return { change: 'created', values };
  if (companyAfter === '') return { change: 'removed', values };
  return { change: before === undefined ? 'moved' : 'changed', values };
}

function changeToJson(told: SourceRecordChange) {
  const { source, id, isQuote, companyBefore, companyAfter, changedSince } = told;
  const { change, values } = readChange(told);
  return {
    source,
    id,
    quote: isQuote,
    change,
    company_before: companyBefore || null,
    company_after: companyAfter || null,
    fields: values,
    changed_since: changedSince,
  };
}

function changeLines(told: SourceRecordChange): string[] {
  const { source, id, companyBefore, companyAfter, changedSince, before, after } = told;
  const { change, values } = readChange(told);
  const name = (after ?? before)?.name;
  const company = companyAfter || companyBefore;
  const from = companyBefore !== '' && companyAfter !== '' && companyBefore !== companyAfter;
  const place = from ? `from ${companyBefore} to ${companyAfter}` : `of ${company}`;
  const shown = (value: unknown) => (value === null ? 'nothing' : JSON.stringify(value));
  return [
    `  ${source}/${id} ${place}${name ? ` (${name})` : ''}: ${change}${changedSince ? ', and changed again since' : ''}`,
    ...values.map((value) => `    ${value.field}: ${shown(value.before)} -> ${shown(value.after)}`),
  ];
}
