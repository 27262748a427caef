import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { MATRIX, PLAIN, QUICKSTART } from './matrix.ts';
import {
  componentOf,
  type Manifest,
  type PolicyRule,
  podsOf,
  render,
  type Selector,
  type Values,
} from './render.ts';
import { helm } from './tools.ts';

const RELEASE = { 'app.kubernetes.io/name': 'brand-data', 'app.kubernetes.io/instance': 'shop' };
const COMPONENT = 'app.kubernetes.io/component';

/** Peers in rules, other than the release's own pods. They come from the tests' values and the chart's defaults. */
const OTHERS: Record<string, object> = {
  'cluster DNS': {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
    podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
  },
  Prometheus: {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } },
    podSelector: { matchLabels: { 'app.kubernetes.io/name': 'prometheus' } },
  },
  ingress: { namespaceSelector: { matchLabels: { name: 'ingress' } } },
  'an operator': { podSelector: { matchLabels: { team: 'operators' } } },
  MongoDB: { ipBlock: { cidr: '10.0.0.0/24' } },
  NATS: { ipBlock: { cidr: '10.0.1.0/24' } },
  collector: { namespaceSelector: { matchLabels: { name: 'observability' } } },
  webhook: { ipBlock: { cidr: '192.0.2.7/32' } },
};

const DNS = 'UDP 53, TCP 53: cluster DNS';
const METRICS = 'TCP 9090: Prometheus';
const TO_BACKENDS = 'TCP 9002: accounts, catalog, metering';

interface Policy {
  pods: string;
  in: string[];
  out: string[];
}

/** The peers that the values name, as texts of rules or of parts of a rule. */
interface Places {
  callers: string;
  operators: string;
  mongodb: string;
  nats: string;
  collector?: string;
}

/** The policies of every install. A pod may do whatever at least one of its policies allows, so each pod may use DNS. */
const expected = ({ callers, operators, mongodb, nats, collector }: Places): Record<string, Policy> => {
  const traces = collector === undefined ? [] : [`TCP 4318: ${collector}`];
  const adminCallers = operators.split('; ')[0] ?? '';
  return {
    default: { pods: 'all', in: [], out: [DNS] },
    gateway: {
      pods: 'gateway',
      in: [`TCP 8080: ${callers}`, METRICS],
      out: [TO_BACKENDS, nats, ...traces],
    },
    backends: {
      pods: 'accounts, catalog, metering',
      in: ['TCP 9002: gateway', `TCP 9003: ${operators}`, METRICS],
      out: [mongodb, nats, ...traces],
    },
    images: {
      pods: 'images',
      in: [`TCP 8080: ${callers}`, `TCP 9003: ${operators}`, METRICS],
      out: [mongodb, nats, ...traces],
    },
    operators: { pods: adminCallers, in: [], out: ['TCP 9003: accounts, catalog, metering, images'] },
    test: { pods: 'test', in: [], out: ['TCP 8080: gateway, images'] },
  };
};

const SET_UP = { pods: 'set-up', in: [] };

const INSTALLS: Record<string, { values: Values; policies: Record<string, Policy> }> = {
  quickstart: {
    values: QUICKSTART,
    policies: {
      ...expected({
        callers: 'anyone',
        operators: 'bds, test, sweep, seed',
        mongodb: 'TCP 27017: mongodb',
        nats: 'TCP 4222: nats',
      }),
      mongodb: {
        pods: 'mongodb',
        in: ['TCP 27017: accounts, catalog, metering, images, mongodb-init'],
        out: [],
      },
      'mongodb-init': { pods: 'mongodb-init', in: [], out: ['TCP 27017: mongodb'] },
      nats: { pods: 'nats', in: ['TCP 4222: gateway, images, accounts, catalog, metering'], out: [] },
    },
  },
  'a plain install, whose values do not say where MongoDB and NATS are': {
    values: PLAIN,
    policies: {
      ...expected({
        callers: 'anyone',
        operators: 'bds, test, sweep',
        mongodb: 'TCP 27017: anyone',
        nats: 'TCP 4222: anyone',
      }),
      'set-up': { ...SET_UP, out: [DNS, 'TCP 27017: anyone', 'TCP 4222: anyone'] },
    },
  },
  'an install whose values say where everything is, with traces and notices': {
    values: MATRIX['everything on']?.values ?? {},
    policies: {
      ...expected({
        callers: 'test; ingress',
        operators: 'test, sweep, sync; an operator',
        mongodb: 'TCP 27017, TCP 27018: MongoDB',
        nats: 'TCP 4222: NATS',
        collector: 'collector',
      }),
      'set-up': { ...SET_UP, out: [DNS, 'TCP 27017, TCP 27018: MongoDB', 'TCP 4222: NATS'] },
      notices: { pods: 'metering', in: [], out: ['TCP 8443: webhook'] },
      sync: { pods: 'sync', in: [], out: ['TCP 443: anyone'] },
    },
  },
};

/** Returns the components whose pods a selector selects. undefined: it may also select pods of another release. */
function componentsOf({ matchLabels = {}, matchExpressions = [] }: Selector): string[] | undefined {
  const { [COMPONENT]: component, ...release } = matchLabels;
  if (!isDeepStrictEqual(release, RELEASE)) return undefined;
  if (component !== undefined) return matchExpressions.length === 0 ? [component] : undefined;
  if (matchExpressions.length === 0) return ['all'];
  const [{ key, operator, values = [] } = { key: '', operator: '' }, ...more] = matchExpressions;
  return key === COMPONENT && operator === 'In' && more.length === 0 ? values : undefined;
}

/** Returns a rule as "ports: peers". An unknown peer is shown as JSON, so it matches no expectation. */
function ruleText({ ports = [], from, to }: PolicyRule): string {
  const peerText = (peer: Record<string, unknown>) => {
    const { podSelector = {}, ...more } = peer;
    const own = Object.keys(more).length === 0 ? componentsOf(podSelector as Selector) : undefined;
    const other = Object.entries(OTHERS).find(([, known]) => isDeepStrictEqual(known, peer))?.[0];
    return own?.join(', ') ?? other ?? JSON.stringify(peer);
  };
  const peers = (from ?? to ?? []).map(peerText).join('; ') || 'anyone';
  return `${ports.map(({ protocol, port }) => `${protocol} ${port}`).join(', ') || 'all ports'}: ${peers}`;
}

function policiesOf(manifests: readonly Manifest[]): Record<string, Policy> {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  return Object.fromEntries(
    policies.map(({ metadata, spec }) => {
      // If a policy does not name a direction, it allows all traffic in that direction.
      expect(spec?.policyTypes).toEqual(['Ingress', 'Egress']);
      const pods = componentsOf(spec?.podSelector ?? {}) ?? [JSON.stringify(spec?.podSelector)];
      return [
        componentOf(metadata.labels),
        {
          pods: pods.join(', '),
          in: (spec?.ingress ?? []).map(ruleText),
          out: (spec?.egress ?? []).map(ruleText),
        },
      ];
    }),
  );
}

describe.skipIf(!helm.isThere)('network policies', () => {
  test.for(Object.entries(INSTALLS))(
    'in %s, each policy names the peers and ports that the design lists, and no others',
    async ([, { values, policies }]) => {
      const manifests = await render(helm, values);
      expect(policiesOf(manifests)).toEqual(policies);
      const components = podsOf(manifests).map(({ labels }) => componentOf(labels));
      const selected = Object.values(policies).flatMap(({ pods }) => pods.split(', '));
      expect([...components, 'all']).toEqual(expect.arrayContaining(selected));
    },
  );
});
