import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a TCP server that fails as networks do: what is sent does not arrive, and nobody is told. */
export interface Wire {
  /** The same URL, by this way. */
  to(url: string): string;
  /** From now on nothing arrives on the connections that there are, for good; new ones hang until `heal`. */
  blackhole(): void;
  /**
   * Nothing arrives on those connections alone, present and to come, in whose first message the client says one of these,
   * until `heal`: then all of it does, as operating systems send again.
   */
  holdThose(openings: readonly string[]): void;
  /** New connections are good again; those that hang are made, as an operating system goes on trying. */
  heal(): void;
  /** What the server sends is lost when it holds this; undefined: nothing is. */
  lose(text: string | undefined): void;
  /** Lets `times` of what the client sends with this in it through, and blackholes the wire at the next; resolves then. */
  blackholeAfter(text: string, times: number): Promise<void>;
  /** How often the server has sent this, and it arrived, since the last `heal`, of late. */
  arrived(text: string): number;
  close(): void;
}

const RECEIVED_KEPT = 10_000;

interface Connection {
  sockets: [Socket, Socket];
  isDead: boolean;
  /** What the client said first. */
  opening: string;
  /** What is to happen once it is healed; undefined: all does at once. */
  held: (() => void)[] | undefined;
}

/**
 * `renames`: addresses, host:port, in place of which what is on this side reads others of the same length. Servers tell of
 * each other, and their clients would go around the wires.
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
      const { protocol, hostname, port: serverPort } = new URL(url);
      server = { host: hostname, port: Number(serverPort) };
      return `${protocol}//127.0.0.1:${port}`;
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
