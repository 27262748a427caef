import { setTimeout as delay } from 'node:timers/promises';
import { createToken, UsageEvent, usageStream } from '@brand-data/contracts';
import { jetstream } from '@nats-io/jetstream';
import { connect, headers } from '@nats-io/transport-node';
import { type Namespace, RELEASE, waitFor } from './cluster.ts';
import { openLocalPort } from './local-port.ts';

/** A quickstart with callers at work. */
export interface Site {
  namespace: Namespace;
  /** The URL of the namespace in the cluster's API, where that asks for no credentials. */
  api: string;
  tokens: {
    /** Of an account that calls at all times. */
    regular: string;
    /** Of an account that has few calls. */
    frugal: string;
    /** Of accounts that have not called before. */
    newcomers: readonly [string, string];
  };
}

export interface Fault {
  what: string;
  /** Returns once it is there. */
  begin?(site: Site): Promise<void>;
  /** What is called while it lasts. */
  path?(site: Site): string;
  /** Done again and again until all has fired. */
  meanwhile?(site: Site): Promise<void>;
  /** All rules of these alerts are to fire; where `service` or `reason` is given, for that one. */
  fires: { alert: string; service?: string; reason?: string }[];
  end?(site: Site): Promise<void>;
}

/** Two gateways with a grant of two calls each have more than a tenth of it: the second one's ends within a minute. */
export const FRUGAL_ALLOWANCE = 36;
export const STREAM_MAX_BYTES = 32 * 1024 ** 2;
const FLOOD_MESSAGES = 9_000;

/** The paths of calls. */
const record = (token: string) => `/v1/brands/AAPL?token=${token}`;
const unknownName = ({ tokens }: Site) => `/v1/brands/nobody-${Math.random()}?token=${tokens.regular}`;
const unknownToken = () => record(createToken());
export const anyPath = (site: Site): string =>
  oneOf(
    unknownName(site),
    unknownToken(),
    record(site.tokens.regular),
    `/api/logos/AAPL/info?token=${site.tokens.regular}`,
    `/v1/usage?token=${site.tokens.regular}`,
  );

export const FAULTS: Fault[] = [
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
    // One that ends for the second time is started late.
    begin: (site) => scale(site, { accounts: 4 }),
    async meanwhile({ namespace }) {
      const end = ['--', 'node', '--eval', "process.kill(1, 'SIGTERM')"];
      const pods = await namespace.readyPods('accounts');
      // It may have ended before it has told so.
      await Promise.all(pods.map((pod) => namespace.kubectl('exec', pod, ...end).catch(() => {})));
    },
    fires: [{ alert: 'BrandDataRestarts', service: 'accounts' }],
    end: (site) => scale(site, { accounts: 2 }),
  },
  {
    what: 'no accounts',
    begin: (site) => scale(site, { accounts: 0 }),
    path: unknownToken,
    fires: [{ alert: 'BrandDataServiceAbsent', service: 'accounts' }, { alert: 'BrandDataAccountsAway' }],
    end: (site) => scale(site, { accounts: 2 }),
  },
  {
    what: 'no catalog',
    begin: (site) => scale(site, { catalog: 0 }),
    path: unknownName,
    fires: [
      { alert: 'BrandDataServiceAbsent', service: 'catalog' },
      { alert: 'BrandDataCatalogAway' },
      { alert: 'BrandDataAvailabilityBudgetBurn' },
    ],
    end: (site) => scale(site, { catalog: 2 }),
  },
  {
    what: 'no metering',
    begin: (site) => scale(site, { metering: 0 }),
    path: ({ tokens }) => record(tokens.newcomers[0]),
    fires: [{ alert: 'BrandDataServiceAbsent', service: 'metering' }, { alert: 'BrandDataMeteringAway' }],
    end: (site) => scale(site, { metering: 2 }),
  },
  {
    what: 'no NATS',
    begin: (site) => scale(site, { nats: 0 }),
    fires: [{ alert: 'BrandDataNatsAway', service: 'gateway' }, { alert: 'BrandDataUsageByReport' }],
    end: (site) => scale(site, { nats: 1 }),
  },
  {
    what: 'neither NATS nor metering',
    begin: (site) => scale(site, { nats: 0, metering: 0 }),
    fires: [{ alert: 'BrandDataUsageNotRecorded' }],
    end: (site) => scale(site, { nats: 1, metering: 2 }),
  },
  {
    what: 'a MongoDB that takes too few connections',
    async begin({ namespace }) {
      const path = '/spec/template/spec/containers/0/args/-';
      const patch = ['--maxConns', '12'].map((value) => ({ op: 'add', path, value }));
      const mongodb = `statefulset/${RELEASE}-mongodb`;
      await namespace.kubectl('patch', mongodb, '--type', 'json', '--patch', JSON.stringify(patch));
      await namespace.kubectl('rollout', 'status', mongodb, '--timeout', '2m');
    },
    path: (site) => oneOf(unknownName(site), unknownToken()),
    fires: [{ alert: 'BrandDataMongoDBConnectionsMissing' }],
    async end({ namespace }) {
      const mongodb = `statefulset/${RELEASE}-mongodb`;
      await namespace.kubectl('rollout', 'undo', mongodb);
      await namespace.kubectl('rollout', 'status', mongodb, '--timeout', '2m');
    },
  },
  {
    what: 'an upgrade that stops half-way',
    async begin({ namespace }) {
      await namespace.kubectl('set', 'env', `deploy/${RELEASE}-catalog`, 'BUILD_VERSION=next');
      await namespace.kubectl('rollout', 'pause', `deploy/${RELEASE}-catalog`);
    },
    fires: [{ alert: 'BrandDataMixedVersions', service: 'catalog' }],
    async end({ namespace }) {
      await namespace.kubectl('rollout', 'resume', `deploy/${RELEASE}-catalog`);
      await namespace.kubectl('rollout', 'status', `deploy/${RELEASE}-catalog`, '--timeout', '2m');
    },
  },
  {
    what: 'catalogs with more to do than one core can',
    begin: (site) =>
      inEachCatalog(
        site,
        'busy = setInterval(() => { for (const end = Date.now() + 700; Date.now() < end; ); }, 1_000)',
      ),
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
    // Each time one more, so that Prometheus sees them grow.
    meanwhile: (site) => publishUsage(site, 1, usageOf('nobody/calls/2026-01/1', 5)),
    fires: [{ alert: 'BrandDataUsageDropped', reason: 'unreadable' }],
  },
  {
    what: 'no MongoDB, and a flood of usage',
    async begin(site) {
      await scale(site, { mongodb: 0 });
      const padding = (0.9 * STREAM_MAX_BYTES) / FLOOD_MESSAGES;
      await publishUsage(site, FLOOD_MESSAGES, usageOf('nobody/calls/2026-01/1', 0), padding);
    },
    path: (site) => oneOf(unknownName(site), unknownToken(), record(site.tokens.newcomers[1])),
    fires: [
      { alert: 'BrandDataMongoDBAway', service: 'metering' },
      { alert: 'BrandDataUsageLag' },
      { alert: 'BrandDataUsageNotApplied' },
      { alert: 'BrandDataUsageStreamFilling' },
      { alert: 'BrandDataUsageStreamAlmostFull' },
    ],
    end: (site) => scale(site, { mongodb: 1 }),
  },
];

/** Some calls at a time until stopped, whatever they are answered. */
export function keepCalling({ api }: Site, path: () => string): { stop(): Promise<void> } {
  const gateway = `${api}/services/${RELEASE}-gateway:80/proxy`;
  const stopped = new AbortController();
  const call = async () => {
    while (!stopped.signal.aborted) {
      const signal = AbortSignal.timeout(5_000);
      const response = await fetch(`${gateway}${path()}`, { signal }).catch(() => undefined);
      await response?.arrayBuffer().catch(() => {});
      await delay(200);
    }
  };
  const calls = Array.from({ length: 5 }, call);
  return {
    async stop() {
      stopped.abort();
      await Promise.all(calls);
    },
  };
}

async function scale({ namespace }: Site, replicas: Record<string, number>): Promise<void> {
  const each = Object.entries(replicas).map(async ([component, count]) => {
    const kind = component === 'nats' || component === 'mongodb' ? 'statefulset' : 'deploy';
    await namespace.kubectl('scale', `${kind}/${RELEASE}-${component}`, `--replicas=${count}`);
    await waitFor(`${count} pods of ${component}`, async () => {
      const selector = `app.kubernetes.io/component=${component}`;
      const pods = await namespace.kubectl('get', 'pods', '--output', 'name', '--selector', selector);
      return count === 0 ? pods === '' : (await namespace.readyPods(component)).length === count;
    });
  });
  await Promise.all(each);
}

/** Runs JavaScript in the catalogs' own processes, by Node's debugger. */
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

/** A message that tells of so many used permits, and not for what. */
function usageOf(grantId: string, used: number): Uint8Array {
  const usage = [{ grantId, used, returned: 0, closed: false, cells: [], partial: false }];
  return UsageEvent.encode({ holder: 'flood', usage }).finish();
}

/** Puts a message into the usage stream so many times, each of about this size. */
async function publishUsage({ namespace }: Site, times: number, data: Uint8Array, bytes = 0): Promise<void> {
  const port = await openLocalPort(
    ...['--namespace', namespace.name, 'port-forward', `statefulset/${RELEASE}-nats`, ':4222'],
  );
  try {
    const connection = await connect({ servers: port.address });
    try {
      const padding = headers();
      padding.set('Padding', 'x'.repeat(bytes));
      const publish = () =>
        jetstream(connection).publish(usageStream(1).subjectOf('flood'), data, { headers: padding });
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
