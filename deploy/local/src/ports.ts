import { freePort, isFree, Problem } from '@brand-data/servers';

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
