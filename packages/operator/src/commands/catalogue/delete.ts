import { Command } from 'commander';
import { confirm, YES_OPTION } from '../../terminal/confirm.ts';
import type { Context } from '../../terminal/context.ts';

export function deleteCommand(context: Context): Command {
  const { catalog, output } = context;
  return new Command('delete')
    .description('Delete a record together with all its source records and all that bds set has set')
    .argument('<id>', "the record's id, such as apple")
    .addHelpText(
      'after',
      '\nIf a source still has the record, the next import of that source creates it again.',
    )
    .option(...YES_OPTION)
    .action(async (id: string, options: { yes?: boolean }) => {
      await confirm(context, `Deleting ${id}`, options);
      const { contributions, overrides } = await catalog().call((client) => client.deleteBrand, { id });
      output.answer({ id, contributions, ...(overrides > 0 && { overrides }) }, () => {
        const set = overrides === 0 ? '' : `, and what bds set had set: ${counted(overrides, 'field')}`;
        return `${id} is deleted: ${counted(contributions, 'source record')}${set}.`;
      });
    });
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
