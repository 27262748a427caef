import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a server on which, once it is cut, what the client sends is lost while what the server sends arrives. */
export interface CutOffWay {
  url: string;
  cut(): void;
  close(): Promise<void>;
}

export async function cutOffWay(natsUrl: string): Promise<CutOffWay> {
  const { hostname, port } = new URL(natsUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  const way = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
    client.on('data', (data) => {
      if (!isCut) server.write(data);
    });
    server.on('data', (data) => client.write(data));
  });
  way.listen(0, '127.0.0.1');
  await once(way, 'listening');
  return {
    url: `nats://127.0.0.1:${(way.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      way.close();
      await once(way, 'close');
    },
  };
}
