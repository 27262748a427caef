import { BlockList } from 'node:net';
import type { Labels, Manifest } from './render.ts';

/** A pod, or an address outside the cluster: without a namespace. */
export interface Endpoint {
  name: string;
  ip: string;
  namespace?: { name: string; labels: Labels };
  labels: Labels;
}

export interface Port {
  protocol: 'TCP' | 'UDP';
  port: number;
}

interface Selector {
  matchLabels?: Labels;
  matchExpressions?: {
    key: string;
    operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
    values?: string[];
  }[];
}

interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}

interface Rule {
  ports?: { protocol?: string; port?: number; endPort?: number }[];
  from?: Peer[];
  to?: Peer[];
}

export interface PolicySpec {
  podSelector: Selector;
  policyTypes: ('Ingress' | 'Egress')[];
  ingress?: Rule[];
  egress?: Rule[];
}

/**
 * Whether `from` may open a connection to the port of `to`, as Kubernetes defines NetworkPolicies: what a direction's
 * policies select may only do what one of them allows. Throws on what it does not know (named ports).
 */
export function isAllowed(policies: readonly Manifest[], from: Endpoint, to: Endpoint, port: Port): boolean {
  return mayLeave(policies, from, to, port) && mayEnter(policies, from, to, port);
}

/** The half of `isAllowed` that `from`'s policies decide. */
export function mayLeave(policies: readonly Manifest[], from: Endpoint, to: Endpoint, port: Port): boolean {
  return passes(policies, 'Egress', from, to, port);
}

/** The half of `isAllowed` that `to`'s policies decide. */
export function mayEnter(policies: readonly Manifest[], from: Endpoint, to: Endpoint, port: Port): boolean {
  return passes(policies, 'Ingress', to, from, port);
}

function passes(
  policies: readonly Manifest[],
  direction: 'Ingress' | 'Egress',
  subject: Endpoint,
  other: Endpoint,
  port: Port,
): boolean {
  const own = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === subject.namespace?.name &&
      (spec as PolicySpec).policyTypes.includes(direction) &&
      selects((spec as PolicySpec).podSelector, subject.labels),
  );
  if (own.length === 0) return true;
  return own.some(({ metadata, spec }) => {
    const { ingress = [], egress = [] } = spec as PolicySpec;
    return (direction === 'Ingress' ? ingress : egress).some(
      (rule) =>
        hasPort(rule, port) &&
        hasPeer(direction === 'Ingress' ? rule.from : rule.to, other, metadata.namespace),
    );
  });
}

function hasPort({ ports }: Rule, { protocol, port }: Port): boolean {
  if (ports === undefined || ports.length === 0) return true;
  return ports.some((each) => {
    if (each.port !== undefined && typeof each.port !== 'number') throw new Error(`named port ${each.port}`);
    const [first, last] = [each.port ?? 0, each.endPort ?? each.port ?? 65_535];
    return (each.protocol ?? 'TCP') === protocol && first <= port && port <= last;
  });
}

function hasPeer(peers: readonly Peer[] | undefined, other: Endpoint, policyNamespace?: string): boolean {
  if (peers === undefined || peers.length === 0) return true;
  return peers.some(({ ipBlock, podSelector, namespaceSelector }) => {
    if (ipBlock !== undefined)
      return (
        isWithin(ipBlock.cidr, other.ip) && !(ipBlock.except ?? []).some((cidr) => isWithin(cidr, other.ip))
      );
    if (other.namespace === undefined) return false;
    const inNamespace =
      namespaceSelector === undefined
        ? other.namespace.name === policyNamespace
        : selects(namespaceSelector, other.namespace.labels);
    return inNamespace && (podSelector === undefined || selects(podSelector, other.labels));
  });
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key];
      if (operator === 'In') return value !== undefined && values.includes(value);
      if (operator === 'NotIn') return value === undefined || !values.includes(value);
      return (value !== undefined) === (operator === 'Exists');
    })
  );
}

function isWithin(cidr: string, ip: string): boolean {
  const [network = '', prefix] = cidr.split('/');
  const block = new BlockList();
  block.addSubnet(network, Number(prefix));
  return block.check(ip);
}
