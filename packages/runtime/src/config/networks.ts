import { BlockList, isIP, isIPv4, isIPv6, SocketAddress } from 'node:net';

const MAPPED = /^::ffff:(?=[\d.]+$)/i;

/**
 * Returns an address without what sockets and proxies add to it: the prefix that IPv4 has on a socket that listens for IPv6
 * ("::ffff:192.0.2.7"), a port ("192.0.2.7:8080", "[2001:db8::7]:443") and a zone ("fe80::1%eth0"). Empty for a caller who has gone:
 * the socket then has no address any more.
 */
export function plainAddress(address: string | undefined = ''): string {
  const [, inBrackets, beforePort] = /^\[([^\]]+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(address) ?? [];
  return (inBrackets ?? beforePort ?? address).replace(/%.*$/, '').replace(MAPPED, '');
}

/** Whether the text is an IP address or a network: "192.0.2.7", "2001:db8::/32". */
export function isNetwork(text: string): boolean {
  const [, address = '', bits = '0'] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const version = isIP(address);
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
}

/**
 * Returns an address or network, for which `isNetwork` holds, in the usual form: IPv6 is shortened, an IPv4 address that is written
 * as IPv6 becomes IPv4, and the bits after those of the network are 0.
 */
export function usualNetwork(text: string): string {
  const [given = '', bits] = text.split('/');
  const length = bits === undefined ? 128 : Number(bits) + (isIPv4(given) ? 96 : 0);
  const plain = plainAddress(given);
  // A URL writes all eight groups of IPv6 in hexadecimal.
  const { hostname } = new URL(`http://[${isIPv4(plain) ? `::ffff:${plain}` : plain}]`);
  const groups = groupsOf(plainAddress(hostname)).map((group, at) => {
    const kept = Math.min(16, Math.max(0, length - 16 * at));
    return (Number.parseInt(group, 16) & (0xff_ff_00_00 >> kept) & 0xff_ff).toString(16);
  });
  const address = plainAddress(new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address);
  if (length === 128) return address;
  return `${address}/${isIPv4(address) ? length - 96 : length}`;
}

/** Returns a function that tells whether an IP address is in one of the networks, which are as `configSpec.networks` reads them. */
export function inNetworks(networks: readonly string[]): (address: string | undefined) => boolean {
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

/**
 * Returns an IPv4 address as it is, and the first 64 bits of an IPv6 address: one client usually has all addresses with these. What
 * a proxy names in place of an address counts as one client.
 */
export function networkOf(given: string | undefined): string {
  const address = plainAddress(given);
  if (!isIPv6(address)) return isIPv4(address) ? address : 'unknown';
  return groupsOf(address).slice(0, 4).join(':');
}

function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => '0');
  return [...first, ...zeros, ...last];
}
