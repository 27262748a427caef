import { fork, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

/** A process that a bench measures. */
export interface Server {
  target: string;
  /** Processor time so far, in microseconds. */
  cpuMicros(): Promise<number>;
}

/**
 * Starts a program of the folder baselines. It sends its URL to this process, and answers every message with the processor time that it
 * has used.
 */
export async function startBaseline(
  program: string,
  programArguments: readonly string[],
): Promise<Server & { stop(): void }> {
  const child = fork(new URL(`../baselines/${program}`, import.meta.url), programArguments);
  const [target] = await once(child, 'message');
  pinServer(child.pid);
  return {
    target: new URL(String(target)).origin,
    cpuMicros: async () => {
      child.send('how much?');
      const [{ user, system }] = (await once(child, 'message')) as [NodeJS.CpuUsage];
      return user + system;
    },
    stop: () => child.kill(),
  };
}

/** Starts bare Fastify with the answer at `url`. */
export const startSameAnswer = (url: string, { headers = 'all' }: { headers?: string } = {}) =>
  startBaseline('same-answer.ts', [url, headers]);

/** Returns the processor time of a service, by its metrics. */
export const cpuMicrosAt = async (opsUrl: string): Promise<number> =>
  (await metricAt(opsUrl, 'process_cpu_seconds_total')) * 1_000_000;

/** Returns the sum of a metric's samples, or of those whose labels contain the text. */
export async function metricAt(opsUrl: string, name: string, label = ''): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text();
  const samples = text.matchAll(new RegExp(`^${name}(\\{[^}]*\\})? ([0-9.e+]+)$`, 'gm'));
  return [...samples].reduce(
    (sum, [, labels = '', value]) => sum + (labels.includes(label) ? Number(value) : 0),
    0,
  );
}

/**
 * Keeps a measured server on the first processor, so that both servers of a comparison have the same one. Without `taskset` and with
 * one processor, does nothing.
 */
export function pinServer(pid: number | undefined): void {
  if (pid !== undefined && availableParallelism() > 1) spawnSync('taskset', ['-apc', '0', String(pid)]);
}

/** Keeps the load, which this process makes, away from the measured servers. */
export function pinLoad(): void {
  const last = availableParallelism() - 1;
  if (last > 0) spawnSync('taskset', ['-apc', String(last), String(process.pid)]);
}
