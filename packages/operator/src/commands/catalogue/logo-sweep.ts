import { createWriteStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { SweepImagesRequest } from '@brand-data/contracts';
import { inBatches } from '@brand-data/runtime';
import { Command } from 'commander';
import type { Connection } from '../../connection/connection.ts';
import { resumedStream } from '../../connection/resumed-stream.ts';
import type { Context } from '../../terminal/context.ts';
import { figure } from '../../text/progress.ts';
import { facts } from '../../text/tables.ts';

const LIST_MS = 3_600_000;
const SWEEP_MS = 900_000;
const PATHS_IN_MESSAGE = 5_000;

type Ports = Pick<Connection, 'catalog' | 'images'>;

export function logoSweepCommand({ catalog, images, output }: Context): Command {
  return new Command('sweep')
    .description(
      'Tell images which pictures records name, and remove those that no record has named for 30 days',
    )
    .action(async () => {
      const { named, unnamed, removed, missing } = await sweep({ catalog, images });
      output.answer({ named, unnamed, removed, missing }, () =>
        [
          facts([
            ['Named', figure(named)],
            ['Unnamed', figure(unnamed)],
            ['Removed', figure(removed)],
          ]),
          ...(missing.length === 0
            ? []
            : [
                'Records name these paths, and images does not have them:',
                ...missing.map((path) => `  ${path}`),
              ]),
        ].join('\n'),
      );
    });
}

/**
 * Collects the paths in a temporary file before it sends them. Catalog may take minutes to read them all, and its stream can go on
 * if it breaks off. The stream to images cannot, and images ends connections after a minute.
 */
async function sweep({ catalog, images }: Ports) {
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
async function* pathLines(catalog: ReturnType<Ports['catalog']>): AsyncGenerator<string> {
  const messages = resumedStream((after) =>
    catalog.readStream((client) => client.listImagePaths, { after }, LIST_MS),
  );
  for await (const { paths } of messages) yield paths.map((path) => `${path}\n`).join('');
}

async function* messagesOf(file: string): AsyncGenerator<SweepImagesRequest> {
  await using handle = await open(file);
  for await (const paths of inBatches(handle.readLines(), { items: PATHS_IN_MESSAGE }))
    yield { paths, complete: false };
  yield { paths: [], complete: true };
}
