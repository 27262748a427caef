import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, serviceProcess } from '@brand-data/local';
import { temporaryFolder } from './temporary-folder.ts';

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
  /** SIGTERM. Resolves to the exit status. */
  stop(): Promise<number | null>;
  /** SIGKILL. */
  kill(): Promise<void>;
}

/** Returns at once, ready or not. */
export async function launchService(
  name: 'accounts' | 'catalog' | 'metering',
  settings: { mongodbUrl: string; natsUrl: string; database: string; operatorToken: string },
  environment: Record<string, string> = {},
): Promise<RunningService> {
  const [grpc, admin, opsPort] = [await freePort(), await freePort(), await freePort()];
  const child = serviceProcess({
    name,
    main: join(import.meta.dirname, `../../services/${name}/src/main.ts`),
    opsPort,
    logFile: join(await temporaryFolder(), 'log'),
    environment: {
      LOG_LEVEL: 'silent',
      GRPC_PORT: grpc,
      ADMIN_GRPC_PORT: admin,
      OPERATOR_TOKEN: settings.operatorToken,
      MONGODB_URL: settings.mongodbUrl,
      MONGODB_DATABASE: settings.database,
      NATS_URL: settings.natsUrl,
      ...environment,
    },
  });
  const ready = child.start();
  // A test that does not wait for it has its reasons.
  ready.catch(() => {});
  return {
    pid: child.pid ?? 0,
    target: `127.0.0.1:${grpc}`,
    adminTarget: `127.0.0.1:${admin}`,
    opsUrl: `http://127.0.0.1:${opsPort}`,
    log: () => readFileSync(child.logFile, 'utf8'),
    readiness: () =>
      fetch(`http://127.0.0.1:${opsPort}/readyz`).then(
        ({ status }) => status,
        () => 0,
      ),
    untilReady: () => ready,
    stop: child.stop,
    kill: child.kill,
  };
}
