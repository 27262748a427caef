import { baseEnvironment, type Child, childProcess } from './process.ts';

export interface ServiceOptions {
  /** Its name in messages. */
  name: string;
  /** The file that it runs. */
  main: string;
  /** Where it answers /readyz. */
  opsPort: number;
  /** What it is told beside the addresses that it listens on. */
  environment: Readonly<Record<string, string | number | undefined>>;
  logFile: string;
  /** Start it again when it ends by itself; absent: no. */
  restart?: boolean;
  /** Told of restarts. */
  say?: (line: string) => void;
  /** Aborted: a start that is under way ends. */
  signal?: AbortSignal | undefined;
}

/** One of the services as a process on 127.0.0.1, not started. It has started when it is ready. */
export function serviceProcess(options: ServiceOptions): Child {
  const { main, opsPort, restart = false, say = () => {} } = options;
  const settings = { HOST: '127.0.0.1', OPS_PORT: opsPort, ...options.environment };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return childProcess({
    ...options,
    command: process.execPath,
    args: [main],
    env: { ...baseEnvironment(), ...Object.fromEntries(given.map(([key, value]) => [key, String(value)])) },
    ready: () => isReady(opsPort),
    readyWithinMs: 60_000,
    stopWithinMs: 15_000,
    restart,
    say,
  });
}

async function isReady(opsPort: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${opsPort}/readyz`, { signal: AbortSignal.timeout(1_500) })).ok;
  } catch {
    return false;
  }
}
