import { domainToASCII, domainToUnicode } from 'node:url';
import type { Brand } from '@brand-data/contracts';
import { parse } from 'tldts';
import type { BrandKey } from './keys.ts';

const SCHEME = /^(?:[a-z][a-z0-9+.-]*:)?\/\//i;

/** A host that is neither an IDN nor an IP address: the URL standard's host parser would change only its case. */
const PLAIN_HOST = /^(?!.*xn--)(?:[a-z0-9-]+\.)+[a-z][a-z0-9-]*$/i;
const SUFFIX_LIST = { allowPrivateDomains: true, extractHostname: false };

/** The names of a web address, lower case, ASCII (IDN by UTS 46). Most addresses have equal names. */
export interface WebHost {
  /** The whole host without "www.". */
  readonly host: string;
  /** The registrable domain by the public suffix list; on a shared host ("github.io"), the customer's own name. */
  readonly domain: string;
}

/**
 * Reads the domain of a pasted address. Scheme, "www.", port, path, query, fragment, a final dot and case do not matter.
 * Undefined: the text is an e-mail address or an IP address, or ends in no known public suffix.
 */
export function readWebHost(text: string): WebHost | undefined {
  const [authority = ''] = /^[^/?#\\]*/.exec(text.trim().replace(SCHEME, '')) ?? [];
  if (authority.includes('@')) return undefined;
  const host = asciiHost(authority.replace(/:\d*$/, '')).replace(/^www\.(?=.+\.)/, '');
  if (!host.includes('.')) return undefined;
  const { domain, isIcann, isPrivate } = parse(host, SUFFIX_LIST);
  if (!isIcann && !isPrivate) return undefined;
  // A shared host's own address ("github.io") is a suffix with nothing before it: it stands for itself.
  return { host, domain: domain ?? host };
}

/** Keys of a brand's websites and further domains: the registrable domain, and the exact host where it differs. */
export function domainKeys(brand: Brand): BrandKey[] {
  return domainNamesOf(brand).map((name) => ({
    key: `domain:${name}`,
    kind: 'domain',
    strength: 'exact',
    value: name.includes('xn--') ? domainToUnicode(name) : name,
  }));
}

/** The domain names of the keys: lower case, ASCII; some more than once. */
export function domainNamesOf(brand: Brand): string[] {
  return [...(brand.links?.websites ?? []), ...brand.domains].flatMap((address) => {
    const web = readWebHost(address);
    return web === undefined ? [] : domainNames(web);
  });
}

/** The keys of an address, the exact host first: a brand with a site on a sub-domain goes before the domain's owner. */
export function readDomain(identifier: string): string[] {
  const web = readWebHost(identifier);
  return web === undefined ? [] : domainNames(web).map((name) => `domain:${name}`);
}

function domainNames({ host, domain }: WebHost): string[] {
  return host === domain ? [domain] : [host, domain];
}

function asciiHost(host: string): string {
  return PLAIN_HOST.test(host) ? host.toLowerCase() : domainToASCII(host).replace(/\.$/, '');
}
