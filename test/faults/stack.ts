/** Runs the whole service as processes, and can break each part of it. It also works outside vitest. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepCertificates, type PlannedService, planStack, startStack } from '@brand-data/local';
import {
  type Cluster,
  type MongodCluster,
  startMongodCluster,
  startNatsCluster,
} from '@brand-data/testing/clusters';
import type { TestStack } from '../stack/index.ts';
import { runningStack } from '../stack/running-stack.ts';
import { ADDRESS, type ProxiedLink, startProxiedLink } from './proxied-link.ts';

/** The most addresses that one URL has: a cluster has three members, and metering two replicas. */
const MOST_ADDRESSES = 3;

/** What a process can be cut off from. "gateways": from the requests of gateways to a replica of metering. */
export type CutFrom = 'NATS' | 'MongoDB' | 'metering' | 'gateways';

export interface FaultStackOptions {
  gateways?: number;
  meterings?: number;
  /** The replicas of each of accounts, catalog and images. Absent: one, without a number in its name. */
  others?: number;
  /** Which processes, by name, can be cut off, and from what. */
  canBeCutOff?: Readonly<Record<string, readonly CutFrom[]>>;
  /** Uses three mongods and three nats-servers instead of one of each. Streams then have three copies. */
  clusters?: boolean;
  /** Changes the processes before they are started. */
  change?: (service: PlannedService) => PlannedService;
  /** Further settings of the services. */
  environment?: NodeJS.ProcessEnv;
  say?: (line: string) => void;
}

export interface FaultStack extends TestStack {
  /** The gRPC ports of metering's replicas, host:port. */
  meteringTargets: readonly string[];
  /** The clusters if the option `clusters` is set. */
  clusters: Clusters | undefined;
  /** SIGSTOP: the process keeps its connections and answers nothing. */
  freeze(name: string): void;
  /** SIGCONT. */
  thaw(name: string): void;
  /**
   * Cuts a process off from `from`, or from everything that `canBeCutOff` names for it. Nothing that is sent arrives, although
   * connections seem to be open.
   */
  cut(name: string, from?: CutFrom): void;
  heal(name: string, from?: CutFrom): void;
  /**
   * A service's metrics by "name{labels}" or "name". For a labelled metric, "name" is the sum. Empty: the service did not
   * answer.
   */
  metrics(name: string): Promise<Metrics>;
  /** Stops the stack and keeps the output of the processes. */
  stopButKeepLogs(): Promise<void>;
}

interface Clusters {
  mongodb: MongodCluster;
  nats: Cluster;
}

interface Metrics {
  /** Returns undefined if the metric does not exist. */
  sum(name: string, labels?: Record<string, string>): number | undefined;
}

/** Starts servers and services. Resolves when all are ready. */
export async function startFaultStack(options: FaultStackOptions = {}): Promise<FaultStack> {
  const { gateways = 2, meterings = 1, others, say = () => {}, environment, change } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'brand-data-faults-'));
  const certificates = join(dataDir, 'certificates');
  await keepCertificates(certificates);
  const links = await Links.start(options.canBeCutOff);
  const clusters = options.clusters ? await startClusters(dataDir) : undefined;
  const stopServers = async () => {
    await Promise.all([clusters?.mongodb.stop(), clusters?.nats.stop()]);
    links.close();
  };
  const plan = await planStack({
    dataDir,
    gateways,
    databasePrefix: 'faults',
    certificates,
    ...(clusters && {
      mongodb: { url: clusters.mongodb.url, hasUsers: false },
      nats: { url: clusters.nats.url, hasUsers: false },
    }),
    environment: { ...(clusters && { STREAM_REPLICAS: '3' }), ...environment },
    replicas: { metering: meterings, ...(others && { accounts: others, catalog: others, images: others }) },
  });
  const meteringTargets = (plan.targets.metering ?? '').replace('ipv4:', '').split(',');
  const services = links.through(plan.services, meteringTargets).map((each) => change?.(each) ?? each);
  const stack = await startStack({ ...plan, services }, { say }).catch(async (error: unknown) => {
    await stopServers();
    throw error;
  });
  const members = [clusters?.mongodb, clusters?.nats].flatMap((cluster) => [
    ...(cluster?.members.values() ?? []),
  ]);
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
    clusters,
    meteringTargets,
    freeze: (name) => signal(name, 'SIGSTOP'),
    thaw: (name) => signal(name, 'SIGCONT'),
    cut: (name, from) => {
      for (const link of links.of(name, from)) link.cut();
    },
    heal: (name, from) => {
      for (const link of links.of(name, from)) link.heal();
    },
    metrics: async (name) => metricsOf(await readMetrics(stack.opsUrls.get(name))),
    stopButKeepLogs,
    stop: async () => {
      await stopButKeepLogs();
      await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** The links of the processes that can be cut off. */
class Links {
  readonly #links = new Map<string, Map<CutFrom, ProxiedLink>>();

  static async start(canBeCutOff: FaultStackOptions['canBeCutOff'] = {}): Promise<Links> {
    const links = new Links();
    for (const [name, all] of Object.entries(canBeCutOff)) {
      const own = new Map<CutFrom, ProxiedLink>();
      for (const from of all) own.set(from, await startProxiedLink(MOST_ADDRESSES));
      links.#links.set(name, own);
    }
    return links;
  }

  of(name: string, from?: CutFrom): ProxiedLink[] {
    const own = this.#links.get(name);
    const found = from === undefined ? [...(own?.values() ?? [])] : [own?.get(from) ?? []].flat();
    if (found.length === 0) throw new Error(`${name} cannot be cut off from ${from ?? 'anything'}`);
    return found;
  }

  close(): void {
    for (const own of this.#links.values()) for (const link of own.values()) link.close();
  }

  /** Returns the services with their addresses behind the links. `meterings`: the replicas of metering in their order. */
  through(services: readonly PlannedService[], meterings: readonly string[]): PlannedService[] {
    const behind = (name: string, from: CutFrom, address: string) =>
      this.#links.get(name)?.get(from)?.through(address) ?? address;
    const names = services.filter(({ service }) => service === 'metering').map(({ name }) => name);
    const seen = new Map(
      meterings.map((target, each) => [target, behind(names[each] ?? '', 'gateways', target)]),
    );
    return services.map((service) => {
      const { name, environment, urls } = service;
      const { NATS_URL, MONGODB_URL } = urls;
      const through = {
        NATS_URL: behind(name, 'NATS', NATS_URL),
        ...(MONGODB_URL !== undefined && { MONGODB_URL: behind(name, 'MongoDB', MONGODB_URL) }),
      };
      if (service.service !== 'gateway') return { ...service, urls: through };
      const target = String(environment.METERING_TARGET).replace(ADDRESS, (each) => seen.get(each) ?? each);
      const METERING_TARGET = behind(name, 'metering', target);
      return { ...service, urls: through, environment: { ...environment, METERING_TARGET } };
    });
  }
}

async function startClusters(dataDir: string): Promise<Clusters> {
  const mongodb = await startMongodCluster(dataDir);
  try {
    return { mongodb, nats: await startNatsCluster(dataDir) };
  } catch (error) {
    await mongodb.stop();
    throw error;
  }
}

async function readMetrics(opsUrl: string | undefined): Promise<string> {
  try {
    return await (await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(2_000) })).text();
  } catch {
    return '';
  }
}

/** Parses the part of Prometheus' text format that prom-client writes. */
function metricsOf(text: string): Metrics {
  const samples = text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^([a-z_:]+)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
    return name === undefined ? [] : [{ name, labels, value: Number(value) }];
  });
  return {
    sum: (name, wanted = {}) => {
      const pairs = Object.entries(wanted).map(([label, value]) => `${label}="${value}"`);
      const found = samples.filter(
        (sample) => sample.name === name && pairs.every((pair) => sample.labels.split(',').includes(pair)),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}
