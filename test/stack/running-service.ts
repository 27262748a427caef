import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '@brand-data/local';
import { vi } from 'vitest';

/** One of the services that have a database, as its own process. */
export interface RunningService {
  pid: number;
  /** Where it listens, or will: host:port. */
  target: string;
  adminTarget: string;
  opsUrl: string;
  /** All that it has logged. */
  log(): string;
  /** The status of /readyz; 0: nobody answers. */
  readiness(): Promise<number>;
  untilReady(): Promise<void>;
  /** Resolves to the exit code. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** `main` is the file that it runs. Returns at once, ready or not. */
export async function launchService(
  main: string,
  settings: { mongodbUrl: string; natsUrl: string; database: string; operatorToken: string },
  environment: Record<string, string> = {},
): Promise<RunningService> {
  const [grpc, admin, ops] = [await freePort(), await freePort(), await freePort()];
  const child = spawn(process.execPath, [main], {
    stdio: ['ignore', 'pipe', 'inherit'],
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
      ...environment,
    },
  });
  const exited = once(child, 'exit');
  let log = '';
  child.stdout.on('data', (lines: Buffer) => {
    log += lines.toString();
  });
  const readiness = () =>
    fetch(`http://127.0.0.1:${ops}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  return {
    pid: child.pid ?? 0,
    target: `127.0.0.1:${grpc}`,
    adminTarget: `127.0.0.1:${admin}`,
    opsUrl: `http://127.0.0.1:${ops}`,
    log: () => log,
    readiness,
    async untilReady() {
      const ask = async () => {
        if ((await readiness()) !== 200) throw new Error('the service is not ready');
      };
      await vi.waitFor(ask, { timeout: 30_000, interval: 50 });
    },
    async end(signal) {
      child.kill(signal);
      const [code] = await exited;
      return code;
    },
  };
}
