import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startWebServer, type WebServer } from '@brand-data/testing/web-server';
import { stringify } from 'yaml';
import type { Rule } from '../monitoring/promql.ts';
import { startPrometheus } from '../monitoring/running-prometheus.ts';
import { waitFor } from './cluster.ts';

export type Labels = Record<string, string>;

export interface RuleGroup {
  name: string;
  rules: Rule[];
}

export type ClusterPrometheus = Awaited<ReturnType<typeof startClusterPrometheus>>;

const SCRAPE_INTERVAL = '2s';

/**
 * Starts a Prometheus without data. Returns when it has scraped each pod of the namespace twice.
 *
 * @param api the address of a proxy to the cluster's API that needs no credentials
 */
export async function startClusterPrometheus(api: string, namespace: string, groups: RuleGroup[]) {
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
  const discovery = await startDiscovery(api, namespace);
  await writeFile(join(folder, 'rules.yml'), stringify({ groups }));
  const { ask, stop: stopServer } = await startPrometheus(folder, {
    global: { scrape_interval: SCRAPE_INTERVAL, scrape_timeout: SCRAPE_INTERVAL, evaluation_interval: '1s' },
    rule_files: ['rules.yml'],
    scrape_configs: [{ job_name: 'pods', http_sd_configs: [{ url: discovery.url, refresh_interval: '1s' }] }],
  }).catch(async (error: unknown) => {
    await discovery.stop();
    throw error;
  });
  const stop = async () => {
    await stopServer();
    await discovery.stop();
    await rm(folder, { recursive: true, force: true });
  };
  /** Resolves to the labels of the series that the expression returns. Rejects with Prometheus' error. */
  const query = async (expr: string): Promise<Labels[]> => {
    const { result } = await ask<{ result: { metric: Labels }[] }>('query', { query: expr });
    return result.map(({ metric }) => metric);
  };
  try {
    await waitFor(
      'Prometheus has scraped every pod twice',
      async () => (await query('min(count_over_time(up[1m])) > 1').catch(() => [])).length > 0,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    query,
    /** Resolves, for each rule, to `ok` or to the reason why Prometheus cannot evaluate it. */
    async ruleHealth() {
      type Health = { health: string; lastError?: string };
      const found = await ask<{ groups: { rules: Health[] }[] }>('rules');
      return found.groups.flatMap(({ rules }) => rules.map(({ health, lastError }) => lastError || health));
    },
    /** Resolves to the labels of the alerts that fire. */
    async firing() {
      const { alerts } = await ask<{ alerts: { labels: Labels; state: string }[] }>('alerts');
      return alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels);
    },
    stop,
  };
}

interface Pod {
  metadata: { name: string; annotations?: Labels };
  status: { phase: string; podIP?: string };
}

/**
 * Finds pods for Prometheus by the annotations that operators without PodMonitors use, with the labels that PodMonitors would add.
 * Its own Kubernetes discovery with the role `pod` could do so, but Debian builds Prometheus without it. Pods are scraped through
 * the cluster's API, so no route to the pods' own addresses is needed.
 */
function startDiscovery(api: string, namespace: string): Promise<WebServer> {
  const targetsOf = ({ metadata: { name, annotations = {} }, status }: Pod) => {
    const about = (what: string) => annotations[`prometheus.io/${what}`];
    if (about('scrape') !== 'true' || status.phase !== 'Running' || status.podIP === undefined) return [];
    const pod = `/api/v1/namespaces/${namespace}/pods/${name}:${about('port')}`;
    const path = `${pod}/proxy${about('path') ?? '/metrics'}`;
    const labels = {
      namespace,
      pod: name,
      instance: `${status.podIP}:${about('port')}`,
      __metrics_path__: path,
    };
    return [{ targets: [api], labels }];
  };
  return startWebServer(async (_, response) => {
    try {
      const answer = await fetch(`http://${api}/api/v1/namespaces/${namespace}/pods`);
      const { items } = (await answer.json()) as { items: Pod[] };
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify(items.flatMap(targetsOf)));
    } catch (error) {
      response.writeHead(502).end(String(error));
    }
  });
}
