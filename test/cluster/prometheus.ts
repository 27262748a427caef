import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@brand-data/servers';
import { stringify } from 'yaml';
import { prometheus as program } from '../monitoring/tools.ts';
import { waitFor } from './cluster.ts';

export type Labels = Record<string, string>;

export interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  for?: string;
  labels?: Labels;
}

export interface RuleGroup {
  name: string;
  rules: Rule[];
}

export interface Prometheus {
  /** The labels of the series that the expression returns. Rejects with Prometheus' error. */
  query(expr: string): Promise<Labels[]>;
  /** For each rule `ok`, or the reason why Prometheus cannot evaluate it. */
  ruleHealth(): Promise<string[]>;
  /** The labels of the alerts that fire. */
  firing(): Promise<Labels[]>;
  stop(): Promise<void>;
}

interface Settings {
  /** The address of a proxy to the cluster's API that needs no credentials. */
  api: string;
  namespace: string;
  groups: RuleGroup[];
}

const SCRAPE_SECONDS = 2;

/** Starts a Prometheus without data. Returns when it has scraped each pod of the namespace twice. */
export async function startClusterPrometheus({ api, namespace, groups }: Settings): Promise<Prometheus> {
  if (program === undefined) throw new Error('no Prometheus here: deploy/chart/test/get-tools fetches it');
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
  const discovery = await startDiscovery(api, namespace);
  const interval = `${SCRAPE_SECONDS}s`;
  const config = {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: '1s' },
    rule_files: ['rules.yml'],
    scrape_configs: [
      {
        job_name: 'pods',
        http_sd_configs: [{ url: discovery.url, refresh_interval: '1s' }],
        relabel_configs: [...annotatedPods, ...throughTheApi(api)],
      },
    ],
  };
  await writeFile(join(folder, 'prometheus.yml'), stringify(config));
  await writeFile(join(folder, 'rules.yml'), stringify({ groups }));
  const address = `127.0.0.1:${await freePort()}`;
  const args = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', '--log.level=error'];
  const server = spawn(program, [...args, `--web.listen-address=${address}`], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit'],
  });

  const ask = async <T>(path: string, body?: URLSearchParams): Promise<T> => {
    const response = await fetch(`http://${address}/api/v1/${path}`, body ? { method: 'POST', body } : {});
    const { data, error } = (await response.json()) as { data: T; error?: string };
    if (error !== undefined) throw new Error(error);
    return data;
  };
  const query: Prometheus['query'] = async (expr) => {
    const { result } = await ask<{ result: { metric: Labels }[] }>(
      'query',
      new URLSearchParams({ query: expr }),
    );
    return result.map(({ metric }) => metric);
  };
  const stop = async () => {
    if (server.exitCode === null && server.kill()) await once(server, 'exit');
    discovery.stop();
    await rm(folder, { recursive: true, force: true });
  };

  try {
    await waitFor('Prometheus has scraped every pod twice', async () => {
      if (server.exitCode !== null) throw new Error('Prometheus does not run');
      return (await query('min(count_over_time(up[1m])) > 1').catch(() => [])).length > 0;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    query,
    async ruleHealth() {
      type Rule = { health: string; lastError?: string };
      const { groups } = await ask<{ groups: { rules: Rule[] }[] }>('rules');
      return groups.flatMap(({ rules }) => rules.map(({ health, lastError }) => lastError || health));
    },
    async firing() {
      const { alerts } = await ask<{ alerts: { labels: Labels; state: string }[] }>('alerts');
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels);
    },
    stop,
  };
}

interface Pod {
  metadata: { name: string; namespace: string; annotations?: Labels };
  spec: { containers: { ports?: { containerPort: number }[] }[] };
  status: { phase: string; podIP?: string };
}

/**
 * Finds pods for Prometheus. Its own Kubernetes discovery with the role `pod` could do so, but Debian builds Prometheus without
 * it.
 */
async function startDiscovery(api: string, namespace: string): Promise<{ url: string; stop(): void }> {
  const targetsOf = ({ metadata, spec, status }: Pod) => {
    const annotations = Object.entries(metadata.annotations ?? {}).map(([name, value]) => [
      `__meta_kubernetes_pod_annotation_${name.replaceAll(/\W/g, '_')}`,
      value,
    ]);
    const labels = {
      __meta_kubernetes_namespace: metadata.namespace,
      __meta_kubernetes_pod_name: metadata.name,
      __meta_kubernetes_pod_phase: status.phase,
      ...Object.fromEntries(annotations),
    };
    const ports = spec.containers.flatMap(({ ports = [] }) => ports);
    const targets = ports.map(({ containerPort }) => `${status.podIP}:${containerPort}`);
    return status.podIP === undefined || targets.length === 0 ? [] : [{ targets, labels }];
  };
  const server = createServer(async (_, response) => {
    try {
      const answer = await fetch(`http://${api}/api/v1/namespaces/${namespace}/pods`);
      const { items } = (await answer.json()) as { items: Pod[] };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(items.flatMap(targetsOf)));
    } catch (error) {
      response.writeHead(502).end(String(error));
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const annotation = (name: string) => `__meta_kubernetes_pod_annotation_prometheus_io_${name}`;

/** The scrape configuration of operators without PodMonitors, with the labels that PodMonitors would add. */
const annotatedPods = [
  { source_labels: [annotation('scrape')], action: 'keep', regex: 'true' },
  { source_labels: ['__meta_kubernetes_pod_phase'], action: 'drop', regex: 'Pending|Succeeded|Failed' },
  { source_labels: [annotation('path')], regex: '(.+)', target_label: '__metrics_path__' },
  {
    source_labels: ['__address__', annotation('port')],
    regex: String.raw`(.+?)(?::\d+)?;(\d+)`,
    replacement: '$1:$2',
    target_label: '__address__',
  },
  { source_labels: ['__meta_kubernetes_namespace'], target_label: 'namespace' },
  { source_labels: ['__meta_kubernetes_pod_name'], target_label: 'pod' },
  { source_labels: ['__address__'], target_label: 'instance' },
];

/** Scrapes pods through the cluster's API, so no route to the pods' own addresses is needed. */
function throughTheApi(api: string): object[] {
  return [
    {
      source_labels: ['namespace', 'pod', annotation('port'), '__metrics_path__'],
      regex: '(.+);(.+);(.+);(.+)',
      replacement: '/api/v1/namespaces/$1/pods/$2:$3/proxy$4',
      target_label: '__metrics_path__',
    },
    { target_label: '__address__', replacement: api },
  ];
}
