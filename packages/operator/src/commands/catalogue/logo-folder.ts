import { type BytesRead, importBrands, type LogoFileFigures, readLogoFiles } from '@brand-data/importers';
import { Command } from 'commander';
import type { Connection } from '../../connection/connection.ts';
import { resumedStream } from '../../connection/resumed-stream.ts';
import type { Context } from '../../terminal/context.ts';
import type { ImportFigures } from '../imports/import-report.ts';
import { type ReportedOptions, reportedImport } from '../imports/reported-import.ts';

/** Catalog's list of precedence names this source. */
const SOURCE = 'logo-files';
const LIST_MS = 600_000;
const MOST_SHOWN = 20;

export function logoFolderCommand(context: Context): Command {
  const { catalog, images, pathOf } = context;
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
    .action((folder: string, options: Omit<ReportedOptions, 'source'>) => {
      const bytes: BytesRead = { read: 0, total: 0 };
      let figures: ImportFigures = {};
      return reportedImport(
        context,
        { ...options, source: SOURCE },
        bytes,
        (run) => {
          const brands = readLogoFiles(pathOf(folder), logoFiles(catalog()), (found) => {
            figures = figuresOf(found);
          });
          return importBrands({ catalog: catalog(), images }, brands, run);
        },
        () => figures,
      );
    });
}

async function* logoFiles(catalog: ReturnType<Connection['catalog']>) {
  const messages = resumedStream((after) =>
    catalog.readStream((client) => client.listLogoFiles, { after }, LIST_MS),
  );
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
