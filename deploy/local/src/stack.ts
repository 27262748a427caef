import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '@brand-data/contracts';
import {
  answersAsMongodb,
  answersAsNats,
  type Child,
  certificateSettings,
  ensureMongodbUsers,
  freePort,
  type LocalServer,
  mongodbUrlOf,
  natsAdminUrl,
  natsUrlOf,
  natsUsers,
  newPassKeys,
  newSecrets,
  Problem,
  publicKeyOf,
  type Secrets,
  type ServerOptions,
  serviceProcess,
  startMongod,
  startNatsServer,
} from '@brand-data/servers';
import { keepCertificates } from './certificates.ts';
import { type SettingFiles, settingFilesIn } from './setting-files.ts';

const MAINS = {
  accounts: import.meta.resolve('@brand-data/accounts/main'),
  catalog: import.meta.resolve('@brand-data/catalog/main'),
  metering: import.meta.resolve('@brand-data/metering/main'),
  images: import.meta.resolve('@brand-data/images/main'),
  gateway: import.meta.resolve('@brand-data/gateway/main'),
};
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
  /** Whether the given NATS has the users of `secrets`. A NATS that the stack starts has them. */
  natsHasUsers?: boolean;
  /**
   * Whether the stack creates a user for each service on the given MongoDB. `mongodbUrl` then has to be that of a user that may
   * create them. The stack does so on a MongoDB that it starts.
   */
  createMongodbUsers?: boolean;
  /** Returns the URL at which the named service reaches NATS, for example through a wire of a test. */
  natsUrlFor?: (name: string, natsUrl: string) => string;
  /** Returns the URL at which the named service reaches MongoDB. */
  mongodbUrlFor?: (name: string, mongodbUrl: string) => string;
  /** Returns the host:port at which the gateways reach the named service. */
  targetFor?: (name: string, target: string) => string;
  /** Returns the main file with which the named process starts, each time that it starts. By default that of its service. */
  mainFor?: (name: string, main: string) => string;
  /** Returns the target at which the named gateway reaches all replicas of metering. */
  meteringTargetFor?: (gateway: string, target: string) => string;
  /** By default new secrets. */
  secrets?: Secrets;
  /** A folder with the certificates of all identities. By default the stack keeps its own in `dataDir`. */
  certificates?: string;
  /** How the services and `bds` make and answer gRPC calls. The default is "mutual_tls". */
  transport?: 'mutual_tls' | 'insecure_plaintext';
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
  /** The URLs of the gateways' operations ports. */
  gateways: string[];
  operatorToken: string;
} & ({ certificates: string } | { transport: 'insecure_plaintext' });

export interface Stack {
  gateways: { name: string; url: string; opsUrl: string }[];
  /** The replicas of images. `url` is the base URL of paths in records. */
  images: { name: string; url: string; opsUrl: string }[];
  /** The URL of each service's /readyz and /metrics, by the service's name. */
  opsUrls: ReadonlyMap<string, string>;
  /** For people and tests. If the stack has started NATS, the user in it may do everything. The services have users of their own. */
  natsUrl: string;
  /** For people and tests, as `natsUrl`. */
  mongodbUrl: string;
  operator: OperatorConnection;
  secrets: Secrets;
  /** The files of accounts' signing key and of the public keys that metering trusts. The services read them again when they change. */
  allowanceKeyFiles: AllowanceKeyFiles;
  /** The gRPC ports that gateways call, by service. Of several replicas, all. */
  targets: Readonly<Record<string, string>>;
  /** The folder with the certificates of all identities. */
  certificates: string;
  /** The files of the services' URLs of NATS and MongoDB. The services read them again when they change. */
  settingFiles: SettingFiles;
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
  const { operatorToken, tokenHashKey, serverSecret } = secrets;
  const settingFiles = settingFilesIn(join(options.dataDir, 'settings'));
  const passKeys = newPassKeys();
  const certificates = options.certificates ?? join(options.dataDir, 'certificates');
  const { transport: GRPC_TRANSPORT = 'mutual_tls' } = options;
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
    start: (options: ServerOptions) => Promise<LocalServer>,
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

  const startOwnNats = (given: ServerOptions) =>
    startNatsServer({ ...given, settings: natsUsers(serverSecret) });
  const startOwnMongod = (given: ServerOptions) => startMongod({ ...given, secret: serverSecret });

  async function startService(
    group: Child[],
    name: string,
    service: keyof typeof MAINS,
    opsPort: number,
    environment: Record<string, string | number>,
  ): Promise<void> {
    const own = fileURLToPath(MAINS[service]);
    const main = () => options.mainFor?.(name, own) ?? own;
    const transport = { GRPC_TRANSPORT, ...certificateSettings(certificates, service) };
    const child = serviceProcess({
      name,
      main,
      opsPort,
      logFile: logFile(name),
      restart,
      say,
      signal,
      environment: { ...transport, ...options.environment, ...environment },
    });
    group.push(child);
    await child.start();
    started(name);
  }

  try {
    if (options.certificates === undefined) await keepCertificates(certificates);
    const allowanceKeyFiles = await writeAllowanceKeys(options.dataDir, secrets);
    const [natsUrl, mongodbUrl] = await allOrThrow(
      [
        startServer('nats-server', startOwnNats, options.natsUrl, 'NATS_URL', answersAsNats),
        startServer('mongod', startOwnMongod, options.mongodbUrl, 'MONGODB_URL', answersAsMongodb),
      ],
      failure,
    );
    const natsHasUsers = options.natsUrl === undefined || options.natsHasUsers;
    const mongodbHasUsers = options.mongodbUrl === undefined || options.createMongodbUsers;
    if (mongodbHasUsers)
      await ensureMongodbUsers(mongodbUrl, (service) => `${databasePrefix}_${service}`, serverSecret);
    const serverSettings = async (name: string, service: ServiceName): Promise<Record<string, string>> => {
      const nats = natsHasUsers ? natsUrlOf(service, natsUrl, serverSecret) : natsUrl;
      const settings = await settingFiles.write(name, 'NATS_URL', natsUrlFor(name, nats));
      if (service === 'gateway') return settings;
      const MONGODB_DATABASE = `${databasePrefix}_${service}`;
      const url = mongodbHasUsers ? mongodbUrlOf(MONGODB_DATABASE, mongodbUrl, serverSecret) : mongodbUrl;
      const mongodb = await settingFiles.write(name, 'MONGODB_URL', mongodbUrlFor(name, url));
      return { ...settings, ...mongodb, MONGODB_DATABASE };
    };
    const target: Record<string, string> = {};
    const operator: OperatorConnection = {
      accounts: '',
      catalog: '',
      metering: '',
      images: '',
      gateways: [],
      operatorToken,
      ...(GRPC_TRANSPORT === 'insecure_plaintext'
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
        targets.push(targetFor(name, `127.0.0.1:${grpc}`));
        operator[backend] ||= `127.0.0.1:${admin}`;
        opsUrls.set(name, `http://127.0.0.1:${ops}`);
        const environment = {
          GRPC_PORT: grpc,
          ADMIN_GRPC_PORT: admin,
          OPERATOR_TOKEN: operatorToken,
          ...(await serverSettings(name, backend)),
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
        OPERATOR_TOKEN: operatorToken,
        ...(await serverSettings(name, 'images')),
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
      operator.gateways.push(`http://127.0.0.1:${ops}`);
      const environment = {
        PORT: port,
        ACCOUNTS_TARGET: target.accounts ?? '',
        CATALOG_TARGET: target.catalog ?? '',
        METERING_TARGET: meteringTargetFor(name, target.metering ?? ''),
        ...(await serverSettings(name, 'gateway')),
        LOGO_HOST: logoHost,
        PUBLIC_URL: `http://127.0.0.1:${port}`,
      };
      starts.push(() => startService(gateways, name, 'gateway', ops, environment));
    }
    await allOrThrow(
      starts.map((start) => start()),
      failure,
    );
    const children = new Map([...servers, ...backends, ...gateways].map((child) => [child.name, child]));
    return {
      gateways: urls,
      images,
      opsUrls,
      mongodbUrl,
      certificates,
      targets: target,
      settingFiles,
      natsUrl: options.natsUrl === undefined ? natsAdminUrl(natsUrl, serverSecret) : natsUrl,
      operator,
      secrets,
      allowanceKeyFiles,
      children,
      stop,
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
