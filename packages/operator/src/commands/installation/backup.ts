import { backup } from '@brand-data/backup';
import { DATABASE_SERVICES } from '@brand-data/contracts';
import { Command } from 'commander';
import type { Context } from '../../terminal/context.ts';
import { Interrupted } from '../../terminal/failures.ts';
import { figure } from '../../text/progress.ts';
import { facts } from '../../text/tables.ts';
import { type DatabaseOptions, databaseNames, databaseOption, onlyOption, readServers } from './servers.ts';

export function backupCommand({ env, output, pathOf, shown, interruption }: Context): Command {
  return new Command('backup')
    .description(
      'Copy the databases, and the usage that is only in NATS, while the services run. Needs MONGODB_URL and NATS_URL',
    )
    .requiredOption('--out <folder>', 'write the copy into this folder, which is new or empty')
    .addOption(onlyOption())
    .addOption(databaseOption())
    .action(async ({ out, only, ...options }: DatabaseOptions & { out: string }) => {
      const services = only ?? DATABASE_SERVICES;
      const servers = readServers(env, (service) => service === 'metering', services);
      const folder = pathOf(out);
      const signal = interruption();
      const manifest = await backup({
        servers,
        folder,
        services,
        signal,
        databaseOf: databaseNames(options),
        onProgress: (what, count) => output.progress(() => `${figure(count)} documents copied; now ${what}`),
      }).catch((error: unknown) => {
        if (signal.aborted) throw new Interrupted('stopped: there is no copy');
        throw error;
      });
      output.progress();
      const files = manifest.databases.flatMap(({ collections }) => collections);
      const documents = files.reduce((sum, { count }) => sum + count, 0);
      const messages = manifest.streams.reduce((sum, { count }) => sum + count, 0);
      const bytes = [...files, ...manifest.streams].reduce((sum, file) => sum + file.bytes, 0);
      const moments = manifest.databases.map(({ service, at }) => [`Moment of ${service}`, at] as const);
      output.answer({ folder: shown(folder), documents, messages, bytes, ...manifest }, () =>
        facts([
          ['Folder', shown(folder)],
          ...moments,
          ['Documents', figure(documents)],
          ['Usage messages', figure(messages)],
          ['Bytes', figure(bytes)],
        ]),
      );
    });
}
