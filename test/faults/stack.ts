/** Runs the whole service as processes, and can break each part of it. It also works outside vitest. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bdsWith, type Stack, type StackOptions, startStack, writeSecret } from '@brand-data/local';
import type { Child } from '@brand-data/servers';
import {
  type Cluster,
  type MongodCluster,
  startMongodCluster,
  startNatsCluster,
} from '@brand-data/testing/clusters';
import type { TestStack } from '../stack/index.ts';
import { type ProxiedLink, startProxiedLink } from './proxied-link.ts';

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
  /** See StackOptions. */
  mainFor?: NonNullable<StackOptions['mainFor']>;
  /** Further settings of the services. */
  environment?: NodeJS.ProcessEnv;
  say?: (line: string) => void;
}

export interface FaultStack extends TestStack {
  /** The names of all processes, including the servers. */
  names: string[];
  secrets: Stack['secrets'];
  /** The gRPC ports of metering's replicas, host:port. */
  meteringTargets: readonly string[];
  /** The clusters if the option `clusters` is set. */
  clusters: Clusters | undefined;
  /** The folder with the output of all processes. */
  dataDir: string;
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
  /** Returns undefined if there is no such metric. */
  sum(name: string, labels?: Record<string, string>): number | undefined;
}

/** Starts servers and services. Resolves when all are ready. */
export async function startFaultStack(options: FaultStackOptions = {}): Promise<FaultStack> {
  const { gateways = 2, meterings = 1, others, say = () => {}, environment } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'brand-data-faults-'));
  const databasePrefix = 'faults';
  const links = new Map<string, ReadonlyMap<CutFrom, ProxiedLink>>();
  for (const [name, all] of Object.entries(options.canBeCutOff ?? {})) {
    const own = new Map<CutFrom, ProxiedLink>();
    for (const from of all) own.set(from, await startProxiedLink(MOST_ADDRESSES));
    links.set(name, own);
  }
  const through = (from: CutFrom) => (name: string, url: string) =>
    links.get(name)?.get(from)?.through(url) ?? url;
  const linksOf = (name: string, from?: CutFrom): ProxiedLink[] => {
    const own = links.get(name);
    const found = from === undefined ? [...(own?.values() ?? [])] : [own?.get(from) ?? []].flat();
    if (found.length === 0) throw new Error(`${name} cannot be cut off from ${from ?? 'anything'}`);
    return found;
  };
  const closeLinks = () => {
    for (const name of links.keys()) for (const link of linksOf(name)) link.close();
  };
  const removeData = () => rm(dataDir, { recursive: true, force: true, maxRetries: 3 });

  const meteringTargets: string[] = [];
  const clusters = options.clusters ? await startClusters(dataDir) : undefined;
  const stopClusters = async () => {
    await Promise.all([clusters?.mongodb.stop(), clusters?.nats.stop()]);
  };
  const stack = await startStack({
    dataDir,
    gateways,
    databasePrefix,
    say,
    restart: false,
    ...(clusters && { mongodbUrl: clusters.mongodb.url, natsUrl: clusters.nats.url }),
    environment: { ...(clusters && { STREAM_REPLICAS: '3' }), ...environment },
    replicas: { metering: meterings, ...(others && { accounts: others, catalog: others, images: others }) },
    ...(options.mainFor && { mainFor: options.mainFor }),
    natsUrlFor: through('NATS'),
    mongodbUrlFor: through('MongoDB'),
    targetFor: (name, target) => {
      if (name.startsWith('metering')) meteringTargets.push(target);
      return through('gateways')(name, target);
    },
    meteringTargetFor: through('metering'),
  }).catch(async (error: unknown) => {
    await stopClusters();
    closeLinks();
    throw error;
  });
  const connectionFile = join(dataDir, 'operator.json');
  await writeSecret(connectionFile, stack.operator);

  const children = new Map([
    ...stack.children,
    ...(clusters?.mongodb.members ?? []),
    ...(clusters?.nats.members ?? []),
  ]);
  const child = (name: string): Child => {
    const found = children.get(name);
    if (!found) throw new Error(`no "${name}" here: ${[...children.keys()].join(', ')}`);
    return found;
  };
  const signal = (name: string, how: 'SIGSTOP' | 'SIGCONT') => {
    const { pid } = child(name);
    if (pid !== undefined) process.kill(pid, how);
  };
  const stopButKeepLogs = async () => {
    for (const name of children.keys()) signal(name, 'SIGCONT');
    await stack.stop();
    await stopClusters();
    closeLinks();
  };
  return {
    gateways: stack.gateways,
    images: stack.images,
    opsUrls: stack.opsUrls,
    natsUrl: stack.natsUrl,
    mongodbUrl: stack.mongodbUrl,
    databasePrefix,
    dataDir,
    operator: stack.operator,
    bds: bdsWith(connectionFile),
    secrets: stack.secrets,
    allowanceKeyFiles: stack.allowanceKeyFiles,
    targets: stack.targets,
    certificates: stack.certificates,
    settingFiles: stack.settingFiles,
    names: [...children.keys()],
    clusters,
    meteringTargets,
    pid: (name) => child(name).pid,
    kill: (name) => child(name).kill(),
    restart: async (name) => {
      await child(name).stop();
      await child(name).start();
    },
    logs: (name) => readFile(child(name).logFile, 'utf8'),
    freeze: (name) => signal(name, 'SIGSTOP'),
    thaw: (name) => signal(name, 'SIGCONT'),
    cut: (name, from) => {
      for (const link of linksOf(name, from)) link.cut();
    },
    heal: (name, from) => {
      for (const link of linksOf(name, from)) link.heal();
    },
    metrics: async (name) => metricsOf(await readMetrics(stack.opsUrls.get(name))),
    stopButKeepLogs,
    stop: async () => {
      await stopButKeepLogs();
      await removeData();
    },
  };
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
