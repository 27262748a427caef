import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A proxy to a server. Once it is cut, messages from the client are lost, while messages from the server still arrive. */
export interface OneWayProxy {
  url: string;
  cut(): void;
  close(): Promise<void>;
}

export async function startOneWayProxy(natsUrl: string): Promise<OneWayProxy> {
  const { hostname, port } = new URL(natsUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  const proxy = createServer((client) => {
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
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `nats://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut: () => {
      isCut = true;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
