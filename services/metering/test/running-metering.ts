import { fileURLToPath } from 'node:url';
import { launchService } from '../../../test/stack/running-service.ts';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The service as its own process. */
export interface RunningMetering {
  pid: number;
  target: string;
  adminTarget: string;
  /** What Prometheus would be told. */
  metrics(): Promise<string>;
  /** SIGTERM. Resolves to the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

export async function startMetering(settings: {
  mongodbUrl: string;
  natsUrl: string;
  database: string;
  operatorToken: string;
  /** Usage streams; absent: one. */
  streams?: number;
  /** The largest size of a usage stream; absent: as it comes. */
  streamMaxBytes?: number;
}): Promise<RunningMetering> {
  const { pid, target, adminTarget, opsUrl, untilReady, end } = await launchService(MAIN, settings, {
    USAGE_STREAMS: String(settings.streams ?? 1),
    ...(settings.streamMaxBytes !== undefined && { USAGE_STREAM_MAX_BYTES: String(settings.streamMaxBytes) }),
  });
  await untilReady();
  return {
    pid,
    target,
    adminTarget,
    metrics: async () => (await fetch(`${opsUrl}/metrics`)).text(),
    stop: () => end('SIGTERM'),
    kill: async () => {
      await end('SIGKILL');
    },
  };
}
