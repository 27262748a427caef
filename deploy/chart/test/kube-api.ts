import { startWebServer } from '@brand-data/testing/web-server';

/** Data or annotations by the object's name. */
type Objects = Record<string, Record<string, string>>;
type Given = Record<'secrets' | 'annotations' | 'configMaps', Objects>;

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
  secrets: Objects = {},
  { annotations = {}, configMaps = {} }: Partial<Given> = {},
): Promise<KubeApi> {
  const writes: string[] = [];
  const server = await startWebServer(({ method, url = '' }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    if (method !== 'GET') writes.push(`${method} ${pathname}`);
    const answer = method === 'GET' ? answerOf(pathname, { secrets, annotations, configMaps }) : undefined;
    const notFound = { kind: 'Status', status: 'Failure', reason: 'NotFound', code: 404 };
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? notFound));
  });
  return { url: server.url, writes, [Symbol.asyncDispose]: server.stop };
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

function answerOf(path: string, { secrets, annotations, configMaps }: Given): unknown {
  const [, kind, name = ''] =
    /^\/api\/v1\/namespaces\/brands\/(configmaps|secrets)\/([^/]+)$/.exec(path) ?? [];
  const data = kind === 'secrets' ? secrets[name] : configMaps[name];
  if (kind !== undefined && data !== undefined)
    return {
      apiVersion: 'v1',
      kind: kind === 'secrets' ? 'Secret' : 'ConfigMap',
      metadata: { name, namespace: 'brands', annotations: annotations[name] ?? {} },
      data,
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
