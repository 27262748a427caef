import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { temporaryFolder } from '@brand-data/testing/temporary-folder';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { gatewaySchemas } from './gateway-api.ts';
import { PLAIN } from './matrix.ts';
import { CHART, type Manifest, manifestsOf, renderYaml, type Values } from './render.ts';
import { gatewayApi, helm, kubeconform, runTool, schemas, TOOL_MS } from './tools.ts';

const GATEWAY = join(CHART, 'examples/gateway.yaml');
const EXAMPLES = globSync(join(CHART, 'examples/*.yaml')).filter((path) => path !== GATEWAY);
const HOST = 'api.example.com';
const isMissing =
  !helm.isThere || kubeconform === undefined || schemas.length === 0 || gatewayApi.length === 0;

/** Returns kubeconform's verdict on this YAML, for each version of Kubernetes. */
async function check(yaml: string): Promise<{ isGood: boolean; output: string }[]> {
  const file = join(await temporaryFolder(), 'objects.yaml');
  await writeFile(file, yaml);
  const gateway = await gatewaySchemas();
  return Promise.all(
    schemas.map(async ({ folder }) => {
      const own = join(folder, '{{.ResourceKind}}{{.KindSuffix}}.json');
      const locations = ['-schema-location', own, '-schema-location', gateway];
      const { isGood, stdout, stderr } = await runTool(kubeconform ?? '', ['-strict', ...locations, file]);
      return { isGood, output: stdout + stderr };
    }),
  );
}

const good = schemas.map(() => ({ isGood: true, output: '' }));

describe.skipIf(isMissing)('the examples of ways for callers', { timeout: 2 * TOOL_MS }, () => {
  describe.for(EXAMPLES.map((path) => [basename(path), path] as const))('%s', ([, path]) => {
    let yaml = '';
    beforeAll(async () => {
      const values: Values = parse(await readFile(path, 'utf8'));
      // The chart cannot do without the URLs of the servers.
      yaml = await renderYaml(helm, { mongodb: PLAIN.mongodb, nats: PLAIN.nats, ...values });
    });

    test('gives only objects that Kubernetes and the Gateway API take', async () => {
      expect(await check(yaml)).toEqual(good);
    });

    test('leads callers by https to the gateway and to images, and names that address in records', () => {
      const manifests = manifestsOf(yaml);
      const routes = manifests.filter(({ kind }) => kind === 'Ingress' || kind === 'HTTPRoute');
      expect(JSON.stringify(routes)).toContain('/images');
      expect(routes.flatMap(hostsOf)).toEqual(routes.map(() => HOST));
      const settings = manifests.find(({ data }) => data?.LOGO_HOST !== undefined)?.data;
      expect(settings).toMatchObject({ LOGO_HOST: `https://${HOST}/images`, PUBLIC_URL: `https://${HOST}` });
    });
  });

  test('gateway.yaml is a Gateway to which the route of gateway-api.yaml belongs', async () => {
    const yaml = await readFile(GATEWAY, 'utf8');
    expect(await check(yaml)).toEqual(good);
    const { metadata, spec } = parse(yaml);
    const { httpRoute } = parse(await readFile(join(CHART, 'examples/gateway-api.yaml'), 'utf8'));
    const [listener] = spec.listeners;
    expect(httpRoute.parentRefs).toEqual([
      { name: metadata.name, namespace: metadata.namespace, sectionName: listener.name },
    ]);
    expect(httpRoute.hostnames).toEqual([listener.hostname]);
  });

  test.for([
    ['a field that the Gateway API does not know', 'listeners:', 'listener:'],
    ['a port beyond the last', 'port: 443', 'port: 70000'],
  ] as const)('the check refuses %s', async ([, from, to]) => {
    const yaml = await readFile(GATEWAY, 'utf8');
    expect(yaml).toContain(from);
    for (const { isGood } of await check(yaml.replace(from, to))) expect(isGood).toBe(false);
  });
});

function hostsOf({ kind, spec }: Manifest): unknown[] {
  const { hostnames = [] } = (spec ?? {}) as { hostnames?: string[] };
  return kind === 'HTTPRoute' ? hostnames : (spec?.rules ?? []).map(({ host }) => host);
}
