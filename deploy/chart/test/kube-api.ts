import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Data or annotations by the object's name. */
type Objects = Record<string, Record<string, string>>;

/**
 * A server with the part of Kubernetes' API that Helm reads before it writes: the known kinds, and the Secrets and ConfigMaps
 * that the test gives it.
 */
export interface KubeApi extends AsyncDisposable {
  url: string;
  /** Method and path of each request that would have changed an object. */
  writes: readonly string[];
}

export async function startKubeApi(
  secrets: Record<string, Record<string, string>> = {},
  { annotations = {}, configMaps = {} }: Partial<Record<'annotations' | 'configMaps', Objects>> = {},
): Promise<KubeApi> {
  const writes: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    if (request.method !== 'GET') writes.push(`${request.method} ${pathname}`);
    const answer =
      request.method === 'GET' ? answerOf(pathname, { secrets, annotations, configMaps }) : undefined;
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(
      JSON.stringify(answer ?? { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The kinds of objects in an install without the Prometheus operator, by group and version. */
const KINDS: Record<string, string[]> = {
  v1: ['ConfigMap', 'Pod', 'Secret', 'Service', 'ServiceAccount'],
  'apps/v1': ['Deployment', 'StatefulSet'],
  'batch/v1': ['CronJob', 'Job'],
  'networking.k8s.io/v1': ['Ingress', 'NetworkPolicy'],
  'policy/v1': ['PodDisruptionBudget'],
};

function resourcesOf(groupVersion: string) {
  const resources = (KINDS[groupVersion] ?? []).map((kind) => ({
    name: `${kind.toLowerCase()}s`.replace(/ys$/, 'ies').replace(/sss$/, 'sses'),
    singularName: kind.toLowerCase(),
    namespaced: true,
    kind,
    verbs: ['get', 'list', 'create'],
  }));
  return { kind: 'APIResourceList', groupVersion, resources };
}

const GROUPS = Object.keys(KINDS)
  .filter((groupVersion) => groupVersion.includes('/'))
  .map((groupVersion) => {
    const [name, version] = groupVersion.split('/');
    const versions = [{ groupVersion, version }];
    return { name, versions, preferredVersion: versions[0] };
  });

function answerOf(
  path: string,
  { secrets, annotations, configMaps }: Record<'secrets' | 'annotations' | 'configMaps', Objects>,
): unknown {
  const [, configMap] = /^\/api\/v1\/namespaces\/brands\/configmaps\/([^/]+)$/.exec(path) ?? [];
  if (configMap !== undefined && configMaps[configMap] !== undefined)
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: configMap, namespace: 'brands' },
      data: configMaps[configMap],
    };
  const [, secret] = /^\/api\/v1\/namespaces\/brands\/secrets\/([^/]+)$/.exec(path) ?? [];
  if (secret !== undefined && secrets[secret] !== undefined)
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: secret, namespace: 'brands', annotations: annotations[secret] ?? {} },
      data: secrets[secret],
    };
  const [, groupVersion] = /^\/apis?\/(.*)$/.exec(path) ?? [];
  if (groupVersion !== undefined && KINDS[groupVersion] !== undefined) return resourcesOf(groupVersion);
  return {
    '/version': { major: '1', minor: '34', gitVersion: 'v1.34.0' },
    '/api': { kind: 'APIVersions', versions: ['v1'] },
    '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: GROUPS },
    '/api/v1/namespaces/brands/secrets': { apiVersion: 'v1', kind: 'SecretList', metadata: {}, items: [] },
  }[path];
}
