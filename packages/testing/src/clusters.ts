import { join } from 'node:path';
import { usageStream } from '@brand-data/contracts';
import { type Child, freePort, mongodProcess, natsServerProcess, REPLICA_SET } from '@brand-data/servers';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type Document, MongoClient } from 'mongodb';
import { until } from './until.ts';
import { Wire } from './wire.ts';

/** The settings that deploy/operations.md recommends. */
const SETTINGS = {
  electionTimeoutMillis: 5_000,
  catchUpTimeoutMillis: 2_000,
  heartbeatIntervalMillis: 100,
  chainingAllowed: false,
};
/** With test commands, members also send their own address when they connect. `isolate` needs this address. */
const PARAMETERS = ['oplogNetworkTimeoutBufferSeconds=1', 'enableTestCommands=1'];
const MEMBERS = 3;
const JOINED = { withinMs: 60_000 };
const ASK_WITHIN_MS = 3_000;

/** Three servers, one of which is the leader. The cluster works as long as two of them run. */
export interface Cluster {
  /** The URL with the addresses of all members. */
  url: string;
  /** The members' processes by name, such as "mongod-1". */
  members: ReadonlyMap<string, Child>;
  /** Resolves to the leader's name, or to undefined if there is no leader or no member answers. */
  leader(): Promise<string | undefined>;
  /** Whether every member replicates the leader's data, without a large delay. */
  isWhole(): Promise<boolean>;
  stop(): Promise<void>;
}

export interface MongodCluster extends Cluster {
  /**
   * Stops all data between this member and the other members until `heal`, while their connections stay open. Clients still reach
   * every member.
   */
  isolate(member: string): void;
  /** Lets the members reach each other again. */
  heal(): void;
  /** Sends a command to the named member. Resolves to undefined if the member does not answer or refuses the command. */
  command(member: string, command: Document): Promise<Document | undefined>;
}

export interface NatsCluster extends Cluster {
  urlOf(member: string): string;
  /** Like that of a MongodCluster. */
  isolate(member: string): Promise<void>;
  /** Lets the members reach each other again, on new connections. */
  heal(): void;
}

/**
 * Starts a replica set of three mongods. Members and clients connect through wires. Tests can set the server's failpoints with
 * the command "configureFailPoint".
 */
export async function startMongodCluster(dataDir: string): Promise<MongodCluster> {
  const ports = new Map<string, number>();
  const members = new Map<string, Child>();
  const wires = new Map<string, Wire>();
  for (const name of names('mongod')) {
    const ready = async (port: number) => (await hello(port)) !== undefined;
    const args = PARAMETERS.flatMap((parameter) => ['--setParameter', parameter]);
    const { port, child } = await mongodProcess({ dataDir: join(dataDir, name), name, ready, args });
    ports.set(name, port);
    members.set(name, child);
    wires.set(name, await Wire.start());
  }
  const stop = stopAll(members, wires);
  const leader = () =>
    Promise.any(
      [...ports].map(async ([name, port]) => {
        if ((await hello(port))?.isWritablePrimary !== true) throw new Error(`${name} is not primary`);
        return name;
      }),
    ).catch(() => undefined);
  const isWhole = async () => {
    const primary = ports.get((await leader()) ?? '');
    if (primary === undefined) return false;
    const { members: states = [] } = (await ask(primary, { replSetGetStatus: 1 })) ?? {};
    return states.filter(({ stateStr }: Document) => /PRIMARY|SECONDARY/.test(stateStr)).length === MEMBERS;
  };
  const command = async (member: string, asked: Document) => ask(ports.get(member) ?? 0, asked);
  const isolate = (member: string) => holdAround(member, wires, (name) => `:${ports.get(name)}\0`);
  const hosts = [...wires].map(([name, wire]) => new URL(wire.to(`tcp://127.0.0.1:${ports.get(name)}`)).host);
  await startAll(members, stop, async () => {
    const of = hosts.map((host, _id) => ({ _id, host }));
    const config = { _id: REPLICA_SET, settings: SETTINGS, members: of };
    await ask(ports.values().next().value ?? 0, { replSetInitiate: config });
    await until('a whole replica set', isWhole, JOINED);
  });
  const url = `mongodb://${hosts.join()}/?replicaSet=${REPLICA_SET}`;
  return { url, members, leader, isWhole, command, isolate, heal: () => healAll(wires), stop };
}

/** Starts three nats-servers, on which streams can have three copies. `leader` is the leader of the first usage stream. */
export function startNatsCluster(dataDir: string): Promise<Cluster> {
  return joinNatsServers(dataDir, new Map());
}

/** Starts the same cluster with wires between the servers, so that a test can isolate one of them. */
export async function startSeverableNatsCluster(dataDir: string): Promise<NatsCluster> {
  const wires = new Map<string, Wire>();
  for (const name of names('nats-server')) wires.set(name, await Wire.start());
  const cluster = await joinNatsServers(dataDir, wires);
  const urls = cluster.url.split(',');
  const urlOf = (member: string) => urls[[...wires.keys()].indexOf(member)] ?? '';
  return {
    ...cluster,
    urlOf,
    async isolate(member) {
      // A server's first message on a route contains its id. The wires use it to tell the connections apart.
      const ids = new Map<string, string>();
      for (const name of cluster.members.keys()) {
        const connection = await connect({ servers: urlOf(name), reconnect: false });
        ids.set(name, connection.info?.server_id ?? '');
        await connection.close();
      }
      holdAround(member, wires, (name) => ids.get(name) ?? '');
    },
    heal: () => healAll(wires),
  };
}

/** Starts three nats-servers as one cluster. Other members reach a member through its wire, if it has one. */
async function joinNatsServers(dataDir: string, wires: ReadonlyMap<string, Wire>): Promise<Cluster> {
  const ports: { listening: number; known: number }[] = [];
  for (const name of names('nats-server')) {
    const listening = await freePort();
    const way = wires.get(name)?.to(`nats://127.0.0.1:${listening}`);
    ports.push({ listening, known: way === undefined ? listening : Number(new URL(way).port) });
  }
  const routes = ports.map(({ known }) => `"nats://127.0.0.1:${known}"`).join(', ');
  const members = new Map<string, Child>();
  const urls: string[] = [];
  for (const [index, name] of names('nats-server').entries()) {
    const { listening = 0, known = 0 } = ports[index] ?? {};
    const addresses = `listen: "127.0.0.1:${listening}", advertise: "127.0.0.1:${known}"`;
    const settings = [`cluster { name: "brand-data", ${addresses}, routes: [${routes}] }`];
    const { port, child } = await natsServerProcess({ dataDir: join(dataDir, name), name, settings });
    members.set(name, child);
    urls.push(`nats://127.0.0.1:${port}`);
  }
  const stop = stopAll(members, wires);
  /** Asks JetStream. Resolves to undefined if it does not answer. */
  const asked = async <Answer>(ask: (manager: JetStreamManager) => Answer | Promise<Answer>) => {
    const options = { servers: urls, reconnect: false, timeout: ASK_WITHIN_MS };
    const connection = await connect(options).catch(() => undefined);
    if (!connection) return undefined;
    try {
      return await ask(await jetstreamManager(connection, { timeout: ASK_WITHIN_MS }));
    } catch {
      return undefined;
    } finally {
      await connection.close();
    }
  };
  const streamState = () => asked(async ({ streams }) => (await streams.info(usageStream(1).name)).cluster);
  await startAll(members, stop, () => until('a JetStream that answers', () => asked(() => true), JOINED));
  return {
    url: urls.join(),
    members,
    stop,
    leader: async () => (await streamState())?.leader || undefined,
    isWhole: async () => {
      const { leader, replicas = [] } = (await streamState()) ?? {};
      const current = replicas.filter((replica) => replica.current && !replica.offline);
      return !!leader && current.length === MEMBERS - 1;
    },
  };
}

/** Stops all data between this member and the other members. `openingOf`: what a member's first message contains. */
function holdAround(
  member: string,
  wires: ReadonlyMap<string, Wire>,
  openingOf: (name: string) => string,
): void {
  const others = [...wires.keys()].filter((name) => name !== member);
  for (const other of others) wires.get(other)?.holdThose([openingOf(member)]);
  wires.get(member)?.holdThose(others.map(openingOf));
}

function healAll(wires: ReadonlyMap<string, Wire>): void {
  for (const wire of wires.values()) wire.heal();
}

function names(kind: string): string[] {
  return Array.from({ length: MEMBERS }, (_, index) => `${kind}-${index + 1}`);
}

/** Starts all members at the same time, because they wait for each other. Stops them if one fails. */
async function startAll(
  members: ReadonlyMap<string, Child>,
  stop: () => Promise<void>,
  join: () => Promise<unknown>,
): Promise<void> {
  try {
    await Promise.all([...members.values()].map((child) => child.start()));
    await join();
  } catch (error) {
    await stop();
    throw error;
  }
}

function stopAll(members: ReadonlyMap<string, Child>, wires: ReadonlyMap<string, Wire>): () => Promise<void> {
  return async () => {
    // A test may have frozen a member. SIGCONT lets it run again.
    for (const { pid } of members.values()) if (pid !== undefined) process.kill(pid, 'SIGCONT');
    await Promise.all([...members.values()].map((child) => child.kill()));
    for (const wire of wires.values()) wire.close();
  };
}

const hello = (port: number) => ask(port, { hello: 1 });

/** Sends a command to a server. Resolves to undefined if the server does not answer or refuses the command. */
async function ask(port: number, command: Document): Promise<Document | undefined> {
  const client = new MongoClient(`mongodb://127.0.0.1:${port}/?directConnection=true`, {
    serverSelectionTimeoutMS: 1_000,
    socketTimeoutMS: ASK_WITHIN_MS,
  });
  try {
    return await client.db('admin').command(command);
  } catch {
    return undefined;
  } finally {
    await client.close();
  }
}
