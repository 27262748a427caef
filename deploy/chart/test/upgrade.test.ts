import { beforeEach, describe, expect, test } from 'vitest';
import { startKubeApi } from './kube-api.ts';
import { PLAIN } from './matrix.ts';
import { CHART, componentOf, manifestsOf, type Values, withValues } from './render.ts';
import { type Helm, helms, runTool } from './tools.ts';

/** Runs Helm as in an upgrade of a release in a cluster. */
async function renderIn(url: string, helm: Helm, values: Values) {
  const { isGood, stdout, stderr } = await withValues(values, (file) =>
    runTool(helm.path, [
      ...['template', 'shop', CHART, '--namespace', 'brands', '--values', file, '--is-upgrade'],
      ...['--dry-run=server', '--kube-apiserver', url, '--kubeconfig', '/dev/null'],
      ...['--kube-version', '1.34.0', '--disable-openapi-validation'],
    ]),
  );
  if (!isGood) throw new Error(stderr);
  return manifestsOf(stdout).find(
    ({ kind, metadata }) => kind === 'Secret' && componentOf(metadata.labels) === 'operator',
  );
}

const NAME = 'shop-brand-data-operator';
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe.for(helms)('credentials, by helm $major', (helm) => {
  beforeEach(({ skip }) => skip(!helm.isThere));

  test('are generated where there are none, long and each time others', async () => {
    await using api = await startKubeApi();
    const [one, other] = [await renderIn(api.url, helm, PLAIN), await renderIn(api.url, helm, PLAIN)];
    const values = [...Object.values(one?.data ?? {}), ...Object.values(other?.data ?? {})];
    expect(Object.keys(one?.data ?? {}).toSorted()).toEqual(['OPERATOR_TOKEN', 'TOKEN_HASH_KEY']);
    expect(new Set(values).size).toBe(4);
    for (const value of values) expect(Buffer.from(value, 'base64')).toHaveLength(43);
  });

  test('are kept over upgrades, each by itself', async () => {
    const kept = {
      OPERATOR_TOKEN: base64('an operator of old'),
      TOKEN_HASH_KEY: base64('a hash key of old'),
    };
    await using api = await startKubeApi({ [NAME]: kept });
    expect((await renderIn(api.url, helm, PLAIN))?.data).toEqual(kept);

    const { TOKEN_HASH_KEY } = kept;
    await using half = await startKubeApi({ [NAME]: { TOKEN_HASH_KEY } });
    const data = (await renderIn(half.url, helm, PLAIN))?.data;
    expect(data).toMatchObject({ TOKEN_HASH_KEY, OPERATOR_TOKEN: expect.stringMatching(/.{40}/) });
  });

  test('are left where they are by an uninstall, and never made beside a Secret that is given', async () => {
    await using api = await startKubeApi();
    const made = await renderIn(api.url, helm, PLAIN);
    expect(made?.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    const given = { ...PLAIN, operator: { existingSecret: 'operators' } };
    expect(await renderIn(api.url, helm, given)).toBeUndefined();
  });

  test('an install with refused values changes nothing in the cluster', async () => {
    await using api = await startKubeApi();
    const values = { ...PLAIN, gateway: { ...PLAIN.gateway, replicas: -1 } };
    const { isGood, stderr } = await withValues(values, (file) =>
      runTool(helm.path, [
        ...['install', 'shop', CHART, '--namespace', 'brands', '--values', file],
        ...['--kube-apiserver', api.url, '--kubeconfig', '/dev/null'],
      ]),
    );
    expect(isGood).toBe(false);
    expect(stderr).toMatch(/gateway[./]replicas/);
    expect(api.writes).toEqual([]);
  });
});
