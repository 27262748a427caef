import { BlockList, isIP } from 'node:net';

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
