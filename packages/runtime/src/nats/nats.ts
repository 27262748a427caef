import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { inboxPrefixOf } from '@brand-data/contracts';
import {
  type JetStreamClient,
  type JetStreamManager,
  type JetStreamPublishOptions,
  jetstream,
  jetstreamManager,
  type PubAck,
  type StreamConfig,
} from '@nats-io/jetstream';
import {
  type ConnectionOptions,
  connect,
  headers,
  type MsgHdrs,
  type NatsConnection,
} from '@nats-io/transport-node';
import { SpanKind } from '@opentelemetry/api';
import { Counter, Gauge, Histogram } from 'prom-client';
import { ConfigError } from '../config/config.ts';
import { answerWithin } from '../mongo/answer-within.ts';
import {
  endWith,
  extractSpanContext,
  type SpanContext,
  startChildSpan,
  traceHeadersOf,
} from '../observe/tracing.ts';
import { retryUntilStopped, type Service } from '../service/service.ts';
import { checkStream, unlessMissing } from './checks.ts';

/** The oldest nats-server that the services accept; deploy/operations.md says why. */
const OLDEST_SERVER = [2, 14] as const;

interface NatsSettings {
  /** Comma-separated, `nats://…`, `tls://…`; user and password, or a token, before the first one's host. */
  NATS_URL: string;
  NATS_CA?: string | undefined;
}

export interface Nats {
  connection: NatsConnection;
  js: JetStreamClient;
  manager: JetStreamManager;
  /** Calls `reconnected` each time that the connection is a new one. Messages of core NATS may have been missed. */
  onReconnect(reconnected: () => void): void;
  /** Resolves once a stream has stored the message. Measures the time, and traces it as a span called `name`. */
  publish(
    name: string,
    subject: string,
    payload: Uint8Array,
    options: Partial<Pick<JetStreamPublishOptions, 'msgID' | 'timeout' | 'expect'>> & {
      /** Headers of the message. */
      headers?: Readonly<Record<string, string>>;
    },
  ): Promise<PubAck>;
}

/**
 * Opens one connection for the life of the process. It reconnects by itself. Resolves when JetStream answers. Throws ConfigError
 * if the server is too old.
 *
 * When the file of NATS_URL changes, the process connects again at once with the new user and password. A message that no stream has
 * acknowledged by then is published again. The servers stay the same until the process starts again.
 */
export async function connectNats(service: Service, { NATS_URL, NATS_CA }: NatsSettings): Promise<Nats> {
  const { servers, tls } = connectionOptions(NATS_URL);
  let credentials = credentialsOf(NATS_URL);
  const options: ConnectionOptions = {
    servers,
    // The client asks for the credentials at each connection.
    authenticator: () => credentials,
    ...(tls || NATS_CA !== undefined ? { tls: tlsOptions(NATS_URL, NATS_CA) } : {}),
    name: `brand-data-${service.name}`,
    inboxPrefix: inboxPrefixOf(service.name),
    maxReconnectAttempts: -1,
    // NATS may refuse a credential for a while when it is being changed.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 250,
    pingInterval: 2_000,
    maxPingOut: 2,
    timeout: 3_000,
    // Otherwise the client makes two errors with stack traces for each publish, in case that it fails.
    noAsyncTraces: true,
  };
  const connection = await retryUntilStopped('NATS', () => connect(options), service);
  service.onStop('nats', async () => {
    // A drain sends the messages that are still queued. It is not possible on a lost connection.
    await connection.drain().catch(() => connection.close());
  });
  const problem = problemOfServer(connection.info?.version ?? '');
  if (problem) throw new ConfigError(`wrong settings:\n  NATS_URL: ${problem}`);
  service.onSettingChange('NATS_URL', (url) => {
    if (connectionOptions(url).servers.join() !== servers.join())
      throw new Error('it names other servers: restart the service');
    credentials = credentialsOf(url);
    // It rejects only if the connection is closed for good.
    connection.reconnect().catch(() => {});
  });
  const repeats = new Set<() => void>();
  const listeners: (() => void)[] = [];
  watchConnection(service, connection, () => {
    for (const call of [...repeats, ...listeners]) call();
  });
  service.diagnosis?.add('NATS', async () => {
    const ms = await connection.rtt();
    return { state: 'ok', detail: `nats-server ${connection.info?.version} answers in ${Math.ceil(ms)} ms` };
  });
  const manager = await retryUntilStopped('JetStream', () => jetstreamManager(connection), service);
  const js = jetstream(connection);
  return {
    connection,
    js,
    manager,
    publish: publisher(service, js, repeats),
    onReconnect: (reconnected) => void listeners.push(reconnected),
  };
}

/**
 * Connects in the background, for a service that serves without NATS and only publishes to streams. Publishing rejects with Fault
 * `unavailable` while there is no connection yet.
 */
export function connectNatsLater(service: Service, settings: NatsSettings): Pick<Nats, 'publish'> {
  service.diagnosis?.add('NATS', async () => ({
    state: 'wrong',
    detail: 'there is no connection yet',
    advice: 'check that NATS runs, and NATS_URL; the log of the service says more',
  }));
  const connecting = connectNats(service, settings);
  connecting.catch(({ message }: Error) => {
    if (!service.signal.aborted) service.log.error({ err: { message } }, 'NATS cannot be used');
  });
  return {
    publish: async (name, subject, payload, options) => {
      const waiting = { withinMs: options.timeout ?? 2_000, detail: 'there is no connection to NATS' };
      const { publish } = await answerWithin(connecting, waiting);
      return publish(name, subject, payload, options);
    },
  };
}

/** Returns the reason why the services refuse a server of this version ("2.15.1"), or undefined if they accept it. */
export function problemOfServer(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_SERVER;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `the nats-server has version ${version}, which may lose acknowledged messages: use version ${OLDEST_SERVER.join('.')} or newer`;
}

/** Splits the URLs into hosts and credentials, because the NATS client takes no credentials from URLs. */
export function connectionOptions(servers: string): { servers: string[]; tls: boolean } {
  const urls = urlsOf(servers);
  return { servers: urls.map(({ host }) => host), tls: urls.some(({ protocol }) => protocol === 'tls:') };
}

/** Returns options of which the client's type lacks `checkServerIdentity`. The client passes all options on to Node. */
export function tlsOptions(servers: string, ca: string | undefined) {
  return { ...(ca !== undefined && { ca }), checkServerIdentity: identityCheck(servers) };
}

/**
 * Returns the check of a server's certificate, for `tls.connect`. The client does not tell Node the address of a server whose URL
 * has an IP address and no name. Node would then check the certificate for "localhost". This check looks for the address instead.
 */
export function identityCheck(servers: string) {
  const hosts = urlsOf(servers).map(({ hostname }) => hostname.replace(/^\[|\]$/g, ''));
  const addresses = hosts.filter((host) => isIP(host) !== 0);
  return (name: string, cert: PeerCertificate): Error | undefined => {
    if (name !== 'localhost' || hosts.includes(name) || addresses.length === 0)
      return checkServerIdentity(name, cert);
    const problems = addresses.map((address) => checkServerIdentity(address, cert));
    return problems.includes(undefined) ? undefined : problems[0];
  };
}

/** Returns the user and password, or the token, before the host of the first URL. */
export function credentialsOf(servers: string) {
  const [url] = urlsOf(servers);
  const user = decodeURIComponent(url?.username ?? '');
  const pass = decodeURIComponent(url?.password ?? '');
  if (user === '') return undefined;
  return pass === '' ? { auth_token: user } : { user, pass };
}

function urlsOf(servers: string): URL[] {
  return servers.split(',').map((server) => {
    const text = server.trim();
    return new URL(text.includes('://') ? text : `nats://${text}`);
  });
}

function watchConnection({ metrics }: Service, connection: NatsConnection, reconnected: () => void): void {
  const registers = [metrics];
  const connected = new Gauge({
    name: 'nats_connected',
    help: '1 while the service is connected to NATS, else 0',
    registers,
  });
  const reconnects = new Counter({
    name: 'nats_reconnects_total',
    help: 'Times that the service reconnected to NATS after losing its connection',
    registers,
  });
  connected.set(1);
  void (async () => {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') connected.set(0);
      if (type !== 'reconnect') continue;
      connected.set(1);
      reconnects.inc();
      reconnected();
    }
    connected.set(0);
  })();
}

/** @param repeats gets a function for each publish under way, to call when the connection is a new one */
function publisher(
  { metrics, tracer }: Service,
  js: JetStreamClient,
  repeats: Set<() => void>,
): Nats['publish'] {
  const seconds = new Histogram({
    name: 'nats_publish_duration_seconds',
    help: 'Seconds until a stream had stored a message ("ok"), or until publishing failed ("error")',
    labelNames: ['result'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [metrics],
  });
  for (const result of ['ok', 'error']) seconds.zero({ result });
  /** An acknowledgement may be lost with the connection. The message's id makes it harmless to publish the message twice. */
  const publishSurely: JetStreamClient['publish'] = (subject, payload, options) => {
    if (options?.msgID === undefined) return js.publish(subject, payload, options);
    return new Promise((resolve, reject) => {
      const publish = () => js.publish(subject, payload, options).then(resolve, reject);
      repeats.add(publish);
      void publish().finally(() => repeats.delete(publish));
    });
  };
  const measured = async (publish: Promise<PubAck>): Promise<PubAck> => {
    const began = performance.now();
    let result = 'error';
    try {
      const ack = await publish;
      result = 'ok';
      return ack;
    } finally {
      seconds.observe({ result }, (performance.now() - began) / 1000);
    }
  };
  return (name, subject, payload, { headers: given = {}, ...options }) => {
    const attributes = { 'messaging.system': 'nats', 'messaging.destination.name': name };
    const span = tracer && startChildSpan(tracer, `publish ${name}`, { kind: SpanKind.PRODUCER, attributes });
    const all = Object.entries({ ...given, ...(span && traceHeadersOf(span)) });
    if (all.length === 0) return measured(publishSurely(subject, payload, options));
    const carried = headers();
    for (const [header, value] of all) carried.set(header, value);
    const publish = () => measured(publishSurely(subject, payload, { ...options, headers: carried }));
    return span ? endWith(span, publish) : publish();
  };
}

/** Returns the span that a message was published in. */
export function spanContextOfMessage(message: { headers?: MsgHdrs | undefined }): SpanContext | undefined {
  return message.headers && extractSpanContext((name) => message.headers?.get(name) || undefined);
}

/**
 * Creates the stream, or changes its settings to these. Any replica may do this at any time. No client can delete single messages
 * of the stream. If `deny_purge` is set, no client can remove them all either. NATS never takes these two settings and
 * `allow_msg_ttl` back. An older version that does not name a setting leaves it as it is, because the update adds to what NATS has.
 */
export async function ensureStream(
  service: Service,
  { manager }: Nats,
  config: Partial<StreamConfig> & { name: string; subjects: string[]; num_replicas: number },
): Promise<void> {
  const settings = { ...config, deny_delete: true };
  const ensure = async () => {
    if (await manager.streams.info(config.name).catch(unlessMissing))
      await manager.streams.update(config.name, settings);
    else await manager.streams.add(settings);
  };
  await retryUntilStopped(`stream ${config.name}`, ensure, service);
  checkStream(service, manager, config);
}
