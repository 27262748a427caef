import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Bds,
  bdsWith,
  keepCertificates,
  planStack,
  type Stack,
  startStack,
  writeSecret,
} from '@brand-data/local';
import { startMongod, startNatsServer } from '@brand-data/servers';
import { type Collection, type Db, MongoClient } from 'mongodb';
import { metricAt } from '../harness/servers.ts';

/** A running catalogue of one size. */
export interface RunningCatalogue {
  readonly size: number;
  readonly stack: Stack;
  readonly bds: Bds;
  readonly client: MongoClient;
  /** The catalogue's own database. */
  readonly db: Db;
  readonly companies: Collection;
  /** host:port of CatalogService. */
  readonly target: string;
  /** The folder of everything that is kept between runs. */
  readonly folder: string;
}

export interface RunningCatalogues {
  readonly of: readonly RunningCatalogue[];
  stop(): Promise<void>;
}

/**
 * Starts one mongod, and for each size the services with their own databases. `folder` is where the databases are kept. Without
 * it they are in a temporary folder, which is removed at the end.
 */
export async function startCatalogues(
  sizes: readonly number[],
  { folder, cacheGb }: { folder: string | undefined; cacheGb: number },
): Promise<RunningCatalogues> {
  const kept = folder ?? (await mkdtemp(join(tmpdir(), 'brand-data-bench-')));
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
    if (folder === undefined) await rm(kept, { recursive: true, force: true, maxRetries: 3 });
  };
  const say = (line: string) => console.log(line);
  try {
    const mongod = await startMongod({ dataDir: join(kept, 'mongod'), say });
    stops.push(mongod.stop);
    const nats = await startNatsServer({ dataDir: join(kept, 'nats-server'), say });
    stops.push(nats.stop);
    const client = new MongoClient(mongod.url, { writeConcern: { w: 'majority', journal: true } });
    stops.push(() => client.close());
    await client.db('admin').command({
      setParameter: 1,
      wiredTigerEngineRuntimeConfig: `cache_size=${Math.round(cacheGb * 1_024)}M`,
    });
    const of: RunningCatalogue[] = [];
    for (const size of sizes) {
      const own = join(kept, String(size));
      await mkdir(own, { recursive: true });
      const certificates = join(own, 'certificates');
      await keepCertificates(certificates);
      const plan = await planStack({
        dataDir: own,
        gateways: 0,
        databasePrefix: `bench_${size}`,
        certificates,
        mongodb: { url: mongod.url, hasUsers: false },
        nats: { url: nats.url, hasUsers: false },
        environment: { LOG_LEVEL: 'warn' },
      });
      const stack = await startStack(plan);
      stops.push(stack.stop);
      const connectionFile = join(own, 'operator.json');
      await writeSecret(connectionFile, stack.operator);
      const target = stack.targets.catalog ?? '';
      const bds = bdsWith(connectionFile);
      const db = client.db(`bench_${size}_catalog`);
      of.push({ size, stack, bds, client, target, folder: own, db, companies: db.collection('brands') });
    }
    return { of, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the most memory in bytes that a service uses while `work` runs. */
export async function peakMemoryDuring(
  stack: Stack,
  name: string,
  work: () => Promise<void>,
): Promise<number> {
  let peak = await memoryOf(stack, name);
  const clock = setInterval(async () => {
    peak = Math.max(peak, await memoryOf(stack, name).catch(() => 0));
  }, 500);
  try {
    await work();
  } finally {
    clearInterval(clock);
  }
  return Math.max(peak, await memoryOf(stack, name));
}

/** Resident bytes. */
export function memoryOf(stack: Stack, name: string): Promise<number> {
  return metricAt(stack.opsUrls.get(name) ?? '', 'process_resident_memory_bytes');
}
