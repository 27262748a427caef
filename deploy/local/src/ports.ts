import { createServer, type Server } from 'node:net';
import { Problem } from './problem.ts';

// These ports are below the ranges that systems use for outgoing connections. So an outgoing connection rarely takes a port that
// was free a moment ago.
const LOWEST = 20_000;
const HIGHEST = 32_000;
/** Each process that needs ports takes them from its own block of this many ports. */
const BLOCK = 200;

/** Listens on 127.0.0.1 at `port`. Resolves to undefined if the port is taken. */
function listenAt(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}

/** Whether `port` of 127.0.0.1 is free now. */
async function isFree(port: number): Promise<boolean> {
  const server = await listenAt(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** The unused ports of this process's block. */
let block: Promise<number[]> | undefined;

/**
 * Claims a block of ports until this process ends, by listening on the first port of the block. `freePort` returns a port before
 * any server listens on it. The claim prevents another process from choosing the same port in the meantime.
 */
async function claimBlock(): Promise<number[]> {
  const blocks = (HIGHEST - LOWEST) / BLOCK;
  const start = Math.floor(Math.random() * blocks);
  for (let tries = 0; tries < blocks; tries++) {
    const first = LOWEST + ((start + tries) % blocks) * BLOCK;
    const claim = await listenAt(first);
    if (claim === undefined) continue;
    claim.unref();
    return Array.from({ length: BLOCK - 1 }, (_, index) => first + 1 + index);
  }
  throw new Error(`every block of ports between ${LOWEST} and ${HIGHEST} is claimed`);
}

/** Resolves to a free port of 127.0.0.1, which no other caller gets. Rejects if no port is left. */
export async function freePort(): Promise<number> {
  for (;;) {
    block ??= claimBlock();
    const mine = block;
    const ports = await mine;
    for (let port = ports.shift(); port !== undefined; port = ports.shift())
      if (await isFree(port)) return port;
    if (block === mine) block = undefined;
  }
}

/**
 * Returns a function that chooses the port of each listener of a stack. Gateways get `first` and the ports after it, which the
 * function does not check (`requireFreePorts`). Every other listener gets its port in `kept`, if that is free, and otherwise a
 * free port near `first`. The function writes these choices into `kept`. It rejects if no port is free.
 */
export function stackPorts(
  first: number,
  kept: Record<string, number>,
): (listener: string) => Promise<number> {
  const chosen = new Set<number>();
  return async (listener) => {
    const gateway = /^gateway-(\d+)$/.exec(listener)?.[1];
    if (gateway !== undefined) return first + Number(gateway) - 1;
    const port = await freePortFrom(kept[listener] ?? first + 20, chosen);
    chosen.add(port);
    kept[listener] = port;
    return port;
  };
}

/** Rejects with a Problem if one of the gateways' ports is taken. */
export async function requireFreePorts(first: number, count: number): Promise<void> {
  for (let port = first; port < first + count; port++) {
    if (await isFree(port)) continue;
    throw new Problem(
      `Port ${port} of 127.0.0.1 is taken: stop what listens there, or choose another: npm start -- --port ${first + 100}`,
    );
  }
}

async function freePortFrom(preferred: number, chosen: ReadonlySet<number>): Promise<number> {
  for (let port = preferred; port < preferred + 200 && port < 65_536; port++) {
    if (!chosen.has(port) && (await isFree(port))) return port;
  }
  return freePort();
}
