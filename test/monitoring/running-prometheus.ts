import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '@brand-data/servers';
import { stringify } from 'yaml';
import { ruleFiles } from './promql.ts';
import { prometheus } from './tools.ts';

const READY_WITHIN_MS = 30_000;

export interface RunningPrometheus {
  url: string;
  stop(): Promise<void>;
}

/**
 * Starts a Prometheus with the rules of the chart, which scrapes these services once a second. Resolves when it is ready.
 *
 * @param opsUrls URLs of operations ports
 */
export async function startPrometheus(folder: string, opsUrls: Iterable<string>): Promise<RunningPrometheus> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const targets = [...opsUrls].map((each) => new URL(each).host);
  await writeFile(
    join(folder, 'prometheus.yml'),
    stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ruleFiles(),
      scrape_configs: [{ job_name: 'test', static_configs: [{ targets, labels: { namespace: 'test' } }] }],
    }),
  );
  const args = [
    '--config.file=prometheus.yml',
    '--storage.tsdb.path=data',
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const server = spawn(prometheus ?? '', args, { cwd: folder, stdio: 'ignore' });
  const exit = once(server, 'exit');
  const stop = async () => {
    server.kill('SIGTERM');
    await exit;
  };
  const isReady = () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  const began = performance.now();
  while (!(await isReady())) {
    if (server.exitCode === null && performance.now() - began < READY_WITHIN_MS) await delay(100);
    else {
      await stop();
      throw new Error('Prometheus did not become ready');
    }
  }
  return { url, stop };
}
