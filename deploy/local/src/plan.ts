import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DATABASE_SERVICES, type DatabaseService, type ServiceName } from '@brand-data/contracts';
import {
  certificateSettings,
  freePort,
  mongodbAdminUrl,
  mongodbUrlOf,
  natsAdminUrl,
  natsUrlOf,
  newSecrets,
  newSigningKeys,
  REPLICA_SET,
  type Secrets,
} from '@brand-data/servers';

const MAINS = {
  accounts: import.meta.resolve('@brand-data/accounts/main'),
  catalog: import.meta.resolve('@brand-data/catalog/main'),
  metering: import.meta.resolve('@brand-data/metering/main'),
  images: import.meta.resolve('@brand-data/images/main'),
  gateway: import.meta.resolve('@brand-data/gateway/main'),
};

export interface PlanOptions {
  /** Contains the servers' data, the settings' files and, in `logs`, the output of all processes. */
  dataDir: string;
  gateways: number;
  /** How many processes of a service to plan. Several are named "metering-1", "metering-2" and so on. The default is one. */
  replicas?: Partial<Record<DatabaseService, number>>;
  /** Chooses the port of a listener, such as "gateway-1" or "accounts.admin". By default any free port. */
  portFor?: (listener: string) => Promise<number>;
  /** A NATS that runs already. `hasUsers`: each service has a user there, with the password that `secrets` determine. */
  nats?: { url: string; hasUsers: boolean } | undefined;
  /** A MongoDB that runs already. `hasUsers`: the user of the URL may create a user for each service. */
  mongodb?: { url: string; hasUsers: boolean } | undefined;
  /** By default new secrets. */
  secrets?: Secrets;
  /** A folder with the certificates of all identities. */
  certificates: string;
  /** How the services and `bds` make and answer gRPC calls. The default is "mutual_tls". */
  transport?: 'mutual_tls' | 'insecure_plaintext';
  /** The services' databases are `${databasePrefix}_accounts` and so on. The default is "brand_data". */
  databasePrefix?: string;
  /** Settings of all services, such as LOG_LEVEL, in place of those that this function chooses. */
  environment?: NodeJS.ProcessEnv;
}

/** A process of one of the services. */
export interface PlannedService {
  /** "gateway-1" */
  name: string;
  service: ServiceName;
  /** The main file. A function is called at each start. */
  main: string | (() => string);
  /** More options of Node. */
  nodeOptions?: readonly string[];
  opsPort: number;
  /** The settings that are secret or have a password in them. The service reads each from a file that only its owner can read. */
  secretSettings: { NATS_URL: string; [setting: string]: string };
  environment: Record<string, string | number | undefined>;
}

/** The settings with which `bds` reaches the services. Each admin port is a text `host:port`. */
export type OperatorConnection = Record<DatabaseService, string> & {
  /** The URLs of the gateways' operations ports. */
  gateways: string[];
  operatorToken: string;
} & ({ certificates: string } | { transport: 'insecure_plaintext' });

interface HttpAddress {
  name: string;
  url: string;
  opsUrl: string;
}

/** The processes of a stack and their addresses. A test may change `services` before it starts the plan. */
export interface StackPlan {
  dataDir: string;
  services: PlannedService[];
  /** A server with a port is started there. Another one runs already. */
  nats: { hasUsers: boolean; port?: number };
  mongodb: { hasUsers: boolean; port?: number };
  databasePrefix: string;
  secrets: Secrets;
  /** The folder with the certificates of all identities. */
  certificates: string;
  /** The files of accounts' signing key and of the public keys that metering trusts. The services read them again when they change. */
  allowanceKeyFiles: { signing: string; verifying: string };
  gateways: HttpAddress[];
  /** The replicas of images. `url` is the base URL of paths in records. */
  images: HttpAddress[];
  /** The URL of each service's /readyz and /metrics, by the service's name. */
  opsUrls: ReadonlyMap<string, string>;
  /** For people and tests. If the stack starts NATS, the user in this URL may do everything. The services have separate users. */
  natsUrl: string;
  /** For people and tests, as `natsUrl`. */
  mongodbUrl: string;
  operator: OperatorConnection;
  /** The gRPC ports that gateways call, by service. Of several replicas, all. */
  targets: Readonly<Record<string, string>>;
}

/** Returns the file with a setting of a process, such as "NATS_URL" of "gateway-1". The services read it again when it changes. */
export function settingFile(dataDir: string, name: string, setting: string): string {
  return join(dataDir, 'settings', `${name}.${setting}`);
}

/** Chooses the ports and settings of all processes, and starts none. */
export async function planStack(options: PlanOptions): Promise<StackPlan> {
  const { dataDir, certificates, transport = 'mutual_tls', databasePrefix = 'brand_data' } = options;
  const { portFor = freePort, secrets = newSecrets() } = options;
  const { serverSecret, operatorToken } = secrets;
  const nats = options.nats ?? { hasUsers: true, port: await portFor('nats-server') };
  const mongodb = options.mongodb ?? { hasUsers: true, port: await portFor('mongod') };
  const natsUrl = 'url' in nats ? nats.url : `nats://127.0.0.1:${nats.port}`;
  const mongodbUrl =
    'url' in mongodb ? mongodb.url : `mongodb://127.0.0.1:${mongodb.port}/?replicaSet=${REPLICA_SET}`;
  const listeners = await chooseListeners(options, portFor);
  const listenersOf = (service: ServiceName) => listeners.filter((each) => each.service === service);
  const targetOf = (service: ServiceName) => {
    const all = listenersOf(service).map(({ port }) => `127.0.0.1:${port}`);
    return all.length === 1 ? all.join() : `ipv4:${all.join()}`;
  };
  /** The admin port of the first replica. */
  const adminTargetOf = (service: ServiceName) => {
    const [first] = listenersOf(service);
    return first === undefined ? '' : `127.0.0.1:${first.adminPort}`;
  };
  const images = listenersOf('images').map((each) => httpAddress(each, '/images'));
  const gateways = listenersOf('gateway').map((each) => httpAddress(each));
  const targets = {
    accounts: targetOf('accounts'),
    catalog: targetOf('catalog'),
    metering: targetOf('metering'),
  };
  const allowanceKeyFiles = {
    signing: join(dataDir, 'allowance-signing-key.pem'),
    verifying: join(dataDir, 'allowance-public-keys.pem'),
  };
  const given = {
    ACCOUNTS_TARGET: targets.accounts,
    CATALOG_TARGET: targets.catalog,
    METERING_TARGET: targets.metering,
    LOGO_HOST: images[0]?.url ?? 'http://127.0.0.1:9',
  };
  // Each start has new keys of passes, because passes are valid for some minutes only.
  const passKeys = newSigningKeys();
  const settingsOf = settingsBy(passKeys.verifying, allowanceKeyFiles, given);
  const services = listeners.map((each): PlannedService => {
    const { name, service, opsPort } = each;
    const database = `${databasePrefix}_${service}`;
    return {
      name,
      service,
      main: fileURLToPath(MAINS[service]),
      opsPort,
      secretSettings: {
        NATS_URL: nats.hasUsers ? natsUrlOf(service, natsUrl, serverSecret) : natsUrl,
        ...(service !== 'gateway' && {
          MONGODB_URL: mongodb.hasUsers ? mongodbUrlOf(database, mongodbUrl, serverSecret) : mongodbUrl,
          OPERATOR_TOKEN: operatorToken,
        }),
        ...(service === 'accounts' && {
          TOKEN_HASH_KEY: secrets.tokenHashKey,
          PASS_SIGNING_KEY: passKeys.signing,
        }),
        ...((service === 'gateway' || service === 'images') && { MONOGRAM_KEYS: secrets.monogramKey }),
      },
      environment: {
        GRPC_TRANSPORT: transport,
        ...certificateSettings(certificates, service),
        ...(service !== 'gateway' && { MONGODB_DATABASE: database }),
        ...settingsOf(each),
        ...options.environment,
      },
    };
  });
  return {
    dataDir,
    services,
    nats,
    mongodb,
    databasePrefix,
    secrets,
    certificates,
    allowanceKeyFiles,
    gateways,
    images,
    opsUrls: new Map(listeners.map((each) => [each.name, httpAddress(each).opsUrl])),
    natsUrl: 'url' in nats ? natsUrl : natsAdminUrl(natsUrl, serverSecret),
    mongodbUrl: 'url' in mongodb ? mongodbUrl : mongodbAdminUrl(mongodbUrl, serverSecret),
    operator: {
      accounts: adminTargetOf('accounts'),
      catalog: adminTargetOf('catalog'),
      metering: adminTargetOf('metering'),
      images: adminTargetOf('images'),
      gateways: gateways.map(({ opsUrl }) => opsUrl),
      operatorToken,
      ...(transport === 'mutual_tls' ? { certificates: join(certificates, 'bds') } : { transport }),
    },
    targets,
  };
}

/** A process and its ports. */
interface Listeners {
  name: string;
  service: ServiceName;
  /** The port of gRPC, or of HTTP if the service is the gateway or images. */
  port: number;
  /** The gateway has no admin port. */
  adminPort: number | undefined;
  opsPort: number;
}

/** Chooses ports one after the other, so that it chooses none twice. */
async function chooseListeners(
  { gateways, replicas = {} }: PlanOptions,
  portFor: (listener: string) => Promise<number>,
): Promise<Listeners[]> {
  const named = (service: ServiceName, count = 1, isNumbered = count > 1) =>
    Array.from({ length: count }, (_, index) => {
      return { name: isNumbered ? `${service}-${index + 1}` : service, service };
    });
  const services = DATABASE_SERVICES.flatMap((service) => named(service, replicas[service]));
  const chosen: Listeners[] = [];
  for (const { name, service } of [...services, ...named('gateway', gateways, true)]) {
    const port = await portFor(name);
    const adminPort = service === 'gateway' ? undefined : await portFor(`${name}.admin`);
    chosen.push({ name, service, port, adminPort, opsPort: await portFor(`${name}.ops`) });
  }
  return chosen;
}

/** Returns a function that tells the settings in which the services differ. */
function settingsBy(
  PASS_PUBLIC_KEYS: string,
  allowanceKeyFiles: StackPlan['allowanceKeyFiles'],
  ofGateways: Record<string, string>,
): (listeners: Listeners) => PlannedService['environment'] {
  const keys = {
    accounts: { ALLOWANCE_SIGNING_KEY_FILE: allowanceKeyFiles.signing },
    catalog: { PASS_PUBLIC_KEYS },
    metering: { PASS_PUBLIC_KEYS, ALLOWANCE_PUBLIC_KEYS_FILE: allowanceKeyFiles.verifying },
    images: { PASS_PUBLIC_KEYS },
  };
  return ({ service, port, adminPort }) => {
    if (service === 'gateway') return { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}`, ...ofGateways };
    const ports = { [service === 'images' ? 'PORT' : 'GRPC_PORT']: port, ADMIN_GRPC_PORT: adminPort };
    return { ...ports, ...keys[service] };
  };
}

function httpAddress({ name, port, opsPort }: Listeners, path = ''): HttpAddress {
  return { name, url: `http://127.0.0.1:${port}${path}`, opsUrl: `http://127.0.0.1:${opsPort}` };
}
