import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy in front of a server. It fails as networks do: data gets lost without an error on either side. */
export interface Wire {
  /** Returns the URL with the proxy's address and the URL's user, and forwards connections to the URL's server. */
  to(url: string): string;
  /** Drops all data of the existing connections forever. New connections hang until `heal`. */
  blackhole(): void;
  /**
   * Holds back the data of each existing or new connection whose first message from the client contains one of these texts.
   * `heal` delivers the data, because operating systems send lost data again.
   */
  holdThose(openings: readonly string[]): void;
  /** Lets new connections work again. Connects those that hang, because operating systems try again. */
  heal(): void;
  /** Drops each chunk from the server that contains this text. undefined: drops none. */
  lose(text: string | undefined): void;
  /** Lets through `times` chunks from the client that contain the text. Calls `blackhole` at the next one, and then resolves. */
  blackholeAfter(text: string, times: number): Promise<void>;
  /** How many chunks with this text have arrived from the server since the last `heal`. Considers only the last 10,000 chunks. */
  arrived(text: string): number;
  close(): void;
}

const RECEIVED_KEPT = 10_000;

interface Connection {
  sockets: [Socket, Socket];
  isDead: boolean;
  /** The first chunk from the client. */
  opening: string;
  /** What `heal` does on this connection. undefined: the connection is not held, and data passes at once. */
  held: (() => void)[] | undefined;
}

/**
 * Starts a wire.
 *
 * @param renames addresses (host:port) that the wire replaces in data from the server by others of the same length. Without this,
 *   clients that learn the servers' addresses from a server would bypass the wires.
 */
export async function startWire(renames: ReadonlyMap<string, string> = new Map()): Promise<Wire> {
  let server = { host: '', port: 0 };
  let isCut = false;
  let lost: string | undefined;
  let received: string[] = [];
  let watched: { text: string; timesLeft: number; reached: () => void } | undefined;
  let heldOpenings: string[] = [];
  const open = new Set<Connection>();
  const holdIfNamed = (connection: Connection) => {
    if (heldOpenings.some((text) => connection.opening.includes(text))) connection.held ??= [];
  };
  const hanging = new Set<Socket>();

  const blackhole = () => {
    isCut = true;
    for (const connection of open) connection.isDead = true;
  };
  const renamed = (chunk: Buffer): Buffer => {
    const found = [...renames].filter(([name]) => chunk.includes(name));
    if (found.length === 0) return chunk;
    const text = found.reduce((all, [name, other]) => all.replaceAll(name, other), chunk.toString('latin1'));
    return Buffer.from(text, 'latin1');
  };
  const watch = (chunk: Buffer) => {
    if (!watched || !chunk.includes(watched.text)) return;
    if (watched.timesLeft > 0) {
      watched.timesLeft -= 1;
      return;
    }
    blackhole();
    watched.reached();
    watched = undefined;
  };

  const join = (near: Socket) => {
    const far = connect(server);
    const connection: Connection = { sockets: [near, far], isDead: false, opening: '', held: undefined };
    open.add(connection);
    near.once('data', (chunk: Buffer) => {
      connection.opening = chunk.toString('latin1');
      holdIfNamed(connection);
    });
    const pass = (happen: () => void) => {
      if (connection.isDead) return;
      if (connection.held) connection.held.push(happen);
      else happen();
    };
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (chunk: Buffer) => {
        if (from === near) watch(chunk);
        const isLost = from === far && lost !== undefined && chunk.includes(lost);
        if (isLost) return;
        pass(() => {
          if (from === far) received.push(chunk.toString('latin1'));
          if (received.length > RECEIVED_KEPT) received.shift();
          to.write(from === far ? renamed(chunk) : chunk);
        });
      });
      from.on('error', () => {});
      from.on('close', () => {
        if (near.closed && far.closed) open.delete(connection);
        pass(() => to.destroy());
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
      const { protocol, hostname, username, password, port: serverPort } = new URL(url);
      server = { host: hostname, port: Number(serverPort) };
      const user = username === '' ? '' : `${username}:${password}@`;
      return `${protocol}//${user}127.0.0.1:${port}`;
    },
    blackhole,
    holdThose: (openings) => {
      heldOpenings.push(...openings);
      for (const connection of open) holdIfNamed(connection);
    },
    heal: () => {
      isCut = false;
      heldOpenings = [];
      for (const connection of open) {
        const held = connection.held ?? [];
        connection.held = undefined;
        for (const happen of held) happen();
      }
      received = [];
      for (const near of hanging) if (!near.destroyed) join(near.resume());
      hanging.clear();
    },
    lose: (text) => {
      lost = text;
    },
    blackholeAfter: (text, times) =>
      new Promise((reached) => {
        watched = { text, timesLeft: times, reached };
      }),
    arrived: (text) => received.filter((chunk) => chunk.includes(text)).length,
    close: () => {
      listener.close();
      for (const near of hanging) near.destroy();
      for (const { sockets } of open) for (const socket of sockets) socket.destroy();
    },
  };
}
