import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort, newSigningKeys } from '@brand-data/servers';
import { expect, onTestFinished } from 'vitest';

export const SERVICES = ['accounts', 'catalog', 'gateway', 'images', 'metering'] as const;
export type Service = (typeof SERVICES)[number];
export const IMAGES = [...SERVICES, 'bds'] as const;
export type Image = (typeof IMAGES)[number];

/**
 * Returns how to run an image's program with these arguments and environment variables. The program gets no other variables of
 * this process.
 */
export type Launch = (
  image: Image,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
) => { program: string; args: string[]; environment: NodeJS.ProcessEnv };

const STOP_WITHIN_MS = 10_000;
const { signing: SIGNING_KEY, verifying: PUBLIC_KEY } = newSigningKeys();

export interface Ended {
  status: number | null;
  signal: string | null;
  output: string;
}

/** Starts an image's program. `ended` resolves to how it ended, and `output` returns what it has written so far. */
export function start(launch: Launch, image: Image, args: string[], environment: Record<string, string>) {
  const { program, args: all, environment: env } = launch(image, args, environment);
  const child = spawn(program, all, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'close').then(([status, signal]): Ended => ({ status, signal, output }));
  onTestFinished(async () => {
    // The client of docker or podman passes the signal on, and ends when its container ends.
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(killer);
  });
  return { ended, output: () => output, terminate: () => child.kill('SIGTERM') };
}

/** Returns all settings that a service requires. No server listens at the addresses in them. */
async function settings(service: Service): Promise<Record<string, string>> {
  const [port, admin, ops] = [String(await freePort()), String(await freePort()), String(await freePort())];
  const common = {
    OPS_PORT: ops,
    TLS_CERT_FILE: '/certificates/tls.crt',
    TLS_KEY_FILE: '/certificates/tls.key',
    TLS_CA_FILE: '/certificates/ca.crt',
    NATS_URL: 'nats://127.0.0.1:9',
  };
  const monograms = { MONOGRAM_KEYS: 'a key of monograms for a test' };
  const stored = {
    ...common,
    ADMIN_GRPC_PORT: admin,
    OPERATOR_TOKEN: 'an operator token for a test',
    MONGODB_URL: 'mongodb://127.0.0.1:9/?replicaSet=none',
  };
  const gateway = {
    ...common,
    ...monograms,
    PORT: port,
    ACCOUNTS_TARGET: '127.0.0.1:9',
    CATALOG_TARGET: '127.0.0.1:9',
    METERING_TARGET: '127.0.0.1:9',
    LOGO_HOST: 'https://logos.example.com',
  };
  const grpc = { ...stored, GRPC_PORT: port };
  const hash = { TOKEN_HASH_KEY: 'a token hash key for a test' };
  const all: Record<Service, Record<string, string>> = {
    gateway,
    images: { ...stored, ...monograms, PORT: port },
    accounts: { ...grpc, ...hash, ALLOWANCE_SIGNING_KEY: SIGNING_KEY },
    catalog: grpc,
    metering: { ...grpc, ALLOWANCE_PUBLIC_KEYS: PUBLIC_KEY },
  };
  return all[service];
}

/** Expects that a service without settings names all settings that it requires, and exits with 1. */
export async function expectToRefuseNothing(launch: Launch, service: Service): Promise<void> {
  const { status, output } = await start(launch, service, [], {}).ended;
  expect(output).toContain(`${service}: wrong settings:`);
  for (const name of Object.keys(await settings(service))) expect(output).toContain(`\n  ${name}: `);
  expect(status).toBe(1);
}

/** Expects that a service with all settings, but without the servers that it needs, is alive but not ready, and exits with 0. */
export async function expectToLive(launch: Launch, service: Service): Promise<void> {
  const environment = await settings(service);
  const running = start(launch, service, [], environment);
  const answerTo = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${environment.OPS_PORT}${path}`, {
      signal: AbortSignal.timeout(2_000),
    });
    return response.status;
  };
  await expect.poll(() => answerTo('/livez'), { message: running.output() }).toBe(200);
  expect(await answerTo('/readyz')).toBe(503);
  running.terminate();
  const { status, signal, output } = await running.ended;
  expect({ status, signal }, output).toEqual({ status: 0, signal: null });
}

/** Expects that `bds` runs, reads its arguments, and says what is wrong. */
export async function expectCommandLine(launch: Launch): Promise<void> {
  const help = await start(launch, 'bds', ['--help'], {}).ended;
  expect(help.output).toContain('Usage: bds');
  expect(help.status).toBe(0);
  const nowhere = ['accounts', 'catalog', 'metering', 'images'].flatMap((name) => [
    `--${name}`,
    '127.0.0.1:9',
  ]);
  const environment = { BDS_OPERATOR_TOKEN: 'of a test', BDS_GRPC_TRANSPORT: 'insecure_plaintext' };
  const status = await start(launch, 'bds', [...nowhere, 'status'], environment).ended;
  expect(status.output).toContain('bds: ');
  expect(status.status).toBe(1);
}
