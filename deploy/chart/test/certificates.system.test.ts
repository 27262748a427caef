import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startKubeApi } from './kube-api.ts';
import { PLAIN } from './matrix.ts';
import { componentOf, type Manifest, podsOf, render, upgradeIn, type Values } from './render.ts';
import { helm } from './tools.ts';

const IDENTITIES = ['gateway', 'accounts', 'catalog', 'metering', 'images', 'bds'];
const DAY_MS = 86_400_000;

/** The Secrets between services after an install or an upgrade, by name. */
type Made = Map<string, { data: Record<string, string>; annotations: Record<string, string> }>;

function madeBy(manifests: readonly Manifest[]): Made {
  const made: Made = new Map();
  for (const { kind, metadata, data } of manifests)
    if (kind === 'Secret' && metadata.name.includes('-grpc-'))
      made.set(metadata.name, { data: data ?? {}, annotations: metadata.annotations ?? {} });
  return made;
}

/** Runs Helm as in an upgrade in a cluster that has these Secrets. */
async function upgrade(
  before: Made,
  values: Values,
  configMaps: Record<string, Record<string, string>> = {},
): Promise<Made> {
  const secrets = Object.fromEntries([...before].map(([name, { data }]) => [name, data]));
  const annotations = Object.fromEntries([...before].map(([name, each]) => [name, each.annotations]));
  await using api = await startKubeApi(secrets, { annotations, configMaps });
  return madeBy(await upgradeIn(helm, api.url, { ...PLAIN, ...values }));
}

const text = (base64: string | undefined) => Buffer.from(base64 ?? '', 'base64').toString();
const secretOf = (made: Made, name: string) => made.get(`shop-brand-data-grpc-${name}`);
const certificateOf = (made: Made, name: string) =>
  new X509Certificate(text(secretOf(made, name)?.data['tls.crt']));
const authoritiesOf = (made: Made, name: string) =>
  (
    text(secretOf(made, name)?.data['ca.crt']).match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []
  ).map((pem) => new X509Certificate(pem));
const fingerprints = (made: Made) => IDENTITIES.map((name) => certificateOf(made, name).fingerprint256);

describe.skipIf(!helm.isThere)('certificates between services', () => {
  test('each service and bds has one of its own, which its pods alone mount', async () => {
    const manifests = await render(helm, PLAIN);
    const made = madeBy(manifests);
    for (const name of IDENTITIES) {
      const certificate = certificateOf(made, name);
      const [authority, ...others] = authoritiesOf(made, name);
      expect(others).toEqual([]);
      expect(certificate.subjectAltName).toBe(`DNS:${name}.brand-data.internal`);
      expect(authority && certificate.checkIssued(authority) && certificate.verify(authority.publicKey)).toBe(
        true,
      );
      expect(certificate.checkPrivateKey(createPrivateKey(text(secretOf(made, name)?.data['tls.key'])))).toBe(
        true,
      );
      expect(certificate.validToDate.getTime() - Date.now()).toBeGreaterThan(729 * DAY_MS);
    }
    for (const { labels, spec } of podsOf(manifests)) {
      const component = componentOf(labels);
      const secrets = (spec.volumes ?? []).flatMap(({ secret }) => Object(secret).secretName ?? []);
      const mounted = secrets.filter((name) => name.includes('-grpc-'));
      const own = ['sweep', 'test'].includes(component) ? 'bds' : component;
      expect([component, mounted]).toEqual([
        component,
        IDENTITIES.includes(own) ? [`shop-brand-data-grpc-${own}`] : [],
      ]);
    }
  });

  test('are kept over upgrades, until half of their time has passed', async () => {
    const first = await upgrade(new Map(), {});
    const second = await upgrade(first, {});
    expect(second).toEqual(first);
    const late = structuredClone(first);
    const gateway = secretOf(late, 'gateway');
    if (gateway) gateway.annotations['brand-data/renew-after'] = String(Math.floor(Date.now() / 1000) - 1);
    const third = await upgrade(late, {});
    const isKept = fingerprints(third).map((each, index) => each === fingerprints(first)[index]);
    expect(isKept).toEqual(IDENTITIES.map((name) => name !== 'gateway'));
    expect(secretOf(third, 'authority')).toEqual(secretOf(first, 'authority'));
  });

  test('their authority is replaced in three upgrades, and no two pods ever lack a common one', async () => {
    const tls = (newAuthority: string) => ({ grpc: { tls: { newAuthority } } });
    const before = await upgrade(new Map(), {});
    await expect(upgrade(before, tls('used'))).rejects.toThrow(
      /upgrade with grpc.tls.newAuthority=trusted first/,
    );
    const trusted = await upgrade(before, tls('trusted'));
    const used = await upgrade(trusted, tls('used'));
    const after = await upgrade(used, {});
    expect(fingerprints(trusted)).toEqual(fingerprints(before));
    expect(fingerprints(after)).toEqual(fingerprints(used));
    expect(fingerprints(used)).not.toEqual(fingerprints(trusted));
    const steps = [before, trusted, used, after];
    expect(steps.map((made) => authoritiesOf(made, 'bds').length)).toEqual([1, 2, 2, 1]);
    // Pods read a change at different times, so every certificate of a step is trusted in the steps beside it.
    for (const [index, made] of steps.entries())
      for (const other of steps.slice(Math.max(0, index - 1), index + 2))
        for (const name of IDENTITIES)
          expect(
            authoritiesOf(other, 'bds').some((ca) => certificateOf(made, name).verify(ca.publicKey)),
          ).toBe(true);
    expect(await upgrade(after, {})).toEqual(after);
  });

  test('are asked of cert-manager where a value says so, and are refused where it is missing', async () => {
    const values = { ...PLAIN, grpc: { tls: { certManager: { enabled: true } } } };
    await expect(render(helm, values)).rejects.toThrow(/the cluster does not know cert-manager.io/);
    const apiVersions = ['cert-manager.io/v1'];
    const own = await render(helm, values, { apiVersions });
    expect(madeBy(own).size).toBe(0);
    const asked = own.filter(({ kind }) => kind === 'Certificate').map(({ spec }) => Object(spec).secretName);
    const secrets = IDENTITIES.map((name) => `shop-brand-data-grpc-${name}`);
    expect(asked).toEqual(['shop-brand-data-grpc-authority', ...secrets]);
    const issuerRef = { name: 'company', kind: 'ClusterIssuer' };
    const given = await render(
      helm,
      { ...PLAIN, grpc: { tls: { certManager: { enabled: true, issuerRef } } } },
      { apiVersions },
    );
    expect(given.some(({ kind }) => kind === 'Issuer')).toBe(false);
    for (const { spec } of given.filter(({ kind }) => kind === 'Certificate'))
      expect(Object(spec).issuerRef).toEqual(issuerRef);
  });
});
