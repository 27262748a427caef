import type { Block } from '@brand-data/contracts';
import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { readDuration } from '../../options/readers.ts';
import { type Context, commandGroup } from '../../terminal/context.ts';
import { type Columns, listTable, time } from '../../text/tables.ts';

export function blockCommand(context: Context): CommandUnknownOpts {
  const description = 'Refuse all requests from an address or network, at every gateway';
  const group = commandGroup(context, 'block', description, []);
  return group
    .addCommand(add(context), { isDefault: true })
    .addCommand(list(context))
    .addCommand(lift(context));
}

function add({ accounts, output }: Context) {
  return new Command('add')
    .description('Refuse all requests from an address or network for some time; the word add may be left out')
    .argument('<address>', 'such as 203.0.113.7, 203.0.113.0/24 or 2001:db8:1:2::/64')
    .requiredOption('--for <duration>', 'lift the block after this time: 30m, 24h, 7d', readDuration)
    .requiredOption('--reason <text>', 'why, as bds block list and the trail show it')
    .addHelpText(
      'after',
      '\nThe network of one IPv6 client usually is a /64. A further block of the same network replaces the first.',
    )
    .action(async (network, { for: forMs, reason }) => {
      const request = { network, forMs, reason };
      const { block } = await accounts().call((client) => client.blockNetwork, request);
      if (block) output.answer({ block: blockToJson(block) }, () => listTable(COLUMNS, [block]));
    });
}

function list({ accounts, output }: Context) {
  return new Command('list').description('List the blocks that have not expired').action(async () => {
    const { blocks } = await accounts().call((client) => client.listBlocks, {});
    output.answer({ blocks: blocks.map(blockToJson) }, () =>
      listTable(COLUMNS, blocks, 'Nothing is blocked.'),
    );
  });
}

function lift({ accounts, output }: Context) {
  return new Command('lift')
    .description('End a block before it expires')
    .argument('<address>', 'the address or network, as bds block list shows it')
    .action(async (network) => {
      const { block } = await accounts().call((client) => client.unblockNetwork, { network });
      if (block)
        output.answer(
          { lifted: blockToJson(block) },
          () => `${block.blocked?.network} is no longer blocked.`,
        );
    });
}

function blockToJson({ blocked, reason, createdAtMs, createdBy }: Block) {
  return {
    network: blocked?.network,
    until: time(blocked?.expiresAtMs),
    reason,
    created_at: time(createdAtMs),
    created_by: createdBy,
  };
}

const COLUMNS: Columns<Block> = {
  NETWORK: ({ blocked }) => blocked?.network,
  UNTIL: ({ blocked }) => time(blocked?.expiresAtMs),
  REASON: ({ reason }) => reason,
  CREATED: ({ createdAtMs }) => time(createdAtMs),
  BY: ({ createdBy }) => createdBy,
};
