import { createServer, type Server } from 'node:net';

// These ports are below the ranges that systems use for outgoing connections. Therefore an outgoing connection rarely takes a
// port that was free a moment ago.
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

/** Checks whether `port` of 127.0.0.1 is free now. */
export async function isFree(port: number): Promise<boolean> {
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
