import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ADMIN_SERVERS } from '@brand-data/contracts';
import { secretsOf } from '@brand-data/runtime';
import { type AdminServer, FILE_PROBLEM, UsageError } from './failures.ts';
import { inputLine } from './input.ts';

/** The folder with `tls.crt`, `tls.key` and `ca.crt`, by which bds proves its identity and checks that of the services. */
export type Certified = { certificates: string } | { transport: 'insecure_plaintext' };

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

/**
 * Reads the settings from the options, else from the environment (BDS_ACCOUNTS, BDS_CATALOG, BDS_METERING, BDS_IMAGES,
 * BDS_GATEWAYS, BDS_CERTIFICATES, BDS_GRPC_TRANSPORT). If neither gives any admin port, the settings come from the file of the
 * running local stack. That is the file that BDS_STACK names, else `.local/operator.json` in the working directory or above it.
 * See credentialOf for the credential.
 */
export function connectionSettings(options: SettingsOptions, env: NodeJS.ProcessEnv, cwd: string): Settings {
  const credential = credentialOf(options, env);
  const isNamed = addressesGiven(options, env).length > 0;
  // The credential in the home folder is for the services that are named, and never goes to a local stack.
  const operatorToken = credential ?? (isNamed ? homeCredential(env) : undefined);
  if (isNamed && !operatorToken)
    throw new UsageError(
      'the operator credential is missing, and that of a local stack is only for its own addresses: put it into ~/.config/bds/credential, or give --operator-token-file <file>, or set BDS_OPERATOR_TOKEN',
    );
  return operatorToken
    ? { ...serviceAddresses(options, env, cwd), operatorToken }
    : readStack(options, env, cwd);
}

const ADDRESS = /^[^\s/:]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i;

function addressesGiven(options: SettingsOptions, env: NodeJS.ProcessEnv) {
  return ADMIN_SERVERS.flatMap((name) => {
    const address = options[name] ?? (env[`BDS_${name.toUpperCase()}`] || undefined);
    if (address === undefined) return [];
    if (!ADDRESS.test(address))
      throw new UsageError(`"${address}" is not an address of ${name}: write host:port`);
    return [[name, address] as const];
  });
}

/** Returns the same addresses as connectionSettings, for a command that gets its credential from elsewhere. */
export function serviceAddresses(options: SettingsOptions, env: NodeJS.ProcessEnv, cwd: string): Addresses {
  const given = addressesGiven(options, env);
  if (given.length === 0) return readStack(options, env, cwd);
  return {
    ...Object.fromEntries(given),
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
 * Returns the credential that the options name, else the environment. Of several lines it is the first, because there may be two
 * while the installation's operator token is being replaced.
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
  const text = file === '-' ? inputLine() : file ? readText(file) : (env.BDS_OPERATOR_TOKEN ?? '');
  const [credential] = secretsOf(text);
  // Another credential in its place would act for another operator.
  if (credential === undefined && file)
    throw new UsageError(`${file === '-' ? 'standard input' : file} does not begin with a credential`);
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

/** Errors never show the content of the file, as JSON.parse would do: it holds the credential. */
function readStack(options: SettingsOptions, env: NodeJS.ProcessEnv, cwd: string): Settings {
  const file = env.BDS_STACK || findUpward(cwd, join('.local', 'operator.json'));
  if (file === undefined)
    throw new UsageError(
      'no local stack is running here: start it with npm start, or set BDS_STACK to the operator.json in the folder of npm start -- --data, or give addresses with --accounts, --catalog, --metering, --images',
    );
  const text = readText(file);
  let stack: Record<string, unknown>;
  try {
    stack = Object(JSON.parse(text));
  } catch {
    throw new UsageError(`${file} is not valid JSON`);
  }
  const field = (name: string) => (typeof stack[name] === 'string' ? stack[name] || undefined : undefined);
  const operatorToken = field('operatorToken');
  if (operatorToken === undefined) throw new UsageError(`${file} has no field operatorToken`);
  return {
    ...Object.fromEntries(ADMIN_SERVERS.map((name) => [name, field(name)])),
    gateways:
      gatewaysOf(options, {}) ?? (Array.isArray(stack.gateways) ? stack.gateways.map(String) : undefined),
    operatorToken,
    ...certifiedBy(options.certificates ?? field('certificates'), field('transport')),
  };
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
