import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a TCP server that fails as networks do: what is sent does not arrive, and nobody is told. */
export interface Wire {
  /** The same URL, by this way. */
  to(url: string): string;
  /** From now on nothing arrives on the connections that there are, for good; new ones hang until `heal`. */
  blackhole(): void;
  /** New connections are good again; those that hang are made, as an operating system goes on trying. */
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
  const hanging = new Set<Socket>();

  const join = (near: Socket) => {
    const far = connect(server);
    const connection = { sockets: [near, far] as [Socket, Socket], isDead: false };
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
  };
  const listener = createServer({ pauseOnConnect: true }, (near) => {
    near.on('error', () => {});
    if (!isCut) join(near.resume());
    else hanging.add(near.on('close', () => hanging.delete(near)));
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
      for (const near of hanging) if (!near.destroyed) join(near.resume());
      hanging.clear();
    },
    lose: (text) => {
      lost = text;
    },
    arrived: (text) => received.filter((chunk) => chunk.includes(text)).length,
    close: () => {
      listener.close();
      for (const near of hanging) near.destroy();
      for (const { sockets } of open) for (const socket of sockets) socket.destroy();
    },
  };
}
