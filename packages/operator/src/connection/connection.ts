import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  AccountsAdminServiceClient,
  ADMIN_SERVERS,
  CatalogAdminServiceClient,
  DiagnosisAdminServiceClient,
  ImagesAdminServiceClient,
  isOperatorCredential,
  MeteringAdminServiceClient,
} from '@brand-data/contracts';
import type { AdminPort } from '@brand-data/importers';
import {
  Certificates,
  callClientStream,
  callServerStream,
  callUnary,
  connectChannel,
  INSECURE_PLAINTEXT,
  PASS_LASTS_MS,
  secretsOf,
  type Transport,
} from '@brand-data/runtime';
import { namedError } from './call-errors.ts';
import { FILE_PROBLEM } from './file-problem.ts';

const DEADLINE_MS = 10_000;

/** The command line is wrong. The command has done nothing. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command needs the address of a service, and none was given. */
export class AddressMissing extends UsageError {
  constructor(service: AdminServer) {
    super(
      `the address of ${service} is missing: give --${service} host:port, or set BDS_${service.toUpperCase()}`,
    );
  }
}

const SERVICES = ADMIN_SERVERS;
export type AdminServer = (typeof SERVICES)[number];

/** The folder with `tls.crt`, `tls.key` and `ca.crt`, by which bds proves its identity and checks that of the services. */
type Certified = { certificates: string } | { transport: 'insecure_plaintext' };

/** The address (host:port) of each service's admin port, and how calls are protected. */
export type Addresses = { [Name in AdminServer]?: string | undefined } & {
  /** The URLs of gateways' operations ports, which need no credential. */
  gateways?: string[] | undefined;
} & Certified;

/** Where the services are, and the credential of the operator who calls them. */
export type Settings = Addresses & { operatorToken: string };

/** The command line's options. None is the credential itself, because other users of the machine can see command lines. */
export type SettingsOptions = { [Name in AdminServer]?: string | undefined } & {
  operatorTokenFile?: string | undefined;
  /** The URLs of gateways' operations ports. */
  gateway?: string[] | undefined;
  /** The operator whose credential in the home folder is used. */
  as?: string | undefined;
  certificates?: string | undefined;
};

type GrpcClient = ReturnType<typeof connectChannel>;
/** An admin port of `bds`. If the service does not answer a call, the Fault's message names the service. */
interface Port<Client> extends AdminPort<Client> {
  target: string;
  /** Yields the messages of the answer. Throws a Fault if the stream is not complete. */
  readStream<Request, Response>(
    method: (client: Client) => Parameters<typeof callServerStream<Request, Response>>[1],
    request: Request,
    deadlineMs: number,
  ): AsyncGenerator<Response>;
  /** Sends the messages. Rejects with a Fault, or with what `messages` throws. */
  sendStream<Request, Response>(
    method: (client: Client) => Parameters<typeof callClientStream<Request, Response>>[1],
    messages: AsyncIterable<Request>,
    deadlineMs: number,
  ): Promise<Response>;
}

export interface Connection {
  accounts: () => Port<AccountsAdminServiceClient>;
  catalog: () => Port<CatalogAdminServiceClient>;
  metering: () => Port<MeteringAdminServiceClient>;
  images: () => Port<ImagesAdminServiceClient>;
  /** The checks of the service. */
  diagnosis: (service: AdminServer) => Port<DiagnosisAdminServiceClient>;
  gateways: readonly string[];
  /** When the certificate of bds ends. Undefined without one. */
  certificate: Certificates | undefined;
  close(): void;
}

/**
 * Reads the settings from the options, else from the environment (BDS_ACCOUNTS, BDS_CATALOG, BDS_METERING, BDS_IMAGES,
 * BDS_GATEWAYS, BDS_CERTIFICATES, BDS_GRPC_TRANSPORT). If neither gives any admin port, the settings come from the file of the running local
 * stack. That is the file that BDS_STACK names, else `.local/operator.json` in the working directory or above it. See credentialOf
 * for the credential.
 */
export function connectionSettings(options: SettingsOptions, env: NodeJS.ProcessEnv, cwd: string): Settings {
  const credential = credentialOf(options, env);
  if (!areNamed(options, env)) {
    const stack = readStack(env, cwd);
    return credential ? { ...stack, operatorToken: credential } : stack;
  }
  // The credential in the home folder is for the services that are named, and never goes to a local stack.
  const token = credential ?? homeCredential(env);
  if (!token)
    throw new UsageError(
      'the operator credential is missing: put it into ~/.config/bds/credential, or give --operator-token-file <file>, or set BDS_OPERATOR_TOKEN',
    );
  return { ...namedAddresses(options, env), operatorToken: token };
}

/** As connectionSettings, for a command that gets its credential from elsewhere. */
export function serviceAddresses(options: SettingsOptions, env: NodeJS.ProcessEnv, cwd: string): Addresses {
  return areNamed(options, env) ? namedAddresses(options, env) : readStack(env, cwd);
}

function addressGiven(name: AdminServer, options: SettingsOptions, env: NodeJS.ProcessEnv) {
  return options[name] ?? (env[`BDS_${name.toUpperCase()}`] || undefined);
}

/** Whether options or environment have the address of any service. */
function areNamed(options: SettingsOptions, env: NodeJS.ProcessEnv): boolean {
  return SERVICES.some((name) => addressGiven(name, options, env) !== undefined);
}

function namedAddresses(options: SettingsOptions, env: NodeJS.ProcessEnv): Addresses {
  return {
    accounts: addressGiven('accounts', options, env),
    catalog: addressGiven('catalog', options, env),
    metering: addressGiven('metering', options, env),
    images: addressGiven('images', options, env),
    gateways: gatewaysOf(options, env),
    ...certifiedBy(options.certificates ?? env.BDS_CERTIFICATES, env.BDS_GRPC_TRANSPORT),
  };
}

function gatewaysOf({ gateway }: SettingsOptions, { BDS_GATEWAYS }: NodeJS.ProcessEnv): string[] | undefined {
  const urls = gateway ?? (BDS_GATEWAYS ? BDS_GATEWAYS.split(',').map((url) => url.trim()) : undefined);
  const wrong = urls?.find((url) => !/^https?:\/\/[^\s/?#@]+\/?$/.test(url));
  if (wrong !== undefined)
    throw new UsageError(`"${wrong}" is not the URL of an operations port: write http://host:port`);
  return urls;
}

function certifiedBy(certificates: string | undefined, transport: string | undefined): Certified {
  if (certificates) return { certificates };
  if (transport === 'insecure_plaintext') return { transport };
  throw new UsageError(
    'the certificates are missing: give --certificates <folder>, or set BDS_CERTIFICATES; if the services prove no identity, set BDS_GRPC_TRANSPORT=insecure_plaintext',
  );
}

/**
 * The credential that the options name, else the environment. Of several lines it is the first, because there may be two while the
 * installation's operator token is being replaced.
 */
function credentialOf(
  { as, operatorTokenFile }: SettingsOptions,
  env: NodeJS.ProcessEnv,
): string | undefined {
  if (as !== undefined && operatorTokenFile !== undefined)
    throw new UsageError('give --as or --operator-token-file, not both');
  if (as !== undefined) {
    if (!/^[a-z0-9][a-z0-9-]*$/.test(as)) throw new UsageError(`"${as}" is not the name of an operator`);
    return readOwnCredential(join(homeFolder(env), `${as}.credential`));
  }
  const file = operatorTokenFile ?? (env.BDS_CREDENTIAL_FILE || env.BDS_OPERATOR_TOKEN_FILE);
  const [credential] = secretsOf(file ? readText(file) : (env.BDS_OPERATOR_TOKEN ?? ''));
  return credential;
}

function homeFolder(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME ?? '', '.config'), 'bds');
}

function homeCredential(env: NodeJS.ProcessEnv): string | undefined {
  const file = join(homeFolder(env), 'credential');
  return existsSync(file) ? readOwnCredential(file) : undefined;
}

/** Reads a file that only its owner may read, as ssh does with keys. */
function readOwnCredential(file: string): string | undefined {
  const text = readText(file);
  if ((statSync(file).mode & 0o077) !== 0)
    throw new UsageError(`${file} can be read by other users: run chmod 600 ${file}`);
  const [credential] = secretsOf(text);
  if (credential === undefined) throw new UsageError(`${file} is empty`);
  return credential;
}

/** Connects to each service when it is first used. */
export function openConnection({
  operatorToken: credential,
  gateways = [],
  ...settings
}: Settings): Connection {
  const clients: GrpcClient[] = [];
  const transport = transportOf(settings);
  /** All calls of this run have it in the trail of changes. */
  const requestId = randomUUID();
  const passes = new Map<AdminServer, { pass: Promise<string>; renewAtMs: number }>();

  /** What to send to the service: the credential, or a pass for it that accounts gives the operator for some minutes. */
  const credentialFor = (service: AdminServer, deadlineMs: number): Promise<string> | string => {
    if (service === 'accounts' || !isOperatorCredential(credential)) return credential;
    const held = passes.get(service);
    if (held !== undefined && held.renewAtMs > performance.now()) return held.pass;
    const renewAtMs = performance.now() + PASS_LASTS_MS / 2;
    const pass = accounts()
      .call((client) => client.issuePass, { service }, Math.min(deadlineMs, DEADLINE_MS))
      .then((issued) => issued.pass);
    // A pass that could not be had is asked for again at the next call.
    pass.catch(() => passes.delete(service));
    passes.set(service, { pass, renewAtMs });
    return pass;
  };

  const optionsFor = async (service: AdminServer, deadlineMs: number) => {
    const operatorToken = await credentialFor(service, deadlineMs);
    return { deadlineMs, operatorToken, requestId };
  };

  function port<Client extends GrpcClient>(
    service: AdminServer,
    Constructor: Parameters<typeof connectChannel<Client>>[0],
  ): () => Port<Client> {
    let client: Client | undefined;
    return () => {
      const target = settings[service];
      if (target === undefined) throw new AddressMissing(service);
      if (!/^[^\s/:]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i.test(target))
        throw new UsageError(`"${target}" is not an address of ${service}: write host:port`);
      if (client === undefined) {
        client = connectChannel(Constructor, target, { transport, peer: service });
        clients.push(client);
      }
      const connected = client;
      return {
        target,
        async call(method, request, deadlineMs = DEADLINE_MS) {
          try {
            const options = await optionsFor(service, deadlineMs);
            return await callUnary(connected, method(connected), request, options);
          } catch (error) {
            throw namedError(service, target, error);
          }
        },
        async *readStream(method, request, deadlineMs) {
          try {
            const options = await optionsFor(service, deadlineMs);
            yield* callServerStream(connected, method(connected), request, options);
          } catch (error) {
            throw namedError(service, target, error);
          }
        },
        async sendStream(method, messages, deadlineMs) {
          try {
            const options = await optionsFor(service, deadlineMs);
            return await callClientStream(connected, method(connected), messages, options);
          } catch (error) {
            throw namedError(service, target, error);
          }
        },
      };
    };
  }

  const accounts = port('accounts', AccountsAdminServiceClient);
  const diagnosis = Object.fromEntries(
    SERVICES.map((service) => [service, port(service, DiagnosisAdminServiceClient)]),
  ) as Record<AdminServer, () => Port<DiagnosisAdminServiceClient>>;
  return {
    accounts,
    catalog: port('catalog', CatalogAdminServiceClient),
    metering: port('metering', MeteringAdminServiceClient),
    images: port('images', ImagesAdminServiceClient),
    diagnosis: (service) => diagnosis[service](),
    gateways,
    certificate: transport.certificates,
    close() {
      for (const client of clients) client.close();
    },
  };
}

function transportOf(certified: Certified): Transport {
  if ('transport' in certified) return INSECURE_PLAINTEXT;
  const inFolder = (name: string) => join(certified.certificates, name);
  const files = { cert: inFolder('tls.crt'), key: inFolder('tls.key'), ca: inFolder('ca.crt') };
  try {
    return { certificates: Certificates.read('bds', files) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `the certificates in ${certified.certificates} are not usable: ${code ?? message}. Renew them, or name another folder`,
    );
  }
}

function readStack(env: NodeJS.ProcessEnv, cwd: string): Settings {
  const file = env.BDS_STACK || findUpward(cwd, join('.local', 'operator.json'));
  if (file === undefined)
    throw new UsageError(
      'no local stack is running here: start it with npm start, or give addresses with --accounts, --catalog, --metering, --images',
    );
  const value = parseStack(file);
  const field = (name: string): string | undefined => {
    const found: unknown = Object(value)[name];
    return typeof found === 'string' && found !== '' ? found : undefined;
  };
  const operatorToken = field('operatorToken');
  if (operatorToken === undefined) throw new UsageError(`${file} has no field operatorToken`);
  return {
    accounts: field('accounts'),
    catalog: field('catalog'),
    metering: field('metering'),
    images: field('images'),
    gateways: Array.isArray(Object(value).gateways) ? Object(value).gateways.map(String) : undefined,
    operatorToken,
    ...certifiedBy(field('certificates'), field('transport')),
  };
}

/** Parses the file without showing its content in an error: JSON.parse would quote it, and it holds the credential. */
function parseStack(file: string): unknown {
  const text = readText(file);
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${file} is not valid JSON`);
  }
}

function findUpward(folder: string, name: string): string | undefined {
  const file = join(folder, name);
  if (existsSync(file)) return file;
  const parent = dirname(folder);
  return parent === folder ? undefined : findUpward(parent, name);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new UsageError(`${file} ${FILE_PROBLEM[code] ?? `cannot be read: ${code}`}`);
  }
}
