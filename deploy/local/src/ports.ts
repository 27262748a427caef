import { createServer } from 'node:net';
import { Problem } from './problem.ts';

// Below the ranges that systems take the ports of outgoing connections from, so that a port that was free a moment
// ago is rarely taken by one.
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Whether something could listen on 127.0.0.1 at `port` now. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** A port of 127.0.0.1 that nothing listens on. Rejects when none was found in 100 tries. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${LOWEST} and ${HIGHEST}`);
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
