import { BlockList, isIP } from 'node:net';

const MAPPED = /^::ffff:(?=[\d.]+$)/i;

/** Whether an IP address is in one of the networks, which are as `configSpec.networks` reads them. */
export function inNetworks(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (given) => {
    // A socket that listens for IPv6 gives IPv4 addresses as "::ffff:192.0.2.7".
    const address = given.replace(MAPPED, '');
    return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
  };
}
