import { isIPv4 } from 'node:net';
import type { Block, BlockedNetwork, BlockNetworkRequest } from '@brand-data/contracts';
import { Fault, inNetworks, isNetwork, usualNetwork } from '@brand-data/runtime';
import { requireText } from './input.ts';

const MINUTE_MS = 60_000;
const LONGEST_DAYS = 366;
const LONGEST_REASON = 200;

/** A network from which gateways refuse all requests. */
export interface BlockDoc {
  /** The address or network, in the form that `requireNetwork` returns. */
  _id: string;
  reason: string;
  createdAt: Date;
  createdBy: string;
  /** MongoDB removes the block some time after this. */
  expiresAt: Date;
}

/** Returns the `usualNetwork`. Throws Fault `invalid_argument` if the text is neither an address nor a network. */
export function requireNetwork(text: string): string {
  if (!isNetwork(text))
    throw new Fault(
      'invalid_argument',
      'an address looks like 192.0.2.7 or 2001:db8::7, and a network like 192.0.2.0/24 or 2001:db8::/64',
    );
  return usualNetwork(text);
}

/** Throws a Fault if a block of this network would refuse callers in general, or those behind a trusted proxy. */
function requireNarrow(network: string, trustedProxies: readonly string[]): void {
  const [address = '', bits] = network.split('/');
  const isIn = inNetworks([network]);
  const isWide = isIPv4(address) ? Number(bits) < 8 : Number(bits) < 16 || isIn('0.0.0.0');
  if (isWide)
    throw new Fault(
      'invalid_argument',
      `${network} covers too many callers: the largest networks that can be blocked are /8 of IPv4 and /16 of IPv6`,
    );
  const proxy = trustedProxies.find((each) => isIn(each.split('/')[0] ?? '') || inNetworks([each])(address));
  if (proxy !== undefined)
    throw new Fault(
      'failed_precondition',
      `${network} overlaps the trusted proxies ${proxy} (TRUSTED_PROXIES): block the address of the client behind the proxy`,
    );
}

/** Throws a Fault unless the request has a network that may be blocked, a time and a reason. */
export function requireBlock(
  { network: text, forMs, reason: given }: BlockNetworkRequest,
  {
    trustedProxies,
    nowMs,
    createdBy,
  }: { trustedProxies: readonly string[]; nowMs: number; createdBy: string },
): BlockDoc {
  const network = requireNetwork(text);
  requireNarrow(network, trustedProxies);
  if (!Number.isInteger(forMs) || forMs < MINUTE_MS || forMs > LONGEST_DAYS * 24 * 60 * MINUTE_MS)
    throw new Fault('invalid_argument', `a block lasts from a minute to ${LONGEST_DAYS} days`);
  const reason = requireText('a reason', given, LONGEST_REASON);
  if (reason === '') throw new Fault('invalid_argument', 'say why: the reason is missing');
  return {
    _id: network,
    reason,
    createdBy,
    createdAt: new Date(nowMs),
    expiresAt: new Date(nowMs + forMs),
  };
}

export function blockedToProto({ _id, expiresAt }: BlockDoc): BlockedNetwork {
  return { network: _id, expiresAtMs: expiresAt.getTime() };
}

export function blockToProto(block: BlockDoc): Block {
  const { reason, createdAt, createdBy } = block;
  return { blocked: blockedToProto(block), reason, createdBy, createdAtMs: createdAt.getTime() };
}
