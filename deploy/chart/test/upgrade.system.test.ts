import { createPublicKey, type KeyObject } from 'node:crypto';
import { keyIdOf, signingKeyFromPem, verifyingKeysFromPem } from '@brand-data/runtime/src/config/pem-keys.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { startKubeApi } from './kube-api.ts';
import { PLAIN, QUICKSTART } from './matrix.ts';
import { CHART, componentOf, type Manifest, upgradeIn, type Values, withValues } from './render.ts';
import { type Helm, helms, runTool } from './tools.ts';

/** Returns the Secret with the operator credential after an upgrade. */
async function renderIn(url: string, helm: Helm, values: Values) {
  return (await upgradeIn(helm, url, values)).find(
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
    expect(Object.keys(one?.data ?? {}).toSorted()).toEqual([
      'MONOGRAM_KEYS',
      'OPERATOR_TOKEN',
      'TOKEN_HASH_KEY',
    ]);
    expect(new Set(values).size).toBe(6);
    for (const value of values) expect(Buffer.from(value, 'base64')).toHaveLength(43);
  });

  test('are kept over upgrades, each by itself', async () => {
    const kept = {
      OPERATOR_TOKEN: base64('an operator of old'),
      TOKEN_HASH_KEY: base64('a hash key of old'),
      MONOGRAM_KEYS: base64('a monogram key of old'),
    };
    await using api = await startKubeApi({ [NAME]: kept });
    expect((await renderIn(api.url, helm, PLAIN))?.data).toEqual(kept);

    const { TOKEN_HASH_KEY } = kept;
    await using half = await startKubeApi({ [NAME]: { TOKEN_HASH_KEY } });
    const data = (await renderIn(half.url, helm, PLAIN))?.data;
    const long = expect.stringMatching(/.{40}/);
    const generated = { OPERATOR_TOKEN: long, MONOGRAM_KEYS: long };
    expect(data).toMatchObject({ TOKEN_HASH_KEY, ...generated });
  });

  test('of allowances are one key pair, which upgrades keep, and each service gets only its own half', async () => {
    const allowanceKeys = async (url: string) =>
      (await upgradeIn(helm, url, PLAIN)).find(
        ({ kind, metadata }) => kind === 'Secret' && componentOf(metadata.labels) === 'allowance-keys',
      );
    await using empty = await startKubeApi();
    const made = await allowanceKeys(empty.url);
    expect(made?.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
    const pem = (key: string) => Buffer.from(made?.data?.[key] ?? '', 'base64').toString();
    const [trusted] = verifyingKeysFromPem(pem('public-keys.pem'));
    expect(trusted && keyIdOf(trusted)).toBe(keyIdOf(signingKeyFromPem(pem('signing-key.pem'))));

    const kept = { 'signing-key.pem': base64('a key of old'), 'public-keys.pem': base64('keys of old') };
    await using full = await startKubeApi({ 'shop-brand-data-allowance-keys': kept });
    expect((await allowanceKeys(full.url))?.data).toEqual(kept);

    const manifests = await upgradeIn(helm, full.url, PLAIN);
    const filesOf = (component: string) =>
      manifests
        .filter(({ kind, metadata }) => kind === 'Deployment' && componentOf(metadata.labels) === component)
        .flatMap(({ spec }) => spec?.template?.spec.volumes ?? [])
        .flatMap((volume) => (volume as { secret?: { items?: { key: string }[] } }).secret?.items ?? [])
        .map(({ key }) => key);
    expect(filesOf('accounts')).toEqual(['signing-key.pem']);
    expect(filesOf('metering')).toEqual(['public-keys.pem']);
    for (const other of ['gateway', 'catalog', 'images']) expect(filesOf(other)).toEqual([]);
  });

  test("keys of operators' passes are made once, as a pair, and kept as a pair", async () => {
    const passesIn = async (url: string) =>
      (await upgradeIn(helm, url, PLAIN)).find(
        ({ kind, metadata }) => kind === 'Secret' && componentOf(metadata.labels) === 'passes',
      )?.data ?? {};
    await using api = await startKubeApi();
    const made = await passesIn(api.url);
    const [signing, verifying] = ['PASS_SIGNING_KEY', 'PASS_PUBLIC_KEYS'].map((key) =>
      Buffer.from(made[key] ?? '', 'base64').toString(),
    );
    const publicOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' });
    expect(verifyingKeysFromPem(verifying ?? '').map(publicOf)).toEqual([
      publicOf(createPublicKey(signingKeyFromPem(signing ?? ''))),
    ]);
    await using again = await startKubeApi({ 'shop-brand-data-passes': made });
    expect(await passesIn(again.url)).toEqual(made);
    await using half = await startKubeApi({
      'shop-brand-data-passes': { PASS_SIGNING_KEY: made.PASS_SIGNING_KEY ?? '' },
    });
    expect((await passesIn(half.url)).PASS_SIGNING_KEY).not.toBe(made.PASS_SIGNING_KEY);
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
        'install',
        'shop',
        CHART,
        '--namespace',
        'brands',
        '--values',
        file,
        '--kube-apiserver',
        api.url,
        '--kubeconfig',
        '/dev/null',
      ]),
    );
    expect(isGood).toBe(false);
    expect(stderr).toMatch(/gateway[./]replicas/);
    expect(api.writes).toEqual([]);
  });
});

describe.for(helms)("the users of the quickstart's servers, by helm $major", (helm) => {
  beforeEach(({ skip }) => skip(!helm.isThere));
  const NAMES = [
    ...['gateway', 'accounts', 'catalog', 'metering', 'images'].map((name) => `nats-${name}`),
    ...['accounts', 'catalog', 'metering', 'images', 'key'].map((name) => `mongodb-${name}`),
  ];
  const usersOf = (manifests: Manifest[]) =>
    manifests.find(
      ({ kind, metadata }) => kind === 'Secret' && componentOf(metadata.labels) === 'server-users',
    );

  test('keep their passwords over upgrades', async () => {
    const kept = Object.fromEntries(NAMES.map((name) => [name, base64(`password-of-${name}`)]));
    await using api = await startKubeApi({ 'shop-brand-data-server-users': kept });
    const manifests = await upgradeIn(helm, api.url, QUICKSTART);
    expect(usersOf(manifests)?.stringData).toMatchObject(
      Object.fromEntries(NAMES.map((name) => [name, `password-of-${name}`])),
    );
  });

  test('are replaced only with the servers that know them: nothing uses the servers before an upgrade', async () => {
    await using api = await startKubeApi();
    const hooksIn = async (values: Values) =>
      (await upgradeIn(helm, api.url, values))
        .map(({ metadata }) => metadata.annotations?.['helm.sh/hook'])
        .filter((when) => when?.includes('pre-'));
    expect(await hooksIn(QUICKSTART)).toEqual([]);
    expect(await hooksIn(PLAIN)).not.toEqual([]);
  });
});
