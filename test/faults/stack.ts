/** Runs the whole service as processes, and can break each part of it. It also works outside vitest. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepCertificates, type PlannedService, planStack, startStack } from '@brand-data/local';
import { startMongodCluster, startNatsCluster } from '@brand-data/testing/clusters';
import { Wire } from '@brand-data/testing/wire';
import { fullStock } from '../e2e/fixtures.ts';
import { TestOperator } from '../e2e/operator.ts';
import { runningStack } from '../stack/running-stack.ts';
import { createApiClient } from './api-call.ts';

const ADDRESS = /127\.0\.0\.1:\d+/g;

/** What a process can be cut off from. "gateways": from the requests of gateways to a replica of metering. */
export type CutFrom = 'NATS' | 'MongoDB' | 'metering' | 'gateways';

export interface FaultStackOptions {
  /** By default two. */
  gateways?: number;
  meterings?: number;
  /** The replicas of each of accounts, catalog and images. Absent: one, without a number in its name. */
  others?: number;
  /** Which processes, by name, can be cut off, and from what. */
  canBeCutOff?: Readonly<Record<string, readonly CutFrom[]>>;
  /** Uses three mongods and three nats-servers instead of one of each. Streams then have three copies. */
  clusters?: boolean;
  /** A NATS without users. By default the stack starts one in which each service has the rights that this version needs. */
  natsUrl?: string;
  /** Changes the processes before they are started. */
  change?: (service: PlannedService) => PlannedService;
  say?: (line: string) => void;
}

export type FaultStack = Awaited<ReturnType<typeof startFaultStack>>;

/** Starts servers and services. Resolves when all are ready. */
export async function startFaultStack(options: FaultStackOptions = {}) {
  const { gateways = 2, meterings = 1, others, natsUrl } = options;
  const { say = () => {}, change = (service) => service } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'brand-data-faults-'));
  const certificates = join(dataDir, 'certificates');
  await keepCertificates(certificates);
  const clusters = options.clusters ? await startClusters(dataDir) : undefined;
  const links = new Links(options.canBeCutOff);
  const stopServers = async () => {
    await Promise.all([clusters?.mongod.stop(), clusters?.['nats-server'].stop()]);
    links.close();
  };
  const plan = await planStack({
    dataDir,
    gateways,
    databasePrefix: 'faults',
    certificates,
    ...(natsUrl !== undefined && { nats: { url: natsUrl, hasUsers: false } }),
    ...(clusters && {
      mongodb: { url: clusters.mongod.url, hasUsers: false },
      nats: { url: clusters['nats-server'].url, hasUsers: false },
      environment: { STREAM_REPLICAS: '3' },
    }),
    replicas: { metering: meterings, ...(others && { accounts: others, catalog: others, images: others }) },
  });
  const meteringTargets = (plan.targets.metering ?? '').replace('ipv4:', '').split(',');
  const services = (await links.through(plan.services, meteringTargets)).map(change);
  const stack = await startStack({ ...plan, services }, { say }).catch(async (error: unknown) => {
    await stopServers();
    throw error;
  });
  const members = clusters ? Object.values(clusters).flatMap((each) => [...each.members.values()]) : [];
  const running = await runningStack(stack, members);
  const signal = (name: string, how: 'SIGSTOP' | 'SIGCONT') => {
    const pid = running.pid(name);
    if (pid !== undefined) process.kill(pid, how);
  };
  const stopButKeepLogs = async () => {
    for (const name of running.names) signal(name, 'SIGCONT');
    await stack.stop();
    await stopServers();
  };
  return {
    ...running,
    /** The clusters if the option `clusters` is set. */
    clusters,
    /** The gRPC ports of metering's replicas, host:port. */
    meteringTargets,
    /** SIGSTOP: the process keeps its connections and answers nothing. */
    freeze: (name: string) => signal(name, 'SIGSTOP'),
    /** SIGCONT. */
    thaw: (name: string) => signal(name, 'SIGCONT'),
    /**
     * Cuts a process off from `from`, or from everything that `canBeCutOff` names for it. Nothing that is sent arrives, although
     * connections seem to be open.
     */
    cut(name: string, from?: CutFrom) {
      for (const wire of links.of(name, from)) wire.blackhole();
    },
    heal(name: string, from?: CutFrom) {
      for (const wire of links.of(name, from)) wire.heal();
    },
    /** Stops the stack and keeps the output of the processes. */
    stopButKeepLogs,
    stop: async () => {
      await stopButKeepLogs();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** A stack, and those who use it. */
export type Harness = Awaited<ReturnType<typeof startHarness>>;

export async function startHarness(
  options: FaultStackOptions,
  records: Parameters<TestOperator['putBrands']>[0] = [fullStock],
) {
  const stack = await startFaultStack(options);
  const operator = new TestOperator(stack);
  const client = createApiClient();
  const stop = async (how?: 'but keep logs') => {
    client.close();
    operator.close();
    await (how === undefined ? stack.stop() : stack.stopButKeepLogs());
  };
  if (records.length > 0)
    await operator.putBrands(records).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
  return { stack, operator, client, stop };
}

/** The connections of the processes that can be cut off, through proxies. */
class Links {
  readonly #canBeCutOff: Readonly<Record<string, readonly CutFrom[]>>;
  readonly #links: { name: string; from: CutFrom; wires: Wire[] }[] = [];

  constructor(canBeCutOff: FaultStackOptions['canBeCutOff'] = {}) {
    this.#canBeCutOff = canBeCutOff;
  }

  of(name: string, from?: CutFrom): Wire[] {
    const found = this.#links.filter((link) => link.name === name && (from ?? link.from) === link.from);
    if (found.length === 0) throw new Error(`${name} cannot be cut off from ${from ?? 'anything'}`);
    return found.flatMap(({ wires }) => wires);
  }

  close(): void {
    for (const { wires } of this.#links) for (const wire of wires) wire.close();
  }

  /** Returns the services with their addresses behind the links. `meterings`: the replicas of metering in their order. */
  async through(
    services: readonly PlannedService[],
    meterings: readonly string[],
  ): Promise<PlannedService[]> {
    const names = services.filter(({ service }) => service === 'metering').map(({ name }) => name);
    const seen = new Map<string, string>();
    for (const [each, target] of meterings.entries())
      seen.set(target, await this.#behind(names[each] ?? '', 'gateways', target));
    const changed = services.map(async ({ ...service }) => {
      const { name, environment } = service;
      const { NATS_URL, MONGODB_URL, ...others } = service.secretSettings;
      service.secretSettings = { ...others, NATS_URL: await this.#behind(name, 'NATS', NATS_URL) };
      if (MONGODB_URL !== undefined)
        service.secretSettings.MONGODB_URL = await this.#behind(name, 'MongoDB', MONGODB_URL);
      if (service.service !== 'gateway') return service;
      const target = String(environment.METERING_TARGET).replace(ADDRESS, (each) => seen.get(each) ?? each);
      const METERING_TARGET = await this.#behind(name, 'metering', target);
      return { ...service, environment: { ...environment, METERING_TARGET } };
    });
    return Promise.all(changed);
  }

  /** Replaces each address in the URL or target, such as "127.0.0.1:4222", by that of a proxy, if the process can be cut off. */
  async #behind(name: string, from: CutFrom, url: string): Promise<string> {
    if (!this.#canBeCutOff[name]?.includes(from)) return url;
    // Members of a cluster send each other's addresses, so the proxies replace ports in messages too. All ports have five digits.
    const renames = new Map<string, string>();
    const wires: Wire[] = [];
    this.#links.push({ name, from, wires });
    for (const [address] of url.matchAll(ADDRESS)) {
      const wire = await Wire.start(renames);
      wires.push(wire);
      renames.set(address, new URL(wire.to(`tcp://${address}`)).host);
    }
    return url.replace(ADDRESS, (address) => renames.get(address) ?? address);
  }
}

async function startClusters(dataDir: string) {
  const mongod = await startMongodCluster(dataDir);
  try {
    return { mongod, 'nats-server': await startNatsCluster(dataDir) };
  } catch (error) {
    await mongod.stop();
    throw error;
  }
}
