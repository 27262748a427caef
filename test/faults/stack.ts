/** The whole service as processes of its own, with what breaks it. Runs outside vitest too. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bdsWith, type Child, startStack, writeSecret } from '@brand-data/local';
import { startWire, type Wire } from '../e2e/wire.ts';
import type { TestStack } from '../stack/index.ts';

export interface FaultStackOptions {
  gateways?: number;
  meterings?: number;
  /** Services by name whose NATS connection can be cut. */
  natsWires?: string[];
  /** Metering replicas by name that can be cut off from all. */
  islands?: string[];
  /** Servers that are there already, in place of its own. */
  servers?: { mongodbUrl: string; natsUrl: string };
  /** What the services are told beside their addresses. */
  environment?: NodeJS.ProcessEnv;
  say?: (line: string) => void;
}

export interface FaultStack extends TestStack {
  /** Every process by name, the servers too. */
  names: string[];
  /** Where everything that the processes wrote is. */
  dataDir: string;
  /** SIGSTOP: it keeps its connections and answers nothing. */
  freeze(name: string): void;
  /** SIGCONT. */
  thaw(name: string): void;
  /** Nothing that is sent arrives any more, though connections look open; see `natsWires` and `islands`. */
  cut(name: string): void;
  heal(name: string): void;
  /** A service's metrics, by "name{labels}" or "name"; a labelled one without its labels is the sum. Empty: no answer. */
  metrics(name: string): Promise<Metrics>;
  /** Keeps what the processes wrote. */
  stopButKeepLogs(): Promise<void>;
}

interface Metrics {
  /** undefined: there is no such metric. */
  sum(name: string, labels?: Record<string, string>): number | undefined;
}

/** Starts servers and services; returns when all are ready. */
export async function startFaultStack(options: FaultStackOptions = {}): Promise<FaultStack> {
  const { gateways = 2, meterings = 1, natsWires = [], islands = [], say = () => {} } = options;
  const { servers, environment } = options;
  const dataDir = await mkdtemp(join(tmpdir(), 'brand-data-faults-'));
  const databasePrefix = 'faults';
  const wires = new Map<string, { nats: Wire; mongodb?: Wire; grpc?: Wire }>();
  for (const name of natsWires) wires.set(name, { nats: await startWire() });
  for (const name of islands) {
    wires.set(name, { nats: await startWire(), mongodb: await startWire(), grpc: await startWire() });
  }
  const allOf = (name: string) => {
    const cut = wires.get(name);
    if (!cut) throw new Error(`${name} cannot be cut off`);
    return [cut.nats, cut.mongodb, cut.grpc].filter((wire) => wire !== undefined);
  };
  const closeWires = () => {
    for (const name of wires.keys()) for (const wire of allOf(name)) wire.close();
  };
  const removeData = () => rm(dataDir, { recursive: true, force: true, maxRetries: 3 });

  const stack = await startStack({
    ...{ dataDir, gateways, databasePrefix, say, restart: false, ...servers },
    ...(environment === undefined ? {} : { environment }),
    replicas: { metering: meterings },
    natsUrlFor: (name, url) => wires.get(name)?.nats.to(url) ?? url,
    mongodbUrlFor: (name, url) => {
      const wire = wires.get(name)?.mongodb;
      // By its other address the driver would go around the wire.
      return wire ? `${wire.to(url)}/?directConnection=true` : url;
    },
    targetFor: (name, target) => {
      const wire = wires.get(name)?.grpc;
      return wire ? wire.to(`tcp://${target}`).replace('tcp://', '') : target;
    },
  }).catch(async (error: unknown) => {
    closeWires();
    throw error;
  });
  const connectionFile = join(dataDir, 'operator.json');
  await writeSecret(connectionFile, stack.operator);

  const child = (name: string): Child => {
    const found = stack.children.get(name);
    if (!found) throw new Error(`no "${name}" here: ${[...stack.children.keys()].join(', ')}`);
    return found;
  };
  const signal = (name: string, how: 'SIGSTOP' | 'SIGCONT') => {
    const { pid } = child(name);
    if (pid !== undefined) process.kill(pid, how);
  };
  const stopButKeepLogs = async () => {
    for (const name of stack.children.keys()) signal(name, 'SIGCONT');
    await stack.stop();
    closeWires();
  };
  return {
    gateways: stack.gateways,
    opsUrls: stack.opsUrls,
    natsUrl: stack.natsUrl,
    mongodbUrl: stack.mongodbUrl,
    ...{ databasePrefix, dataDir, operator: stack.operator, bds: bdsWith(connectionFile) },
    names: [...stack.children.keys()],
    pid: (name) => child(name).pid,
    kill: (name) => child(name).kill(),
    restart: async (name) => {
      await child(name).stop();
      await child(name).start();
    },
    logs: (name) => readFile(child(name).logFile, 'utf8'),
    freeze: (name) => signal(name, 'SIGSTOP'),
    thaw: (name) => signal(name, 'SIGCONT'),
    cut: (name) => {
      for (const wire of allOf(name)) wire.blackhole();
    },
    heal: (name) => {
      for (const wire of allOf(name)) wire.heal();
    },
    metrics: async (name) => metricsOf(await readMetrics(stack.opsUrls.get(name))),
    stopButKeepLogs,
    stop: async () => {
      await stopButKeepLogs();
      await removeData();
    },
  };
}

async function readMetrics(opsUrl: string | undefined): Promise<string> {
  try {
    return await (await fetch(`${opsUrl}/metrics`, { signal: AbortSignal.timeout(2_000) })).text();
  } catch {
    return '';
  }
}

/** Of Prometheus' text format what prom-client writes. */
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
