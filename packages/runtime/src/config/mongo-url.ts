import { MongoClient, type MongoClientOptions } from 'mongodb';

/**
 * With these options, every acknowledged write and every value that was read survives an election. The services' guarantees
 * depend on that. The driver lets the URL override most of these options, so `problemOfMongoUrl` refuses a URL that does.
 */
export const KEPT = {
  readConcern: { level: 'majority' },
  writeConcern: { w: 'majority', journal: true },
  readPreference: 'primary',
  retryReads: true,
  retryWrites: true,
} as const satisfies MongoClientOptions;

/** Options that the URL may contain only with the value given here, by their names in lower case. */
const FIXED: ReadonlyMap<string, string> = new Map([
  ['w', 'majority'],
  ['journal', 'true'],
  ['j', 'true'],
  ['readconcernlevel', 'majority'],
  ['readpreference', 'primary'],
  ['retryreads', 'true'],
  ['retrywrites', 'true'],
  // Behind a load balancer the driver cannot tell which member is the primary.
  ['loadbalanced', 'false'],
]);

/**
 * Options that may have any value in the URL: addresses, credentials, encryption, timeouts and pool sizes. `connectMongo` sets
 * the timeouts and pool sizes that matter, and they take precedence over those of the URL. `problemOfClient` allows
 * `directConnection` for a replica set of one member only.
 */
const FREE: ReadonlySet<string> = new Set(
  `appName authMechanism authMechanismProperties authSource replicaSet srvMaxHosts srvServiceName
  autoSelectFamily autoSelectFamilyAttemptTimeout family noDelay directConnection
  compressors zlibCompressionLevel proxyHost proxyPort proxyUsername proxyPassword
  tls ssl servername tlsAllowInvalidCertificates tlsAllowInvalidHostnames tlsInsecure
  tlsCAFile tlsCRLFile tlsCertificateKeyFile tlsCertificateKeyFilePassword
  connectTimeoutMS serverSelectionTimeoutMS socketTimeoutMS waitQueueTimeoutMS heartbeatFrequencyMS
  minHeartbeatFrequencyMS serverMonitoringMode localThresholdMS
  maxPoolSize minPoolSize maxConnecting maxIdleTimeMS`
    .toLowerCase()
    .split(/\s+/),
);

/** Returns why a connection string cannot be used, or undefined. Quotes none of it, because it may hold a password. */
export function problemOfMongoUrl(url: string): string | undefined {
  if (!/^mongodb(\+srv)?:\/\/[^/?]+/.test(url)) return 'must look like mongodb://host:27017,…/?replicaSet=…';
  // The text before a later @ belongs to the password, and must not be read as options.
  if (/^[^:]+:\/\/[^/?#]*[/?#].*@/s.test(url))
    return 'has an @ behind a / ? or #: in the user, the password and options, write / as %2F, ? as %3F, # as %23 and @ as %40';
  const problems = new Set(optionsOf(url).flatMap(([name, value]) => problemOfOption(name, value) ?? []));
  if (problems.size > 0) return [...problems].join('; ');
  try {
    new MongoClient(url, KEPT);
  } catch {
    return 'cannot be parsed: check the hosts and the options, and percent-encode the user and the password';
  }
  return undefined;
}

/** Returns the URL's options, found as the driver finds them. */
function optionsOf(url: string): [name: string, value: string][] {
  const [beforeFragment = ''] = url.split('#', 1);
  const start = beforeFragment.indexOf('?');
  return start < 0 ? [] : [...new URLSearchParams(beforeFragment.slice(start + 1))];
}

function problemOfOption(name: string, value: string): string | undefined {
  const lower = name.toLowerCase();
  const only = FIXED.get(lower);
  if (value === only || FREE.has(lower)) return undefined;
  return only === undefined
    ? `leave out ${name}: the services set this option themselves, or it does not exist`
    : `leave out ${name}, or write ${name}=${only}: any other value would weaken the services' guarantees`;
}

/** Returns why a client's options, or its server's answer to `hello`, break the guarantees. Undefined if they keep them. */
export function problemOfClient(
  { options }: Pick<MongoClient, 'options'>,
  { setName, hosts = [] }: { setName?: string; hosts?: readonly string[] },
): string | undefined {
  const { readConcern, writeConcern, readPreference, retryReads, retryWrites } = options;
  const keeps =
    readConcern?.level === KEPT.readConcern.level &&
    writeConcern?.w === KEPT.writeConcern.w &&
    writeConcern.journal === true &&
    writeConcern.wtimeoutMS === undefined &&
    readPreference.mode === KEPT.readPreference &&
    readPreference.tags === undefined &&
    retryReads &&
    retryWrites;
  if (!keeps) return "the connection's options weaken the services' guarantees";
  // A DNS record may set `loadBalanced`, even if the URL does not.
  if (options.loadBalanced)
    return 'the URL leads to a load balancer: name the members of the replica set instead';
  if (setName === undefined) return 'the server is not a member of a replica set: use a replica set';
  if (options.directConnection && hosts.length !== 1)
    return 'leave out directConnection: after an election the member may be a secondary, which answers reads with old data';
  return undefined;
}
