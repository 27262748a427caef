import { Wire } from '@brand-data/testing/wire';

/**
 * One process's connections to other processes, through proxies. While the link is cut nothing passes, although the connections
 * seem to be open.
 */
export interface ProxiedLink {
  /** Replaces each address in the URL or target, such as "127.0.0.1:4222", by that of a proxy. */
  through(url: string): string;
  cut(): void;
  heal(): void;
  close(): void;
}

export const ADDRESS = /127\.0\.0\.1:\d+/g;

/** `addresses`: the largest number of addresses in one URL. */
export async function startProxiedLink(addresses: number): Promise<ProxiedLink> {
  // Members of a cluster send each other's addresses, so the proxies replace ports in messages too. All ports have five digits.
  const renames = new Map<string, string>();
  const wires: Wire[] = [];
  for (let each = 0; each < addresses; each++) wires.push(await Wire.start(renames));
  return {
    through: (url) => {
      const spare = wires[Symbol.iterator]();
      return url.replace(ADDRESS, (address) => {
        const wire: Wire | undefined = spare.next().value;
        if (!wire) throw new Error(`more than ${addresses} addresses`);
        const other = new URL(wire.to(`tcp://${address}`)).host;
        renames.set(address, other);
        return other;
      });
    },
    cut: () => {
      for (const wire of wires) wire.blackhole();
    },
    heal: () => {
      for (const wire of wires) wire.heal();
    },
    close: () => {
      for (const wire of wires) wire.close();
    },
  };
}
