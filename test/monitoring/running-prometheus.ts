import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@brand-data/servers';
import { until } from '@brand-data/testing/until';
import { stringify } from 'yaml';
import { ruleFiles } from './promql.ts';
import { prometheus } from './tools.ts';

export type RunningPrometheus = Awaited<ReturnType<typeof startPrometheus>>;

/** Returns a configuration with the rules of the chart, which scrapes these operations ports once a second. */
export function scraping(opsUrls: Iterable<string>): object {
  const targets = [...opsUrls].map((each) => new URL(each).host);
  return {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ruleFiles(),
    scrape_configs: [{ job_name: 'test', static_configs: [{ targets, labels: { namespace: 'test' } }] }],
  };
}

/** Starts a Prometheus without data, whose files are in the folder. Resolves when it is ready. */
export async function startPrometheus(folder: string, config: object) {
  const url = `http://127.0.0.1:${await freePort()}`;
  await writeFile(join(folder, 'prometheus.yml'), stringify(config));
  const args = [
    '--config.file=prometheus.yml',
    '--storage.tsdb.path=data',
    '--log.level=error',
    `--web.listen-address=${new URL(url).host}`,
  ];
  const server = spawn(prometheus ?? '', args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  const exit = once(server, 'exit');
  const stop = async () => {
    server.kill('SIGTERM');
    await exit;
  };
  const isReady = async () => {
    if (server.exitCode !== null) throw new Error('Prometheus has ended');
    return (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok;
  };
  try {
    await until('Prometheus is ready', isReady, { withinMs: 30_000 });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    stop,
    /** Resolves to the data of an answer of the API. Rejects with Prometheus' error. */
    async ask<T>(path: string, parameters?: Record<string, string>): Promise<T> {
      const body = parameters && new URLSearchParams(parameters);
      const response = await fetch(`${url}/api/v1/${path}`, body ? { method: 'POST', body } : {});
      const { data, error } = (await response.json()) as { data: T; error?: string };
      if (error !== undefined) throw new Error(error);
      return data;
    },
  };
}
