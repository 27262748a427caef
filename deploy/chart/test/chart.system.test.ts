import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT } from '@brand-data/operator/src/main.ts';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { gatewaySchemas } from './gateway-api.ts';
import { MATRIX, PLAIN, QUICKSTART, WITH_BUNDLES, WITH_OPERATORS } from './matrix.ts';
import {
  CHART,
  componentOf,
  type Labels,
  type Manifest,
  mountedSecrets,
  podsOf,
  render,
  renderYaml,
  type Values,
  withValues,
} from './render.ts';
import { gatewayApi, helm, helms, kubeconform, runTool, schemas, TOOL_MS } from './tools.ts';

const SERVICES = ['accounts', 'catalog', 'gateway', 'images', 'metering'];
const NAMESPACED = [
  'ConfigMap',
  'CronJob',
  'Deployment',
  'HTTPRoute',
  'HorizontalPodAutoscaler',
  'Ingress',
  'Job',
  'NetworkPolicy',
  'PersistentVolumeClaim',
  'Pod',
  'PodDisruptionBudget',
  'PodMonitor',
  'PrometheusRule',
  'Secret',
  'Service',
  'ServiceAccount',
  'StatefulSet',
];
/** Kinds whose schemas are not here. */
const CUSTOM = ['Certificate', 'Issuer', 'PodMonitor', 'PrometheusRule'];

const named = (manifests: readonly Manifest[], kind: string, component: string) =>
  manifests.find((manifest) => manifest.kind === kind && componentOf(manifest.metadata.labels) === component);

describe.skipIf(!helm.isThere)('the chart', () => {
  test.skipIf(kubeconform === undefined || schemas.length === 0 || gatewayApi.length === 0)(
    'its objects are what the oldest and the newest Kubernetes and the Gateway API take',
    async () => {
      const gateway = await gatewaySchemas();
      const folder = await temporaryFolder();
      for (const [index, { values, options }] of Object.values(MATRIX).entries())
        await writeFile(join(folder, `${index}.yaml`), await renderYaml(helm, values, options));
      for (const { folder: known } of schemas) {
        const location = join(known, '{{.ResourceKind}}{{.KindSuffix}}.json');
        const locations = ['-schema-location', location, '-schema-location', gateway];
        const args = ['-strict', '-skip', CUSTOM.join(), ...locations, folder];
        const ran = await runTool(kubeconform ?? '', args);
        expect(ran, ran.stdout + ran.stderr).toMatchObject({ isGood: true });
      }
    },
    2 * TOOL_MS,
  );

  describe.for(Object.entries(MATRIX))('%s', ([, { values, options }]) => {
    let manifests: Manifest[] = [];
    beforeAll(async () => {
      manifests = await render(helm, values, options);
    });

    test.for(helms)('helm $major lint finds nothing, and renders the same', async (other, { skip }) => {
      skip(!other.isThere);
      const ran = await withValues(values, (file) =>
        runTool(other.path, ['lint', CHART, '--strict', '--values', file, '--kube-version', '1.34.0']),
      );
      expect(ran, ran.stdout + ran.stderr).toMatchObject({ isGood: true });
      // Each rendering makes new credentials, keys and certificates.
      const isGenerated = (component: string) =>
        /^(connections|server-users|set-up|operator|allowance-keys|passes|grpc-.*)$/.test(component);
      const withoutSecrets = (all: Manifest[]) =>
        all
          .filter(({ kind, metadata }) => kind !== 'Secret' || !isGenerated(componentOf(metadata.labels)))
          .map((each) => JSON.parse(JSON.stringify(each).replace(/"checksum\/connections":"\w+"/, '"":""')));
      expect(withoutSecrets(await render(other, values, options))).toEqual(withoutSecrets(manifests));
    });

    test('every object is in the namespace, has a unique name and the recommended labels', () => {
      const ids = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { kind, metadata } of manifests) {
        expect(NAMESPACED).toContain(kind);
        expect(metadata).toMatchObject({
          namespace: 'brands',
          name: expect.stringMatching(/^[a-z0-9][-a-z0-9]{0,61}[a-z0-9]$/),
        });
        expect(Object.keys(metadata.labels ?? {})).toEqual(
          expect.arrayContaining(['name', 'instance', 'component'].map((key) => `app.kubernetes.io/${key}`)),
        );
        for (const value of Object.values(metadata.labels ?? {}))
          expect(value).toMatch(/^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/);
      }
    });

    test('every pod fits the restricted profile, with a read-only root and no token', () => {
      const accounts = manifests.filter(({ kind }) => kind === 'ServiceAccount');
      expect(
        accounts.every(({ automountServiceAccountToken }) => automountServiceAccountToken === false),
      ).toBe(true);
      for (const { spec, owner } of podsOf(manifests)) {
        expect(spec.automountServiceAccountToken).toBe(false);
        expect(accounts.map(({ metadata }) => metadata.name)).toContain(spec.serviceAccountName);
        expect(spec.securityContext).toMatchObject({
          runAsNonRoot: true,
          seccompProfile: { type: 'RuntimeDefault' },
        });
        expect(spec).not.toHaveProperty('hostNetwork');
        expect(spec).not.toHaveProperty('hostPID');
        for (const volume of spec.volumes ?? [])
          expect(['configMap', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret']).toEqual(
            expect.arrayContaining(Object.keys(volume).filter((key) => key !== 'name')),
          );
        for (const container of spec.containers) {
          expect(container.securityContext, owner.metadata.name).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          });
          expect(container.resources).toMatchObject({
            requests: { cpu: expect.anything(), memory: expect.anything() },
            limits: { memory: expect.anything() },
          });
        }
      }
    });

    test('every selector selects the pods of its component', () => {
      const pods = podsOf(manifests);
      const selected = (labels: Record<string, string>) => [
        ...new Set(
          pods
            .filter((pod) => Object.entries(labels).every(([key, value]) => pod.labels[key] === value))
            .map((pod) => componentOf(pod.labels)),
        ),
      ];
      const selecting = ['Service', 'Deployment', 'StatefulSet', 'PodDisruptionBudget'];
      for (const { kind, metadata, spec } of manifests.filter((each) => selecting.includes(each.kind))) {
        const { matchLabels, ...labels } = { ...spec?.selector };
        expect(selected((kind === 'Service' ? labels : matchLabels) as Labels)).toEqual([
          componentOf(metadata.labels),
        ]);
      }
    });

    test('every object that a pod refers to exists, or is an existing Secret of the values', () => {
      const given = [
        'urls',
        'operators',
        'authority',
        'nats-tls',
        'notices',
        'lists',
        ...SERVICES.map((name) => `tls-${name}`),
        'tls-bds',
      ];
      const there = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      const namesIn = (value: unknown): string[] => {
        if (value === null || typeof value !== 'object') return [];
        return Object.entries(value).flatMap(([key, inner]) => {
          if (key === 'secret') {
            const name = inner.secretName ?? inner.name;
            return given.includes(name) ? [] : [`Secret/${name}`];
          }
          if (key === 'secretName') return given.includes(String(inner)) ? [] : [`Secret/${inner}`];
          if (key === 'configMapRef' || key === 'configMap')
            return given.includes(inner.name) ? [] : [`ConfigMap/${inner.name}`];
          return namesIn(inner);
        });
      };
      expect(there).toEqual(expect.arrayContaining(podsOf(manifests).flatMap(({ spec }) => namesIn(spec))));
    });

    test('each service has a budget, stops no pod before its successor is ready, and ends within its grace', () => {
      for (const service of SERVICES) {
        expect(named(manifests, 'PodDisruptionBudget', service)?.spec).toMatchObject({ maxUnavailable: 1 });
        const { strategy, template } = named(manifests, 'Deployment', service)?.spec ?? {};
        expect(strategy, service).toMatchObject({ rollingUpdate: { maxUnavailable: 0 } });
        const spec = template?.spec;
        const drainMs = Number(named(manifests, 'ConfigMap', service)?.data?.DRAIN_MS);
        // A service stops within 25 s after its drain.
        expect(Number(spec?.terminationGracePeriodSeconds) * 1000).toBeGreaterThan(drainMs + 25_000);
        expect(spec?.containers[0]).toMatchObject({
          startupProbe: { httpGet: { path: '/livez', port: 'metrics' } },
          livenessProbe: { httpGet: { path: '/livez', port: 'metrics' } },
          readinessProbe: { httpGet: { path: '/readyz', port: 'metrics' } },
        });
      }
    });
  });

  const objects = (values: Values, apiVersions: readonly string[] = []) =>
    render(helm, values, { apiVersions });
  const kinds = async (values: Values, apiVersions: readonly string[] = []) =>
    new Set((await objects(values, apiVersions)).map(({ kind }) => kind));

  test('kinds of the Prometheus operator appear where the cluster knows them, or when asked for', async () => {
    expect(await kinds(PLAIN)).not.toContain('PodMonitor');
    expect(await kinds(PLAIN, WITH_OPERATORS)).toContain('PodMonitor');
    expect(await kinds({ ...PLAIN, metrics: { podMonitor: 'always' } })).toContain('PodMonitor');
    expect(await kinds({ ...PLAIN, metrics: { podMonitor: 'never' } }, WITH_OPERATORS)).not.toContain(
      'PodMonitor',
    );
  });

  test('alerts and dashboards are the files of their folders, as they are', async () => {
    const folder = await temporaryFolder();
    for (const part of ['Chart.yaml', 'values.yaml', 'templates', 'files'])
      await cp(join(CHART, part), join(folder, part), { recursive: true });
    const group = { name: 'test', rules: [{ alert: 'Test', annotations: { summary: '{{ $labels.pod }}' } }] };
    const dashboard = JSON.stringify({ title: '{{pod}} & "co"' });
    await mkdir(join(folder, 'files', 'alerts'), { recursive: true });
    await mkdir(join(folder, 'files', 'dashboards'), { recursive: true });
    await writeFile(join(folder, 'files', 'alerts', 'zz-test.yaml'), stringify({ groups: [group] }));
    await writeFile(join(folder, 'files', 'dashboards', 'zz-test.json'), dashboard);
    const manifests = await render(helm, PLAIN, { apiVersions: WITH_OPERATORS, chart: folder });
    expect(named(manifests, 'PrometheusRule', 'monitoring')?.spec?.groups).toContainEqual(group);
    expect(named(manifests, 'ConfigMap', 'dashboard-zz-test')).toMatchObject({
      metadata: { labels: { grafana_dashboard: '1' } },
      data: { 'zz-test.json': dashboard },
    });
  });

  test('the alert of an absent service is about the services of its own namespace', async () => {
    const manifests = await objects({ ...PLAIN, metrics: { rules: 'always' } });
    const { groups = [] } = named(manifests, 'PrometheusRule', 'monitoring')?.spec ?? {};
    const rule = groups.flatMap(({ rules }) => rules).find(({ alert }) => alert === 'BrandDataServiceAbsent');
    const selectors = String(Object(rule).expr).match(/\{[^}]*\}/g) ?? [];
    expect(selectors.length).toBe(5);
    for (const selector of selectors) expect(selector).toContain(`namespace="brands"`);
  });

  test('every alert names its section of the runbook, by URL where the runbook is published', async () => {
    const runbookUrl = 'https://wiki.example.com/brand-data/runbook';
    const annotations = async (metrics: Values) => {
      const manifests = await objects({ ...PLAIN, metrics: { rules: 'always', ...metrics } });
      const { groups = [] } = named(manifests, 'PrometheusRule', 'monitoring')?.spec ?? {};
      return groups
        .flatMap(({ rules }) => rules.map((rule) => rule.annotations))
        .filter((each) => each !== undefined);
    };
    const [byPath, byUrl] = [await annotations({}), await annotations({ runbookUrl })];
    expect(byPath.length).toBeGreaterThan(10);
    expect(byUrl).toEqual(
      byPath.map(({ runbook, ...others }) => ({
        ...others,
        runbook_url: `${runbookUrl}#${runbook?.split('#')[1]}`,
      })),
    );
  });

  test('an autoscaler sets the number of gateways, and uses calls only if there is an adapter', async () => {
    const values = {
      ...PLAIN,
      gateway: { ...PLAIN.gateway, autoscaling: { enabled: true, callsPerSecond: 5000 } },
    };
    const [without, withAdapter] = [await objects(values), await objects(values, WITH_OPERATORS)];
    expect(named(without, 'Deployment', 'gateway')?.spec).not.toHaveProperty('replicas');
    const metricsOf = (manifests: Manifest[]) =>
      named(manifests, 'HorizontalPodAutoscaler', 'gateway')?.spec?.metrics?.map(({ type }) => type);
    expect(metricsOf(without)).toEqual(['Resource']);
    expect(metricsOf(withAdapter)).toEqual(['Resource', 'Pods']);
  });

  test('an ingress may keep the calls of a token on one gateway', async () => {
    const annotations = async (hashOnToken: boolean) => {
      const ingress = { enabled: true, hosts: ['api.example.com'], hashOnToken };
      const manifests = await objects({ ...PLAIN, ingress });
      return named(manifests, 'Ingress', 'gateway')?.metadata.annotations;
    };
    expect(await annotations(true)).toEqual({
      'nginx.ingress.kubernetes.io/upstream-hash-by': '$arg_token',
    });
    expect(await annotations(false)).toBeUndefined();
  });

  test.each([
    ['nginx', { 'nginx.ingress.kubernetes.io/enable-access-log': 'false' }],
    ['nginx-internal', { 'nginx.ingress.kubernetes.io/enable-access-log': 'false' }],
    ['traefik', { 'traefik.ingress.kubernetes.io/router.observability.accesslogs': 'false' }],
    ['haproxy', undefined],
  ])(
    'an Ingress of the class %s keeps tokens out of its access log, unless it is asked for',
    async (className, off) => {
      const ingress = { enabled: true, hosts: ['api.example.com'], className };
      const annotations = async (more: Values) =>
        named(await objects({ ...PLAIN, ingress: { ...ingress, ...more } }), 'Ingress', 'gateway')?.metadata
          .annotations;
      expect(await annotations({})).toEqual(off);
      expect(await annotations({ accessLog: true })).toBeUndefined();
      const own = Object.fromEntries(Object.keys(off ?? {}).map((name) => [name, 'true']));
      expect(await annotations({ annotations: own })).toEqual(off === undefined ? undefined : own);
    },
  );

  test('the pod of bds serves the page of usage at no port that other pods reach, unless it is switched off', async () => {
    const containerOf = async (values: Values) => {
      const pods = podsOf(await objects({ ...PLAIN, ...values }));
      return pods.find(({ labels }) => componentOf(labels) === 'bds')?.spec.containers[0];
    };
    expect(await containerOf({})).toMatchObject({ command: ['bds', 'usage-page', '--port', '8190'] });
    expect(await containerOf({})).not.toHaveProperty('ports');
    expect(await containerOf({ bds: { usagePage: false } })).toMatchObject({
      command: ['node', '/scripts/wait.mjs'],
    });
  });

  test('there is a pod with a credential for operators, unless operators are elsewhere', async () => {
    const elsewhere = { operators: [{ podSelector: { matchLabels: { team: 'operators' } } }] };
    const hasPod = async (values: Values) =>
      podsOf(await objects({ ...PLAIN, ...values })).some(({ labels }) => componentOf(labels) === 'bds');
    expect(await hasPod({})).toBe(true);
    expect(await hasPod({ networkPolicy: elsewhere })).toBe(false);
    expect(await hasPod({ networkPolicy: elsewhere, bds: { enabled: true } })).toBe(true);
    expect(await hasPod({ bds: { enabled: false } })).toBe(false);
  });

  /** Returns the component that gets requests for each path of an Ingress or HTTPRoute, by host and path. */
  const routesOf = (manifests: Manifest[]) => {
    const name = (service = '') => service.split('-').at(-1);
    const routes = manifests.filter(({ kind }) => ['Ingress', 'HTTPRoute'].includes(kind));
    return Object.fromEntries(
      routes
        .flatMap(({ spec }) => spec?.rules ?? [])
        .flatMap(({ host = '', http, matches = [], backendRefs = [] }) =>
          http === undefined
            ? [[matches[0]?.path.value ?? '/', name(backendRefs[0]?.name)]]
            : http.paths.map(({ path, backend }) => [`${host}${path}`, name(backend.service.name)]),
        ),
    );
  };

  test('the host of the API leads to the images at /images, by Ingress, with its hash too, and by HTTPRoute', async () => {
    const ingress = { enabled: true, hosts: ['a.example', 'b.example'] };
    for (const hashOnToken of [false, true])
      expect(routesOf(await objects({ ...PLAIN, ingress: { ...ingress, hashOnToken } }))).toEqual({
        'a.example/': 'gateway',
        'a.example/images': 'images',
        'b.example/': 'gateway',
        'b.example/images': 'images',
      });
    const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }] };
    expect(routesOf(await objects({ ...PLAIN, httpRoute }))).toEqual({ '/': 'gateway', '/images': 'images' });
  });

  test('requests for images, which have no token, are not sent to the pod of a token', async () => {
    const annotations = { 'example.com/kept': 'yes' };
    const ingress = { enabled: true, hosts: ['a.example'], hashOnToken: true, annotations };
    const manifests = await objects({ ...PLAIN, ingress });
    expect(named(manifests, 'Ingress', 'images')?.metadata.annotations).toEqual(annotations);
    expect(Object.keys(named(manifests, 'Ingress', 'gateway')?.metadata.annotations ?? {})).toHaveLength(2);
  });

  const given = 'https://logos.example.com/images';
  const route = { enabled: true, parentRefs: [{ name: 'public' }], hostnames: ['*.b.example', 'b.example'] };
  test.for<[what: string, values: Values, logoHost: string]>([
    [
      'an Ingress with a certificate',
      { ingress: { enabled: true, hosts: ['a.example', 'b.example'], tlsSecret: 'certificate' } },
      'https://a.example/images',
    ],
    [
      'an Ingress without a certificate',
      { ingress: { enabled: true, hosts: ['*.example', 'a.example'] } },
      'http://a.example/images',
    ],
    ['an HTTPRoute', { httpRoute: route }, 'https://b.example/images'],
    ['another host, such as a CDN', { httpRoute: route, gateway: { logoHost: given } }, given],
    ['nothing but another host', { gateway: { logoHost: given } }, given],
  ])('with %s, records name images at their public address', async ([, values, logoHost]) => {
    const manifests = await objects({ ...PLAIN, gateway: {}, ...values });
    expect(named(manifests, 'ConfigMap', 'gateway')?.data?.LOGO_HOST).toBe(logoHost);
  });

  test('records of the quickstart name images at the port that its notes forward, or at its Ingress', async () => {
    const logoHost = async (values: Values) =>
      named(await objects({ ...QUICKSTART, ...values }), 'ConfigMap', 'gateway')?.data?.LOGO_HOST;
    expect(await logoHost({})).toBe('http://127.0.0.1:8081/images');
    const notes = await readFile(join(CHART, 'templates', 'NOTES.txt'), 'utf8');
    expect(notes).toMatch(/port-forward .*-images 8081:/);
    expect(await logoHost({ ingress: { enabled: true, hosts: ['a.example'] } })).toBe(
      'http://a.example/images',
    );
  });

  test('images and its set-up have their own database, at the URL of catalog if the values name no other', async () => {
    const secretKeys = { accounts: 'a', catalog: 'c', metering: 'm' };
    const manifests = await objects({ ...PLAIN, mongodb: { existingSecret: 'urls', secretKeys } });
    const urls = podsOf(manifests).flatMap(({ spec }) =>
      spec.containers
        .filter(({ name }) => name === 'images')
        .map((container) => mountedSecrets(spec, container)['/secrets/MONGODB_URL']),
    );
    expect(urls).toEqual(['Secret/urls/c', 'Secret/urls/c']);
    expect(named(manifests, 'ConfigMap', 'images')?.data?.MONGODB_DATABASE).toBe('brand_data_images');
  });

  test('a daily job sweeps images, with the same rights as the operators command line, unless it is off', async () => {
    const manifests = await objects(PLAIN);
    expect(named(manifests, 'CronJob', 'sweep')?.spec).toMatchObject({
      schedule: expect.stringMatching(/^\d+ \d+ \* \* \*$/),
      concurrencyPolicy: 'Forbid',
    });
    const [pod] = podsOf(manifests).filter(({ labels }) => componentOf(labels) === 'sweep');
    expect(pod?.spec.containers[0]?.command).toEqual(['bds', 'logo', 'sweep']);
    const off = await objects({ ...PLAIN, images: { sweep: { enabled: false } } });
    expect(off.map(({ kind }) => kind)).not.toContain('CronJob');
  });

  test('each source has a job that syncs it alone at its time, with the declarations as bds reads them', async () => {
    const manifests = await objects(MATRIX['everything on']?.values ?? {});
    const { contact, sources } = Object(MATRIX['everything on']?.values.sync);
    const file = parse(named(manifests, 'ConfigMap', 'sync')?.data?.['sources.yaml'] ?? '');
    expect(file).toEqual({ contact, sources });
    const jobs = manifests.filter(
      ({ kind, metadata }) => kind === 'CronJob' && metadata.name.includes('-sync-'),
    );
    expect(jobs.every(({ metadata }) => metadata.name.length <= 52)).toBe(true);
    expect(new Set(jobs.map(({ metadata }) => metadata.name)).size).toBe(sources.length);
    expect(jobs.map(({ spec }) => spec)).toMatchObject(
      sources.map(({ schedule }: { schedule: string }) => ({
        schedule,
        timeZone: 'Etc/UTC',
        concurrencyPolicy: 'Forbid',
      })),
    );
    const pods = podsOf(manifests).filter(({ labels }) => componentOf(labels) === 'sync');
    expect(pods.map(({ spec }) => spec.containers[0]?.command)).toEqual(
      sources.map(({ name }: { name: string }) => [
        'bds',
        'sync',
        name,
        '--sources',
        '/sources/sources.yaml',
        '--folder',
        '/fetched',
      ]),
    );
    // A secret is a file, and only in the pods that read it.
    for (const { spec } of pods) {
      const [container] = spec.containers;
      expect(container?.env).toContainEqual({ name: 'LISTS_KEY_FILE', value: '/source-secrets/LISTS_KEY' });
      expect(container?.volumeMounts?.map(({ mountPath }) => mountPath)).toContain('/source-secrets');
    }
    const kinds = (await objects(PLAIN)).map(({ kind }) => kind);
    expect(kinds).not.toContain('PersistentVolumeClaim');
  });

  test('the volume of syncs is used at once, because helm --wait waits until it is bound', async () => {
    const manifests = await objects(MATRIX['everything on']?.values ?? {});
    const claims = manifests.filter(
      ({ kind, metadata }) => kind === 'PersistentVolumeClaim' && metadata.name.endsWith('-sync'),
    );
    const used = manifests.flatMap(({ kind, spec }) =>
      kind === 'Job' ? (Object(spec).template.spec.volumes ?? []) : [],
    );
    expect(claims.length).toBe(1);
    const [pod] = podsOf(manifests).filter(({ labels }) => componentOf(labels) === 'sync-claim');
    // The image has no other programs.
    expect(['node', 'bds']).toContain(pod?.spec.containers[0]?.command?.[0]);
    for (const { metadata } of claims)
      expect(used).toContainEqual({ name: 'fetched', persistentVolumeClaim: { claimName: metadata.name } });
  });

  test('a sync that fails for a passing reason is tried again, and any other failure is final', async () => {
    const manifests = await objects(MATRIX['everything on']?.values ?? {});
    const policies = manifests.flatMap(({ kind, metadata, spec }) =>
      kind === 'CronJob' && metadata.name.includes('-sync-') ? [Object(spec).jobTemplate.spec] : [],
    );
    expect(policies.length).toBeGreaterThan(0);
    for (const { backoffLimit, podFailurePolicy } of policies) {
      expect(backoffLimit).toBeGreaterThan(5);
      const final = podFailurePolicy.rules.flatMap(({ action, onExitCodes }: Record<string, unknown>) =>
        action === 'FailJob' ? Object(onExitCodes).values : [],
      );
      expect(final).toEqual(expect.arrayContaining([EXIT.failed, EXIT.wrongUsage]));
      expect(final).not.toContain(EXIT.passing);
    }
  });

  test('an alert tells of missing sweeps, unless they are off', async () => {
    const alerts = async (isSwept: boolean) => {
      const values = { ...PLAIN, metrics: { rules: 'always' }, images: { sweep: { enabled: isSwept } } };
      const { groups = [] } = named(await objects(values), 'PrometheusRule', 'monitoring')?.spec ?? {};
      return groups
        .flatMap(({ rules }) => rules.map(({ alert }) => alert))
        .filter((alert) => alert !== undefined);
    };
    const [swept, unswept] = [await alerts(true), await alerts(false)];
    expect(swept).toContain('BrandDataImagesNotSwept');
    expect(unswept).toEqual(swept.filter((alert) => alert !== 'BrandDataImagesNotSwept'));
  });

  test('every address that bds gets is a Service with an admin port', async () => {
    const manifests = await objects(PLAIN);
    const [bds] = podsOf(manifests).filter(({ labels }) => componentOf(labels) === 'bds');
    const addresses = (bds?.spec.containers[0]?.env ?? []).filter(({ value }) => value?.includes(':'));
    expect(addresses.map(({ name }) => name)).toEqual(
      ['ACCOUNTS', 'CATALOG', 'IMAGES', 'METERING'].map((name) => `BDS_${name}`),
    );
    const admin = manifests
      .filter(({ kind, spec }) => kind === 'Service' && JSON.stringify(spec).includes('"admin"'))
      .map(({ metadata }) => `${metadata.name}:9003`);
    expect(addresses.map(({ value }) => value)).toEqual(expect.arrayContaining(admin));
    expect(admin).toHaveLength(4);
  });

  test('a service sees the secrets that it needs and no others', async () => {
    const manifests = await objects(QUICKSTART);
    const name = (suffix: string) => `Secret/shop-brand-data-${suffix}`;
    const secretsOf = (component: string) =>
      podsOf(manifests)
        .filter(({ labels }) => componentOf(labels) === component)
        .flatMap(({ spec }) =>
          spec.containers.flatMap((container) => Object.values(mountedSecrets(spec, container))),
        )
        .filter((secret) => !secret.includes('-keys/'))
        .toSorted();
    const urls = (component: string) =>
      ['MONGODB_URL', 'NATS_URL'].map((url) => name(`connections/${component.toUpperCase()}_${url}`));
    const token = name('operator/OPERATOR_TOKEN');
    const monograms = name('operator/MONOGRAM_KEYS');
    expect(secretsOf('gateway')).toEqual([name('connections/GATEWAY_NATS_URL'), monograms]);
    expect(secretsOf('accounts')).toEqual([
      ...urls('accounts'),
      token,
      name('operator/TOKEN_HASH_KEY'),
      name('passes/PASS_SIGNING_KEY'),
    ]);
    const passes = name('passes/PASS_PUBLIC_KEYS');
    for (const component of ['catalog', 'metering'])
      expect(secretsOf(component)).toEqual([...urls(component), token, passes]);
    expect(secretsOf('images')).toEqual([...urls('images'), monograms, token, passes]);
    for (const component of ['bds', 'sweep', 'seed', 'test']) expect(secretsOf(component)).toEqual([token]);
    expect(secretsOf('mongodb')).toEqual([name('server-users/mongodb-key')]);
    expect(secretsOf('nats')).toEqual([name('server-users/nats-passwords.conf')]);
  });

  test('no secret is an environment variable, and each file that a setting names is mounted', async () => {
    for (const values of [QUICKSTART, PLAIN, WITH_BUNDLES])
      for (const { spec } of podsOf(await objects(values)))
        for (const container of spec.containers) {
          expect((container.env ?? []).filter((entry) => 'valueFrom' in entry)).toEqual([]);
          const mounted = Object.keys(mountedSecrets(spec, container));
          const named = (container.env ?? []).flatMap(({ name, value = '' }) =>
            name.endsWith('_FILE') && value.startsWith('/secrets/') ? [value] : [],
          );
          expect(mounted).toEqual(expect.arrayContaining(named));
        }
  });

  test('the services get the given authorities of MongoDB and NATS, and their own URLs', async () => {
    const manifests = await objects(WITH_BUNDLES);
    for (const { labels, spec } of podsOf(manifests))
      for (const container of spec.containers) {
        if (!['accounts', 'catalog', 'metering', 'images', 'gateway'].includes(container.name)) continue;
        const files = mountedSecrets(spec, container);
        const isSetUp = componentOf(labels) === 'set-up';
        if (container.name !== 'gateway')
          expect(files['/secrets/MONGODB_CA']).toBe('ConfigMap/authority/ca.pem');
        if (isSetUp && container.name === 'images') continue;
        expect(files['/secrets/NATS_CA']).toBe('Secret/nats-tls/ca.crt');
        const key = container.name === 'gateway' ? 'gateway-nats' : 'NATS_URL';
        expect(files['/secrets/NATS_URL']).toBe(`Secret/urls/${key}`);
      }
  });

  test('the images of MongoDB and NATS in the quickstart may be named by digest', async () => {
    const digest = (hex: string) => `@sha256:${hex.repeat(64)}`;
    const [mongodb, nats] = [`mongo:6.0${digest('a')}`, `registry.example:5000/nats${digest('b')}`];
    const given = { enabled: true, mongodb: { image: mongodb }, nats: { image: nats } };
    const manifests = await objects({ ...QUICKSTART, quickstart: given });
    const images = podsOf(manifests).flatMap(({ labels, spec }) =>
      spec.containers.map(({ image }) => [componentOf(labels), image]),
    );
    expect(images).toEqual(
      expect.arrayContaining([
        ['mongodb', mongodb],
        ['nats', nats],
      ]),
    );
  });

  test("the quickstart's URLs, users and passwords belong together", async () => {
    const manifests = await objects(QUICKSTART);
    const secretOf = (component: string) => named(manifests, 'Secret', component)?.stringData ?? {};
    const users = secretOf('server-users');
    const urls = secretOf('connections');
    for (const { name, password, roles } of JSON.parse(users['mongodb-users.json'] ?? '[]')) {
      const service = name.replace('brand_data_', '').toUpperCase();
      expect(new URL(urls[`${service}_MONGODB_URL`] ?? '')).toMatchObject({ username: name, password });
      expect(roles).toEqual([{ role: 'readWrite', db: name }]);
    }
    for (const service of ['gateway', 'accounts', 'catalog', 'metering', 'images']) {
      const variable = `${service.toUpperCase()}_NATS_PASSWORD`;
      const [, password] =
        new RegExp(`^${variable}: "(.*)"$`, 'm').exec(users['nats-passwords.conf'] ?? '') ?? [];
      expect(new URL(urls[`${service.toUpperCase()}_NATS_URL`] ?? '')).toMatchObject({
        username: service,
        password,
      });
    }
    const passwords = Object.entries(users).flatMap(([name, value]) => (/\./.test(name) ? [] : [value]));
    expect(new Set(passwords).size).toBe(10);
    expect(named(manifests, 'ConfigMap', 'nats')?.data?.['nats.conf']).not.toContain('no_auth_user');
  });

  test("the quickstart's NATS starts again after its disk was full, and takes its volume as its limit", async () => {
    const nats = { storage: '3Gi' };
    const manifests = await objects({ ...QUICKSTART, quickstart: { ...QUICKSTART.quickstart, nats } });
    const [pod] = podsOf(manifests.filter(({ metadata }) => componentOf(metadata.labels) === 'nats'));
    expect(pod?.spec.containers[0]?.livenessProbe).toMatchObject({ httpGet: { path: '/healthz' } });
    const config = named(manifests, 'ConfigMap', 'nats')?.data?.['nats.conf'];
    expect(config).toContain('MAX_FILE_STORE: 3Gi\n');
    expect(config).toContain('max_file_store: $MAX_FILE_STORE }');
  });

  test('the set-up before an install needs nothing that the install brings', async () => {
    const manifests = await objects(PLAIN);
    const isHook = ({ metadata }: Manifest) => metadata.annotations?.['helm.sh/hook'] !== undefined;
    const own = manifests.filter(({ metadata }) => componentOf(metadata.labels) === 'set-up');
    expect(own.map(({ kind }) => kind).toSorted()).toEqual([
      'Job',
      'NetworkPolicy',
      'Secret',
      'ServiceAccount',
    ]);
    expect(own.every(isHook)).toBe(true);
    const names = own.map(({ metadata }) => metadata.name);
    const job = own.find(({ kind }) => kind === 'Job');
    expect(job?.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
    const spec = job?.spec?.template?.spec;
    const files = spec?.containers.flatMap((container) => Object.values(mountedSecrets(spec, container)));
    expect(files).toHaveLength(7);
    for (const file of files ?? []) expect(names).toContain(file.split('/')[1]);
  });

  test('an upgrade to other images restarts neither MongoDB nor NATS, and changes no Job in place', async () => {
    const before = await objects(QUICKSTART);
    const after = await render(helm, { ...QUICKSTART, image: { tag: '9.9.9' } }, { more: ['--is-upgrade'] });
    for (const component of ['mongodb', 'nats'])
      expect(named(after, 'StatefulSet', component)?.spec).toEqual(
        named(before, 'StatefulSet', component)?.spec,
      );
    for (const { kind, metadata } of after)
      if (kind === 'Job')
        expect(
          metadata.annotations?.['helm.sh/hook-delete-policy']?.includes('before-hook-creation') ||
            /-\d+$/.test(metadata.name),
          metadata.name,
        ).toBe(true);
  });

  test('pods restart when their settings or the URLs change, and only those', async () => {
    const podTemplates = async (values: Values) =>
      new Map(
        (await objects(values))
          .filter(({ kind }) => kind === 'Deployment')
          .map(({ metadata, spec }) => [componentOf(metadata.labels), stringify(spec?.template)]),
      );
    const changedBy = async (values: Values) => {
      const [before, after] = [await podTemplates(PLAIN), await podTemplates(values)];
      return [...after.keys()].filter((key) => before.get(key) !== after.get(key)).toSorted();
    };
    expect(await changedBy(PLAIN)).toEqual([]);
    expect(await changedBy({ ...PLAIN, metering: { usageStreamMaxBytes: 2 ** 31 } })).toEqual(['metering']);
    expect(await changedBy({ ...PLAIN, images: { workers: 1 } })).toEqual(['images']);
    expect(await changedBy({ ...PLAIN, mongodb: { url: 'mongodb://elsewhere/?replicaSet=rs' } })).toEqual(
      SERVICES,
    );
  });

  // Helm 3 needs a cluster even for a dry run.
  test.skipIf(helm.major < 4).for([PLAIN, QUICKSTART])(
    'the notes name only objects that exist: %o',
    async (values) => {
      const { stdout } = await withValues(values, (file) =>
        runTool(helm.path, [
          'install',
          'shop',
          CHART,
          '--namespace',
          'brands',
          '--values',
          file,
          '--dry-run=client',
          '--kubeconfig',
          '/dev/null',
        ]),
      );
      const notes = stdout.slice(stdout.indexOf('\nNOTES:'));
      const there = (await objects(values)).map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      const [deployments, services] = [/deploy\/(\S+)/g, /svc\/(\S+)/g].map((name) =>
        [...notes.matchAll(name)].map(([, found]) => found),
      );
      expect(deployments?.length).toBeGreaterThan(0);
      expect(services?.length).toBeGreaterThan(0);
      expect(there).toEqual(expect.arrayContaining(deployments?.map((name) => `Deployment/${name}`) ?? []));
      expect(there).toEqual(expect.arrayContaining(services?.map((name) => `Service/${name}`) ?? []));
      for (const step of ['1. ', '2. ', '3. ', '4. ']) expect(notes).toContain(`\n${step}`);
    },
  );

  test('large numbers reach the services in full', async () => {
    const manifests = await objects({ ...PLAIN, metering: { usageStreamMaxBytes: 10 * 1024 ** 3 } });
    expect(named(manifests, 'ConfigMap', 'metering')?.data?.USAGE_STREAM_MAX_BYTES).toBe('10737418240');
    expect(named(manifests, 'ConfigMap', 'images')?.data?.IMAGE_CACHE_BYTES).toBe('67108864');
    expect(named(manifests, 'ConfigMap', 'gateway')?.data?.RECORD_CACHE_BYTES).toBe('134217728');
  });
});
