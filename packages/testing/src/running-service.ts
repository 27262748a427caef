import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateSettings, freePort, newSigningKeys, serviceProcess } from '@brand-data/servers';
import { inject } from 'vitest';
import { metricAt, scrape } from './exposition.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** The keys with which services that a test starts on their own sign and verify allowances. */
export const allowanceKeys = newSigningKeys();

/** Starts the process of a service that has a database. Does not wait until it is ready. */
export async function launchService(
  name: 'accounts' | 'catalog' | 'metering' | 'images',
  settings: { mongodbUrl: string; natsUrl?: string; database: string; operatorToken: string },
  environment: Record<string, string> = {},
) {
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
  const clients: { close(): void }[] = [];
  const closeClients = () => {
    for (const client of clients) client.close();
  };
  return {
    pid: child.pid ?? 0,
    /** host:port at which the service listens once it is ready: its gRPC port, or the HTTP port of images. */
    target: `127.0.0.1:${port}`,
    adminTarget: `127.0.0.1:${admin}`,
    opsUrl,
    /** The clients in this list are closed before the service ends. */
    clients,
    /** Everything that the service has logged. */
    log: () => readFileSync(child.logFile, 'utf8'),
    /** What a scrape of its metrics gets. */
    metrics: () => scrape(opsUrl),
    /** The sum of a metric over the labels that are not named. */
    metric: (name: string, labels?: Record<string, string>) => metricAt(opsUrl, name, labels),
    /** The status of /readyz, or 0 if the service does not answer. */
    readiness: async () => (await fetch(`${opsUrl}/readyz`).catch(() => undefined))?.status ?? 0,
    untilReady: () => ready,
    /** Sends SIGTERM. Resolves to the exit status. */
    stop: () => {
      closeClients();
      return child.stop();
    },
    /** Sends SIGKILL. */
    kill: () => {
      closeClients();
      return child.kill();
    },
  };
}
