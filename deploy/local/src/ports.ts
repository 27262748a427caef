import { createServer, type Server } from 'node:net';
import { Problem } from './problem.ts';

// Below the ranges that systems take the ports of outgoing connections from, so that a port that was free a moment
// ago is rarely taken by one.
const LOWEST = 20_000;
const HIGHEST = 32_000;
/** Processes that look for ports at the same time each look in a block of their own. */
const BLOCK = 200;

/** Listens on 127.0.0.1 at `port`. Resolves to undefined when it is taken. */
function listenAt(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}

/** Whether something could listen on 127.0.0.1 at `port` now. */
async function isFree(port: number): Promise<boolean> {
  const server = await listenAt(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** What is left of this process's block. */
let block: Promise<number[]> | undefined;

/**
 * Claims a block of ports for as long as this process lives, by listening on its first one: a port is handed out
 * before its server listens, and meanwhile another process must not be handed the same one.
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

/** A port of 127.0.0.1 that nothing listens on, and that no other caller is given. Rejects when none is left. */
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
 * Chooses the ports of a stack: the gateways' are `first` and those after it, and must be free; the others are those of
 * the last time, which `kept` holds and is brought up to date, else free ones near `first`. The returned function
 * rejects with a Problem.
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

/** Rejects with a Problem when one of the gateways' ports is taken. */
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
