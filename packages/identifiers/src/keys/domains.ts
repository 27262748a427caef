import { domainToASCII, domainToUnicode } from 'node:url';
import type { Brand } from '@brand-data/contracts';
import { parse } from 'tldts';
import { remembered } from '../names/texts.ts';
import type { BrandKey } from './brand-key.ts';

const SCHEME = /^(?:[a-z][a-z0-9+.-]*:)?\/\//i;

/** A host that is neither an IDN nor an IP address. The URL standard's host parser would change only its case. */
const PLAIN_HOST = /^(?!.*xn--)(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*$/i;
/** More characters than a host has. Reading an international one takes time that grows with the square of its length. */
const LONGEST_HOST = 255;
/** More addresses than any company has. */
export const MOST_ADDRESSES = 100;
const SUFFIX_LIST = { allowPrivateDomains: true, extractHostname: false };

/** The two names of a web address, in lower-case ASCII (IDN by UTS 46). For most addresses they are equal. */
export interface WebHost {
  /** The whole host without "www.". */
  readonly host: string;
  /** The registrable domain by the public suffix list. On a shared host ("github.io"), it is the customer's name. */
  readonly domain: string;
}

/**
 * Reads the domain of a pasted address. Ignores scheme, "www.", port, path, query, fragment, a final dot and case. Undefined
 * if the text is an e-mail address or an IP address, or does not end in a known public suffix.
 */
export const readWebHost = remembered((text): WebHost | undefined => {
  const [authority = ''] = /^[^/?#\\]*/.exec(text.trim().replace(SCHEME, '')) ?? [];
  if (authority.includes('@') || authority.length > LONGEST_HOST) return undefined;
  const written = authority.replace(/:\d*$/, '');
  const ascii = PLAIN_HOST.test(written) ? written.toLowerCase() : domainToASCII(written).replace(/\.$/, '');
  const host = ascii.replace(/^www\.(?=.+\.)/, '');
  if (!host.includes('.')) return undefined;
  const { domain, isIcann, isPrivate } = parse(host, SUFFIX_LIST);
  if (!isIcann && !isPrivate) return undefined;
  // The own address of a shared host ("github.io") is only a suffix, so it has no registrable domain. It is its own domain.
  return { host, domain: domain ?? host };
});

/** Returns keys of a brand's websites and further domains: the registrable domain, and the exact host if it differs. */
export function domainKeys(brand: Brand): BrandKey[] {
  return domainNamesOf(brand).map((name) => ({
    key: `domain:${name}`,
    kind: 'domain',
    strength: 'exact',
    value: name.includes('xn--') ? domainToUnicode(name) : name,
  }));
}

/** Returns the domain names of the keys, in lower-case ASCII. A name may come more than once. */
export function domainNamesOf(brand: Brand): string[] {
  return webAddressesOf(brand).flatMap(domainNames);
}

/** Returns the websites and further domains by which a record is found and compared: the first ones of the record. */
export function webAddressesOf({ links, domains }: Brand): string[] {
  return [...(links?.websites ?? []), ...domains].slice(0, MOST_ADDRESSES);
}

/** Returns the names of an address, the exact host first: a brand's site on a sub-domain precedes the domain's owner. */
export function domainNames(address: string): string[] {
  const web = readWebHost(address);
  if (web === undefined) return [];
  return web.host === web.domain ? [web.domain] : [web.host, web.domain];
}
