import { setOverrides } from '@brand-data/importers';
import { SUPPRESSED } from '@brand-data/records';
import { Command } from '@commander-js/extra-typings';
import { PartlyFailed, UsageError } from '../../connection/failures.ts';
import type { Context } from '../../terminal/context.ts';
import { dryRunTitle } from '../../text/reports.ts';
import {
  decidingCommand,
  decisionToJson,
  listOverrides,
  namesAre,
  reasonOf,
  requireAlone,
  unsetOverrides,
} from './overrides.ts';

export function suppressCommand(context: Context) {
  const description = 'Keep records away from all callers, over every import, until bds unsuppress';
  const options = {
    why: 'why, as bds show displays it; needed',
    list: 'list all records that are suppressed',
  };
  return decidingCommand('suppress', description, options)
    .argument('[id...]', "the records' ids, such as apple")
    .action(async (given, { reason, by = '', list, dryRun = false }) => {
      if (list) {
        requireAlone(given.length === 0);
        return listOverrides(context, 'No record is suppressed.', ({ id, override }) =>
          override.field === SUPPRESSED ? { id, ...decisionToJson(override) } : undefined,
        );
      }
      if (given.length === 0) throw new UsageError('give an id, such as: bds suppress acme --reason "…"');
      const ids = [...new Set(given)];
      const decision = { field: SUPPRESSED, by: by.trim(), reason: reasonOf(reason) };
      const settings = ids.map((id) => ({ from: id, id, ...decision }));
      const report = await setOverrides(context.catalog(), settings, { dryRun });
      if (report.refusals.length > 0)
        throw new PartlyFailed(report.refusals.map(({ reason }) => reason).join('; '));
      const { changed, unchanged } = report;
      context.output.answer({ ids, dry_run: dryRun, changed, unchanged }, () => [
        dryRunTitle(dryRun),
        `${namesAre(ids)} ${changed === 0 ? 'unchanged' : 'suppressed'}.`,
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
