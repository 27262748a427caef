import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { certificateSettings, keepCertificates } from './certificates.ts';
import { freePort } from './ports.ts';
import { Problem } from './problem.ts';
import type { Child } from './process.ts';
import { newPassKeys, newSecrets, publicKeyOf, type Secrets } from './secrets.ts';
import { answersAsMongodb, startMongod } from './servers/mongod.ts';
import { answersAsNats, startNatsServer } from './servers/nats-server.ts';
import { serviceProcess } from './service.ts';

const MAINS = {
  accounts: import.meta.resolve('@brand-data/accounts/main'),
  catalog: import.meta.resolve('@brand-data/catalog/main'),
  metering: import.meta.resolve('@brand-data/metering/main'),
  images: import.meta.resolve('@brand-data/images/main'),
  gateway: import.meta.resolve('@brand-data/gateway/main'),
};
type TransportKind = 'mutual_tls' | 'mutual_tls_and_plaintext' | 'insecure_plaintext';
const BACKENDS = ['accounts', 'catalog', 'metering'] as const;
type Backend = (typeof BACKENDS)[number];

export interface StackOptions {
  /** Contains the servers' data and, in `logs`, the output of all processes. */
  dataDir: string;
  gateways: number;
  /** Whether to restart processes that end by themselves. */
  restart: boolean;
  /** Chooses the port of a listener, such as "gateway-1" or "accounts.admin". By default any free port. */
  portFor?: (listener: string) => Promise<number>;
  /** A MongoDB that the stack uses instead of starting one. */
  mongodbUrl?: string | undefined;
  /** A NATS that the stack uses instead of starting one. */
  natsUrl?: string | undefined;
  /**
   * How many processes of a service to start, by default one with the service's name. Several are named "metering-1",
   * "metering-2" and so on.
   */
  replicas?: Partial<Record<Backend | 'images', number>>;
  /** Returns the URL at which the named service reaches NATS, for example through a wire of a test. */
  natsUrlFor?: (name: string, natsUrl: string) => string;
  /** Returns the URL at which the named service reaches MongoDB. */
  mongodbUrlFor?: (name: string, mongodbUrl: string) => string;
  /** Returns the host:port at which the gateways reach the named service. */
  targetFor?: (name: string, target: string) => string;
  /** Returns the target at which the named gateway reaches all replicas of metering. */
  meteringTargetFor?: (gateway: string, target: string) => string;
  /** By default new secrets. */
  secrets?: Secrets;
  /** A folder with the certificates of all identities. By default the stack keeps its own in `dataDir`. */
  certificates?: string;
  /** How the named service makes and answers gRPC calls. The default is "mutual_tls". `bds` calls all services alike. */
  transportOf?: (name: string) => TransportKind;
  /** The services' databases are `${databasePrefix}_accounts` and so on. The default is "brand_data". */
  databasePrefix?: string;
  /** The base URL of images in records. By default that of the first replica of images. */
  logoHost?: string;
  /** The services' settings in addition to their addresses, such as LOG_LEVEL. */
  environment?: NodeJS.ProcessEnv;
  /** Gets messages about downloads and restarts. */
  say?: (line: string) => void;
  /** Called with the name of each part that is ready. */
  started?: (part: string) => void;
  /** If the signal is aborted, the start ends and all started processes are stopped. */
  signal?: AbortSignal;
}

/** What `bds` needs to reach the services' admin ports. */
export type OperatorConnection = {
  /** host:port */
  accounts: string;
  /** host:port */
  catalog: string;
  /** host:port */
  metering: string;
  /** host:port */
  images: string;
  operatorToken: string;
} & ({ certificates: string } | { transport: 'insecure_plaintext' });

export interface Stack {
  gateways: { name: string; url: string; opsUrl: string }[];
  /** The replicas of images. `url` is the base URL of paths in records. */
  images: { name: string; url: string; opsUrl: string }[];
  /** The URL of each service's /readyz and /metrics, by the service's name. */
  opsUrls: ReadonlyMap<string, string>;
  natsUrl: string;
  mongodbUrl: string;
  operator: OperatorConnection;
  secrets: Secrets;
  /** The files of accounts' signing key and of the public keys that metering trusts. The services read them again when they change. */
  allowanceKeyFiles: AllowanceKeyFiles;
  /** The gRPC ports that gateways call, by service. Of several replicas, all. */
  targets: Readonly<Record<string, string>>;
  /** The folder with the certificates of all identities. */
  certificates: string;
  /**
   * The processes by name: "nats-server", "mongod", "accounts", "catalog", "metering" (or "metering-1"…), "images" (or
   * "images-1"…), "gateway-1"…
   */
  children: ReadonlyMap<string, Child>;
  /** Stops the gateways first and the servers last. */
  stop(): Promise<void>;
}

/** Starts the servers and then the services. Resolves when all are ready. If one fails, stops all and rejects with a Problem. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { portFor = freePort, say = () => {}, started = () => {}, restart } = options;
  const { databasePrefix = 'brand_data' } = options;
  const { natsUrlFor = asItIs, mongodbUrlFor = asItIs, targetFor = asItIs } = options;
  const { meteringTargetFor = asItIs } = options;
  const secrets = options.secrets ?? newSecrets();
  const { operatorToken, tokenHashKey } = secrets;
  const passKeys = newPassKeys();
  const certificates = options.certificates ?? join(options.dataDir, 'certificates');
  const { transportOf = () => 'mutual_tls' } = options;
  const logFile = (name: string) => join(options.dataDir, 'logs', `${name}.log`);
  const failure = new AbortController();
  const signal = AbortSignal.any([failure.signal, ...(options.signal ? [options.signal] : [])]);
  const servers: Child[] = [];
  const backends: Child[] = [];
  const gateways: Child[] = [];
  const stop = async () => {
    for (const group of [gateways, backends, servers]) await Promise.all(group.map((child) => child.stop()));
  };

  async function startServer(
    name: string,
    start: typeof startMongod,
    given: string | undefined,
    variable: string,
    answers: (url: string) => Promise<boolean>,
  ): Promise<string> {
    if (given !== undefined) {
      if (!(await answers(given).catch(() => false))) {
        throw new Problem(
          `${variable} names a server that does not answer: start it, put the URL right, or unset ${variable}.`,
        );
      }
      started(`${name}: the one that the environment names`);
      return given;
    }
    const server = await start({
      dataDir: join(options.dataDir, name),
      port: await portFor(name),
      logFile: logFile(name),
      restart,
      say,
      signal,
    });
    servers.push(server.child);
    started(`${name} ${server.found.version} (${server.found.from})`);
    return server.url;
  }

  async function startService(
    group: Child[],
    name: string,
    service: keyof typeof MAINS,
    opsPort: number,
    environment: Record<string, string | number>,
  ): Promise<void> {
    const main = fileURLToPath(MAINS[service]);
    const transport = { GRPC_TRANSPORT: transportOf(name), ...certificateSettings(certificates, service) };
    const child = serviceProcess({
      ...{ name, main, opsPort, logFile: logFile(name), restart, say, signal },
      environment: { ...transport, ...options.environment, ...environment },
    });
    group.push(child);
    await child.start();
    started(name);
  }

  /** The settings of the ports for calls without any proof of identity, if the service has such ports. */
  async function plaintextPorts(name: string, settings: readonly string[]): Promise<Record<string, number>> {
    if (transportOf(name) !== 'mutual_tls_and_plaintext') return {};
    const ports: Record<string, number> = {};
    for (const setting of settings) ports[setting] = await portFor(`${name}.${setting}`);
    return ports;
  }

  try {
    if (options.certificates === undefined) await keepCertificates(certificates);
    const allowanceKeyFiles = await writeAllowanceKeys(options.dataDir, secrets);
    const [natsUrl, mongodbUrl] = await allOrThrow(
      [
        startServer('nats-server', startNatsServer, options.natsUrl, 'NATS_URL', answersAsNats),
        startServer('mongod', startMongod, options.mongodbUrl, 'MONGODB_URL', answersAsMongodb),
      ],
      failure,
    );
    const target: Record<string, string> = {};
    const plaintextTarget: Record<string, string> = {};
    const operator: OperatorConnection = {
      ...{ accounts: '', catalog: '', metering: '', images: '', operatorToken },
      ...(transportOf('bds') === 'insecure_plaintext'
        ? { transport: 'insecure_plaintext' }
        : { certificates: join(certificates, 'bds') }),
    };
    const urls: Stack['gateways'] = [];
    const images: Stack['images'] = [];
    const opsUrls = new Map<string, string>();
    const starts: (() => Promise<void>)[] = [];
    // The loops choose ports one after the other, so that they choose none twice.
    for (const backend of BACKENDS) {
      const targets: string[] = [];
      for (const name of replicaNames(backend, options.replicas?.[backend])) {
        const grpc = await portFor(name);
        const admin = await portFor(`${name}.admin`);
        const ops = await portFor(`${name}.ops`);
        const plaintext = await plaintextPorts(name, ['GRPC_PLAINTEXT_PORT', 'ADMIN_GRPC_PLAINTEXT_PORT']);
        plaintextTarget[backend] ??= `127.0.0.1:${plaintext.GRPC_PLAINTEXT_PORT ?? grpc}`;
        targets.push(targetFor(name, `127.0.0.1:${grpc}`));
        operator[backend] ||= `127.0.0.1:${admin}`;
        opsUrls.set(name, `http://127.0.0.1:${ops}`);
        const environment = {
          GRPC_PORT: grpc,
          ADMIN_GRPC_PORT: admin,
          ...plaintext,
          OPERATOR_TOKEN: operatorToken,
          MONGODB_URL: mongodbUrlFor(name, mongodbUrl),
          MONGODB_DATABASE: `${databasePrefix}_${backend}`,
          NATS_URL: natsUrlFor(name, natsUrl),
          ...(backend === 'accounts'
            ? {
                TOKEN_HASH_KEY: tokenHashKey,
                ALLOWANCE_SIGNING_KEY_FILE: allowanceKeyFiles.signing,
                PASS_SIGNING_KEY: passKeys.privateKey,
              }
            : { PASS_PUBLIC_KEYS: passKeys.publicKey }),
          ...(backend === 'metering' && { ALLOWANCE_PUBLIC_KEYS_FILE: allowanceKeyFiles.verifying }),
        };
        starts.push(() => startService(backends, name, backend, ops, environment));
      }
      target[backend] = targets.length === 1 ? targets.join() : `ipv4:${targets.join()}`;
    }
    for (const name of replicaNames('images', options.replicas?.images)) {
      const port = await portFor(name);
      const admin = await portFor(`${name}.admin`);
      const ops = await portFor(`${name}.ops`);
      images.push({ name, url: `http://127.0.0.1:${port}/images`, opsUrl: `http://127.0.0.1:${ops}` });
      operator.images ||= `127.0.0.1:${admin}`;
      opsUrls.set(name, `http://127.0.0.1:${ops}`);
      const environment = {
        PORT: port,
        ADMIN_GRPC_PORT: admin,
        ...(await plaintextPorts(name, ['ADMIN_GRPC_PLAINTEXT_PORT'])),
        OPERATOR_TOKEN: operatorToken,
        MONGODB_URL: mongodbUrlFor(name, mongodbUrl),
        MONGODB_DATABASE: `${databasePrefix}_images`,
        NATS_URL: natsUrlFor(name, natsUrl),
        PASS_PUBLIC_KEYS: passKeys.publicKey,
      };
      starts.push(() => startService(backends, name, 'images', ops, environment));
    }
    const { logoHost = images[0]?.url ?? 'http://127.0.0.1:9' } = options;
    for (let number = 1; number <= options.gateways; number++) {
      const name = `gateway-${number}`;
      const port = await portFor(name);
      const ops = await portFor(`${name}.ops`);
      urls.push({ name, url: `http://127.0.0.1:${port}`, opsUrl: `http://127.0.0.1:${ops}` });
      opsUrls.set(name, `http://127.0.0.1:${ops}`);
      const targets = transportOf(name) === 'insecure_plaintext' ? plaintextTarget : target;
      const environment = {
        PORT: port,
        ACCOUNTS_TARGET: targets.accounts ?? '',
        CATALOG_TARGET: targets.catalog ?? '',
        METERING_TARGET: meteringTargetFor(name, targets.metering ?? ''),
        NATS_URL: natsUrlFor(name, natsUrl),
        LOGO_HOST: logoHost,
        DOCS_URL: `http://127.0.0.1:${port}/docs/errors`,
      };
      starts.push(() => startService(gateways, name, 'gateway', ops, environment));
    }
    await allOrThrow(
      starts.map((start) => start()),
      failure,
    );
    const children = new Map([...servers, ...backends, ...gateways].map((child) => [child.name, child]));
    return {
      ...{ gateways: urls, images, opsUrls, natsUrl, mongodbUrl, certificates, targets: target },
      ...{ operator, secrets, allowanceKeyFiles, children, stop },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface AllowanceKeyFiles {
  signing: string;
  verifying: string;
}

async function writeAllowanceKeys(
  dataDir: string,
  { allowanceSigningKey }: Secrets,
): Promise<AllowanceKeyFiles> {
  const files = {
    signing: join(dataDir, 'allowance-signing-key.pem'),
    verifying: join(dataDir, 'allowance-public-keys.pem'),
  };
  await mkdir(dataDir, { recursive: true });
  await writeFile(files.signing, allowanceSigningKey, { mode: 0o600 });
  await writeFile(files.verifying, publicKeyOf(allowanceSigningKey));
  return files;
}

function asItIs(_name: string, address: string): string {
  return address;
}

function replicaNames(service: string, count = 1): string[] {
  return count === 1 ? [service] : Array.from({ length: count }, (_, index) => `${service}-${index + 1}`);
}

/**
 * Waits for all promises, and then throws the first error. When the first start fails, this aborts `failure`, so that the other
 * starts end. So no start is under way any more when it throws the error.
 */
async function allOrThrow<T extends readonly unknown[]>(
  promises: { [K in keyof T]: Promise<T[K]> },
  failure: AbortController,
): Promise<T> {
  const all = Promise.all(promises) as Promise<unknown> as Promise<T>;
  all.catch(() => failure.abort());
  await Promise.allSettled(promises);
  return all;
}
