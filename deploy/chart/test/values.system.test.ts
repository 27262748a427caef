import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { documentedValues, withTable } from '../values-readme.ts';
import { PLAIN, QUICKSTART } from './matrix.ts';
import { CHART, template, type Values } from './render.ts';
import { helms } from './tools.ts';

const read = (name: string) => readFile(join(CHART, name), 'utf8');

/** Wrong values, and the value that the error message must name. */
const WRONG: [what: string, values: Values, named: string][] = [
  ['no values at all', {}, 'mongodb.url'],
  ['no NATS', { ...PLAIN, nats: {} }, 'nats.url'],
  ['no address that leads to the images', { ...PLAIN, gateway: {} }, 'gateway.logoHost'],
  [
    'an Ingress of which every host is a wildcard, and no address for images',
    { ...PLAIN, gateway: {}, ingress: { enabled: true, hosts: ['*.example.com'] } },
    'gateway.logoHost',
  ],
  [
    'a route without host names, and no address for images',
    { ...PLAIN, gateway: {}, httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] } },
    'gateway.logoHost',
  ],
  ['a URL and a Secret for MongoDB', with_('mongodb.existingSecret', 'urls'), 'mongodb.existingSecret'],
  ['a URL and a Secret for NATS', with_('nats.existingSecret', 'urls'), 'nats.existingSecret'],
  ['a MongoDB beside the quickstart', { ...QUICKSTART, mongodb: PLAIN.mongodb }, 'mongodb.url'],
  ['a NATS beside the quickstart', { ...QUICKSTART, nats: PLAIN.nats }, 'nats.url'],
  [
    'a password in a URL of MongoDB',
    with_('mongodb.url', 'mongodb://user:sesame@db'),
    'mongodb.existingSecret',
  ],
  [
    'a password in a URL of NATS',
    with_('nats.url', 'nats://bus,nats://user:sesame@bus'),
    'nats.existingSecret',
  ],
  ['two places of an authority', with_('nats.ca', { secret: 'a', configMap: 'b' }), 'nats.ca.configMap'],
  ['a URL that is not NATS', with_('nats.url', 'http://bus:4222'), 'nats.url'],
  ['negative replicas', with_('gateway.replicas', -1), 'gateway.replicas'],
  ['half a replica', with_('catalog.replicas', 1.5), 'catalog.replicas'],
  ['replicas in words', with_('metering.replicas', 'two'), 'metering.replicas'],
  ['an unknown key', with_('gatewy', {}), 'gatewy'],
  ['an unknown key in a service', with_('accounts.replica', 2), 'replica'],
  ['an unknown log level', with_('logLevel', 'loud'), 'logLevel'],
  ['a negative drain', with_('drainSeconds', -1), 'drainSeconds'],
  ['two copies of a stream', with_('nats.streamReplicas', 2), 'nats.streamReplicas'],
  ['a CPU that is none', with_('gateway.resources.requests.cpu', 'lots'), 'gateway.resources.requests.cpu'],
  ['a port out of range', with_('gateway.service.port', 70_000), 'gateway.service.port'],
  ['a number in the environment', with_('gateway.extraEnv.A', 1), 'gateway.extraEnv.A'],
  ['no worker', with_('images.workers', 0), 'images.workers'],
  ['half a worker', with_('images.workers', 1.5), 'images.workers'],
  ['too many workers', with_('images.workers', 17), 'images.workers'],
  ['a cache of a negative size', with_('images.cacheBytes', -1), 'images.cacheBytes'],
  ['a cache without a bound', with_('images.cacheBytes', 0), 'images.cacheBytes'],
  ['a cache below 1 MiB', with_('images.cacheBytes', 1_048_575), 'images.cacheBytes'],
  ['a cache of half a byte', with_('images.cacheBytes', 2_000_000.5), 'images.cacheBytes'],
  ['a record cache without a bound', with_('gateway.recordCacheBytes', 0), 'gateway.recordCacheBytes'],
  [
    'more processes of images than fit into its memory',
    with_('images.workers', 4),
    'images.resources.limits.memory',
  ],
  ['a record cache below 1 MiB', with_('gateway.recordCacheBytes', 1_048_575), 'gateway.recordCacheBytes'],
  [
    'a record cache that is larger than the memory',
    with_('gateway.recordCacheBytes', 2_000_000_000),
    'gateway.resources.limits.memory',
  ],
  [
    'too little memory for the tokens',
    with_('gateway.resources.limits.memory', '1G'),
    'gateway.resources.limits.memory',
  ],
  ['an unknown key in the sweep', with_('images.sweep.when', 'daily'), 'when'],
  ['a source without a schedule', with_('sync.sources', [{ name: 'a', kind: 'csv' }]), 'schedule'],
  [
    'a schedule with names of days',
    with_('sync.sources', [{ name: 'a', kind: 'csv', schedule: '0 4 * * MON' }]),
    'sync.sources',
  ],
  ['a logo host with a query', with_('gateway.logoHost', 'https://a.example/?x=1'), 'gateway.logoHost'],
  ['a logo host without a scheme', with_('gateway.logoHost', 'logos'), 'gateway.logoHost'],
  ['a collector without a port', with_('tracing.endpoint', 'http://collector'), 'tracing.endpoint'],
  ['an unknown answer to when', with_('metrics.podMonitor', true), 'metrics.podMonitor'],
  ['a runbook at a path', with_('metrics.runbookUrl', 'deploy/runbook.md'), 'metrics.runbookUrl'],
  ['a runbook at one section', with_('metrics.runbookUrl', 'https://a.example/#b'), 'metrics.runbookUrl'],
  ['no port for MongoDB', with_('networkPolicy.mongodb.ports', []), 'networkPolicy.mongodb.ports'],
  ['a peer that allows all', with_('networkPolicy.callers', [{}]), 'networkPolicy.callers.0'],
  ['pods of root', with_('pod.runAsUser', 0), 'pod.runAsUser'],
  ['an Ingress without a host', with_('ingress.enabled', true), 'ingress.hosts'],
  ['a route without a parent', with_('httpRoute.enabled', true), 'httpRoute.parentRefs'],
  [
    'both an Ingress and a route',
    { ...with_('ingress', { enabled: true, hosts: ['a.example'] }), httpRoute: { enabled: true } },
    'httpRoute.enabled',
  ],
  [
    'fewer pods at most than at least',
    with_('gateway.autoscaling', { minReplicas: 5, maxReplicas: 2 }),
    'gateway.autoscaling.maxReplicas',
  ],
];

/** PLAIN with this value at a path. */
function with_(path: string, value: unknown): Values {
  const values: Values = structuredClone(PLAIN);
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let inner = values;
  for (const key of keys) {
    inner[key] ??= {};
    inner = inner[key] as Values;
  }
  inner[last] = value;
  return values;
}

/** Helm's versions write a path as `/a/b/0`, `a.b.0` or "at 'a'". This returns `a.b.0` for all of them. */
const pathsIn = (message: string) => message.replace(/'\/([^']*)'/g, (_, path) => path.replaceAll('/', '.'));

describe.for(helms)('values, by helm $major', (helm) => {
  beforeEach(({ skip }) => skip(!helm.isThere));

  test.for(WRONG)('%s: refused, and the message names the value', async ([, values, named]) => {
    const { isGood, stderr } = await template(helm, values);
    expect(isGood).toBe(false);
    expect(pathsIn(stderr)).toContain(named);
  });

  test('a URL that is refused is not shown: it may hold a password', async () => {
    for (const values of [
      with_('mongodb.url', 'http://user:sesame@db'),
      with_('nats.url', 'http://user:sesame@bus'),
      with_('mongodb.url', 'mongodb://user:sesame@db'),
      with_('nats.url', 'nats://user:sesame@bus'),
    ]) {
      const { isGood, stderr } = await template(helm, values);
      expect(isGood).toBe(false);
      expect(stderr).not.toContain('sesame');
    }
  });
});

describe('documentation of the values', () => {
  test('README.md has the table that values.yaml gives', async () => {
    const readme = await read('README.md');
    expect(withTable(readme, documentedValues(await read('values.yaml')))).toBe(readme);
  });

  test('every value has a comment', async () => {
    const yaml = await read('values.yaml');
    const documented = documentedValues(yaml).map(({ path }) => path.join('.'));
    const bare: string[] = [];
    const walk = (value: unknown, path: string) => {
      if (documented.includes(path)) return;
      if (value === null || typeof value !== 'object' || Array.isArray(value)) bare.push(path);
      else
        for (const [key, inner] of Object.entries(value)) walk(inner, path === '' ? key : `${path}.${key}`);
    };
    walk(parse(yaml), '');
    expect(bare).toEqual([]);
  });

  test('values.schema.json knows the values of values.yaml and no others', async () => {
    const schema = JSON.parse(await read('values.schema.json'));
    const inSchema: string[] = [];
    const definitionOf = (ref: unknown) => schema.definitions[String(ref).split('/').at(-1) ?? ''] ?? {};
    const walk = (at: Record<string, unknown>, path: string) => {
      const { properties = definitionOf(at.$ref).properties } = at;
      const inner = Object.entries((properties as Record<string, Record<string, unknown>>) ?? {});
      if (inner.length === 0) inSchema.push(path);
      for (const [key, below] of inner) walk(below, path === '' ? key : `${path}.${key}`);
    };
    walk(schema, '');
    const documented = documentedValues(await read('values.yaml')).map(({ path }) => path.join('.'));
    const isKnown = (path: string) =>
      documented.some((value) => path === value || path.startsWith(`${value}.`));
    expect(inSchema.filter((path) => path !== 'global' && !isKnown(path))).toEqual([]);
    expect(
      documented.filter((value) => !inSchema.some((path) => `${path}.`.startsWith(`${value}.`))),
    ).toEqual([]);
  });
});
