import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { type Helm, type Ran, runTool } from './tools.ts';

export const CHART = join(import.meta.dirname, '..');

export type Labels = Record<string, string>;

interface Metadata {
  name: string;
  namespace?: string;
  labels?: Labels;
  annotations?: Labels;
}

interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: object }[];
  volumeMounts?: { name: string; mountPath: string }[];
  ports?: { name: string; containerPort: number }[];
  resources?: { requests?: Labels; limits?: Labels };
  securityContext?: Record<string, unknown>;
  livenessProbe?: { httpGet?: { path: string; port: string } };
  readinessProbe?: { httpGet?: { path: string; port: string } };
  startupProbe?: unknown;
}

interface PodSpec {
  serviceAccountName: string;
  automountServiceAccountToken: boolean;
  securityContext: Record<string, unknown>;
  terminationGracePeriodSeconds?: number;
  containers: Container[];
  volumes?: Record<string, unknown>[];
}

export interface Selector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** A rule of a NetworkPolicy. */
export interface PolicyRule {
  ports?: { protocol?: string; port?: number }[];
  from?: Record<string, unknown>[];
  to?: Record<string, unknown>[];
}

/** A rule of an Ingress (`host`, `http`) or of an HTTPRoute (`matches`, `backendRefs`). */
interface RouteRule {
  host?: string;
  http?: { paths: { path: string; backend: { service: { name: string } } }[] };
  matches?: { path: { type: string; value: string } }[];
  backendRefs?: { name: string; port: number }[];
}

/** The fields of specs that the tests read. */
interface Spec extends Partial<PodSpec> {
  /** This field and the next three belong to a NetworkPolicy. */
  podSelector?: Selector;
  policyTypes?: string[];
  ingress?: PolicyRule[];
  egress?: PolicyRule[];
  /** In a Service, labels. In other kinds, labels in `matchLabels`. */
  selector?: Record<string, unknown>;
  /** In a Deployment. */
  strategy?: Record<string, unknown>;
  /** In kinds that create pods. */
  template?: { metadata: { labels: Labels; annotations?: Labels }; spec: PodSpec };
  /** In a CronJob. */
  jobTemplate?: { spec: Required<Pick<Spec, 'template'>> };
  /** In an Ingress or an HTTPRoute. */
  rules?: RouteRule[];
  /** In an autoscaler. */
  metrics?: { type: string }[];
  /** In a PrometheusRule. */
  groups?: { name: string; rules: { alert?: string; annotations?: Labels }[] }[];
}

/** The parts of a Kubernetes object that the tests read. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: Metadata;
  spec?: Spec;
  data?: Labels;
  stringData?: Labels;
  automountServiceAccountToken?: boolean;
}

export interface Pod {
  /** The object that creates the pod. */
  owner: Manifest;
  labels: Labels;
  spec: PodSpec;
}

export type Values = Record<string, unknown>;

export interface RenderOptions {
  kubeVersion?: string;
  /** API versions that the cluster has in addition to Kubernetes' own. */
  apiVersions?: readonly string[];
  release?: string;
  /** The folder of the chart, if it is not deploy/chart. */
  chart?: string;
  more?: readonly string[];
}

/** Runs `helm template` with these values as a file. */
export async function template(helm: Helm, values: Values, options: RenderOptions = {}): Promise<Ran> {
  const { kubeVersion = '1.34.0', apiVersions = [], release = 'shop', chart = CHART, more = [] } = options;
  return withValues(values, (file) =>
    runTool(helm.path, [
      'template',
      release,
      chart,
      '--namespace',
      'brands',
      '--values',
      file,
      '--kube-version',
      kubeVersion,
      ...apiVersions.flatMap((version) => ['--api-versions', version]),
      ...more,
    ]),
  );
}

/** Returns the output of `helm template`, including hooks. Rejects with Helm's message if it fails. */
export async function renderYaml(helm: Helm, values: Values, options: RenderOptions = {}): Promise<string> {
  const { isGood, stdout, stderr } = await template(helm, values, options);
  if (!isGood) throw new Error(stderr);
  return stdout;
}

/** Like `renderYaml`, parsed. */
export async function render(helm: Helm, values: Values, options: RenderOptions = {}): Promise<Manifest[]> {
  return manifestsOf(await renderYaml(helm, values, options));
}

/** Renders an upgrade of a release in the cluster whose API is at `url`. */
export function upgradeIn(helm: Helm, url: string, values: Values): Promise<Manifest[]> {
  const cluster = ['--dry-run=server', '--kube-apiserver', url, '--kubeconfig', '/dev/null'];
  return render(helm, values, { more: ['--is-upgrade', ...cluster, '--disable-openapi-validation'] });
}

export function manifestsOf(yaml: string): Manifest[] {
  return parseAllDocuments(yaml, { version: '1.1' }).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}

/** Where a file that is mounted into a container comes from: "Secret/name/key" or "ConfigMap/name/key", by path. */
export function mountedSecrets({ volumes = [] }: PodSpec, container: Container): Labels {
  const items = (folder: string, kind: string, name: string, keys: { key: string; path: string }[]) =>
    keys.map(({ key, path }): [string, string] => [`${folder}/${path}`, `${kind}/${name}/${key}`]);
  return Object.fromEntries(
    (container.volumeMounts ?? []).flatMap(({ name, mountPath }) => {
      const volume = volumes.find((each) => each.name === name) as Volume | undefined;
      const { secret, projected } = volume ?? {};
      return [
        ...(secret ? items(mountPath, 'Secret', secret.secretName, secret.items ?? []) : []),
        ...(projected?.sources ?? []).flatMap(({ secret: from, configMap }) => [
          ...(from ? items(mountPath, 'Secret', from.name, from.items) : []),
          ...(configMap ? items(mountPath, 'ConfigMap', configMap.name, configMap.items) : []),
        ]),
      ];
    }),
  );
}

interface Volume {
  secret?: { secretName: string; items?: { key: string; path: string }[] };
  projected?: {
    sources: Partial<
      Record<'secret' | 'configMap', { name: string; items: { key: string; path: string }[] }>
    >[];
  };
}

/** Returns all pods that the objects create. */
export function podsOf(manifests: readonly Manifest[]): Pod[] {
  return manifests.flatMap((owner) => {
    const { kind, metadata, spec } = owner;
    if (kind === 'Pod') return [{ owner, labels: metadata.labels ?? {}, spec: spec as PodSpec }];
    const template = spec?.template ?? spec?.jobTemplate?.spec.template;
    return template ? [{ owner, labels: template.metadata.labels, spec: template.spec }] : [];
  });
}

export function componentOf(labels: Labels | undefined): string {
  return labels?.['app.kubernetes.io/component'] ?? '';
}

export async function withValues<T>(values: Values, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'chart-'));
  try {
    const file = join(folder, 'values.yaml');
    // Helm reads YAML 1.1, in which `n` and `yes` are not strings.
    await writeFile(file, stringify(values, { version: '1.1' }));
    return await use(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
