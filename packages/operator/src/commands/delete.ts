import { Command } from 'commander';
import type { Context } from '../context.ts';

export function deleteCommand({ connect, output }: Context): Command {
  return new Command('delete')
    .description('Delete a record together with all its source records')
    .argument('<id>', "the record's id, such as apple")
    .addHelpText(
      'after',
      '\nIf a source still has the record, the next import of that source creates it again.',
    )
    .action(async (id: string) => {
      const { contributions } = await connect()
        .catalog()
        .call((client) => client.deleteBrand, { id });
      output.answer(
        { id, contributions },
        () => `${id} is deleted: ${contributions} source record${contributions === 1 ? '' : 's'}.`,
      );
    });
}
