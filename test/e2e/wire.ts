import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a TCP server that fails as networks do: what is sent does not arrive, and nobody is told. */
export interface Wire {
  /** The same URL, by this way. */
  to(url: string): string;
  /** From now on nothing arrives on the connections that there are, for good, nor on new ones, until `heal`. */
  blackhole(): void;
  /** New connections are good again. */
  heal(): void;
  /** What the server sends is lost when it holds this; undefined: nothing is. */
  lose(text: string | undefined): void;
  /** How often the server has sent this, and it arrived, on connections made since the last `heal`. */
  arrived(text: string): number;
  close(): void;
}

export async function startWire(): Promise<Wire> {
  let server = { host: '', port: 0 };
  let isCut = false;
  let lost: string | undefined;
  let received: string[] = [];
  const open = new Set<{ sockets: [Socket, Socket]; isDead: boolean }>();

  const listener = createServer((near) => {
    const far = connect(server);
    const connection = { sockets: [near, far] as [Socket, Socket], isDead: isCut };
    open.add(connection);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (chunk: Buffer) => {
        const isLost = from === far && lost !== undefined && chunk.includes(lost);
        if (connection.isDead || isLost) return;
        if (from === far) received.push(chunk.toString('latin1'));
        to.write(chunk);
      });
      from.on('error', () => {});
      from.on('close', () => {
        if (!connection.isDead) to.destroy();
      });
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;

  return {
    to: (url) => {
      const { protocol, hostname, port: serverPort } = new URL(url);
      server = { host: hostname, port: Number(serverPort) };
      return `${protocol}//127.0.0.1:${port}`;
    },
    blackhole: () => {
      isCut = true;
      for (const connection of open) connection.isDead = true;
    },
    heal: () => {
      isCut = false;
      received = [];
    },
    lose: (text) => {
      lost = text;
    },
    arrived: (text) => received.filter((chunk) => chunk.includes(text)).length,
    close: () => {
      listener.close();
      for (const { sockets } of open) for (const socket of sockets) socket.destroy();
    },
  };
}
