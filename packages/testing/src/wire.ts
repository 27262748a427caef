import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const RECEIVED_KEPT = 10_000;

interface Connection {
  sockets: [Socket, Socket];
  isDead: boolean;
  /** The first chunk from the client. */
  opening: string;
  /** What `heal` does on this connection. undefined: the connection is not held, and data passes at once. */
  held: (() => void)[] | undefined;
}

/** A TCP proxy in front of a server. It fails as networks do: data gets lost without an error on either side. */
export class Wire {
  readonly #renames: ReadonlyMap<string, string>;
  readonly #listener: Server;
  readonly #open = new Set<Connection>();
  /** Connections that hang until `heal`. */
  readonly #hanging = new Set<Socket>();
  #server = { host: '', port: 0 };
  #isCut = false;
  #isMute = false;
  #lost: string | undefined;
  #received: string[] = [];
  #watched: { text: string; timesLeft: number; reached: () => void } | undefined;
  #heldOpenings: string[] = [];

  private constructor(renames: ReadonlyMap<string, string>) {
    this.#renames = renames;
    this.#listener = createServer({ pauseOnConnect: true }, (near) => {
      near.on('error', () => {});
      if (!this.#isCut) this.#join(near.resume());
      else this.#hanging.add(near.on('close', () => this.#hanging.delete(near)));
    });
  }

  /**
   * Starts a wire.
   *
   * @param renames addresses (host:port) that the wire replaces, in data from the server, by other addresses of the same length.
   *   Without this, clients that learn the servers' addresses from a server would bypass the wires.
   */
  static async start(renames: ReadonlyMap<string, string> = new Map()): Promise<Wire> {
    const wire = new Wire(renames);
    wire.#listener.listen(0, '127.0.0.1');
    await once(wire.#listener, 'listening');
    return wire;
  }

  /** Returns the URL with the proxy's address and the URL's user, and forwards connections to the URL's server. */
  to(url: string): string {
    const { protocol, hostname, username, password, port: serverPort } = new URL(url);
    this.#server = { host: hostname, port: Number(serverPort) };
    const user = username === '' ? '' : `${username}:${password}@`;
    return `${protocol}//${user}127.0.0.1:${(this.#listener.address() as AddressInfo).port}`;
  }

  /** Drops all data of the existing connections forever. New connections hang until `heal`. */
  blackhole(): void {
    this.#isCut = true;
    for (const connection of this.#open) connection.isDead = true;
  }

  /** Drops all data from clients. Data from the server still arrives. */
  mute(): void {
    this.#isMute = true;
  }

  /** Lets through `times` chunks from the client that contain the text. Calls `blackhole` at the next one, and then resolves. */
  blackholeAfter(text: string, times: number): Promise<void> {
    return new Promise((reached) => {
      this.#watched = { text, timesLeft: times, reached };
    });
  }

  /**
   * Holds back the data of each existing or new connection whose first message from the client contains one of these texts.
   * `heal` delivers the data, because operating systems send lost data again.
   */
  holdThose(openings: readonly string[]): void {
    this.#heldOpenings.push(...openings);
    for (const connection of this.#open) this.#holdIfNamed(connection);
  }

  /** Lets new connections work again. Connects those that hang, because operating systems try again. */
  heal(): void {
    this.#isCut = false;
    this.#heldOpenings = [];
    for (const connection of this.#open) {
      const held = connection.held ?? [];
      connection.held = undefined;
      for (const happen of held) happen();
    }
    this.#received = [];
    for (const near of this.#hanging) if (!near.destroyed) this.#join(near.resume());
    this.#hanging.clear();
  }

  /** Drops each chunk from the server that contains this text. undefined: drops none. */
  lose(text: string | undefined): void {
    this.#lost = text;
  }

  /** Returns how many of the last 10,000 chunks from the server since the last `heal` contain this text. */
  arrived(text: string): number {
    return this.#received.filter((chunk) => chunk.includes(text)).length;
  }

  close(): void {
    this.#listener.close();
    for (const near of this.#hanging) near.destroy();
    for (const { sockets } of this.#open) for (const socket of sockets) socket.destroy();
  }

  #join(near: Socket): void {
    const far = connect(this.#server);
    const connection: Connection = { sockets: [near, far], isDead: false, opening: '', held: undefined };
    this.#open.add(connection);
    near.once('data', (chunk: Buffer) => {
      connection.opening = chunk.toString('latin1');
      this.#holdIfNamed(connection);
    });
    near.on('data', (chunk: Buffer) => {
      if (this.#isMute) return;
      this.#watch(chunk);
      pass(connection, () => far.write(chunk));
    });
    far.on('data', (chunk: Buffer) => {
      if (this.#lost !== undefined && chunk.includes(this.#lost)) return;
      pass(connection, () => {
        this.#received.push(chunk.toString('latin1'));
        if (this.#received.length > RECEIVED_KEPT) this.#received.shift();
        near.write(this.#renamed(chunk));
      });
    });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => {});
      from.on('close', () => {
        if (near.closed && far.closed) this.#open.delete(connection);
        pass(connection, () => to.destroy());
      });
    }
  }

  #holdIfNamed(connection: Connection): void {
    if (this.#heldOpenings.some((text) => connection.opening.includes(text))) connection.held ??= [];
  }

  #watch(chunk: Buffer): void {
    const watched = this.#watched;
    if (!watched || !chunk.includes(watched.text)) return;
    if (watched.timesLeft-- > 0) return;
    this.blackhole();
    watched.reached();
    this.#watched = undefined;
  }

  #renamed(chunk: Buffer): Buffer {
    const found = [...this.#renames].filter(([name]) => chunk.includes(name));
    if (found.length === 0) return chunk;
    const text = found.reduce((all, [name, other]) => all.replaceAll(name, other), chunk.toString('latin1'));
    return Buffer.from(text, 'latin1');
  }
}

/** Makes the event happen on the connection, now or when the connection is no longer held. */
function pass(connection: Connection, happen: () => void): void {
  if (connection.isDead) return;
  if (connection.held) connection.held.push(happen);
  else happen();
}
