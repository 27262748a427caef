import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { freePort } from '@brand-data/local';
import { vi } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

/** The service as its own process. */
export interface RunningMetering {
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
}): Promise<RunningMetering> {
  const [grpc, admin, ops] = [await freePort(), await freePort(), await freePort()];
  const child: ChildProcess = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      LOG_LEVEL: 'silent',
      HOST: '127.0.0.1',
      OPS_PORT: String(ops),
      GRPC_PORT: String(grpc),
      ADMIN_GRPC_PORT: String(admin),
      OPERATOR_TOKEN: settings.operatorToken,
      MONGODB_URL: settings.mongodbUrl,
      MONGODB_DATABASE: settings.database,
      NATS_URL: settings.natsUrl,
      USAGE_STREAMS: String(settings.streams ?? 1),
    },
  });
  const exited = once(child, 'exit');
  await vi.waitFor(
    async () => {
      const answer = await fetch(`http://127.0.0.1:${ops}/readyz`);
      if (!answer.ok) throw new Error(await answer.text());
    },
    { timeout: 20_000, interval: 50 },
  );
  return {
    target: `127.0.0.1:${grpc}`,
    adminTarget: `127.0.0.1:${admin}`,
    metrics: async () => (await fetch(`http://127.0.0.1:${ops}/metrics`)).text(),
    stop: async () => {
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
