import { readdirSync, readFileSync } from 'node:fs';
import { createLogger } from '@brand-data/runtime';
import { Registry } from 'prom-client';
import { openWorkers, type Workers } from '../src/workers/workers.ts';

/** Starts real worker processes for a test. */
export async function runningWorkers(count: number): Promise<Workers & { close(): Promise<void> }> {
  const stops: (() => unknown)[] = [];
  const log = createLogger('images', 'silent');
  const service = {
    log,
    metrics: new Registry(),
    onStop: (_what: string, stop: () => unknown) => stops.push(stop),
  };
  const workers = await openWorkers(service, { count });
  return {
    ...workers,
    close: async () => {
      for (const stop of stops.reverse()) await stop();
    },
  };
}

/** Returns the ids of the processes that this process has started and that still run. */
export function ownChildren(): number[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.map(Number).filter((pid) => {
    const [state, parent] = statOf(pid);
    return state !== 'Z' && parent === String(process.pid);
  });
}

function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  } catch {
    return [];
  }
}
