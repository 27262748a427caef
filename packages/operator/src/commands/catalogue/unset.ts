import { FieldOutcome, type FieldResult } from '@brand-data/contracts';
import { UNKNOWN_OUTCOME } from '@brand-data/importers';
import { SETTABLE_FIELDS } from '@brand-data/records';
import { Command } from 'commander';
import { UsageError } from '../../connection/usage-error.ts';
import type { Context } from '../../terminal/context.ts';
import { PartlyFailed } from '../../terminal/failures.ts';
import { dryRunTitle } from './decision.ts';

export function unsetCommand({ catalog, output }: Context): Command {
  return new Command('unset')
    .description('Remove what bds set has set, so that the sources decide about the fields again')
    .argument('<id>', "the record's id, such as apple")
    .argument('<field...>', 'the fields, such as company.ceo')
    .option('--dry-run', 'write nothing, and report what would change')
    .action(async (id: string, fields: string[], { dryRun = false }: { dryRun?: boolean }) => {
      const unknown = fields.find((field) => !SETTABLE_FIELDS.has(field));
      if (unknown !== undefined)
        throw new UsageError(
          `"${unknown}" is no field that can be set. Fields: ${[...SETTABLE_FIELDS.keys()].join(', ')}`,
        );
      const request = { fields: fields.map((field) => ({ id, field })), dryRun };
      const { results } = await catalog().call((client) => client.unsetFields, request);
      const failed = ({ outcome }: FieldResult) =>
        outcome === FieldOutcome.REFUSED || outcome === FieldOutcome.UNSPECIFIED;
      const refused = results.find(failed);
      if (refused !== undefined) throw new PartlyFailed(refused.reason || UNKNOWN_OUTCOME);
      const those = (wanted: FieldOutcome) => fields.filter((_, index) => results[index]?.outcome === wanted);
      const [unset, notSet] = [those(FieldOutcome.CHANGED), those(FieldOutcome.UNCHANGED)];
      output.answer({ id, dry_run: dryRun, unset, not_set: notSet }, () =>
        [
          ...dryRunTitle(dryRun),
          ...(unset.length > 0
            ? [`${id}: ${unset.join(', ')} ${unset.length === 1 ? 'is' : 'are'} now as the sources state it.`]
            : []),
          ...(notSet.length > 0 ? [`${id}: ${notSet.join(', ')} was not set.`] : []),
        ].join('\n'),
      );
    });
}
