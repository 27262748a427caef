import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateSettings, freePort, newSigningKeys, serviceProcess } from '@brand-data/servers';
import { inject } from 'vitest';
import { temporaryFolder } from './temporary-folder.ts';

/** The keys with which services that a test starts on their own sign and verify allowances. */
export const allowanceKeys = newSigningKeys();

/** The process of a service that has a database. */
export interface RunningService {
  pid: number;
  /** host:port at which the service listens once it is ready: its gRPC port, or the HTTP port of images. */
  target: string;
  adminTarget: string;
  opsUrl: string;
  /** Everything that the service has logged. */
  log(): string;
  /** The status of /readyz, or 0 if the service does not answer. */
  readiness(): Promise<number>;
  untilReady(): Promise<void>;
  /** Sends SIGTERM. Resolves to the exit status. */
  stop(): Promise<number | null>;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
}

/** Starts a service. Does not wait until it is ready. */
export async function launchService(
  name: 'accounts' | 'catalog' | 'metering' | 'images',
  settings: { mongodbUrl: string; natsUrl?: string; database: string; operatorToken: string },
  environment: Record<string, string> = {},
): Promise<RunningService> {
  const [port, admin, opsPort] = [await freePort(), await freePort(), await freePort()];
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  const child = serviceProcess({
    name,
    main: join(import.meta.dirname, `../../../services/${name}/src/main.ts`),
    opsPort,
    logFile: join(await temporaryFolder(), 'log'),
    environment: {
      LOG_LEVEL: 'silent',
      ...certificateSettings(inject('certificates'), name),
      [name === 'images' ? 'PORT' : 'GRPC_PORT']: port,
      ADMIN_GRPC_PORT: admin,
      OPERATOR_TOKEN: settings.operatorToken,
      MONGODB_URL: settings.mongodbUrl,
      MONGODB_DATABASE: settings.database,
      ...(name === 'accounts' && { ALLOWANCE_SIGNING_KEY: allowanceKeys.signing }),
      ...(name === 'images' && { MONOGRAM_KEYS: 'the key of monograms of tests' }),
      ...(name === 'metering' && { ALLOWANCE_PUBLIC_KEYS: allowanceKeys.verifying }),
      ...(settings.natsUrl === undefined ? {} : { NATS_URL: settings.natsUrl }),
      ...environment,
    },
  });
  const ready = child.start();
  // A failed start must not end a test that does not wait for the start.
  ready.catch(() => {});
  return {
    pid: child.pid ?? 0,
    target: `127.0.0.1:${port}`,
    adminTarget: `127.0.0.1:${admin}`,
    opsUrl,
    log: () => readFileSync(child.logFile, 'utf8'),
    readiness: async () => (await fetch(`${opsUrl}/readyz`).catch(() => undefined))?.status ?? 0,
    untilReady: () => ready,
    stop: () => child.stop(),
    kill: () => child.kill(),
  };
}
