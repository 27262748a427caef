import { Command } from 'commander';
import type { Context } from '../../terminal/context.ts';
import { logoFolderCommand } from './logo-folder.ts';
import { logoSetCommand, logoUnsetCommand } from './logo-set.ts';
import { logoSweepCommand } from './logo-sweep.ts';

export function logoCommand(context: Context): Command {
  const command = new Command('logo').description('Give records logos and other pictures');
  for (const each of [logoSetCommand, logoUnsetCommand, logoFolderCommand, logoSweepCommand])
    command.addCommand(each(context));
  return command;
}
