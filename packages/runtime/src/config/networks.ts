import { BlockList, isIP, isIPv6 } from 'node:net';

const MAPPED = /^::ffff:(?=[\d.]+$)/i;

/** Returns an IPv4 address without the prefix that it has on a socket that listens for IPv6: "::ffff:192.0.2.7". */
export function plainAddress(address: string): string {
  return address.replace(MAPPED, '');
}

/** Returns a function that tells whether an IP address is in one of the networks, which are as `configSpec.networks` reads them. */
export function inNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (given) => {
    const address = plainAddress(given);
    return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  };
}

/** Returns an IPv4 address as it is, and the first 64 bits of an IPv6 address: one client usually has all addresses with these. */
export function networkOf(given: string): string {
  const address = plainAddress(given);
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => '0');
  return [...first, ...zeros, ...last].slice(0, 4).join(':');
}
