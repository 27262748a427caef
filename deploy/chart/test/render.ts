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
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }[];
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

/** What specs of some kinds hold. */
interface Spec extends Partial<PodSpec> {
  /** Of a NetworkPolicy, like the next three. */
  podSelector?: Selector;
  policyTypes?: string[];
  ingress?: PolicyRule[];
  egress?: PolicyRule[];
  /** Of a Service: labels. Of others: labels in `matchLabels`. */
  selector?: Record<string, unknown>;
  /** Of what makes pods. */
  template?: { metadata: { labels: Labels; annotations?: Labels }; spec: PodSpec };
  /** Of an autoscaler. */
  metrics?: { type: string }[];
  /** Of alerts. */
  groups?: { name: string; rules: { alert?: string; annotations?: Labels }[] }[];
}

/** A Kubernetes object, as far as the tests look into it. */
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
  /** The object that makes it. */
  owner: Manifest;
  labels: Labels;
  spec: PodSpec;
}

export type Values = Record<string, unknown>;

export interface RenderOptions {
  kubeVersion?: string;
  /** API versions that the cluster is to have beside its own. */
  apiVersions?: readonly string[];
  release?: string;
  /** Another folder than the chart's own. */
  chart?: string;
  more?: readonly string[];
}

/** `helm template`, with values as a file. */
export async function template(helm: Helm, values: Values, options: RenderOptions = {}): Promise<Ran> {
  const { kubeVersion = '1.34.0', apiVersions = [], release = 'shop', chart = CHART, more = [] } = options;
  return withValues(values, (file) =>
    runTool(helm.path, [
      ...['template', release, chart, '--namespace', 'brands', '--values', file],
      ...['--kube-version', kubeVersion, ...apiVersions.flatMap((version) => ['--api-versions', version])],
      ...more,
    ]),
  );
}

/** What a good `helm template` gives, hooks too. Rejects with helm's words. */
export async function renderYaml(helm: Helm, values: Values, options: RenderOptions = {}): Promise<string> {
  const { isGood, stdout, stderr } = await template(helm, values, options);
  if (!isGood) throw new Error(stderr);
  return stdout;
}

/** As `renderYaml`, parsed. */
export async function render(helm: Helm, values: Values, options: RenderOptions = {}): Promise<Manifest[]> {
  return manifestsOf(await renderYaml(helm, values, options));
}

export function manifestsOf(yaml: string): Manifest[] {
  return parseAllDocuments(yaml, { version: '1.1' }).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}

/** All pods that the objects make. */
export function podsOf(manifests: readonly Manifest[]): Pod[] {
  return manifests.flatMap((owner) => {
    const { kind, metadata, spec } = owner;
    if (kind === 'Pod') return [{ owner, labels: metadata.labels ?? {}, spec: spec as PodSpec }];
    return spec?.template ? [{ owner, labels: spec.template.metadata.labels, spec: spec.template.spec }] : [];
  });
}

export function componentOf(labels: Labels | undefined): string {
  return labels?.['app.kubernetes.io/component'] ?? '';
}

export async function withValues<T>(values: Values, use: (file: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'chart-'));
  try {
    const file = join(folder, 'values.yaml');
    // As Helm reads it, where `n` and `yes` are no strings.
    await writeFile(file, stringify(values, { version: '1.1' }));
    return await use(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
