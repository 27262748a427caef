import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { usageStream } from '@brand-data/contracts';
import { type Child, freePort, mongodProcess, natsServerProcess, REPLICA_SET } from '@brand-data/servers';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { type Document, MongoClient } from 'mongodb';
import { Wire } from './wire.ts';

/** The settings that deploy/operations.md recommends. */
const SETTINGS = {
  electionTimeoutMillis: 5_000,
  catchUpTimeoutMillis: 2_000,
  heartbeatIntervalMillis: 100,
  chainingAllowed: false,
};
const PARAMETERS = { oplogNetworkTimeoutBufferSeconds: 1 };
const MEMBERS = 3;
const JOINED_WITHIN_MS = 60_000;
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
  /**
   * Stops all data between this member and the other members, while their connections stay open. Clients still reach every
   * member.
   */
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
    // With test commands members also send their own address when they connect. `isolate` needs this address.
    const parameters = { ...PARAMETERS, enableTestCommands: 1 };
    const { port, child } = await mongodProcess({ dataDir: join(dataDir, name), name, ready, parameters });
    ports.set(name, port);
    members.set(name, child);
    wires.set(name, await Wire.start());
  }
  const stopMembers = stopAll(members);
  const stop = async () => {
    await stopMembers();
    for (const wire of wires.values()) wire.close();
  };
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
  const isolate = (member: string) => {
    const openings = (name: string) => `:${ports.get(name)}\0`;
    const others = [...members.keys()].filter((name) => name !== member);
    for (const other of others) wires.get(other)?.holdThose([openings(member)]);
    wires.get(member)?.holdThose(others.map(openings));
  };
  const heal = () => {
    for (const wire of wires.values()) wire.heal();
  };
  const hosts = [...wires].map(([name, wire]) => new URL(wire.to(`tcp://127.0.0.1:${ports.get(name)}`)).host);
  await startAll(members, stop, async () => {
    const of = hosts.map((host, _id) => ({ _id, host }));
    const config = { _id: REPLICA_SET, settings: SETTINGS, members: of };
    await ask(ports.values().next().value ?? 0, { replSetInitiate: config });
    await until('a whole replica set', isWhole);
  });
  const url = `mongodb://${hosts.join()}/?replicaSet=${REPLICA_SET}`;
  return { url, members, leader, isWhole, command, isolate, heal, stop };
}

/** Starts three nats-servers, on which streams can have three copies. `leader` is the leader of the first usage stream. */
export async function startNatsCluster(dataDir: string): Promise<Cluster> {
  return joinNatsServers(dataDir, () => Promise.resolve(undefined));
}

/** Starts the same cluster with wires between the servers, so that a test can isolate one of them. */
export async function startSeverableNatsCluster(dataDir: string): Promise<NatsCluster> {
  const wires = new Map<string, Wire>();
  const cluster = await joinNatsServers(dataDir, async (name, port) => {
    const wire = await Wire.start();
    wires.set(name, wire);
    return Number(new URL(wire.to(`nats://127.0.0.1:${port}`)).port);
  });
  const urlOf = (member: string) => {
    const index = [...cluster.members.keys()].indexOf(member);
    return cluster.url.split(',')[index] ?? '';
  };
  return {
    ...cluster,
    urlOf,
    async isolate(member) {
      // A server's first message on a route contains its id. The wires use it to tell the connections apart.
      const openings = new Map<string, string>();
      for (const name of cluster.members.keys()) {
        const connection = await connect({ servers: urlOf(name), reconnect: false });
        openings.set(name, connection.info?.server_id ?? '');
        await connection.close();
      }
      const own = openings.get(member) ?? '';
      openings.delete(member);
      for (const other of openings.keys()) wires.get(other)?.holdThose([own]);
      wires.get(member)?.holdThose([...openings.values()]);
    },
    heal() {
      for (const wire of wires.values()) wire.heal();
    },
    async stop() {
      await cluster.stop();
      for (const wire of wires.values()) wire.close();
    },
  };
}

/**
 * Starts three nats-servers as one cluster.
 *
 * @param wayTo is called for each member. It resolves to the port at which the other members connect to that member. undefined:
 *     they connect to the member's own port
 */
async function joinNatsServers(
  dataDir: string,
  wayTo: (name: string, port: number) => Promise<number | undefined>,
): Promise<Cluster> {
  const listening: number[] = [];
  const known: number[] = [];
  for (const name of names('nats-server')) {
    const port = await freePort();
    listening.push(port);
    known.push((await wayTo(name, port)) ?? port);
  }
  const members = new Map<string, Child>();
  const urls: string[] = [];
  for (const [index, name] of names('nats-server').entries()) {
    const routes = known.map((port) => `"nats://127.0.0.1:${port}"`).join(', ');
    const [listen, advertise] = [listening[index], known[index]].map((port) => `"127.0.0.1:${port}"`);
    const cluster = `cluster { name: "brand-data", listen: ${listen}, advertise: ${advertise}, routes: [${routes}] }`;
    const { port, child } = await natsServerProcess({
      dataDir: join(dataDir, name),
      name,
      settings: [cluster],
    });
    members.set(name, child);
    urls.push(`nats://127.0.0.1:${port}`);
  }
  const stop = stopAll(members);
  const streamState = async () => {
    const connection = await connect({ servers: urls, reconnect: false, timeout: ASK_WITHIN_MS }).catch(
      () => {},
    );
    if (!connection) return undefined;
    try {
      const manager = await jetstreamManager(connection, { timeout: ASK_WITHIN_MS });
      return (await manager.streams.info(usageStream(1).name)).cluster;
    } catch {
      return undefined;
    } finally {
      await connection.close();
    }
  };
  await startAll(members, stop, () =>
    until('a JetStream that answers', async () => {
      const connection = await connect({ servers: urls });
      const manager = await jetstreamManager(connection, { timeout: ASK_WITHIN_MS }).catch(() => undefined);
      await connection.close();
      return manager !== undefined;
    }),
  );
  return {
    url: urls.join(),
    members,
    stop,
    leader: async () => (await streamState())?.leader || undefined,
    isWhole: async () => {
      const { leader, replicas = [] } = (await streamState()) ?? {};
      return (
        !!leader && replicas.filter(({ current, offline }) => current && !offline).length === MEMBERS - 1
      );
    },
  };
}

function names(kind: string): string[] {
  return Array.from({ length: MEMBERS }, (_, index) => `${kind}-${index + 1}`);
}

/** Starts all members at the same time, because they wait for each other. Stops them if one fails. */
async function startAll(
  members: ReadonlyMap<string, Child>,
  stop: () => Promise<void>,
  join: () => Promise<void>,
): Promise<void> {
  try {
    await Promise.all([...members.values()].map((child) => child.start()));
    await join();
  } catch (error) {
    await stop();
    throw error;
  }
}

function stopAll(members: ReadonlyMap<string, Child>): () => Promise<void> {
  return async () => {
    // A test may have frozen a member. SIGCONT lets it run again.
    for (const { pid } of members.values()) if (pid !== undefined) process.kill(pid, 'SIGCONT');
    await Promise.all([...members.values()].map((child) => child.kill()));
  };
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const lateMs = performance.now() + JOINED_WITHIN_MS;
  while (!(await holds())) {
    if (performance.now() > lateMs) throw new Error(`no ${what} in ${JOINED_WITHIN_MS / 1_000} s`);
    await delay(100);
  }
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
