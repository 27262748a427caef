import { createWriteStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SweepImagesRequest } from '@brand-data/contracts';
import { type LogoFileFigures, readLogoFiles } from '@brand-data/importers';
import { inBatches } from '@brand-data/runtime';
import { Command } from '@commander-js/extra-typings';
import type { Connection } from '../../connection/connection.ts';
import { type Context, commandGroup } from '../../terminal/context.ts';
import { figure } from '../../text/reports.ts';
import { facts } from '../../text/tables.ts';
import type { ImportFigures } from '../imports/import-report.ts';
import { reportedRecords } from '../imports/reported-import.ts';
import { logoSetCommand, logoUnsetCommand } from './logo-set.ts';

/** Catalog's list of precedence names this source. */
const SOURCE = 'logo-files';
const MOST_SHOWN = 20;
const SWEEP_MS = 900_000;
const PATHS_IN_MESSAGE = 5_000;

export function logoCommand(context: Context) {
  const commands = [logoSetCommand, logoUnsetCommand, importFolderCommand, sweepCommand];
  return commandGroup(context, 'logo', 'Give records logos and other pictures', commands);
}

function importFolderCommand(context: Context) {
  const { catalog, pathOf } = context;
  return new Command('import-folder')
    .description(
      'Import the logos of a folder for the records that name their files, such as those of Wikidata',
    )
    .argument('<folder>', 'the folder with the files, named as on Wikimedia Commons')
    .option('--dry-run', 'report what would change, without changing the catalogue')
    .option('--prune', 'remove the logos of earlier imports whose files this folder does not have')
    .option(
      '--rejects <file>',
      'write missing files and refused pictures to this file (default: logo-files.rejects.ndjson)',
    )
    .option('--conflicts <file>', 'write conflicts to this file (default: logo-files.conflicts.ndjson)')
    .action((folder, options) =>
      reportedRecords(context, { ...options, source: SOURCE }, ({ figures }) =>
        readLogoFiles(pathOf(folder), logoFiles(catalog()), (found) =>
          Object.assign(figures, figuresOf(found)),
        ),
      ),
    );
}

async function* logoFiles(catalog: ReturnType<Connection['catalog']>) {
  const messages = catalog.readStream((client) => client.listLogoFiles, { after: '' });
  for await (const { files } of messages) yield* files;
}

/**
 * Returns the number of missing files and of unused ones, and the first missing files with the number of records that name each.
 */
function figuresOf({ missing, unnamed }: LogoFileFigures): ImportFigures {
  return {
    files: { missing: missing.size, 'not named by any record': unnamed.length },
    ...(missing.size > 0 && { missing_files: Object.fromEntries([...missing].slice(0, MOST_SHOWN)) }),
  };
}

function sweepCommand({ catalog, images, output }: Context) {
  return new Command('sweep')
    .description(
      'Tell images which pictures records name, and remove those that no record has named for 30 days',
    )
    .action(async () => {
      const { named, unnamed, removed, missing } = await sweep({ catalog, images });
      const title = 'Records name these paths, and images does not have them:';
      output.answer({ named, unnamed, removed, missing }, () => [
        facts([
          ['Named', figure(named)],
          ['Unnamed', figure(unnamed)],
          ['Removed', figure(removed)],
        ]),
        missing.length === 0 ? undefined : [title, ...missing.map((path) => `  ${path}`)],
      ]);
    });
}

/**
 * Collects the paths in a temporary file before it sends them. Catalog may take minutes to read them all, and its stream can go on
 * if it breaks off. The stream to images cannot, and images ends connections after a minute.
 */
async function sweep({ catalog, images }: Pick<Connection, 'catalog' | 'images'>) {
  const folder = await mkdtemp(join(tmpdir(), 'bds-sweep-'));
  try {
    const file = join(folder, 'paths');
    await pipeline(Readable.from(pathLines(catalog())), createWriteStream(file));
    return await images().sendStream((client) => client.sweepImages, messagesOf(file), SWEEP_MS);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Yields all paths that the catalogue's source records and overrides name. Throws if they cannot all be read. */
async function* pathLines(catalog: ReturnType<Connection['catalog']>): AsyncGenerator<string> {
  const messages = catalog.readStream((client) => client.listImagePaths, { after: '' });
  for await (const { paths } of messages) yield paths.map((path) => `${path}\n`).join('');
}

async function* messagesOf(file: string): AsyncGenerator<SweepImagesRequest> {
  await using handle = await open(file);
  for await (const paths of inBatches(handle.readLines(), { items: PATHS_IN_MESSAGE }))
    yield { paths, complete: false };
  yield { paths: [], complete: true };
}
