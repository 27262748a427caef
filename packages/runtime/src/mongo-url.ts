import { MongoClient, type MongoClientOptions } from 'mongodb';

/**
 * What every promise of the services rests on: what was answered outlives an election, and what is read does. The driver
 * takes most of it from the URL when that says something else, so `problemOfMongoUrl` refuses what does.
 */
export const KEPT = {
  readConcern: { level: 'majority' },
  writeConcern: { w: 'majority', journal: true },
  readPreference: 'primary',
  retryReads: true,
  retryWrites: true,
} as const satisfies MongoClientOptions;

/** Options that may be given with this value alone, by their names in small letters. */
const FIXED: ReadonlyMap<string, string> = new Map([
  ['w', 'majority'],
  ['journal', 'true'],
  ['j', 'true'],
  ['readconcernlevel', 'majority'],
  ['readpreference', 'primary'],
  ['retryreads', 'true'],
  ['retrywrites', 'true'],
  // Behind a balancer nobody knows which member is the primary.
  ['loadbalanced', 'false'],
]);

/**
 * Options that may have any value: where the servers are, who connects and how it is encrypted; and times and pool sizes,
 * which `connectMongo` sets itself where they matter, and then the URL's are not used.
 */
const FREE: ReadonlySet<string> = new Set(
  [
    ...['appName', 'authMechanism', 'authMechanismProperties', 'authSource', 'replicaSet', 'srvMaxHosts'],
    ...['srvServiceName', 'autoSelectFamily', 'autoSelectFamilyAttemptTimeout', 'family', 'noDelay'],
    // Only of a set of one member, which is known once it answers.
    'directConnection',
    ...['compressors', 'zlibCompressionLevel', 'proxyHost', 'proxyPort', 'proxyUsername', 'proxyPassword'],
    ...['tls', 'ssl', 'servername', 'tlsAllowInvalidCertificates', 'tlsAllowInvalidHostnames', 'tlsInsecure'],
    ...['tlsCAFile', 'tlsCRLFile', 'tlsCertificateKeyFile', 'tlsCertificateKeyFilePassword'],
    ...['connectTimeoutMS', 'serverSelectionTimeoutMS', 'socketTimeoutMS', 'waitQueueTimeoutMS'],
    ...['heartbeatFrequencyMS', 'minHeartbeatFrequencyMS', 'serverMonitoringMode', 'localThresholdMS'],
    ...['maxPoolSize', 'minPoolSize', 'maxConnecting', 'maxIdleTimeMS'],
  ].map((name) => name.toLowerCase()),
);

/** Why a connection string cannot be used, without what it says: it may hold a password. Undefined: it can. */
export function problemOfMongoUrl(url: string): string | undefined {
  if (!/^mongodb(\+srv)?:\/\/[^/?]+/.test(url)) return 'must look like mongodb://host:27017,…/?replicaSet=…';
  // What comes before a later @ is a password, and not to be taken for options.
  if (/^[^:]+:\/\/[^/?#]*[/?#].*@/s.test(url))
    return 'has an @ behind a / ? or #: write those as %2F %3F %23 and %40 in the user, the password and options';
  const problems = [
    ...new Set(optionsOf(url).flatMap(([name, value]) => problemOfOption(name, value) ?? [])),
  ];
  if (problems.length > 0) return problems.join('; ');
  try {
    new MongoClient(url, KEPT);
  } catch {
    return 'cannot be read: see that the hosts and options are right and the user and the password percent-encoded';
  }
  return undefined;
}

/** As the driver finds them. */
function optionsOf(url: string): [name: string, value: string][] {
  const [beforeFragment = ''] = url.split('#', 1);
  const start = beforeFragment.indexOf('?');
  return start < 0 ? [] : [...new URLSearchParams(beforeFragment.slice(start + 1))];
}

function problemOfOption(name: string, value: string): string | undefined {
  const lower = name.toLowerCase();
  const only = FIXED.get(lower);
  if (only === undefined)
    return FREE.has(lower)
      ? undefined
      : `leave out ${name}: the services see to what it is for, or it is none`;
  if (value === only) return undefined;
  return `leave out ${name}, or write ${name}=${only}: anything else would weaken what the services promise`;
}

/** Why a client keeps less than it has to, by what its server says of itself; undefined: nothing is wrong. */
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
  if (!keeps) return 'its options weaken what the services promise';
  // A DNS record may say so.
  if (options.loadBalanced) return 'it leads to a load balancer: name the members of the replica set';
  if (setName === undefined) return 'it leads to no member of a replica set';
  if (options.directConnection && hosts.length !== 1)
    return 'leave out directConnection: the member may be a secondary after an election, and reads would show the past';
  return undefined;
}
