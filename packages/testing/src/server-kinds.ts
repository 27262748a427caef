import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  answersAsNats,
  type Child,
  freePort,
  isPrimary,
  natsUsers,
  REPLICA_SET,
  startMongod,
  startNatsServer,
} from '@brand-data/servers';
import type { StartedTestContainer } from 'testcontainers';

/** A server for tests: a process on this machine or, if TEST_SERVERS is "containers", a container. */
export interface TestServer {
  url: string;
  child: Child;
  stop(): Promise<void>;
}

const say = (line: string) => console.log(line);

/**
 * Starts a nats-server with JetStream on a random port. `dataDir` gets its data, or only its log if it runs in a container.
 *
 * @param secret if it is given, the server has the users of this secret; connections without a user may do everything, as those of
 *   tests do
 */
export async function testNats(dataDir: string, secret?: string): Promise<TestServer> {
  const settings = secret === undefined ? [] : natsUsers(secret, { letsIn: true });
  if (!inContainers()) return startNatsServer({ dataDir, say, settings });
  const port = await freePort();
  const command = [
    '--jetstream',
    '--store_dir',
    '/tmp/jetstream',
    '--addr',
    '0.0.0.0',
    '--port',
    String(port),
  ];
  const logFile = join(dataDir, 'nats-server.log');
  const exposed = [4222, 6222, 8222];
  const { child, remove } = container({
    name: 'nats-server',
    image: 'nats:2.15-alpine',
    exposed,
    port,
    command,
    logFile,
    ready: (on) => answersAsNats(`nats://127.0.0.1:${on}`),
  });
  await child.start();
  return { url: `nats://127.0.0.1:${port}`, child, stop: remove };
}

/**
 * Starts a replica set of one mongod on a random port. `dataDir` gets its data, or only its log if it runs in a container. The user
 * in the URL may do everything. A container lets in everyone, without a user.
 */
export async function testMongod(dataDir: string): Promise<TestServer> {
  if (!inContainers()) return startMongod({ dataDir, say, secret: randomBytes(16).toString('hex') });
  const port = await freePort();
  const command = [
    '--replSet',
    REPLICA_SET,
    '--bind_ip_all',
    '--port',
    String(port),
    // As that of the process on this machine.
    '--setParameter',
    'transactionLifetimeLimitSeconds=5',
  ];
  const logFile = join(dataDir, 'mongod.log');
  const { child, remove } = container({
    name: 'mongod',
    image: 'mongo:6.0',
    exposed: [27017],
    port,
    command,
    logFile,
    ready: (on) => isPrimary(on),
  });
  await child.start();
  return {
    url: `mongodb://127.0.0.1:${port}/?replicaSet=${REPLICA_SET}`,
    child,
    stop: remove,
  };
}

function inContainers(): boolean {
  const kind = process.env.TEST_SERVERS;
  if (kind === undefined || kind === '') return false;
  if (kind === 'containers') return true;
  throw new Error(`TEST_SERVERS: "containers" or nothing, not "${kind}"`);
}

/**
 * Runs a container as a Child, whose data stays until `remove`. Its port has the same number inside and outside, so that one address is
 * correct in both.
 *
 * @param options.exposed the ports that the image exposes. They are published, too, because Podman 4 lists them among the container's
 *   port bindings even if they are not, and testcontainers waits until every port of that list is published.
 */
function container(options: {
  name: string;
  image: string;
  exposed: number[];
  port: number;
  command: string[];
  logFile: string;
  ready: (port: number) => Promise<boolean>;
}): { child: Child; remove(): Promise<void> } {
  const { name, image, exposed, port, command, logFile, ready } = options;
  let started: StartedTestContainer | undefined;
  const create = async () => {
    // Loading testcontainers takes half a second, so it is loaded only if it is needed.
    const { GenericContainer, Wait } = await import('testcontainers');
    await mkdir(dirname(logFile), { recursive: true });
    return (
      new GenericContainer(image)
        .withCommand(command)
        .withExposedPorts({ container: port, host: port }, ...exposed)
        // `ready` decides. testcontainers may miss a line of the log that comes soon after the start.
        .withWaitStrategy(Wait.forAll([]))
        .withLogConsumer((stream) => stream.pipe(createWriteStream(logFile, { flags: 'a' })))
        .start()
    );
  };
  // testcontainers stops a container only once, so its engine is asked directly.
  const running = async () => {
    const { getContainerRuntimeClient } = await import('testcontainers');
    return (await getContainerRuntimeClient()).container.getById(started?.getId() ?? '');
  };
  const child: Child = {
    name,
    pid: undefined,
    logFile,
    async start() {
      if (started === undefined) started = await create();
      else await started.restart();
      while (!(await ready(port))) await delay(50);
    },
    async stop() {
      await (await running()).stop();
      return null;
    },
    async kill() {
      await (await running()).kill();
    },
  };
  return { child, remove: async () => (await running()).remove({ force: true, v: true }) };
}
