import { mkdir, readdir, rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { DATABASE_SERVICES, type DatabaseService } from '@brand-data/contracts';
import { Fault, VERSION } from '@brand-data/runtime';
import { copyDatabases } from './copy-databases.ts';
import { type CopiedDatabase, type Manifest, writeManifest } from './manifest.ts';
import { type OpenNats, openMongo, openNats, type ServerSettings } from './servers.ts';
import { copyStream, usagePositions } from './usage-messages.ts';

export interface BackupOptions {
  servers: ServerSettings;
  /** A folder that does not exist yet, or is empty. */
  folder: string;
  /** The services whose data is copied. */
  services: readonly DatabaseService[];
  /** The name of a service's database. */
  databaseOf(service: DatabaseService): string;
  signal: AbortSignal;
  onProgress(what: string, count: number): void;
}

export type BackupResult = Manifest;

/**
 * The databases that are copied as of one moment. Accounts and metering belong together, because ledgers name revisions of plans.
 * Records and images refer to nothing that changes: an image's path is the hash of its content.
 */
const AS_OF_ONE_MOMENT: readonly (readonly DatabaseService[])[] = [
  ['accounts', 'metering'],
  ['catalog'],
  ['images'],
];

/** Just after an election, MongoDB may show the state of up to a second ago. */
const LONGEST_STALE_MS = 2_000;

/**
 * Copies the databases, and the usage that metering has not applied, into a folder while the services run. Uses little memory,
 * however large the databases are. If it fails or is stopped, it removes what it has written.
 */
export async function backup(options: BackupOptions): Promise<BackupResult> {
  const { servers, folder, services, signal } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0)
    throw new Fault('failed_precondition', `${folder} is not empty: name another folder`);
  const startedAt = new Date().toISOString();
  try {
    await using stack = new AsyncDisposableStack();
    const client = stack.adopt(await openMongo(servers), (open) => open.close());
    const nats = services.includes('metering')
      ? stack.adopt(await openNats(servers), ({ connection }) => connection.close())
      : undefined;
    // Everything up to these positions is in the databases, because they are copied later.
    const positions = nats === undefined ? [] : await usagePositions(nats);
    if (positions.length > 0) await delay(LONGEST_STALE_MS, undefined, { signal });
    const databases = await copyAll(client, options);
    const streams = [];
    for (const position of positions)
      streams.push(await copyStream(nats as OpenNats, position, { folder, signal }));
    const { version: mongodbVersion } = await client.db('admin').command({ buildInfo: 1 });
    const endedAt = new Date().toISOString();
    const manifest: Manifest = {
      format: 1,
      version: VERSION,
      mongodbVersion,
      startedAt,
      endedAt,
      databases,
      streams,
    };
    await writeManifest(folder, manifest);
    return manifest;
  } catch (error) {
    for (const name of await readdir(folder)) await rm(`${folder}/${name}`, { recursive: true, force: true });
    throw error;
  }
}

async function copyAll(
  client: Awaited<ReturnType<typeof openMongo>>,
  { services, databaseOf, folder, signal, onProgress }: BackupOptions,
): Promise<CopiedDatabase[]> {
  let documents = 0;
  const copied: CopiedDatabase[] = [];
  for (const group of AS_OF_ONE_MOMENT) {
    const sources = group
      .filter((service) => services.includes(service))
      .map((service) => ({ service, name: databaseOf(service) }));
    if (sources.length === 0) continue;
    const onDocument = (collection: string) => onProgress(collection, ++documents);
    copied.push(...(await copyDatabases(client, sources, { folder, signal, onDocument })));
  }
  return copied.toSorted((a, b) => order(a) - order(b));
}

function order({ service }: CopiedDatabase): number {
  return DATABASE_SERVICES.indexOf(service);
}
