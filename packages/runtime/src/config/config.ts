import {
  type CleanedEnvAccessors,
  cleanEnv,
  host,
  makeValidator,
  num,
  port,
  str,
  type ValidatorSpec,
} from 'envalid';
import { VERSION } from '../base/version.ts';
import { problemOfMongoUrl } from './mongo-url.ts';
import { isNetwork } from './networks.ts';
import { certificatesFromPem, signingKeyFromPem, verifyingKeysFromPem } from './pem-keys.ts';
import { readSettingFiles } from './setting-files.ts';

/** Some settings are wrong. The message lists all wrong settings, one a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** A text of which `problemOf` finds no fault. Its problems never show the text, because it may hold a password. */
function textWithout(problemOf: (text: string) => string | false | undefined) {
  return makeValidator((text) => {
    const problem = problemOf(text);
    if (problem) throw new Error(problem);
    return text;
  });
}

const mongodbUrl = textWithout(problemOfMongoUrl);
const natsUrl = textWithout(
  (text) =>
    !/^((nats|tls):\/\/)?[^/,]+(,((nats|tls):\/\/)?[^/,]+)*$/.test(text) &&
    'must look like nats://host:4222, or several such URLs separated by commas',
);

function problemOfHttpUrl(text: string): string | false {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') return 'must look like https://host/path';
  return (url.username !== '' || url.password !== '') && 'must not contain a user or a password';
}

/** The URL before a path, without a slash at its end. Callers see it, so it holds no password. */
const baseUrl = makeValidator((text) => {
  const problem = problemOfHttpUrl(text) || (/[?#]/.test(text) && 'must not contain a query or a fragment');
  if (problem) throw new Error(problem);
  return text.replace(/\/+$/, '');
});

/** An empty secret protects nothing, and a short one can be guessed. */
const SHORTEST_SECRET = 16;
const secret = textWithout(
  (text) => text.length < SHORTEST_SECRET && `shorter than ${SHORTEST_SECRET} characters`,
);

/**
 * Reads one secret, or two on separate lines, both of which are accepted while one replaces the other: during a rolling restart,
 * replicas may differ. If the text is malformed, throws an error whose message does not show it.
 */
export function parseSecrets(text: string): readonly string[] {
  const lines = secretsOf(text);
  if (lines.length === 0 || lines.some((line) => line.length < SHORTEST_SECRET))
    throw new Error(`shorter than ${SHORTEST_SECRET} characters`);
  if (lines.length > 2) throw new Error('more than two lines');
  return lines;
}

/** Returns the secrets of a text with one secret on each line. A client that sends one of them sends the first. */
export function secretsOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/**
 * Reads the keys in one or two secrets of Standard Webhooks, one a line: `whsec_` and 24 to 64 bytes in base64. If the text is
 * malformed, throws an error whose message does not show it.
 */
export function parseWebhookSecrets(text: string): readonly Buffer[] {
  const lines = secretsOf(text);
  const keys = lines.map((line) => Buffer.from(/^whsec_([\w+/]+=*)$/.exec(line)?.[1] ?? '', 'base64'));
  if (keys.length === 0 || keys.some(({ length }) => length < 24 || length > 64))
    throw new Error('must look like whsec_ and 24 to 64 random bytes in base64');
  if (keys.length > 2) throw new Error('more than two lines');
  return keys;
}

/** A token that pages may show (services/accounts/README.md). */
const publishableToken = textWithout(
  (text) => !/^pk_[0-9A-Za-z]{28,32}$/.test(text) && 'must be a publishable token, which begins with pk_',
);

/** A whole number from `least` to `most`. */
function wholeNumber(least: number, most: number, problem: string) {
  return makeValidator((text) => {
    const count = Number(text);
    if (!Number.isInteger(count) || count < least || count > most) throw new Error(problem);
    return count;
  });
}

/** A cache of size 0 would have no bound. */
const SMALLEST_CACHE = 1024 ** 2;
const TOO_SMALL_A_CACHE = `must be a whole number of bytes, at least ${SMALLEST_CACHE}`;
const cacheBytes = wholeNumber(SMALLEST_CACHE, Number.MAX_SAFE_INTEGER, TOO_SMALL_A_CACHE);
const days = wholeNumber(1, 36_500, 'must be a whole number of days from 1 to 36500');

/** One or several certificates in PEM. */
const certificates = textWithout(
  (text) => certificatesFromPem(text).length === 0 && 'contains no certificate in PEM',
);

/** IP addresses and networks, separated by commas: `10.0.0.0/8, 192.0.2.7, 2001:db8::/32`. */
const networks = makeValidator((text) => {
  const all = text.split(',').map((network) => network.trim());
  const given = all.filter((network) => network !== '');
  if (!given.every(isNetwork))
    throw new Error('must look like 10.0.0.0/8, or several such networks separated by commas');
  return given;
});

/** The kinds of settings. */
export const configSpec = {
  baseUrl,
  cacheBytes,
  days,
  host,
  networks,
  num,
  port,
  secret,
  secrets: makeValidator(parseSecrets),
  str,
  mongodbUrl,
  natsUrl,
  certificates,
  publishableToken,
  signingKey: makeValidator(signingKeyFromPem),
  verifyingKeys: makeValidator(verifyingKeysFromPem),
  webhookSecrets: makeValidator(parseWebhookSecrets),
  /** A URL with any path and query. */
  httpUrl: textWithout((text) => text !== '' && problemOfHttpUrl(text)),
  /** Where people are reached. */
  emailOrUrl: textWithout(
    (text) =>
      !/^[^\s@:/?#]+@[^\s@:/?#]+$/.test(text) &&
      text !== '' &&
      problemOfHttpUrl(text) &&
      'must be an e-mail address, or look like https://host/path',
  ),
};

/** For every service that uses NATS. */
export const NATS_CA = authoritiesOf('NATS');
const MONGODB_CA = authoritiesOf('MongoDB');

function authoritiesOf(servers: string) {
  return certificates({
    default: undefined,
    desc: `Certificates of the authorities that issued the certificates of the ${servers} servers, in PEM; by default those that Node trusts`,
  });
}

/** For every service with an admin port. */
const OPERATOR_TOKEN = configSpec.secrets({
  desc: 'Credential that callers of the admin port must send; or two, each on a line of its own',
});

/** For the gateway and images. */
export const MONOGRAM_KEYS = configSpec.secrets({
  desc: 'Key of the mark in the paths of monograms, the same for the gateway and images: the gateway writes paths with it, and images draws no other ones; or two, each on a line of its own: the gateway uses the first, and images accepts both',
});

/** For the gateway and images. */
export const TRUSTED_PROXIES = networks({
  default: [],
  desc: "Addresses or networks of proxies whose X-Forwarded-For names the client's address; by default none, and the address is that of the connection",
});

/** For every service with an admin port, except accounts. */
export const PASS_PUBLIC_KEYS = configSpec.verifyingKeys({
  default: undefined,
  desc: "Public keys of accounts, with which the admin port checks operators' passes: Ed25519, in PEM; several while the key is replaced; without it, the port accepts only OPERATOR_TOKEN",
});

const LOG_LEVEL = str({
  choices: ['fatal', 'error', 'warn', 'info', 'debug', 'silent'],
  default: 'info',
  desc: 'Least severe level of the log lines to write',
});

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'].flatMap((name) => [name, `parentbased_${name}`]);

/** Settings of every service's `set-up`. */
export const setUpSpec = {
  LOG_LEVEL,
  SET_UP_TIMEOUT_MS: num({
    default: 60_000,
    desc: 'Longest time, in milliseconds, to wait for servers to answer and for indexes to be built',
  }),
};

/** For services that own streams. */
export const streamSpec = {
  STREAM_REPLICAS: num({
    choices: [1, 3, 5],
    default: 1,
    desc: 'Number of copies that the NATS cluster keeps of each stream',
  }),
};

/** Returns the settings of every service that has a database. */
export function databaseSpec(database: string) {
  return {
    MONGODB_URL: mongodbUrl({ desc: 'MongoDB replica set, mongodb://…' }),
    MONGODB_CA,
    MONGODB_DATABASE: str({ default: database, desc: 'Name of the database, which only this service uses' }),
  };
}

/** The settings of every service that uses NATS. */
export const natsSpec = {
  NATS_URL: natsUrl({ desc: 'NATS servers, comma-separated, nats://…' }),
  NATS_CA,
};

export function needsCertificates({ GRPC_TRANSPORT }: { GRPC_TRANSPORT?: unknown }): boolean {
  return GRPC_TRANSPORT !== 'insecure_plaintext';
}

function certificateFile(desc: string) {
  return str({
    default: undefined,
    requiredWhen: needsCertificates,
    desc: `${desc}; not with GRPC_TRANSPORT=insecure_plaintext`,
  });
}

/** The settings of a process that makes or answers gRPC calls. */
export const transportSpec = {
  GRPC_TRANSPORT: str({
    choices: ['mutual_tls', 'insecure_plaintext'],
    default: 'mutual_tls',
    desc: 'How services call one another: "mutual_tls", in which each proves its identity; or "insecure_plaintext", in which anyone who reaches a port can make every call',
  }),
  TLS_CERT_FILE: certificateFile("File of the service's certificate (PEM)"),
  TLS_KEY_FILE: certificateFile("File of that certificate's key (PEM)"),
  TLS_CA_FILE: certificateFile('File of the authorities whose certificates the service trusts (PEM)'),
};

/** Returns the settings of every service with an admin port. `name`: as in the names of its gRPC services, "Catalog". */
export function adminPortSpec(name: string) {
  return {
    ...transportSpec,
    ADMIN_GRPC_PORT: port({ desc: `Port of the gRPC service ${name}AdminService, for operators` }),
    OPERATOR_TOKEN,
  };
}

/** Returns the settings of every service that gateways call. */
export function grpcPortsSpec(name: string) {
  return {
    ...transportSpec,
    GRPC_PORT: port({ desc: `Port of the gRPC service ${name}Service, for gateways` }),
    ...adminPortSpec(name),
  };
}

/** Settings of every service. */
export const baseSpec = {
  LOG_LEVEL,
  HOST: host({ default: '0.0.0.0', desc: 'Network address on which every port of the service listens' }),
  OPS_PORT: port({ desc: 'HTTP port that serves /livez, /readyz and /metrics' }),
  DRAIN_MS: num({
    default: 0,
    desc: 'Time, in milliseconds, for which the service still answers after SIGTERM, while load balancers learn that it stops',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: str({
    default: '',
    desc: 'URL of the collector that receives traces by OTLP over HTTP, for example http://collector:4318; if empty, no traces are sent',
  }),
  OTEL_TRACES_SAMPLER: str({
    choices: SAMPLERS,
    default: 'parentbased_always_on',
    desc: 'Sampler that decides which calls are traced',
  }),
  OTEL_TRACES_SAMPLER_ARG: num({
    default: 1,
    desc: 'Fraction of calls that a traceidratio sampler traces, 0 to 1',
  }),
  TRACE_TRUSTED_CALLERS: networks({
    default: [],
    desc: 'Addresses or networks of HTTP callers whose traceparent may demand a trace; by default none, and the sampler decides',
  }),
  BUILD_VERSION: str({
    default: VERSION,
    desc: 'Version of the build, which metrics, traces and bds doctor report',
  }),
  BUILD_REVISION: str({ default: '', desc: 'Commit of the build, which metrics report' }),
};

/** The kind and the description of each setting, by the name of its environment variable. */
export type ConfigSpec = Record<string, ValidatorSpec<unknown>>;

export type ConfigOf<Spec> = {
  readonly [K in keyof Spec]: Spec[K] extends ValidatorSpec<infer T> ? T : never;
};

/**
 * Reads settings from an environment. Any setting `X` may be in a file instead, whose path is in `X_FILE`. Throws ConfigError,
 * whose message names every wrong setting.
 */
export function parseConfig<Spec extends ConfigSpec>(given: NodeJS.ProcessEnv, spec: Spec): ConfigOf<Spec> {
  const { environment, problems, missing } = readSettingFiles(given, Object.keys(spec));
  const cleaned = cleanEnv(environment, spec, {
    reporter: ({ errors }) => {
      const wrong = Object.keys(spec).filter((name) => errors[name] || problems.has(name));
      const lines = wrong.map(
        (name) =>
          `${name}: ${problems.get(name) ?? (missing.has(name) ? `the file that ${name}_FILE names does not exist` : errors[name]?.message || 'not set')} (${spec[name]?.desc ?? 'required'})`,
      );
      if (lines.length > 0) throw new ConfigError(`wrong settings:\n  ${lines.join('\n  ')}`);
    },
  }) as Record<string, unknown> & CleanedEnvAccessors;
  return Object.freeze(
    Object.fromEntries(Object.keys(spec).map((name) => [name, cleaned[name]])),
  ) as ConfigOf<Spec>;
}
