import { setOverrides } from '@brand-data/importers';
import { SUPPRESSED } from '@brand-data/records';
import { Command } from '@commander-js/extra-typings';
import { PartlyFailed, UsageError } from '../../connection/failures.ts';
import type { Context } from '../../terminal/context.ts';
import { dryRunTitle } from '../../text/reports.ts';
import { table } from '../../text/tables.ts';
import { overrideToJson, readOverrides, reasonOf, unsetOverrides } from './overrides.ts';

export function suppressCommand(context: Context) {
  return new Command('suppress')
    .description('Keep records away from all callers, over every import, until bds unsuppress')
    .argument('[id...]', "the records' ids, such as apple")
    .option('--reason <text>', 'why, as bds show displays it; needed')
    .option('--by <name>', 'who decided it (default: the operator whose credential bds uses)')
    .option('--list', 'list all records that are suppressed')
    .option('--dry-run', 'write nothing, and report what would change')
    .action(async (given, { reason, by, list, dryRun = false }) => {
      if (list) return listSuppressed(context);
      if (given.length === 0) throw new UsageError('give an id, such as: bds suppress acme --reason "…"');
      const ids = [...new Set(given)];
      const decision = { field: SUPPRESSED, by: by?.trim() ?? '', reason: reasonOf(reason) };
      const settings = ids.map((id) => ({ from: id, id, ...decision }));
      const report = await setOverrides(context.catalog(), settings, { dryRun });
      if (report.refusals.length > 0)
        throw new PartlyFailed(report.refusals.map(({ reason }) => reason).join('; '));
      const { changed, unchanged } = report;
      context.output.answer({ ids, dry_run: dryRun, changed, unchanged }, () => [
        dryRunTitle(dryRun),
        `${ids.join(', ')} ${ids.length === 1 ? 'is' : 'are'} ${changed === 0 ? 'unchanged' : 'suppressed'}.`,
      ]);
    });
}

export function unsuppressCommand(context: Context) {
  return new Command('unsuppress')
    .description('End what bds suppress has done: callers find the records again')
    .argument('<id...>', "the records' ids, such as apple")
    .option('--dry-run', 'write nothing, and report what would change')
    .action(async (ids, { dryRun = false }) => {
      const fields = ids.map((id) => ({ id, field: SUPPRESSED }));
      const { done, notDone } = await unsetOverrides(context, fields, dryRun);
      const [lifted = [], others = []] = [done, notDone].map((those) => those.map(({ id }) => id));
      context.output.answer({ dry_run: dryRun, unsuppressed: lifted, not_suppressed: others }, () => [
        dryRunTitle(dryRun),
        ...lifted.map((id) => `${id} is found again.`),
        ...others.map((id) => `${id} was not suppressed.`),
      ]);
    });
}

async function listSuppressed(context: Context): Promise<void> {
  const listed = (await readOverrides(context)).flatMap(({ id, override, waits }) => {
    const { by, at, reason, field } = overrideToJson(override);
    return field === SUPPRESSED ? [{ id, by, at, reason, ...(waits && { waits }) }] : [];
  });
  if (listed.length === 0) return context.output.lines([], () => 'No record is suppressed.');
  context.output.lines(listed, () =>
    table(
      ['ID', 'BY', 'AT', 'REASON'],
      listed.map(({ id, by, at, reason, waits }) => [waits ? `${id} (waits)` : id, by, at, reason]),
    ),
  );
}
