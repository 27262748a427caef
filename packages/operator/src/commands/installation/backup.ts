import { backup, type ServerSettings } from '@brand-data/backup';
import { DATABASE_SERVICES, type DatabaseService } from '@brand-data/contracts';
import { readSettingFiles } from '@brand-data/runtime';
import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { Interrupted, UsageError } from '../../connection/failures.ts';
import type { Context } from '../../terminal/context.ts';
import { figure } from '../../text/reports.ts';
import { facts } from '../../text/tables.ts';

const NAMES = ['MONGODB_URL', 'MONGODB_CA', 'NATS_URL', 'NATS_CA'] as const;

export function backupCommand({ env, output, pathOf, shown, interruption }: Context) {
  return new Command('backup')
    .description(
      'Copy the databases, and the usage that is only in NATS, while the services run. Needs MONGODB_URL and NATS_URL',
    )
    .requiredOption('--out <folder>', 'write the copy into this folder, which is new or empty')
    .addOption(onlyOption())
    .addOption(databaseOption())
    .action(async ({ out, only: services = DATABASE_SERVICES, database }) => {
      const servers = readServers(env, (service) => service === 'metering', services);
      const folder = pathOf(out);
      const signal = interruption();
      const { manifest, isInTrail } = await backup({
        servers,
        folder,
        services,
        signal,
        databaseOf: databaseNames(database),
        onProgress: (what, count) => output.progress(() => `${figure(count)} documents copied; now ${what}`),
      }).catch((error: unknown) => {
        if (signal.aborted) throw new Interrupted('stopped: there is no copy');
        throw error;
      });
      output.progress();
      if (isInTrail === false)
        output.notice('the copy is whole, but the trail has no entry of it, because NATS did not take one');
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

/** Returns the addresses of MongoDB and NATS, with the same settings as those of the services. */
export function readServers(
  env: NodeJS.ProcessEnv,
  needsNats: (service: DatabaseService) => boolean,
  services: readonly DatabaseService[],
): ServerSettings {
  const { environment, problems, missing } = readSettingFiles(env, NAMES);
  for (const [name, problem] of problems) throw new UsageError(`${name}: ${problem}`);
  for (const name of services.some(needsNats) ? ['MONGODB_URL', 'NATS_URL'] : ['MONGODB_URL']) {
    if (missing.has(name)) throw new UsageError(`${name}: the file that ${name}_FILE names does not exist`);
    if (!environment[name])
      throw new UsageError(
        `${name} is missing: set it, or ${name}_FILE, as for the services, with a user that may read and write everything`,
      );
  }
  const { MONGODB_URL = '', MONGODB_CA, NATS_URL, NATS_CA } = environment;
  return { MONGODB_URL, MONGODB_CA, NATS_URL, NATS_CA };
}

export function onlyOption() {
  return new Option(
    '--only <services>',
    `only the data of these services, separated by commas (default: ${DATABASE_SERVICES.join(',')})`,
  ).argParser((text: string) =>
    text.split(',').map((name) => {
      const service = DATABASE_SERVICES.find((known) => known === name);
      if (!service) throw new InvalidArgumentError(`one of ${DATABASE_SERVICES.join(', ')}`);
      return service;
    }),
  );
}

export function databaseOption() {
  return new Option(
    '--database <service=name>',
    'the name of the database of a service; repeatable (default: brand_data_<service>)',
  ).argParser((text: string, before: Map<DatabaseService, string> = new Map()) => {
    const [, name, database] = /^([a-z]+)=([\w-]+)$/.exec(text) ?? [];
    const service = DATABASE_SERVICES.find((known) => known === name);
    if (!service || database === undefined)
      throw new InvalidArgumentError('write it as accounts=the_name_of_the_database');
    return new Map([...before, [service, database]]);
  });
}

/** Returns the name of a service's database, by the option --database. */
export function databaseNames(given: ReadonlyMap<DatabaseService, string> = new Map()) {
  return (service: DatabaseService): string => given.get(service) ?? `brand_data_${service}`;
}
