import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createToken, inboxPrefixOf, UsageEvent, usageStream } from '@brand-data/contracts';
import { jetstream } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';
import { type Namespace, RELEASE, untilPods } from './cluster.ts';
import { openLocalPort } from './local-port.ts';

/** A quickstart installation that callers use. */
export interface Site {
  namespace: Namespace;
  /** The URL of the namespace in the cluster's API, through a proxy that needs no credentials. */
  api: string;
  tokens: {
    /** Token of an account with calls at all times. */
    regular: string;
    /** Token of an account with a small allowance. */
    frugal: string;
    /** Tokens of accounts that have made no calls before. */
    newcomers: readonly [string, string];
  };
}

export interface ClusterFault {
  what: string;
  /** How many pods components have during the fault. */
  replicas?: Partial<typeof REPLICAS>;
  /** Causes the fault. Returns once it has begun. */
  begin?(site: Site): Promise<void>;
  /** The path that is called during the fault. */
  path?(site: Site): string;
  /** Repeated until all expected alerts have fired. */
  meanwhile?(site: Site): Promise<void>;
  /** All rules of these alerts must fire. If `service` or `reason` is given, they must fire for that service or reason. */
  fires: { alert: string; service?: string; reason?: string }[];
  end?(site: Site): Promise<void>;
}

/**
 * This allowance is so small that two gateways with a grant of two permits each hold more than a tenth of it. The second grant
 * then lasts only a minute.
 */
export const FRUGAL_ALLOWANCE = 36;
export const STREAM_MAX_BYTES = 32 * 1024 ** 2;
const FLOOD_MESSAGES = 9_000;
const FLOOD_BYTES = (0.9 * STREAM_MAX_BYTES) / FLOOD_MESSAGES;
/** How many pods components have while all is well. */
export const REPLICAS = { accounts: 2, catalog: 2, metering: 2, nats: 1, mongodb: 1 };

/** A function that keeps a core busy for 700 ms. */
const BUSY = '() => { for (const end = Date.now() + 700; Date.now() < end; ); }';

/** The paths of calls. */
const record = (token: string) => `/v1/brands/AAPL?token=${token}`;
const unknownName = ({ tokens }: Site) => `/v1/brands/nobody-${Math.random()}?token=${tokens.regular}`;
const MONGODB = `statefulset/${RELEASE}-mongodb`;
const CATALOG = `deploy/${RELEASE}-catalog`;
const UNKNOWN_GRANT = `nobody/calls/2026-01/1.${'A'.repeat(22)}`;
const unknownToken = () => record(createToken());
export const anyPath = (site: Site): string =>
  oneOf(
    unknownName(site),
    unknownToken(),
    record(site.tokens.regular),
    `/api/logos/AAPL/info?token=${site.tokens.regular}`,
    `/v1/usage?token=${site.tokens.regular}`,
  );

export const FAULTS: ClusterFault[] = [
  {
    what: 'gateways that are killed while they hold permits',
    async begin({ namespace, api, tokens }) {
      const pods = await namespace.readyPods('gateway');
      const path = record(tokens.frugal);
      const calls = pods.map(async (pod) => (await fetch(`${api}/pods/${pod}:8080/proxy${path}`)).status);
      const statuses = await Promise.all(calls);
      if (statuses.some((status) => status !== 200)) throw new Error(`answered ${statuses}`);
      await namespace.kubectl('delete', 'pod', ...pods, '--force', '--grace-period=0');
    },
    fires: [{ alert: 'BrandDataGrantsSettled' }],
  },
  {
    what: 'containers that end again and again',
    // Kubernetes delays the restart of a container that has ended twice, so this needs more pods.
    replicas: { accounts: 4 },
    async meanwhile({ namespace }) {
      const end = ['--', 'node', '--eval', "process.kill(1, 'SIGTERM')"];
      const pods = await namespace.readyPods('accounts');
      // The container may end before kubectl gets its answer.
      await Promise.all(pods.map((pod) => namespace.kubectl('exec', pod, ...end).catch(() => {})));
    },
    fires: [{ alert: 'BrandDataRestarts', service: 'accounts' }],
  },
  {
    what: 'no accounts',
    replicas: { accounts: 0 },
    path: unknownToken,
    fires: [{ alert: 'BrandDataServiceAbsent', service: 'accounts' }, { alert: 'BrandDataAccountsAway' }],
  },
  {
    what: 'no catalog',
    replicas: { catalog: 0 },
    path: unknownName,
    fires: [
      { alert: 'BrandDataServiceAbsent', service: 'catalog' },
      { alert: 'BrandDataCatalogAway' },
      { alert: 'BrandDataAvailabilityBudgetBurn' },
    ],
  },
  {
    what: 'no metering',
    replicas: { metering: 0 },
    path: ({ tokens }) => record(tokens.newcomers[0]),
    fires: [{ alert: 'BrandDataServiceAbsent', service: 'metering' }, { alert: 'BrandDataMeteringAway' }],
  },
  {
    what: 'no NATS',
    replicas: { nats: 0 },
    fires: [{ alert: 'BrandDataNatsAway', service: 'gateway' }, { alert: 'BrandDataUsageByReport' }],
  },
  {
    what: 'neither NATS nor metering',
    replicas: { nats: 0, metering: 0 },
    fires: [{ alert: 'BrandDataUsageNotRecorded' }],
  },
  {
    what: 'a MongoDB that takes too few connections',
    async begin({ namespace }) {
      const path = '/spec/template/spec/containers/0/args/-';
      const patch = ['--maxConns', '12'].map((value) => ({ op: 'add', path, value }));
      await namespace.kubectl('patch', MONGODB, '--type', 'json', '--patch', JSON.stringify(patch));
      await namespace.kubectl('rollout', 'status', MONGODB, '--timeout', '2m');
    },
    path: (site) => oneOf(unknownName(site), unknownToken()),
    fires: [{ alert: 'BrandDataMongoDBConnectionsMissing' }],
    async end({ namespace }) {
      await namespace.kubectl('rollout', 'undo', MONGODB);
      await namespace.kubectl('rollout', 'status', MONGODB, '--timeout', '2m');
    },
  },
  {
    what: 'an upgrade that stops half-way',
    async begin({ namespace }) {
      await namespace.kubectl('set', 'env', CATALOG, 'BUILD_VERSION=next');
      await namespace.kubectl('rollout', 'pause', CATALOG);
    },
    fires: [{ alert: 'BrandDataMixedVersions', service: 'catalog' }],
    async end({ namespace }) {
      await namespace.kubectl('rollout', 'resume', CATALOG);
      await namespace.kubectl('rollout', 'status', CATALOG, '--timeout', '2m');
    },
  },
  {
    what: 'catalogs with more to do than one core can',
    begin: (site) => inEachCatalog(site, `busy = setInterval(${BUSY}, 1_000)`),
    path: unknownName,
    fires: [{ alert: 'BrandDataEventLoopLag', service: 'catalog' }, { alert: 'BrandDataLatencyBudgetBurn' }],
    end: (site) => inEachCatalog(site, 'clearInterval(busy)'),
  },
  {
    what: 'a message among the usage that is none',
    begin: (site) => publishUsage(site, 1, Buffer.from('not usage')),
    fires: [{ alert: 'BrandDataDeadLetters' }],
  },
  {
    what: 'usage whose counts do not sum',
    // Each repetition publishes one more message, so that Prometheus sees the number grow.
    meanwhile: (site) => publishUsage(site, 1, usageOf(UNKNOWN_GRANT, 5)),
    fires: [{ alert: 'BrandDataUsageDropped', reason: 'unreadable' }],
  },
  {
    what: 'no MongoDB, and a flood of usage',
    replicas: { mongodb: 0 },
    begin: (site) => publishUsage(site, FLOOD_MESSAGES, usageOf(UNKNOWN_GRANT, 0), FLOOD_BYTES),
    path: (site) => oneOf(unknownName(site), unknownToken(), record(site.tokens.newcomers[1])),
    meanwhile: askForImages,
    fires: [
      { alert: 'BrandDataMongoDBAway', service: 'metering' },
      { alert: 'BrandDataMongoDBAway', service: 'images' },
      { alert: 'BrandDataImagesFailing' },
      { alert: 'BrandDataUsageLag' },
      { alert: 'BrandDataUsageNotApplied' },
      { alert: 'BrandDataUsageStreamFilling' },
      { alert: 'BrandDataUsageStreamAlmostFull' },
    ],
  },
];

/** Requests ten images that no cache has. */
async function askForImages({ api }: Site): Promise<void> {
  const hash = () => randomBytes(16).toString('hex');
  const url = () => `${api}/services/${RELEASE}-images:80/proxy/images/logos/${hash()}.svg`;
  const ask = () => fetch(url(), { signal: AbortSignal.timeout(10_000) }).catch(() => {});
  await Promise.all(Array.from({ length: 10 }, ask));
}

/** Makes a few calls at a time until stopped, fetches the logos of the records as pages do, and ignores the answers. */
export function keepCalling({ api }: Site, path: () => string): { stop(): Promise<void> } {
  let isGoing = true;
  const get = async (service: string, path: string) => {
    const url = `${api}/services/${RELEASE}-${service}:80/proxy${path}`;
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    return (await response?.text().catch(() => '')) ?? '';
  };
  const calls = Array.from({ length: 5 }, async () => {
    for (; isGoing; await delay(200)) {
      const [logo] = /\/images\/(logos|monograms)\/[^"]*/.exec(await get('gateway', path())) ?? [];
      if (logo !== undefined) await get('images', logo);
    }
  });
  return {
    async stop() {
      isGoing = false;
      await Promise.all(calls);
    },
  };
}

/** Waits until the components have this many pods. */
export async function scale({ namespace }: Site, replicas: Record<string, number>): Promise<void> {
  const each = Object.entries(replicas).map(async ([component, count]) => {
    const kind = component === 'nats' || component === 'mongodb' ? 'statefulset' : 'deploy';
    await namespace.kubectl('scale', `${kind}/${RELEASE}-${component}`, `--replicas=${count}`);
    await untilPods(namespace, component, count);
  });
  await Promise.all(each);
}

/** Runs JavaScript in the processes of catalog, through Node's debugger. */
async function inEachCatalog({ namespace }: Site, expression: string): Promise<void> {
  const evaluate = { id: 1, method: 'Runtime.evaluate', params: { expression } };
  const script = `
    process.kill(1, 'SIGUSR1');
    const list = () => fetch('http://127.0.0.1:9229/json').then((response) => response.json()).catch(() => {});
    let targets;
    while (!(targets = await list()));
    const socket = new WebSocket(targets[0].webSocketDebuggerUrl);
    socket.onopen = () => socket.send(${JSON.stringify(JSON.stringify(evaluate))});
    socket.onmessage = () => process.exit();`;
  const run = ['--', 'node', '--input-type=module', '--eval', script];
  const pods = await namespace.readyPods('catalog');
  await Promise.all(pods.map((pod) => namespace.kubectl('exec', pod, ...run)));
}

/** Returns a usage message with this many used permits and no breakdown. */
function usageOf(grantId: string, used: number): Uint8Array {
  const usage = [{ grantId, used, returned: 0, closed: false, cells: [], partial: false }];
  return UsageEvent.encode({ holder: 'flood', usage }).finish();
}

/** Publishes a message of about `bytes` bytes to the usage stream, `times` times. */
async function publishUsage({ namespace }: Site, times: number, data: Uint8Array, bytes = 0): Promise<void> {
  const secret = ['get', `secret/${RELEASE}-server-users`, '--output', 'jsonpath={.data.nats-gateway}'];
  const pass = Buffer.from(await namespace.kubectl(...secret), 'base64').toString();
  const nats = ['port-forward', `statefulset/${RELEASE}-nats`, ':4222'];
  const port = await openLocalPort('--namespace', namespace.name, ...nats);
  try {
    const inboxPrefix = inboxPrefixOf('gateway');
    const connection = await connect({ servers: port.address, user: 'gateway', pass, inboxPrefix });
    try {
      const padding = headers();
      padding.set('Padding', 'x'.repeat(bytes));
      const subject = usageStream(1).subjectOf('flood');
      const publish = () => jetstream(connection).publish(subject, data, { headers: padding });
      for (let left = times; left > 0; left -= 500)
        await Promise.all(Array.from({ length: Math.min(left, 500) }, publish));
    } finally {
      await connection.close();
    }
  } finally {
    await port.close();
  }
}

function oneOf(...paths: string[]): string {
  return paths[Math.floor(Math.random() * paths.length)] ?? '';
}
