import type { SweepImagesRequest } from '@brand-data/contracts';
import { Command } from 'commander';
import type { Connection } from '../connection.ts';
import type { Context } from '../context.ts';
import { facts } from '../output.ts';
import { figure } from '../progress.ts';
import { resumedStream } from '../resumed-stream.ts';

/** Time for the whole sweep. */
const SWEEP_MS = 900_000;

export function logoSweepCommand({ connect, output }: Context): Command {
  return new Command('sweep')
    .description(
      'Tell images which pictures records name, and remove those that no record has named for 30 days',
    )
    .action(async () => {
      const connection = connect();
      const swept = await connection
        .images()
        .sendStream((client) => client.sweepImages, pathsInUse(connection), SWEEP_MS);
      const { named, unnamed, removed, missing } = swept;
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

/** All paths that the catalogue's source records and overrides name. Throws if they cannot all be read. */
async function* pathsInUse({ catalog }: Connection): AsyncGenerator<SweepImagesRequest> {
  const messages = resumedStream((after) =>
    catalog().readStream((client) => client.listImagePaths, { after }, SWEEP_MS),
  );
  for await (const { paths } of messages) yield { paths, complete: false };
  yield { paths: [], complete: true };
}
