import type { ServerSettings } from '@brand-data/backup';
import { DATABASE_SERVICES, type DatabaseService } from '@brand-data/contracts';
import { readSettingFiles } from '@brand-data/runtime';
import { InvalidArgumentError, Option } from 'commander';
import { UsageError } from '../../connection/usage-error.ts';

const NAMES = ['MONGODB_URL', 'MONGODB_CA', 'NATS_URL', 'NATS_CA'] as const;

/** The services whose databases a command is about, and the names of the databases. */
export interface DatabaseOptions {
  only?: DatabaseService[];
  database?: Map<DatabaseService, string>;
}

/** Returns the addresses of MongoDB and NATS, with the same settings as those of the services. */
export function readServers(
  env: NodeJS.ProcessEnv,
  needsNats: (service: DatabaseService) => boolean,
  services: readonly DatabaseService[],
): ServerSettings {
  const { environment, problems, missing } = readSettingFiles(env, NAMES);
  for (const [name, problem] of problems) throw new UsageError(`${name}: ${problem}`);
  const required = services.some(needsNats)
    ? (['MONGODB_URL', 'NATS_URL'] as const)
    : (['MONGODB_URL'] as const);
  for (const name of required) {
    if (missing.has(name)) throw new UsageError(`${name}: the file that ${name}_FILE names does not exist`);
    if (!environment[name])
      throw new UsageError(
        `${name} is missing: set it, or ${name}_FILE, as for the services, with a user that may read and write everything`,
      );
  }
  const { MONGODB_URL = '', MONGODB_CA, NATS_URL, NATS_CA } = environment;
  return { MONGODB_URL, MONGODB_CA, NATS_URL, NATS_CA };
}

export function onlyOption(): Option {
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

export function databaseOption(): Option {
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

export function databaseNames({ database }: DatabaseOptions): (service: DatabaseService) => string {
  return (service) => database?.get(service) ?? `brand_data_${service}`;
}
