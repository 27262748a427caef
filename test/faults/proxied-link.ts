import { startWire, type Wire } from '../e2e/wire.ts';

/** One process's connections to others, by proxies. While it is cut nothing goes over them, though they look open. */
export interface ProxiedLink {
  /** The URL or target with the proxies' addresses in place of all that it names, "127.0.0.1:4222". */
  through(url: string): string;
  cut(): void;
  heal(): void;
  close(): void;
}

const ADDRESS = /127\.0\.0\.1:\d+/g;

/** `addresses`: how many a URL names at most. */
export async function startProxiedLink(addresses: number): Promise<ProxiedLink> {
  // Members of a cluster send each other's addresses: five digits are replaced by five.
  const renames = new Map<string, string>();
  const wires: Wire[] = [];
  for (let each = 0; each < addresses; each++) wires.push(await startWire(renames));
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
