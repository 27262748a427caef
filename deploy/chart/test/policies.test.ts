import { describe, expect, test } from 'vitest';
import { type Endpoint, isAllowed, mayEnter, mayLeave, type Port } from './evaluate-policies.ts';
import { MATRIX, PLAIN, QUICKSTART } from './matrix.ts';
import { componentOf, type Manifest, podsOf, render, type Values } from './render.ts';
import { helm } from './tools.ts';

const namespace = (name: string, labels = {}) => ({
  name,
  labels: { 'kubernetes.io/metadata.name': name, ...labels },
});
const brands = namespace('brands');

/** What is around the release. */
const SURROUNDINGS: Endpoint[] = [
  { name: 'stranger', ip: '10.1.0.1', namespace: brands, labels: { app: 'stranger' } },
  {
    name: 'gateway of another release',
    ip: '10.1.0.2',
    namespace: brands,
    labels: {
      'app.kubernetes.io/name': 'brand-data',
      'app.kubernetes.io/instance': 'other',
      'app.kubernetes.io/component': 'gateway',
    },
  },
  { name: 'operator', ip: '10.1.0.3', namespace: brands, labels: { team: 'operators' } },
  {
    name: 'prometheus',
    ip: '10.1.1.1',
    namespace: namespace('monitoring'),
    labels: { 'app.kubernetes.io/name': 'prometheus' },
  },
  {
    name: 'ingress',
    ip: '10.1.2.1',
    namespace: namespace('ingress', { name: 'ingress' }),
    labels: { 'app.kubernetes.io/name': 'ingress-nginx' },
  },
  {
    name: 'dns',
    ip: '10.1.3.1',
    namespace: namespace('kube-system'),
    labels: { 'k8s-app': 'kube-dns' },
  },
  { name: 'api server', ip: '10.1.3.2', namespace: namespace('kube-system'), labels: {} },
  {
    name: 'collector',
    ip: '10.1.4.1',
    namespace: namespace('observability', { name: 'observability' }),
    labels: {},
  },
  { name: 'database', ip: '10.0.0.5', labels: {} },
  { name: 'bus', ip: '10.0.1.5', labels: {} },
  { name: 'internet', ip: '203.0.113.7', labels: {} },
];
const OUTSIDE = SURROUNDINGS.map(({ name }) => name);

/** Every port that a pod of the chart or a part beside it listens on, and some that nobody has asked for. */
const PORTS: Port[] = [
  { protocol: 'UDP', port: 53 },
  ...[22, 53, 80, 443, 4222, 4318, 6222, 8080, 8222, 9000, 9001, 9090, 27017, 27018].map((port) => ({
    protocol: 'TCP' as const,
    port,
  })),
];

const SERVICES = ['gateway', 'accounts', 'catalog', 'metering'];
const BACKENDS = ['accounts', 'catalog', 'metering'];

/** From, to, ports: "Who may speak to whom". */
type Talk = readonly [from: readonly string[], to: readonly string[], ...ports: (number | string)[]];

/**
 * The same however it is installed. `set-up` is the services' own code before an upgrade, so it may reach what they may;
 * `test` is an operator and a caller.
 */
const always = (own: readonly string[]): Talk[] => [
  [['gateway'], BACKENDS, 9000],
  [['bds', 'test'], BACKENDS, 9001],
  [['test'], ['gateway'], 8080],
  [['prometheus'], SERVICES, 9090],
  [own, ['dns'], 53, 'UDP 53'],
];

interface World {
  values: Values;
  talks: Talk[];
}

const NARROW: World = {
  values: MATRIX['everything on']?.values ?? {},
  talks: [
    [['ingress'], ['gateway'], 8080],
    [['operator'], BACKENDS, 9001],
    [['gateway', ...BACKENDS, 'set-up'], ['bus'], 4222],
    [[...BACKENDS, 'set-up'], ['database'], 27017, 27018],
    [SERVICES, ['collector'], 4318],
  ],
};

const WORLDS: Record<string, World> = {
  quickstart: {
    values: QUICKSTART,
    talks: [
      [OUTSIDE, ['gateway'], 8080],
      [['gateway', ...BACKENDS, 'set-up'], ['nats'], 4222],
      [[...BACKENDS, 'set-up', 'mongodb-init'], ['mongodb'], 27017],
      [['seed'], BACKENDS, 9001],
    ],
  },
  'a plain install: it is not said where MongoDB and NATS are': {
    values: PLAIN,
    talks: [
      [OUTSIDE, ['gateway'], 8080],
      [['gateway', ...BACKENDS, 'set-up'], OUTSIDE, 4222],
      [[...BACKENDS, 'set-up'], OUTSIDE, 27017],
    ],
  },
  'an install that says where everything is, with traces': NARROW,
};

const said = ({ from, to, port }: { from: string; to: string; port: string }) => `${from} → ${to}, ${port}`;

function endpointsOf(manifests: readonly Manifest[]): Endpoint[] {
  return podsOf(manifests).map(({ labels }, index) => ({
    name: componentOf(labels),
    ip: `10.2.0.${index + 1}`,
    namespace: brands,
    labels,
  }));
}

type Decision = (policies: readonly Manifest[], from: Endpoint, to: Endpoint, port: Port) => boolean;

/** The release's pods and policies in a world, what it expects, and what a decision allows. */
async function inspect({ values, talks }: World) {
  const manifests = await render(helm, values);
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  const own = endpointsOf(manifests);
  const all = [...own, ...SURROUNDINGS];
  const expected = [...always(own.map(({ name }) => name)), ...talks].flatMap(([froms, tos, ...ports]) =>
    froms.flatMap((from) =>
      tos.flatMap((to) =>
        ports.map((port) => ({ from, to, port: typeof port === 'number' ? `TCP ${port}` : port })),
      ),
    ),
  );
  const allowedBy = (decide: Decision, froms: readonly Endpoint[], tos: readonly Endpoint[]) =>
    froms
      .flatMap((from) =>
        tos
          .filter((to) => from !== to)
          .flatMap((to) =>
            PORTS.filter((port) => decide(policies, from, to, port)).map((port) =>
              said({ from: from.name, to: to.name, port: `${port.protocol} ${port.port}` }),
            ),
          ),
      )
      .toSorted();
  const names = new Set(own.map(({ name }) => name));
  return { own, all, names, expected, allowedBy };
}

describe.skipIf(!helm.isThere)('network policies', () => {
  test.for(Object.entries(WORLDS))(
    'in %s, each pod reaches what the design lists, and nothing else',
    async ([, world]) => {
      const { own, all, expected, allowedBy } = await inspect(world);
      const allowed = [
        ...allowedBy(isAllowed, own, all),
        ...allowedBy(isAllowed, SURROUNDINGS, own),
      ].toSorted();
      expect(allowed).toEqual([...new Set(expected.map(said))].toSorted());
    },
  );

  test('where it is said where everything is, each side of a connection refuses by itself', async () => {
    const { own, all, names, expected, allowedBy } = await inspect(NARROW);
    const leaving = expected.filter(({ from }) => names.has(from));
    const entering = expected.filter(({ to }) => names.has(to));
    expect(allowedBy(mayLeave, own, all)).toEqual([...new Set(leaving.map(said))].toSorted());
    expect(allowedBy(mayEnter, all, own)).toEqual([...new Set(entering.map(said))].toSorted());
  });

  test('a pod of the release that no rule knows reaches DNS alone', async () => {
    const manifests = await render(helm, PLAIN);
    const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
    const labels = { 'app.kubernetes.io/name': 'brand-data', 'app.kubernetes.io/instance': 'shop' };
    const unknown: Endpoint = { name: 'unknown', ip: '10.2.1.1', namespace: brands, labels };
    const reached = SURROUNDINGS.flatMap((to) =>
      PORTS.filter((port) => isAllowed(policies, unknown, to, port)).map(({ protocol }) => [
        to.name,
        protocol,
      ]),
    );
    expect(reached).toEqual([
      ['dns', 'UDP'],
      ['dns', 'TCP'],
    ]);
    expect(SURROUNDINGS.some((from) => PORTS.some((port) => isAllowed(policies, from, unknown, port)))).toBe(
      false,
    );
  });
});
