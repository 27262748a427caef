import { cpuMicrosAt } from '../harness/servers.ts';
import type { RunningCatalogue } from './running.ts';

/** Elapsed seconds and seconds of processor time. On a machine that runs other programs too, processor time is more reliable. */
export interface Cost {
  readonly seconds: number;
  /** Processor time of this process, which runs `bds` and the driver. */
  readonly own: number;
  readonly catalog: number;
  readonly mongod: number;
}

export const NO_COST: Cost = { seconds: 0, own: 0, catalog: 0, mongod: 0 };

export async function costOf(catalogue: RunningCatalogue, work: () => Promise<void>): Promise<Cost> {
  const before = await spent(catalogue);
  await work();
  const after = await spent(catalogue);
  return combined(after, before, (a, b) => a - b);
}

export function sum(a: Cost, b: Cost): Cost {
  return combined(a, b, (one, other) => one + other);
}

async function spent({ stack, client }: RunningCatalogue): Promise<Cost> {
  const { extra_info } = await client.db('admin').command({ serverStatus: 1 });
  const { user, system } = process.cpuUsage();
  return {
    seconds: performance.now() / 1_000,
    own: (user + system) / 1e6,
    catalog: (await cpuMicrosAt(stack.opsUrls.get('catalog') ?? '')) / 1e6,
    mongod: (extra_info.user_time_us + extra_info.system_time_us) / 1e6,
  };
}

function combined(a: Cost, b: Cost, of: (a: number, b: number) => number): Cost {
  return {
    seconds: of(a.seconds, b.seconds),
    own: of(a.own, b.own),
    catalog: of(a.catalog, b.catalog),
    mongod: of(a.mongod, b.mongod),
  };
}
