import { Command } from 'commander';
import { UsageError } from '../connection.ts';
import type { Context } from '../context.ts';
import { readRecords } from '../imports/records.ts';
import { type ImportSummary, type ReadBrand, runImport } from '../imports/run.ts';
import { readSimpleIcons } from '../imports/simple-icons.ts';
import { facts } from '../output.ts';

/** Some records were refused; the others are in, and the summary that was shown names each. */
class RefusedRecords extends Error {
  override readonly name = 'RefusedRecords';
}

interface Options {
  source?: string;
  images?: string;
  prune?: boolean | undefined;
}

export function importCommand({ connect, output }: Context): Command {
  const command = new Command('import').description('put records into the catalogue; may be run again');

  async function run(
    brands: AsyncIterable<ReadBrand>,
    { source, prune = false }: Options & { source: string },
  ): Promise<void> {
    const summary = await runImport(connect().catalog(), brands, {
      source,
      prune,
      onProgress: ({ read, created, changed, unchanged, refused }) =>
        output.progress(
          `${read} read, ${created} created, ${changed} changed, ${unchanged} unchanged, ${refused.length} refused`,
        ),
    }).finally(() => output.progress(''));
    output.answer(summaryToJson(summary), () => summaryText(summary, prune));
    const { refused } = summary;
    if (refused.length > 0)
      throw new RefusedRecords(
        `${refused.length} of ${summary.read} records were refused: correct and import again`,
      );
  }

  command
    .command('records')
    .description('import records from files (.json, .ndjson) and folders of .json files')
    .argument('<path...>')
    .option('--source <name>', 'what the records are called as a source', 'sample')
    .option('--images <folder>', 'where the logo host serves from: write stock logos there')
    .option('--prune', 'take back what this source put before and no longer has')
    .action((paths: string[], options: Options & { source: string }) =>
      run(readRecords(paths, { imagesDir: options.images }), options),
    );

  command
    .command('simple-icons')
    .description('import the brands of the package simple-icons, with their logos')
    .option('--images <folder>', 'where the logo host serves from: write the logos there')
    .option('--prune', 'take back brands that the package no longer has')
    .action(({ images, prune }: Options) => {
      if (images === undefined)
        throw new UsageError('say where the logos are to be written: --images <folder>');
      return run(readSimpleIcons(images), { source: 'simple-icons', prune });
    });

  return command;
}

function summaryToJson({ importId, ...summary }: ImportSummary) {
  return { import_id: importId, ...summary };
}

function summaryText({ source, refused, pruned, ...counts }: ImportSummary, prune: boolean): string {
  const reasons = refused.map(({ id, reason }) => `  ${id}: ${reason}`);
  return [
    facts([
      ['Source', source],
      ['Read', counts.read],
      ['Created', counts.created],
      ['Changed', counts.changed],
      ['Unchanged', counts.unchanged],
      ['Refused', refused.length],
      ['Pruned', pruned ?? (prune ? 'nothing, since records were refused' : undefined)],
    ]),
    ...reasons,
  ].join('\n');
}
