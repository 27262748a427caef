import { Command } from 'commander';
import type { Context } from '../../terminal/context.ts';
import { catalogueExportCommand } from './catalogue-export.ts';
import { catalogueListCommand } from './catalogue-list.ts';
import { catalogueRestoreCommand } from './catalogue-restore.ts';
import { catalogueStatsCommand } from './catalogue-stats.ts';

export function catalogueCommand(context: Context): Command {
  return new Command('catalogue')
    .description('List, count, export and restore the records of the catalogue')
    .addCommand(catalogueListCommand(context))
    .addCommand(catalogueStatsCommand(context))
    .addCommand(catalogueExportCommand(context))
    .addCommand(catalogueRestoreCommand(context));
}
